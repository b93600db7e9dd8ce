/* SPDX-License-Identifier: MIT */
/* test_pool.cpp - lfpool::pool<T> and lfpool::cache<T>: construction, destruction, release, refusals, moves. */
#include <lfpool/lfpool.hpp>
#include <lfpool/report.h>
#include <lfpool/retire.h>

#include "check.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

/* ---- Creation ---- */

TEST(create_reports_why_it_failed)
{
	lfpool::pool<counted> pool;
	lfpool_config_t config = lfpool::config(10);

	CHECK(!pool && !pool.get() && pool.close() == 0);
	CHECK(pool.create(0) == LFPOOL_E_CONFIG_CAPACITY && !pool);
	config.object_size = sizeof(counted) - 1;
	CHECK(pool.create(config) == LFPOOL_E_CONFIG_OBJECT_SIZE && !pool);
	config.object_size = 0;
	config.object_alignment = 1;
	CHECK(pool.create(config) == LFPOOL_E_CONFIG_OBJECT_ALIGNMENT && !pool);
	config.object_alignment = 0;
	config.struct_size--;
	CHECK(pool.create(config) == LFPOOL_E_CONFIG_STRUCT_SIZE && !pool);
	CHECK(pool.create(10) == LFPOOL_OK && pool && pool.capacity() == 10);
}

TEST(constructor_throws_why_it_failed)
{
	lfpool_status_t status = LFPOOL_OK;

	try {
		lfpool::pool<counted> pool(0);
	} catch (const lfpool::error &e) {
		status = e.status();
		CHECK(!std::strcmp(e.what(), lfpool_status_string(status)));
	}
	CHECK(status == LFPOOL_E_CONFIG_CAPACITY);
	CHECK(lfpool::pool<counted>(3).available_count() == 3);
}

TEST(a_failed_create_leaves_the_pool_that_there_was)
{
	lfpool::pool<counted> pool(2);
	lfpool_t *first = pool.get();
	counted *object = pool.make(1);

	CHECK(pool.create(0) == LFPOOL_E_CONFIG_CAPACITY && pool.get() == first);
	CHECK(pool.destroy(object) == LFPOOL_OK);
	CHECK(pool.create(5) == LFPOOL_OK && pool.capacity() == 5);
	CHECK(!lfpool_of(object));
}

TEST(larger_object_size_spaces_objects_apart)
{
	lfpool_config_t config = lfpool::config(4);

	config.object_size = 1000;
	lfpool::pool<char> pool(config);
	char *a = pool.make('a'), *b = pool.make('b');

	CHECK((a < b ? b - a : a - b) >= 1000);
}

TEST(pool_in_a_buffer)
{
	static_assert(LFPOOL_STRIDE_(4096, 64) == 4160, "a constant in C++ too, and without a warning");
	alignas(LFPOOL_BUFFER_ALIGNMENT) static unsigned char memory[LFPOOL_BUFFER_BYTES(sizeof(counted), 0, 4)];
	lfpool::pool<counted> pool;

	CHECK(pool.create_in(lfpool::config(4), memory, 100) == LFPOOL_E_BUFFER);
	CHECK(pool.create_in(lfpool::config(4), memory, sizeof(memory)) == LFPOOL_OK);
	{
		lfpool::unique_ptr<counted> object = pool.make_unique(1);
		const void *at = object.get();

		CHECK(at >= static_cast<const void *>(memory) &&
		      at < static_cast<const void *>(memory + sizeof(memory)));
	}
	CHECK(pool.active_count() == 0 && counted::alive() == 0);
}

/* ---- Objects ---- */

TEST(make_returns_null_when_the_pool_is_full)
{
	lfpool::pool<counted> pool(100);
	std::vector<counted *> objects;

	while (counted *object = pool.make(7))
		objects.push_back(object);
	CHECK(objects.size() == 100 && counted::alive() == 100 && pool.active_count() == 100);
	for (counted *object : objects)
		CHECK(object->whole() && object->number == 7 && pool.destroy(object) == LFPOOL_OK);
	CHECK(counted::alive() == 0 && pool.available_count() == 100);
	CHECK(pool.destroy(nullptr) == LFPOOL_OK);
}

