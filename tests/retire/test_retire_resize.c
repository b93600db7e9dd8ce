/* SPDX-License-Identifier: MIT */
/*
 * test_retire_resize.c - retired objects in a pool that grows, shrinks and is trimmed: they are objects of its
 * capacity until they are reclaimed, and what a shrink is owed is paid by a reclaim.
 */
#include "../support/scheme_stage.h"

enum { FIRST = 12, MOST = 60 };

static void require_so_many(const struct stage *s, size_t capacity, size_t active, size_t retired)
{
	require_intact(s->pool);
	REQUIRE(lfpool_capacity(s->pool) == capacity);
	REQUIRE(lfpool_retired_count(s->pool) == retired);
	REQUIRE(lfpool_active_count(s->pool) == active + retired);
	REQUIRE(lfpool_available_count(s->pool) == capacity - active - retired);
}

static void marks_write(void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		mark_write(objects[i], i);
}

static void marks_hold(void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		REQUIRE(mark_holds(objects[i], i));
}

/* ---- Growing ---- */

STAGED_TEST(a_pool_grows_while_objects_are_retired, FIRST, MOST)
{
	void *objects[MOST];

	REQUIRE(acquire_all(s->pool, objects, MOST) == FIRST);
	marks_write(objects, FIRST);
	for (size_t i = 0; i < FIRST; i++)
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
	REQUIRE(lfpool_grow(s->pool, MOST - FIRST) == MOST - FIRST);
	require_so_many(s, MOST, 0, FIRST);
	/* What was added is free, and can be retired like the rest. */
	REQUIRE(acquire_all(s->pool, objects + FIRST, MOST - FIRST) == MOST - FIRST);
	for (size_t i = FIRST; i < MOST; i++)
		mark_write(objects[i], i);
	REQUIRE(lfpool_retire_bulk(s->pool, objects + FIRST, MOST - FIRST) == MOST - FIRST);
	require_so_many(s, MOST, 0, MOST);
	REQUIRE(!lfpool_acquire(s->pool));
	marks_hold(objects, MOST);
	fake_end_all(s->pool);
	require_so_many(s, MOST, 0, 0);
}

/* More than the pages that a small pool takes anyway. */
TEST(there_is_room_for_all_that_a_pool_can_grow_to)
{
	enum { MANY = 30000 };
	lfpool_t *pool = POOL_OF(SIZE, FIRST, .max_capacity = MANY, .scheme = fake_scheme(KEPT));
	void **objects = pointers_new(MANY);

	assert_int_equal(lfpool_grow(pool, MANY), MANY - FIRST);
	assert_int_equal(acquire_all(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_retire_bulk(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_retired_count(pool), MANY);
	assert_null(lfpool_acquire(pool));
	fake_end_all(pool);
	pool_close(pool, SIZE);
	free(objects);
}

/* By itself, when all are in use or retired; with none to reclaim until it is full. */
KIND_TEST(a_pool_grows_by_itself)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[MOST];
		struct stage s;
		lfpool_config_t config = stage_config(&s, kind, FIRST, MOST);

		config.growth_step = 8;
		config.scheme = fake_scheme(how);
		s.pool = pool_with(&config);
		for (size_t i = 0; i < MOST; i++) {
			REQUIRE(objects[i] = lfpool_acquire(s.pool));
			mark_write(objects[i], i);
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		}
		REQUIRE(!lfpool_acquire(s.pool));
		marks_hold(objects, MOST);
		require_so_many(&s, MOST, 0, MOST);
		fake_end_all(s.pool);
		stage_close(&s);
	}
}

/* ---- Shrinking ---- */

STAGED_TEST(what_is_owed_is_paid_by_a_reclaim, FIRST, MOST)
{
	void *objects[FIRST];

	REQUIRE(acquire_all(s->pool, objects, FIRST) == FIRST);
	marks_write(objects, FIRST);
	for (size_t i = 0; i < 8; i++)
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
	/* None is free: nothing goes yet. */
	REQUIRE(lfpool_shrink(s->pool, 5) == 0);
	REQUIRE(lfpool_shrink_owed(s->pool) == 5);
	marks_hold(objects, FIRST);
	require_so_many(s, FIRST, 4, 8);
	/* The first, which went alone, pays one. */
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(lfpool_shrink_owed(s->pool) == 4);
	require_so_many(s, FIRST - 1, 4, 7);
	REQUIRE(!lfpool_acquire(s->pool));
	/* Of the next seven four go, and three are free. */
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(lfpool_shrink_owed(s->pool) == 0);
	require_so_many(s, FIRST - 5, 4, 0);
	/* The malloc backend takes down each that is released. */
	if (s->kind->hooks)
		REQUIRE(s->destroyed == (s->kind->backend == LFPOOL_BACKEND_MALLOC ? 8 : 5));
	REQUIRE(acquire_all(s->pool, objects, FIRST) == 3);
	REQUIRE(lfpool_release_all(s->pool) == 7);
}

/* ---- Trimming ---- */

/* Memory of free objects goes back, not that of retired ones. */
STAGED_TEST(trimming_and_shrinking_leave_them_alone, FIRST, MOST)
{
	void *objects[MOST];

	REQUIRE(lfpool_grow(s->pool, MOST) == MOST - FIRST);
	REQUIRE(acquire_all(s->pool, objects, MOST) == MOST);
	marks_write(objects, MOST);
	REQUIRE(lfpool_retire_bulk(s->pool, objects, MOST / 3) == MOST / 3);
	REQUIRE(lfpool_release_bulk(s->pool, objects + MOST / 3, MOST / 3) == MOST / 3);
	while (lfpool_trim(s->pool, 0, SIZE_MAX))
		;
	marks_hold(objects, MOST / 3);
	require_so_many(s, MOST, MOST / 3, MOST / 3);
	REQUIRE(lfpool_shrink(s->pool, MOST / 3) == MOST / 3);
	marks_hold(objects, MOST / 3);
	require_so_many(s, MOST - MOST / 3, MOST / 3, MOST / 3);
	fake_end_all(s->pool);
	REQUIRE(lfpool_release_all(s->pool) == MOST / 3);
}

RUN_TESTS()
