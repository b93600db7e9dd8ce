/* SPDX-License-Identifier: MIT */
/* test_pointers.cpp - unique_ptr and self_ptr of lfpool.hpp: an object, and its release. */
#include <lfpool/lfpool.hpp>
#include <lfpool/report.h>

#include "check.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

/* Declared here as an incomplete type; complete where it is used. */
struct later;
struct holder {
	lfpool::pool<later> pool;
	lfpool::cache<later> cache;
	lfpool::unique_ptr<later> one;
	lfpool::self_ptr<later> other;

	holder();
	~holder();
};

static_assert(sizeof(lfpool::unique_ptr<int>) == 2 * sizeof(void *), "the header says two words");
static_assert(sizeof(lfpool::self_ptr<int>) == sizeof(void *), "the header says one");

struct base {
	long before = 1;
};
struct derived : counted, base {
	explicit derived(long number_) : counted(number_) {}
};

static_assert(!std::is_convertible<lfpool::unique_ptr<derived>, lfpool::unique_ptr<base>>::value, "another address");
static_assert(!std::is_convertible<lfpool::self_ptr<derived>, lfpool::self_ptr<base>>::value, "another address");
static_assert(!std::is_copy_constructible<lfpool::pool<int>>::value &&
		      !std::is_copy_assignable<lfpool::pool<int>>::value &&
		      !std::is_copy_constructible<lfpool::cache<int>>::value,
	      "owners");
static_assert(std::is_nothrow_move_constructible<lfpool::pool<int>>::value &&
		      std::is_nothrow_move_assignable<lfpool::cache<int>>::value,
	      "for containers of them");

/* Polymorphic: the base is not at the object's start. */
struct shape {
	virtual ~shape() = default;
	virtual long area() const = 0;
};
struct named {
	virtual ~named() = default;
	long name = 1;
};
struct square : named, counted, shape {
	explicit square(long side) : counted(side) {}
	long area() const override { return number * number; }
};
struct strip : shape {
	counted side;
	char rest[200] = {};

	explicit strip(long length) : side(length) {}
	long area() const override { return side.number; }
};

static_assert(std::is_convertible<lfpool::unique_ptr<square>, lfpool::base_ptr<shape>>::value, "upwards");
static_assert(!std::is_convertible<lfpool::base_ptr<shape>, lfpool::unique_ptr<square>>::value, "not downwards");
static_assert(!std::is_convertible<lfpool::base_ptr<const shape>, lfpool::base_ptr<shape>>::value, "const stays");
static_assert(!std::is_convertible<lfpool::unique_ptr<counted>, lfpool::base_ptr<shape>>::value, "not sideways");

TEST(a_pointer_to_the_base_owns)
{
	lfpool::pool<square> squares(3);
	lfpool::pool<strip> strips(3);

	{
		std::vector<lfpool::base_ptr<shape>> shapes;

		shapes.push_back(squares.make_unique(3));
		shapes.push_back(strips.make_unique(5));
		shapes.emplace_back(squares.make_unique(7));
		shapes.push_back(nullptr);
		CHECK(shapes[0]->area() == 9 && shapes[1]->area() == 5 && shapes[2]->area() == 49);
		CHECK(static_cast<void *>(shapes[0].get()) != dynamic_cast<void *>(shapes[0].get()));
		CHECK(counted::alive() == 3 && squares.active_count() == 2 && strips.active_count() == 1);
		shapes[0] = std::move(shapes[1]);
		CHECK(counted::alive() == 2 && squares.active_count() == 1);
	}
	CHECK(counted::alive() == 0 && squares.active_count() == 0 && strips.active_count() == 0);
	CHECK(lfpool_quick_stats(squares.get()).misuses == 0 && lfpool_quick_stats(strips.get()).misuses == 0);
}

static void misused(void *context, const lfpool_misuse_t *misuse)
{
	*static_cast<lfpool_status_t *>(context) = misuse->status;
}

