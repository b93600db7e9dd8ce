/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_set_growth.c - classes that grow: each by itself, by bytes or by objects, to its maximum and no further; what a
 * class that has nothing left does before the next larger one is asked.
 */
#include "../support/set_support.h"

enum { LARGEST = 2000 };

/* The most objects of this size that can be had; all of them are given back. */
static size_t most_of(lfpool_set_t *set, size_t size)
{
	enum { ROOM = 10000 };
	void **objects = pointers_new(ROOM);
	const size_t count = acquire_all_of(set, size, objects, ROOM);

	assert_true(count < ROOM);
	for (size_t i = 0; i < count; i++)
		stamp_write(objects[i], size, i);
	for (size_t i = 0; i < count; i++)
		assert_true(stamp_holds(objects[i], size, i));
	assert_true(sort_disjoint(objects, count, size));
	release_to(set, objects, count);
	free(objects);
	return count;
}

static lfpool_t *pool_for(lfpool_set_t *set, size_t size)
{
	return lfpool_set_pool(set, lfpool_set_class_of(set, size));
}

BACKEND_TEST(by_objects, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = LARGEST, .capacity = 10, .max_capacity = 100,
				     .growth_step = 7);

	for (size_t i = 0; i < lfpool_set_class_count(set); i++)
		assert_int_equal(most_of(set, lfpool_set_class_size(set, i)), 100);
	set_close(set);
}

BACKEND_TEST(by_bytes, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = LARGEST, .class_bytes = 4096, .max_class_bytes = 16384,
				     .growth_bytes = 1000);

	for (size_t i = 0; i < lfpool_set_class_count(set); i++) {
		const size_t size = lfpool_set_class_size(set, i);

		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, i)), 4096 / size);
		assert_int_equal(lfpool_max_capacity(lfpool_set_pool(set, i)), 16384 / size);
		assert_int_equal(most_of(set, size), 16384 / size);
	}
	set_close(set);
}

TEST(by_hand)
{
	lfpool_set_config_t config = set_config_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, 10);
	lfpool_set_t *set;

	config.max_class_bytes = 40000;
	set = set_with(&config);
	assert_int_equal(most_of(set, 1000), 10);
	assert_int_equal(lfpool_grow(pool_for(set, 1000), 5), 5);
	assert_int_equal(most_of(set, 1000), 15);
	assert_int_equal(most_of(set, 100), 10);
	assert_int_equal(lfpool_grow(pool_for(set, 1000), 1000), 40000 / 1024 - 15);
	assert_int_equal(most_of(set, 1000), 40000 / 1024);
	assert_int_equal(lfpool_shrink(pool_for(set, 1000), 30), 30);
	assert_int_equal(most_of(set, 1000), 40000 / 1024 - 30);

	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	size_t most = 0;

	assert_int_equal(lfpool_set_stats(set, &stats), LFPOOL_OK);
	for (size_t i = 0; i < lfpool_set_class_count(set); i++)
		most += 40000 / lfpool_set_class_size(set, i);
	assert_int_equal(stats.max_capacity, most);
	assert_int_equal(stats.owed + stats.waiting, 0);
	assert_int_equal(lfpool_set_destroy(set), 0);
	/* Less than there are at first; and no more at all. */
	for (size_t bytes = 0; bytes <= 100; bytes += 100) {
		config.max_class_bytes = bytes;
		set = set_with(&config);
		assert_int_equal(lfpool_max_capacity(pool_for(set, 1000)), 10);
		assert_int_equal(lfpool_grow(pool_for(set, 1000), 1), 0);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
}

/* The memory of one class's free objects goes back; others are where they were, and all can be had again. */
BACKEND_TEST(a_class_is_trimmed, LFPOOL_BACKEND_MUTEX)
{
	enum { CAPACITY = 4000 };

	/* no-tools: their memory is not zero. */
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = LARGEST, .capacity = CAPACITY, .debug = "no-tools");
	void **kept = pointers_new(CAPACITY);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	assert_int_equal(most_of(set, 700), CAPACITY);
	assert_int_equal(acquire_all_of(set, 800, kept, CAPACITY), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		stamp_write(kept[i], 800, i);
	while (lfpool_trim(pool_for(set, 700), 0, SIZE_MAX))
		;
	assert_int_equal(lfpool_set_stats(set, &stats), LFPOOL_OK);
	assert_true(stats.given_back > CAPACITY * 704 / 10 * 9 && stats.given_back < (CAPACITY + 6) * 704);
	assert_int_equal(stats.active, CAPACITY);
	assert_int_equal(stats.unaccounted, 0);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_true(stamp_holds(kept[i], 800, i));
	release_to(set, kept, CAPACITY);
	assert_int_equal(most_of(set, 700), CAPACITY);
	set_close(set);
	free(kept);
}

/* A class grows as far as it may before the next one is asked. */
TEST(before_a_larger_class)
{
	void *objects[11];

	lfpool_set_t *set = SET_WITH(.largest = LARGEST, .capacity = 2, .max_capacity = 5, .growth_step = 1, .larger = 1);

	assert_int_equal(acquire_all_of(set, 64, objects, COUNT(objects)), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(lfpool_set_usable_size(set, objects[i]), i < 5 ? 64 : 80);
	release_to(set, objects, 10);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

/* Windows hold the maximum, with all that stands beside objects. */
TEST(with_debug_modes)
{
	static const char *const modes[] = {"guard", "poison,guard,quarantine=9,owner", "no-tools"};

	for (size_t i = 0; i < COUNT(modes); i++)
		for (size_t alignment = 8; alignment <= 4096; alignment *= 8) {
			lfpool_set_t *set = SET_WITH(.largest = LARGEST, .debug = modes[i], .object_alignment = alignment,
						     .class_bytes = 512, .max_class_bytes = 16384, .growth_bytes = 1);

			for (size_t c = 0; c < lfpool_set_class_count(set); c++) {
				const size_t size = lfpool_set_class_size(set, c);

				assert_int_equal(most_of(set, size), 16384 / size);
			}
			set_close(set);
		}
}

/* The hook is told of the class, and what it gives back is had. */
struct reserve {
	lfpool_set_t *set;
	void *kept;
	size_t calls;
};

static bool give_up_reserve(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	struct reserve *r = context;

	(void)wait_ns;
	r->calls++;
	REQUIRE(pool == lfpool_of(r->kept));
	return attempt == 0 && lfpool_set_release(r->set, r->kept) == LFPOOL_OK;
}

TEST(the_hook_of_a_class_that_has_nothing_left)
{
	struct reserve r = {0};

	r.set = SET_WITH(.largest = LARGEST, .capacity = 1, .hooks.context = &r, .hooks.exhausted = give_up_reserve);
	r.kept = lfpool_set_acquire(r.set, 500);
	assert_ptr_equal(lfpool_set_acquire(r.set, 500), r.kept);
	assert_int_equal(r.calls, 1);
	assert_int_equal(lfpool_set_release(r.set, r.kept), LFPOOL_OK);
	assert_int_equal(lfpool_set_destroy(r.set), 0);
}

RUN_TESTS()
