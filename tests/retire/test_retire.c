/* SPDX-License-Identifier: MIT */
/*
 * test_retire.c - what lfpool/retire.h promises about a retired object: its use is over, but it is not free, and
 * nothing happens to it, until its batch is reclaimed.  What a shrink is owed is paid by that.  On every kind of pool, with a scheme
 * that is asked and one that is not.
 *
 * (Any sequence of calls, with fork and with a destroy that is refused, against a model: verify/pairs.)
 */
#include "../support/scheme_stage.h"

enum { CAPACITY = 40, RETIRED = 15, FIRST = 12, MOST = 60 };

static bool on_the_heap(const struct stage *s)
{
	return lfpool_backend(s->pool) == LFPOOL_BACKEND_MALLOC;
}

/* What every account says of `active` objects in use and `retired` ones. */
static void require_accounts(const struct stage *s, size_t active, size_t retired)
{
	const lfpool_stats_t stats = stats_of(s->pool);

	require_intact(s->pool);
	REQUIRE(lfpool_retired_count(s->pool) == retired);
	REQUIRE(lfpool_active_count(s->pool) == active + retired);
	REQUIRE(lfpool_available_count(s->pool) == lfpool_capacity(s->pool) - active - retired);
	REQUIRE(stats.active == active);
	REQUIRE(stats.retired == retired);
	REQUIRE(stats.unaccounted == 0);
	REQUIRE(stats.active + stats.retired + stats.cached + stats.shared + stats.untouched == stats.capacity);
}

/* ---- One object after the other ---- */

struct met {
	void *const *retired;
	size_t visits;
};

static bool meets_no_retired(void *context, void *object)
{
	struct met *met = context;

	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(object != met->retired[i]);
	met->visits++;
	return true;
}

static bool marks_none_active(void *context, void *object, bool active)
{
	return active ? meets_no_retired(context, object) : true;
}

/* objects[0 .. RETIRED - 1] are retired, the others active. */
static void require_out_of_sight(const struct stage *s, void **objects, const lfpool_handle_t *handles)
{
	void *copied[CAPACITY + 1];
	struct met met = {.retired = objects};
	lfpool_cursor_t cursor;

	for (size_t i = 0; i < CAPACITY; i++) {
		const bool active = i >= RETIRED;

		REQUIRE(lfpool_resolve(s->pool, handles[i]) == (active ? objects[i] : NULL));
		REQUIRE(lfpool_handle_of(s->pool, objects[i]) == (active ? handles[i] : 0));
		REQUIRE(lfpool_in_use(s->pool, objects[i]) == active);
		REQUIRE(lfpool_owns(s->pool, objects[i]));
		REQUIRE(mark_holds(objects[i], i));
	}
	REQUIRE(lfpool_for_each_active(s->pool, meets_no_retired, &met) == CAPACITY - RETIRED);
	met.visits = 0;
	(void)lfpool_for_each_slot(s->pool, marks_none_active, &met);
	/* There free slots have no memory, and nothing is visited. */
	REQUIRE(met.visits == (on_the_heap(s) ? 0 : CAPACITY - RETIRED));
	REQUIRE(lfpool_copy_active(s->pool, copied, CAPACITY + 1) == CAPACITY - RETIRED);
	for (size_t i = 0; i < CAPACITY - RETIRED; i++)
		(void)meets_no_retired(&met, copied[i]);
	lfpool_cursor_open(&cursor, s->pool);
	for (const void *object; (object = lfpool_cursor_next(&cursor));)
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(object != objects[i]);
}