struct fussy : counted {
	explicit fussy(int number_) : counted(number_)
	{
		if (number_ < 0)
			throw number_;
	}
};

/* Uses the only object, so that a lost one would be noticed. */
template <typename Maker> static void fails_and_goes_on(Maker &maker)
{
	for (int i = 1; i <= 1000; i++) {
		int thrown = 0;

		try {
			(void)maker.make(-i);
		} catch (int number) {
			thrown = number;
		}
		CHECK(thrown == -i && counted::alive() == 0);
	}
	fussy *object = maker.make(1);
	CHECK(object && object->number == 1 && maker.destroy(object) == LFPOOL_OK);
}

TEST(a_constructor_that_throws_loses_nothing)
{
	lfpool::pool<fussy> pool(1);
	lfpool::cache<fussy> cache(pool);

	fails_and_goes_on(pool);
	fails_and_goes_on(cache);
	CHECK(pool.active_count() == 0 && lfpool_quick_stats(pool.get()).misuses == 0);
}

struct alignas(512) wide {
	char bytes[700];
};

TEST(objects_have_the_alignment_of_the_type)
{
	lfpool::pool<wide> pool(10);

	for (int i = 0; i < 10; i++)
		CHECK(reinterpret_cast<std::uintptr_t>(pool.make()) % 512 == 0);
}

struct aggregate {
	int number;
	std::string text;
};

TEST(arguments_are_forwarded_to_the_constructor)
{
	lfpool::pool<aggregate> aggregates(2);
	lfpool::pool<std::vector<int>> lists(2);
	lfpool::pool<int> numbers(2);
	std::string text(100, 'x');
	aggregate *a = aggregates.make(3, std::move(text));
	std::vector<int> *l = lists.make(5u, 1);
	int *n = numbers.make();

	CHECK(a->number == 3 && a->text == std::string(100, 'x') && text.empty());
	CHECK(l->size() == 5);
	CHECK(*n == 0);
	aggregates.destroy(a);
	lists.destroy(l);
}

/* ---- Refusals ---- */

static void misused(void *context, const lfpool_misuse_t *misuse)
{
	*static_cast<lfpool_status_t *>(context) = misuse->status;
}

TEST(refused_objects_are_not_destroyed)
{
	lfpool_status_t told = LFPOOL_OK;
	lfpool_config_t config = lfpool::config(4);

	config.hooks.context = &told;
	config.hooks.misuse = misused;
	lfpool::pool<counted> pool(config), other(4);
	lfpool::cache<counted> cache(pool);
	counted *object = pool.make(1), *foreign = other.make(2);

	CHECK(pool.destroy(foreign) == LFPOOL_E_FOREIGN && told == LFPOOL_E_FOREIGN);
	CHECK(cache.destroy(foreign) == LFPOOL_E_FOREIGN && counted::alive() == 2 && foreign->whole());
	CHECK(pool.destroy(object) == LFPOOL_OK && counted::alive() == 1);
	CHECK(pool.destroy(object) == LFPOOL_E_NOT_IN_USE && told == LFPOOL_E_NOT_IN_USE && counted::alive() == 1);
	CHECK(cache.destroy(object) == LFPOOL_E_NOT_IN_USE && counted::alive() == 1);
	CHECK(other.destroy(foreign) == LFPOOL_OK && counted::alive() == 0);
}

/* Its destructor releases the object itself, or makes calls on another pool, which take this pool's place as the last
 * one that the thread used. */
struct meddler {
	lfpool::pool<meddler> *mine;
	lfpool::pool<long> *other;

	meddler(lfpool::pool<meddler> *mine_, lfpool::pool<long> *other_) : mine(mine_), other(other_) {}
	meddler(const meddler &) = delete;
	meddler &operator=(const meddler &) = delete;
	~meddler()
	{
		lfpool::pool<long> *const last = other;

		if (mine)
			CHECK(mine->deallocate(this) == LFPOOL_OK);
		if (last)
			CHECK(last->destroy(last->make(1)) == LFPOOL_OK);
	}
};

