/* SPDX-License-Identifier: MIT */
/* test_set.cpp - lfpool::set and lfpool::allocator of set.hpp: the containers' allocations come from the set, or from
 * the right fallback, and return there. */
#include <lfpool/set.hpp>

#include "check.hpp"

#include <list>
#include <map>
#include <memory>
#include <vector>

static lfpool_set_config_t small()
{
	lfpool_set_config_t config = lfpool::set_config();

	config.largest = 256;
	config.pool.capacity = 100;
	return config;
}

TEST(set_create_reports_why_it_failed)
{
	lfpool_set_config_t config = small();
	lfpool_status_t status = LFPOOL_OK;
	lfpool::set set;

	config.steps = 5;
	CHECK(!set && set.create(config) == LFPOOL_E_CONFIG_STEPS && !set);
	try {
		lfpool::set thrown(config);
	} catch (const lfpool::error &e) {
		status = e.status();
	}
	CHECK(status == LFPOOL_E_CONFIG_STEPS);
	CHECK(set.create(small()) == LFPOOL_OK && set);
}

template <typename Container> static void filled_from(const lfpool::set &set, Container &container, std::size_t nodes)
{
	for (int i = 0; i < 50; i++)
		container.insert(container.end(), {i, 2 * i});
	CHECK(active(set) >= nodes);
}

TEST(nodes_come_from_the_set)
{
	using entry = std::pair<const int, int>;
	lfpool::set set(small());
	lfpool::allocator<entry> allocator(set);

	{
		std::map<int, int, std::less<int>, lfpool::allocator<entry>> map(allocator);

		filled_from(set, map, 50);
	}
	CHECK(active(set) == 0);
	{
		using pair = std::pair<int, int>;
		std::list<pair, lfpool::allocator<pair>> list(allocator), copy(list), moved(std::move(list));

		filled_from(set, moved, 50);
		copy = moved;
		CHECK(active(set) >= 100 && copy.size() == 50);
	}
	CHECK(active(set) == 0);
}

TEST(larger_requests_use_operator_new)
{
	lfpool::set set(small());
	std::vector<int, lfpool::allocator<int>> vector{lfpool::allocator<int>(set)};

	for (int i = 0; i < 64; i++)
		vector.push_back(i);
	CHECK(active(set) == 1 && lfpool_set_usable_size(set.get(), vector.data()) != 0);
	vector.push_back(64);
	CHECK(active(set) == 0 && lfpool_set_usable_size(set.get(), vector.data()) == 0);
	for (int i = 0; i < 65; i++)
		CHECK(vector[static_cast<std::size_t>(i)] == i);
	vector = std::vector<int, lfpool::allocator<int>>{lfpool::allocator<int>(set)};
	CHECK(active(set) == 0);
}

struct alignas(64) wide {
	char bytes[64];
};

template <typename T> static bool refuses(lfpool::allocator<T> allocator, std::size_t count)
{
	try {
		(void)allocator.allocate(count);
	} catch (const std::bad_alloc &) {
		return true;
	}
	return false;
}

TEST(oversized_and_exhausted_requests_throw_bad_alloc)
{
	lfpool::set set(small());
	lfpool::allocator<long> longs(set);
	std::vector<long *> all;

	CHECK(refuses(longs, SIZE_MAX / sizeof(long) + 2));
	for (int i = 0; i < 100; i++)
		all.push_back(longs.allocate(1));
	CHECK(refuses(longs, 1));
	for (long *one : all)
		longs.deallocate(one, 1);
	CHECK(active(set) == 0);
}

TEST(allocations_have_the_alignment_of_the_set)
{
	lfpool_set_config_t config = small();

	config.pool.object_alignment = 64;
	lfpool::set set(config);
	lfpool::allocator<wide> wides(set);
	wide *one = wides.allocate(3);

	CHECK(lfpool_set_usable_size(set.get(), one) != 0 && reinterpret_cast<std::uintptr_t>(one) % 64 == 0);
	wides.deallocate(one, 3);
	CHECK(active(set) == 0);
	/* Larger ones too: operator new alone aligns to 16. */
	for (std::size_t count = 1000; count < 1010; count++) {
		wide *many = wides.allocate(count);

		CHECK(lfpool_set_usable_size(set.get(), many) == 0 && reinterpret_cast<std::uintptr_t>(many) % 64 == 0);
		many[0].bytes[0] = many[count - 1].bytes[63] = 1;
		wides.deallocate(many, count);
	}
	CHECK(refuses(wides, SIZE_MAX / sizeof(wide)));
}