STAGED_TEST(a_retired_object_is_neither_in_use_nor_free, CAPACITY, 0)
{
	lfpool_handle_t handles[CAPACITY];
	void *objects[CAPACITY + 1], *again[RETIRED + 1];

	REQUIRE(acquire_all(s->pool, objects, CAPACITY + 1) == CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		mark_write(objects[i], i);
		REQUIRE(handles[i] = lfpool_handle_of(s->pool, objects[i]));
	}
	for (size_t i = 0; i < RETIRED; i++) {
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
		require_accounts(s, CAPACITY - i - 1, i + 1);
	}
	REQUIRE(lfpool_retire(s->pool, NULL) == LFPOOL_OK);
	require_out_of_sight(s, objects, handles);
	REQUIRE(!lfpool_acquire(s->pool));
	REQUIRE(lfpool_acquire_bulk(s->pool, again, RETIRED) == 0);
	REQUIRE(!lfpool_acquire_wait(s->pool, 1000));
	/* Each of these asked in vain. */
	require_out_of_sight(s, objects, handles);
	REQUIRE(s->deactivated == 0 && s->destroyed == 0);
	/* The first went alone, and the others together after it. */
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, CAPACITY - RETIRED, RETIRED - 1);
	REQUIRE(fake_period(s->pool) == 1);
	require_accounts(s, CAPACITY - RETIRED, 0);
	REQUIRE(fake_period(s->pool) == 0);
	REQUIRE(s->deactivated == (s->kind->hooks ? RETIRED : 0));
	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(!lfpool_in_use(s->pool, objects[i]));
	REQUIRE(acquire_all(s->pool, again, RETIRED + 1) == RETIRED);
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(lfpool_resolve(s->pool, handles[i]) == (i < RETIRED ? NULL : objects[i]));
	memcpy(objects, again, RETIRED * sizeof(*objects));
	REQUIRE(sort_disjoint(objects, CAPACITY, SIZE));
	release_all(s->pool, objects, CAPACITY);
}

/* ---- Growing, shrinking, trimming ---- */

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

STAGED_TEST(what_is_owed_is_paid_by_a_reclaim, FIRST, MOST)
{
	void *objects[FIRST];

	REQUIRE(acquire_all(s->pool, objects, FIRST) == FIRST);
	for (size_t i = 0; i < FIRST; i++)
		mark_write(objects[i], i);
	for (size_t i = 0; i < 8; i++)
		REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
	/* None is free: nothing goes yet. */
	REQUIRE(lfpool_shrink(s->pool, 5) == 0);
	REQUIRE(lfpool_shrink_owed(s->pool) == 5);
	for (size_t i = 0; i < FIRST; i++)
		REQUIRE(mark_holds(objects[i], i));
	require_accounts(s, 4, 8);
	/* The first, which went alone, pays one. */
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(lfpool_shrink_owed(s->pool) == 4);
	require_accounts(s, 4, 7);
	REQUIRE(!lfpool_acquire(s->pool));
	/* Of the next seven four go, and three are free. */
	REQUIRE(fake_period(s->pool) == 1);
	REQUIRE(lfpool_shrink_owed(s->pool) == 0);
	require_accounts(s, 4, 0);
	/* The malloc backend takes down each that is released. */
	if (s->kind->hooks)
		REQUIRE(s->destroyed == (s->kind->backend == LFPOOL_BACKEND_MALLOC ? 8 : 5));
	REQUIRE(acquire_all(s->pool, objects, FIRST) == 3);
	REQUIRE(lfpool_release_all(s->pool) == 7);
}

/* ---- At the end ---- */

/* Destroying the pool ends the grace periods first: deactivate, then destroy, for each. */
KIND_TEST(destroy_reclaims_first)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		void *objects[CAPACITY];
		struct stage s;

		scheme_stage_open(&s, kind, how, CAPACITY, 0);
		REQUIRE(acquire_all(s.pool, objects, CAPACITY) == CAPACITY);
		for (size_t i = 0; i < RETIRED; i++)
			REQUIRE(lfpool_retire(s.pool, objects[i]) == LFPOOL_OK);
		/* The malloc backend leaves alone what is active. */
		release_all(s.pool, objects + RETIRED, CAPACITY - RETIRED - 1);
		const size_t active = !on_the_heap(&s);

		if (!active)
			REQUIRE(lfpool_release(s.pool, objects[CAPACITY - 1]) == LFPOOL_OK);
		atomic_store(&fake.yes, true);
		REQUIRE(lfpool_destroy(s.pool) == active);
		REQUIRE(fake.begun == 2 && fake.ended == 2);
		REQUIRE(s.created == s.destroyed);
		REQUIRE(s.activated == s.deactivated);
		REQUIRE(s.findings == 0);
	}
}

RUN_TESTS()