/* destroy() looks at the object again after its destructor. */
template <typename Maker> static void destroy_asks_again(lfpool::pool<meddler> &pool, Maker &maker)
{
	lfpool::pool<long> other(2);

	for (int i = 0; i < 10; i++) {
		CHECK(maker.destroy(maker.make(&pool, nullptr)) == LFPOOL_E_NOT_IN_USE);
		CHECK(pool.active_count() == 0 && pool.available_count() == 2);
		CHECK(maker.destroy(maker.make(nullptr, &other)) == LFPOOL_OK);
		CHECK(maker.destroy(maker.make(&pool, &other)) == LFPOOL_E_NOT_IN_USE);
		CHECK(pool.active_count() == 0 && other.active_count() == 0);
	}

	void *first = pool.allocate(), *second = pool.allocate();

	CHECK(first && second && first != second && !pool.allocate());
	CHECK(pool.deallocate(first) == LFPOOL_OK && pool.deallocate(second) == LFPOOL_OK);
}

TEST(destroy_asks_again_after_the_destructor)
{
	lfpool_status_t told = LFPOOL_OK;
	lfpool_config_t config = lfpool::config(2);

	config.hooks.context = &told;
	config.hooks.misuse = misused;
	lfpool::pool<meddler> pool(config);
	lfpool::cache<meddler> cache(pool);

	destroy_asks_again(pool, pool);
	destroy_asks_again(pool, cache);
	CHECK(told == LFPOOL_E_NOT_IN_USE);
}

/* ---- Moves, and the end ---- */

TEST(pool_is_movable_and_its_objects_stay)
{
	lfpool::pool<counted> first(4);
	counted *object = first.make(1);
	lfpool::pool<counted> second(std::move(first));
	lfpool::pool<counted> third(4);
	lfpool::cache<counted> cache(second);

	CHECK(!first && second && second.active_count() == 1);
	CHECK(second.destroy(object) == LFPOOL_OK);

	counted *lost = third.make(2);

	lost->~counted();
	third = std::move(second);
	CHECK(!second && third.active_count() == 0 && !lfpool_of(lost));
	object = cache.make(3);
	CHECK(object && third.destroy(object) == LFPOOL_OK);

	lfpool::pool<counted> &same = third;

	third = std::move(same);
	CHECK(third && third.capacity() == 4);
}

TEST(cache_handles_are_movable)
{
	lfpool::pool<counted> pool(4);
	lfpool::cache<counted> first(pool), none;
	counted *object = first.make(1);
	lfpool::cache<counted> second(std::move(first));

	CHECK(!first && second && !none);
	CHECK(second.destroy(object) == LFPOOL_OK);
	none = std::move(second);
	CHECK(!second && none.destroy(none.make(2)) == LFPOOL_OK && pool.active_count() == 0);
}

TEST(close_counts_and_clear_destroys)
{
	lfpool::pool<counted> pool(4);

	(void)pool.make(1);
	(void)pool.make(2);
	CHECK(pool.clear() == 2 && counted::alive() == 0 && pool.active_count() == 0);
	CHECK(pool.clear() == 0);
	counted *object = pool.make(3);
	CHECK(pool.close() == 1 && counted::alive() == 1 && !pool && pool.close() == 0);
	(void)object;
	counted::alive() = 0;
}

/* ---- Walks and handles ---- */

TEST(visits_may_destroy_and_throw)
{
	lfpool::pool<counted> pool(10);
	long sum = 0;
	bool thrown = false;

	for (long i = 1; i <= 10; i++)
		(void)pool.make(i);
	CHECK(pool.for_each_active([&](counted &c) { sum += c.number; }) == 10 && sum == 55);
	try {
		pool.for_each_active([](counted &c) { throw c.number; });
	} catch (long) {
		thrown = true;
	}
	CHECK(thrown && pool.active_count() == 10);
	pool.for_each_active([&](counted &c) {
		if (c.number % 2)
			pool.destroy(&c);
	});
	CHECK(pool.active_count() == 5 && counted::alive() == 5);
	/* The same as a range, and for an algorithm. */
	sum = 0;
	for (counted &c : pool) {
		sum += c.number;
		if (c.number == 4)
			pool.destroy(&c);
	}
	CHECK(sum == 30 && pool.active_count() == 4);
	CHECK(std::count_if(pool.begin(), pool.end(), [](const counted &c) { return c.number > 6; }) == 2);
	CHECK(pool.clear() == 4 && pool.begin() == pool.end());
}