/* No class has that alignment: each array comes from operator new, whatever its size, and returns there. */
TEST(over_aligned_types_of_an_ordinary_set_use_operator_new)
{
	lfpool::set set(small());
	lfpool::allocator<wide> wides(set);

	CHECK(alignof(wide) > lfpool_set_class_size(set.get(), 1));
	for (std::size_t count = 1; count < 10; count++) {
		wide *some = wides.allocate(count);

		CHECK(lfpool_set_usable_size(set.get(), some) == 0 && reinterpret_cast<std::uintptr_t>(some) % 64 == 0);
		some[0].bytes[0] = some[count - 1].bytes[63] = 1;
		wides.deallocate(some, count);
	}
	CHECK(active(set) == 0 && refuses(wides, SIZE_MAX / sizeof(wide)));
	std::vector<wide, lfpool::allocator<wide>> vector(3, wides);
	std::list<wide, lfpool::allocator<wide>> list(3, wide(), wides);
	for (const wide &each : list)
		CHECK(reinterpret_cast<std::uintptr_t>(&each) % 64 == 0);
	CHECK(reinterpret_cast<std::uintptr_t>(vector.data()) % 64 == 0 && active(set) == 0);
}

TEST(allocators_of_one_set_are_equal)
{
	lfpool::set a(small()), b(small());

	CHECK(lfpool::allocator<int>(a) == lfpool::allocator<char>(a));
	CHECK(lfpool::allocator<int>(a) != lfpool::allocator<int>(b));
}

/* Assigning a new set closes the earlier one and destroys its objects; moving a set to itself changes nothing. */
TEST(create_and_move_replace_a_set)
{
	lfpool::set set(small());
	void *object = lfpool_set_acquire(set.get(), 40);
	lfpool_set_config_t wrong = small();

	CHECK(lfpool_of(object) != nullptr);
	wrong.steps = 5;
	CHECK(set.create(wrong) == LFPOOL_E_CONFIG_STEPS && active(set) == 1);
	lfpool::set &same = set;
	lfpool_set_t *before = set.get();
	set = std::move(same);
	CHECK(set.get() == before && active(set) == 1);
	CHECK(set.create(small()) == LFPOOL_OK && active(set) == 0);
	CHECK(lfpool_of(object) == nullptr);
	object = lfpool_set_acquire(set.get(), 40);
	lfpool::set second(std::move(set));
	CHECK(!set && lfpool_set_usable_size(second.get(), object) != 0 && active(second) == 1);
	second = lfpool::set(small());
	CHECK(lfpool_of(object) == nullptr && active(second) == 0);
	(void)lfpool_set_acquire(second.get(), 10);
	CHECK(second.close() == 1 && !second && second.close() == 0);
}

/* Nodes stay in place: the allocator moves with them. */
TEST(containers_move_and_swap_with_their_set)
{
	using list = std::list<int, lfpool::allocator<int>>;
	lfpool::set first(small()), second(small());
	list a{lfpool::allocator<int>(first)}, b{lfpool::allocator<int>(second)};

	a.assign(3, 1);
	b.assign(4, 2);
	const int *of_a = &a.front(), *of_b = &b.front();

	swap(a, b);
	CHECK(&a.front() == of_b && a.get_allocator().get() == second.get() && b.get_allocator().get() == first.get());
	a = std::move(b);
	CHECK(&a.front() == of_a && a.get_allocator().get() == first.get() && active(second) <= 1);
	a.clear();
	CHECK(active(first) <= 1);
}

/* Objects of any type, from the class of their size. */
TEST(a_set_makes_objects)
{
	struct wider : counted {
		char more[200] = {};

		explicit wider(long number_) : counted(number_) {}
	};
	lfpool::set set(small());
	lfpool_t *const pool = lfpool_set_pool(set.get(), sizeof(wider));
	counted *a = set.make<counted>(1);
	wider *b = set.make<wider>(2);

	CHECK(a->whole() && b->whole() && a->number == 1 && b->number == 2 && lfpool_in_use(pool, b));
	{
		lfpool::unique_ptr<wider> c = set.make_unique<wider>(3);

		CHECK(c->number == 3 && counted::alive() == 3 && active(set) == 3);
	}
	CHECK(counted::alive() == 2 && active(set) == 2);
	CHECK(set.destroy(a) == LFPOOL_OK && set.destroy(b) == LFPOOL_OK && counted::alive() == 0 && active(set) == 0);
	CHECK(set.destroy(b) == LFPOOL_E_NOT_IN_USE && set.destroy(static_cast<counted *>(nullptr)) == LFPOOL_OK);

	std::vector<wider *> all;

	while ((b = set.make<wider>(4)) != nullptr)
		all.push_back(b);
	CHECK(all.size() == lfpool_capacity(pool) && !set.make_unique<wider>(5));
	for (wider *each : all)
		CHECK(set.destroy(each) == LFPOOL_OK);
	struct alignas(64) aligned {
		char bytes[64];
	};
	struct large {
		char bytes[1 << 20];
	};
	CHECK(!set.make<aligned>() && !set.make<large>() && counted::alive() == 0);
}

int main()
{
	return test::run_all();
}
