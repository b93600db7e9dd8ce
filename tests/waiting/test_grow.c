/* SPDX-License-Identifier: MIT */
/*
 * test_grow.c - a pool gets more objects by hand: how many, never beyond its maximum, of every size, and nothing that was
 * there before notices.
 */
#include "../support/kinds.h"

#include <limits.h>

enum { FIRST = 10, MOST = 300 };

/* ---- By hand ---- */

KIND_TEST(grow_adds_what_it_says)
{
	struct stage s;
	void *objects[MOST + 1];

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_max_capacity(s.pool), MOST);
	require_counts(s.pool, FIRST, 0);
	assert_int_equal(acquire_all(s.pool, objects, MOST + 1), FIRST);
	for (size_t i = 0; i < FIRST; i++)
		mark_write(objects[i], i);
	assert_int_equal(lfpool_grow(s.pool, 0), 0);
	assert_null(lfpool_acquire(s.pool));
	size_t held = FIRST;

	for (size_t count = 1; held < MOST; count = count * 2 + 1) {
		size_t expected = count < MOST - held ? count : MOST - held;

		assert_int_equal(lfpool_grow(s.pool, count), expected);
		require_counts(s.pool, held + expected, held);
		assert_int_equal(acquire_all(s.pool, objects + held, MOST + 1 - held), expected);
		for (size_t i = held; i < held + expected; i++)
			mark_write(objects[i], i);
		held += expected;
		require_counts(s.pool, held, held);
	}
	assert_int_equal(lfpool_grow(s.pool, 1), 0);
	assert_int_equal(lfpool_grow(s.pool, SIZE_MAX), 0);
	assert_null(lfpool_acquire(s.pool));
	/* What was written before the pool grew is where it was. */
	for (size_t i = 0; i < MOST; i++) {
		assert_true(mark_holds(objects[i], i));
		assert_true(lfpool_owns(s.pool, objects[i]));
		assert_int_equal(lfpool_in_use(s.pool, objects[i]), true);
	}
	assert_true(sort_disjoint(objects, MOST, SIZE));
	release_all(s.pool, objects, MOST);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
}

KIND_TEST(all_that_was_reserved_and_no_more)
{
	struct stage s;

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_grow(s.pool, SIZE_MAX), MOST - FIRST);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
	/* Nothing was reserved: it is as large as it can be. */
	for (size_t max = 0; max <= FIRST; max += FIRST) {
		stage_open_growing(&s, kind, FIRST, max, 1);
		assert_int_equal(lfpool_max_capacity(s.pool), FIRST);
		assert_int_equal(lfpool_grow(s.pool, 1), 0);
		assert_int_equal(lfpool_reserve(s.pool, FIRST + 1), 0);
		require_counts(s.pool, FIRST, 0);
		stage_close(&s);
	}
}

KIND_TEST(reserve_grows_up_to)
{
	struct stage s;

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_reserve(s.pool, 0), 0);
	assert_int_equal(lfpool_reserve(s.pool, FIRST), 0);
	assert_int_equal(lfpool_reserve(s.pool, FIRST + 1), 1);
	assert_int_equal(lfpool_reserve(s.pool, FIRST), 0);
	assert_int_equal(lfpool_reserve(s.pool, 100), 100 - FIRST - 1);
	require_counts(s.pool, 100, 0);
	assert_int_equal(lfpool_reserve(s.pool, SIZE_MAX), MOST - 100);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
}

KIND_TEST(growing_ends_where_the_limit_says)
{
	struct stage s;
	void *objects[MOST + 1];

	stage_open_growing(&s, kind, FIRST, MOST, 4);
	assert_int_equal(lfpool_limit(s.pool, MOST + 1), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_limit(s.pool, SIZE_MAX), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_max_capacity(s.pool), MOST);
	/* Below what there is: nothing goes, nothing comes. */
	assert_int_equal(lfpool_limit(s.pool, 3), LFPOOL_OK);
	assert_int_equal(lfpool_max_capacity(s.pool), 3);
	assert_int_equal(lfpool_limit(s.pool, MOST + 1), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_max_capacity(s.pool), 3);
	require_counts(s.pool, FIRST, 0);
	assert_int_equal(lfpool_grow(s.pool, 1), 0);
	assert_int_equal(acquire_all(s.pool, objects, MOST), FIRST);
	require_counts(s.pool, FIRST, FIRST);
	assert_int_equal(lfpool_limit(s.pool, 0), LFPOOL_OK);
	assert_null(lfpool_acquire(s.pool));
	assert_int_equal(lfpool_limit(s.pool, FIRST), LFPOOL_OK);
	assert_null(lfpool_acquire(s.pool));
	/* By hand and by itself, up to where it ends now. */
	assert_int_equal(lfpool_limit(s.pool, FIRST + 7), LFPOOL_OK);
	assert_int_equal(lfpool_grow(s.pool, 2), 2);
	assert_int_equal(acquire_all(s.pool, objects + FIRST, MOST - FIRST), 7);
	require_counts(s.pool, FIRST + 7, FIRST + 7);
	assert_int_equal(lfpool_limit(s.pool, MOST), LFPOOL_OK);
	assert_int_equal(acquire_all(s.pool, objects + FIRST + 7, MOST - FIRST - 7 + 1), MOST - FIRST - 7);
	release_all(s.pool, objects, MOST);
	stage_close(&s);
}

/* ---- Handles, walks, questions ---- */

static bool count_slot(void *context, void *object, bool active)
{
	size_t *counts = context;

	/* Readable, whether it was ever used or not. */
	REQUIRE(*(volatile unsigned char *)object <= UCHAR_MAX);
	counts[active]++;
	return true;
}

static bool count_active(void *context, void *object)
{
	REQUIRE(object);
	++*(size_t *)context;
	return true;
}