/* A walk has no limit. */
TEST(walks_visit_any_number_of_objects)
{
	constexpr long many = 2500;
	lfpool::pool<counted> pool(many);
	long visited = 0, next = 0;

	for (long i = 0; i < many; i++)
		CHECK(pool.make(0));
	CHECK(pool.for_each_active([&](counted &c) { c.number = ++visited; }) == many && visited == many);
	for (counted &c : pool)
		CHECK(c.number == ++next);
	CHECK(next == many && std::distance(pool.begin(), pool.end()) == many);
	CHECK(pool.clear() == many && counted::alive() == 0 && pool.active_count() == 0);
}

/* A cache gets back the objects that it releases; its unique_ptrs release to the pool, into the thread's cache. */
TEST(cache_gets_back_the_objects_it_releases)
{
	lfpool::pool<counted> pool(1000);
	lfpool::cache<counted> cache(pool);
	counted *object = cache.make(1);
	void *memory;

	CHECK(cache.destroy(object) == LFPOOL_OK && cache.make(2) == object);
	CHECK(cache.destroy(object) == LFPOOL_OK && (memory = cache.allocate()) == object);
	CHECK(cache.deallocate(memory) == LFPOOL_OK);
	object = cache.make_unique(3).get();
	CHECK(pool.allocate() == object && pool.deallocate(object) == LFPOOL_OK);
	CHECK(counted::alive() == 0 && pool.active_count() == 0);
}

static bool construct_counted(void *, void *memory)
{
	::new (memory) counted(7);
	return true;
}

static void destruct_counted(void *, void *object)
{
	static_cast<counted *>(object)->~counted();
}

TEST(hook_constructs_an_object_once)
{
	lfpool_config_t config = lfpool::config(1);

	config.hooks.create = construct_counted;
	config.hooks.destroy = destruct_counted;
	{
		lfpool::pool<counted> pool(config);
		lfpool::cache<counted> cache(pool);
		counted *object = pool.acquire_built();

		CHECK(object && counted::alive() == 1 && pool.release_built(object) == LFPOOL_OK);
		CHECK(cache.acquire_built() == object && counted::alive() == 1);
		CHECK(cache.release_built(object) == LFPOOL_OK);
	}
	CHECK(counted::alive() == 0);
}

/* While `inside`, the thread is in a section that the scheme would wait for. */
static bool inside;

static lfpool_config_t config_with_scheme()
{
	lfpool_config_t config = lfpool::config(3);

	config.scheme.ready = [](void *, const lfpool_batch_t *) { return !inside; };
	config.scheme.wait = [](void *) { return !inside; };
	config.hooks.misuse = [](void *, const lfpool_misuse_t *misuse) {
		CHECK(misuse->status == LFPOOL_E_IN_SECTION);
	};
	return config;
}

TEST(pool_that_cannot_be_closed_stays_usable)
{
	lfpool::pool<int> pool, other;

	CHECK(pool.create(config_with_scheme()) == LFPOOL_OK && other.create(5) == LFPOOL_OK);
	lfpool_t *kept = pool.get(), *second = other.get();

	CHECK(lfpool_retire(kept, pool.make(1)) == LFPOOL_OK);
	inside = true;
	CHECK(pool.close() == SIZE_MAX && pool.get() == kept);
	CHECK(pool.create(7) == LFPOOL_E_IN_SECTION && pool.get() == kept);
	pool = std::move(other);
	CHECK(pool.get() == second && other.get() == kept);
	inside = false;
	(void)other.make(2);
	CHECK(other.close() == 1 && !other);
	/* A self-assignment, and an assignment that closes. */
	lfpool::pool<int> &same = pool;
	pool = std::move(same);
	CHECK(pool.get() == second);
	pool = lfpool::pool<int>(6);
	CHECK(pool.capacity() == 6);
}

TEST(handles_go_stale)
{
	lfpool::pool<counted> pool(2);
	counted *object = pool.make(1);
	lfpool_handle_t handle = pool.handle_of(object);

	CHECK(handle && pool.resolve(handle) == object);
	pool.destroy(object);
	CHECK(!pool.resolve(handle) && pool.handle_of(object) == 0);
}

int main()
{
	return test::run_all();
}
