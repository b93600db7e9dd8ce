/* SPDX-License-Identifier: MIT */
/*
 * test_retire_resize.c - retired objects in a pool that grows, shrinks and is trimmed: they are objects of its
 * capacity until they are reclaimed, and what a shrink is owed is paid by a reclaim.
 */
#include "../support/kinds.h"
#include "../support/schemes.h"

enum { FIRST = 12, MOST = 60 };

static struct fake fake;

static void open_with(struct stage *s, const struct kind *kind, enum scheme_kind how, size_t step)
{
	lfpool_config_t config = stage_config(s, kind, FIRST, MOST);

	config.growth_step = step;
	config.scheme = fake_scheme(&fake, how);
	s->pool = pool_with(&config);
}

static void require_so_many(const struct stage *s, size_t capacity, size_t active, size_t retired)
{
	require_intact(s->pool);
	REQUIRE(lfpool_capacity(s->pool) == capacity);
	REQUIRE(lfpool_retired_count(s->pool) == retired);
	REQUIRE(lfpool_active_count(s->pool) == active + retired);
	REQUIRE(lfpool_available_count(s->pool) == capacity - active - retired);
}

static void marks_hold(void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		REQUIRE(mark_holds(objects[i], i));
}

/* ---- Growing ---- */

static void grow(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[MOST];
		struct stage s;

		open_with(&s, kind, how, 0);
		REQUIRE(acquire_all(s.pool, objects, MOST) == FIRST);
		for (size_t i = 0; i < FIRST; i++)
			mark_write(objects[i], i);
		for (size_t i = 0; i < FIRST; i++)
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		REQUIRE(lfpool_grow(s.pool, MOST - FIRST) == MOST - FIRST);
		require_so_many(&s, MOST, 0, FIRST);
		/* What was added is free, and can be retired like the rest. */
		REQUIRE(acquire_all(s.pool, objects + FIRST, MOST - FIRST) == MOST - FIRST);
		for (size_t i = FIRST; i < MOST; i++)
			mark_write(objects[i], i);
		REQUIRE(lfpool_retire_bulk(s.pool, objects + FIRST, MOST - FIRST) == MOST - FIRST);
		require_so_many(&s, MOST, 0, MOST);
		REQUIRE(!lfpool_acquire(s.pool));
		marks_hold(objects, MOST);
		fake_end_all(&fake, s.pool);
		require_so_many(&s, MOST, 0, 0);
		stage_close(&s);
	}
}

TEST(a_pool_grows_while_objects_are_retired)
{
	on_every_kind(grow);
}

/* More than the pages that a small pool takes anyway. */
TEST(there_is_room_for_all_that_a_pool_can_grow_to)
{
	enum { MANY = 30000 };
	lfpool_config_t config = config_of(SIZE, FIRST);
	void **objects = pointers_new(MANY);

	config.max_capacity = MANY;
	config.scheme = fake_scheme(&fake, KEPT);
	lfpool_t *pool = pool_with(&config);

	assert_int_equal(lfpool_grow(pool, MANY), MANY - FIRST);
	assert_int_equal(acquire_all(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_retire_bulk(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_retired_count(pool), MANY);
	assert_null(lfpool_acquire(pool));
	fake_end_all(&fake, pool);
	require_whole(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(objects);
}

/* By itself, when all are in use or retired; with none to reclaim until it is full. */
static void grow_itself(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[MOST];
		struct stage s;

		open_with(&s, kind, how, 8);
		for (size_t i = 0; i < MOST; i++) {
			REQUIRE(objects[i] = lfpool_acquire(s.pool));
			mark_write(objects[i], i);
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		}
		REQUIRE(!lfpool_acquire(s.pool));
		marks_hold(objects, MOST);
		require_so_many(&s, MOST, 0, MOST);
		fake_end_all(&fake, s.pool);
		stage_close(&s);
	}
}

TEST(a_pool_grows_by_itself)
{
	on_every_kind(grow_itself);
}

/* ---- Shrinking ---- */

static void owe(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[FIRST];
		struct stage s;

		open_with(&s, kind, how, 0);
		REQUIRE(acquire_all(s.pool, objects, FIRST) == FIRST);
		for (size_t i = 0; i < FIRST; i++)
			mark_write(objects[i], i);
		for (size_t i = 0; i < 8; i++)
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		/* None is free: nothing goes yet. */
		REQUIRE(lfpool_shrink(s.pool, 5) == 0);
		REQUIRE(lfpool_shrink_owed(s.pool) == 5);
		marks_hold(objects, FIRST);
		require_so_many(&s, FIRST, 4, 8);
		/* The first, which went alone, pays one. */
		REQUIRE(fake_period(&fake, s.pool) == 1);
		REQUIRE(lfpool_shrink_owed(s.pool) == 4);
		require_so_many(&s, FIRST - 1, 4, 7);
		REQUIRE(!lfpool_acquire(s.pool));
		/* Of the next seven four go, and three are free. */
		REQUIRE(fake_period(&fake, s.pool) == 1);
		REQUIRE(lfpool_shrink_owed(s.pool) == 0);
		require_so_many(&s, FIRST - 5, 4, 0);
		/* The malloc backend takes down each that is released. */
		if (kind->hooks)
			REQUIRE(s.destroyed == (kind->backend == LFPOOL_BACKEND_MALLOC ? 8 : 5));
		REQUIRE(acquire_all(s.pool, objects, FIRST) == 3);
		REQUIRE(lfpool_release_all(s.pool) == 7);
		stage_close(&s);
	}
}

TEST(what_is_owed_is_paid_by_a_reclaim)
{
	on_every_kind(owe);
}

/* ---- Trimming ---- */

/* Memory of free objects goes back, not that of retired ones. */
static void trim(const struct kind *kind)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[MOST];
		struct stage s;

		open_with(&s, kind, how, 0);
		REQUIRE(lfpool_grow(s.pool, MOST) == MOST - FIRST);
		REQUIRE(acquire_all(s.pool, objects, MOST) == MOST);
		for (size_t i = 0; i < MOST; i++)
			mark_write(objects[i], i);
		REQUIRE(lfpool_retire_bulk(s.pool, objects, MOST / 3) == MOST / 3);
		REQUIRE(lfpool_release_bulk(s.pool, objects + MOST / 3, MOST / 3) == MOST / 3);
		while (lfpool_trim(s.pool, 0, SIZE_MAX))
			;
		marks_hold(objects, MOST / 3);
		require_so_many(&s, MOST, MOST / 3, MOST / 3);
		REQUIRE(lfpool_shrink(s.pool, MOST / 3) == MOST / 3);
		marks_hold(objects, MOST / 3);
		require_so_many(&s, MOST - MOST / 3, MOST / 3, MOST / 3);
		fake_end_all(&fake, s.pool);
		REQUIRE(lfpool_release_all(s.pool) == MOST / 3);
		stage_close(&s);
	}
}

TEST(trimming_and_shrinking_leave_them_alone)
{
	on_every_kind(trim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(a_pool_grows_while_objects_are_retired),
		cmocka_unit_test(there_is_room_for_all_that_a_pool_can_grow_to),
		KIND_TEST(a_pool_grows_by_itself),
		KIND_TEST(what_is_owed_is_paid_by_a_reclaim),
		KIND_TEST(trimming_and_shrinking_leave_them_alone),
	};

	return cmocka_run_group_tests_name("retire: resizing", tests, NULL, NULL);
}