static void walks(struct stage *s, void *const *objects, size_t active)
{
	size_t capacity = lfpool_capacity(s->pool), slots[2] = {0, 0}, visited = 0;
	void **seen = pointers_new(capacity), **sorted = pointers_new(active);
	lfpool_cursor_t cursors[3];
	size_t parts = 0;

	memcpy(sorted, objects, active * sizeof(*objects));
	qsort(sorted, active, sizeof(*sorted), compare_addresses);
	assert_int_equal(lfpool_copy_active(s->pool, seen, capacity), active);
	assert_int_equal(lfpool_for_each_active(s->pool, count_active, &visited), active);
	assert_int_equal(visited, active);
	if (s->kind->backend != LFPOOL_BACKEND_MALLOC) {
		/* Slots that it has no object in, now, may be among them. */
		size_t all = lfpool_for_each_slot(s->pool, count_slot, slots);

		assert_true(all >= capacity && all <= lfpool_max_capacity(s->pool));
		assert_int_equal(slots[false] + slots[true], all);
		assert_int_equal(slots[true], active);
	}

	qsort(seen, active, sizeof(*seen), compare_addresses);
	assert_memory_equal(seen, sorted, active * sizeof(*seen));
	lfpool_cursor_split(cursors, 3, s->pool);
	for (size_t i = 0; i < 3; i++)
		while (lfpool_cursor_next(&cursors[i]))
			parts++;
	assert_int_equal(parts, active);
	free(seen);
	free(sorted);
}

KIND_TEST(handles_walks_and_questions_over_grown_objects)
{
	struct stage s;
	void *objects[MOST + 1];
	lfpool_handle_t handles[MOST];
	bool seen[MOST] = {false};

	stage_open(&s, kind, FIRST, MOST);
	size_t held = 0;
	for (size_t add = 0; add <= 80; add += 20) {
		assert_int_equal(lfpool_grow(s.pool, add), add);
		size_t got = acquire_all(s.pool, objects + held, MOST + 1 - held);

		for (size_t i = held; i < held + got; i++)
			handles[i] = lfpool_handle_of(s.pool, objects[i]);
		held += got;
		walks(&s, objects, held);
	}
	assert_int_equal(held, FIRST + 200);
	for (size_t i = 0; i < held; i++) {
		size_t index = lfpool_index_of(s.pool, objects[i]);

		assert_true(index < lfpool_capacity(s.pool) && !seen[index]);
		seen[index] = true;
		assert_ptr_equal(lfpool_of(objects[i]), s.pool);
		assert_ptr_equal(lfpool_resolve(s.pool, handles[i]), objects[i]);
	}
	assert_int_equal(lfpool_release_handle(s.pool, handles[held - 1]), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(objects[held - 2]), LFPOOL_OK);
	assert_int_equal(lfpool_release_all(s.pool), held - 2);
	for (size_t i = 0; i < held; i++)
		assert_null(lfpool_resolve(s.pool, handles[i]));
	require_counts(s.pool, FIRST + 200, 0);
	stage_close(&s);
}

/* ---- Sizes ---- */

TEST_WITH(a_huge_reservation_is_cheap, NULL, kind_teardown)
{
	const size_t most = (size_t)1 << 31;
	static void *objects[100000 + FIRST];

	if (SIZE_MAX / 64 <= most)
		SKIP("the address space is too small");
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_of(64, FIRST);
		size_t before = resident_bytes();

		config.max_capacity = most;
		config.backend = (lfpool_backend_t)backend;
		lfpool_t *pool = pool_with(&config);

		assert_int_equal(lfpool_max_capacity(pool), most);
		require_whole(pool, 64);
		/* A sanitizer has memory of its own. */
		assert_true(SANITIZED || growth(before, resident_bytes()) < 8 * MIB);
		assert_int_equal(lfpool_grow(pool, COUNT(objects) - FIRST), COUNT(objects) - FIRST);
		/* A few are used: the others take no memory yet. */
		assert_int_equal(lfpool_acquire_bulk(pool, objects, 1000), 1000);
		assert_true(SANITIZED || growth(before, resident_bytes()) < 12 * MIB);
		assert_int_equal(lfpool_release_bulk(pool, objects, 1000), 1000);
		assert_int_equal(acquire_all(pool, objects, COUNT(objects)), COUNT(objects));
		assert_null(lfpool_acquire(pool));
		assert_true(sort_disjoint(objects, COUNT(objects), 64));
		assert_int_equal(lfpool_release_bulk(pool, objects, COUNT(objects)), COUNT(objects));
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

TEST_WITH(objects_of_every_size_grow, NULL, kind_teardown)
{
	static const size_t sizes[] = {1, 7, 64, 100, 4096, 5000, 70000};

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t alignment = 0; alignment <= 4096; alignment = alignment ? alignment * 16 : 16)
			for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
				lfpool_config_t config = config_of(sizes[i], 1);
				void *objects[100];

				config.object_alignment = alignment;
				config.max_capacity = 100;
				config.growth_step = 3;
				config.backend = (lfpool_backend_t)backend;
				lfpool_t *pool = pool_with(&config);
				for (size_t k = 0; k < 100; k++) {
					assert_non_null(objects[k] = lfpool_acquire(pool));
					assert_int_equal((uintptr_t)objects[k] % (alignment ? alignment : 1), 0);
					stamp_write(objects[k], sizes[i], k);
				}
				assert_null(lfpool_acquire(pool));
				for (size_t k = 0; k < 100; k++)
					assert_true(stamp_holds(objects[k], sizes[i], k));
				release_all(pool, objects, 100);
				require_whole(pool, sizes[i]);
				lfpool_destroy(pool);
			}
}

RUN_TESTS()