/* Its memory was released behind the owner's back: the destructor does not run, and the release is refused.  Sanitizers
 * are told nothing, because dynamic_cast reads the object. */
TEST(a_pointer_to_the_base_of_a_free_object_destroys_nothing)
{
	lfpool_status_t told = LFPOOL_OK;
	lfpool_config_t config = lfpool::config(3);

	config.debug = "no-tools";
	config.hooks.context = &told;
	config.hooks.misuse = misused;
	lfpool::pool<square> squares(config);
	square *object = squares.make(3);
	lfpool::base_ptr<shape> owner(object, lfpool::deleter<square>(squares.get()));

	CHECK(squares.deallocate(object) == LFPOOL_OK);
	owner.reset();
	CHECK(told == LFPOOL_E_NOT_IN_USE && counted::alive() == 1 && object->whole());
	CHECK(lfpool_quick_stats(squares.get()).misuses == 1 && squares.available_count() == 3);
	object->~square();
	CHECK(counted::alive() == 0);
}

/* Like std::unique_ptr<const B>. */
TEST(a_pointer_to_a_constant_base_owns)
{
	lfpool::pool<square> squares(3);

	{
		lfpool::base_ptr<const shape> fixed = squares.make_unique(3);
		lfpool::base_ptr<shape> changeable = squares.make_unique(5);
		lfpool::base_ptr<const volatile named> other = squares.make_unique(7);

		CHECK(fixed->area() == 9 && other->name == 1 && squares.active_count() == 3);
		fixed = std::move(changeable);
		CHECK(fixed->area() == 25 && squares.active_count() == 2 && counted::alive() == 2);
	}
	CHECK(squares.active_count() == 0 && counted::alive() == 0);
	CHECK(lfpool_quick_stats(squares.get()).misuses == 0);
}

TEST(object_is_released_at_the_end_of_its_scope)
{
	lfpool::pool<counted> pool(2);

	{
		lfpool::unique_ptr<counted> a = pool.make_unique(1);
		lfpool::self_ptr<counted> b = pool.make_self(2);

		CHECK(a && b && a->number == 1 && b->number == 2 && a.get_deleter().get_pool() == pool.get());
		CHECK(!pool.make_unique(3) && !pool.make_self(3));
		CHECK(counted::alive() == 2 && pool.active_count() == 2);
	}
	CHECK(counted::alive() == 0 && pool.active_count() == 0 && lfpool_quick_stats(pool.get()).misuses == 0);
}

TEST(pointer_outlives_the_cache_that_made_it)
{
	lfpool::pool<counted> pool(2);
	lfpool::cache<counted> cache(pool);

	{
		lfpool::unique_ptr<counted> a = cache.make_unique(1);

		cache = lfpool::cache<counted>();
		CHECK(a->number == 1);
	}
	CHECK(counted::alive() == 0 && pool.active_count() == 0);
}

TEST(shared_pointer_releases_with_its_last_copy)
{
	lfpool::pool<counted> pool(1);
	std::shared_ptr<counted> a = pool.make_unique(1), b = a;

	a.reset();
	CHECK(counted::alive() == 1 && pool.active_count() == 1);
	b.reset();
	CHECK(counted::alive() == 0 && pool.active_count() == 0);
}

/* A self_ptr that outlives its pool does not touch the destroyed object. */
TEST(pointer_may_outlive_its_pool)
{
	lfpool::pool<counted> pool(1);
	lfpool::self_ptr<counted> a = pool.make_self(1);

	a->~counted();
	CHECK(pool.close() == 1);
	a.reset();
	CHECK(counted::alive() == 0);
}

struct later : counted {
	later() : counted(9) {}
};

holder::holder() : pool(2), cache(pool), one(pool.make_unique()), other(pool.make_self()) {}
holder::~holder() = default;

TEST(pointers_may_be_declared_before_the_type)
{
	{
		holder h;

		CHECK(h.one->whole() && h.other->whole() && counted::alive() == 2);
	}
	CHECK(counted::alive() == 0);
}

int main()
{
	return test::run_all();
}
