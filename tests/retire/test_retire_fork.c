/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_fork.c - the child of a fork has its copy of what is retired, and goes on retiring and reclaiming; the
 * parent notices nothing.
 */
#include "../support/child.h"
#include "../support/schemes.h"

#include <sched.h>

enum { SIZE = 40, CAPACITY = 300, RETIRED = 100, ACTIVE = 20 };

struct scene {
	lfpool_t *pool;
	void *objects[CAPACITY];
	atomic_bool stop;
};

/* ---- Nobody is inside a call ---- */

static void require_as_left(struct scene *s)
{
	REQUIRE(lfpool_retired_count(s->pool) == RETIRED);
	REQUIRE(lfpool_active_count(s->pool) == RETIRED + ACTIVE);
	for (size_t i = 0; i < RETIRED + ACTIVE; i++)
		REQUIRE(stamp_holds(s->objects[i], SIZE, i));
	require_intact(s->pool);
}

static void go_on(void *argument)
{
	struct scene *s = argument;
	void *objects[CAPACITY];

	require_as_left(s);
	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == CAPACITY - RETIRED - ACTIVE);
	REQUIRE(lfpool_retire_bulk(s->pool, objects, 50) == 50);
	fake_end_all(s->pool);
	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == RETIRED + 50);
	for (size_t i = 0; i < ACTIVE; i++)
		REQUIRE(lfpool_retire(s->pool, s->objects[RETIRED + i]) == LFPOOL_OK);
	REQUIRE(lfpool_release_all(s->pool) == CAPACITY - ACTIVE);
	/* The one that went alone, and the rest. */
	atomic_store(&fake.yes, true);
	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	pool_close(s->pool, SIZE);
}

TEST(a_child_goes_on_with_what_is_retired)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		struct scene s = {.pool = POOL_OF(SIZE, CAPACITY, .scheme = fake_scheme(how))};

		assert_int_equal(lfpool_acquire_bulk(s.pool, s.objects, RETIRED + ACTIVE), RETIRED + ACTIVE);
		for (size_t i = 0; i < RETIRED + ACTIVE; i++)
			stamp_write(s.objects[i], SIZE, i);
		for (size_t i = 0; i < RETIRED; i++)
			assert_int_equal(lfpool_retire(s.pool, s.objects[i]), LFPOOL_OK);
		for (int round = 0; round < 3; round++) {
			child_run(go_on, &s);
			require_as_left(&s);
		}
		fake_end_all(s.pool);
		assert_int_equal(lfpool_release_bulk(s.pool, s.objects + RETIRED, ACTIVE), ACTIVE);
		pool_close(s.pool, SIZE);
	}
}

/* ---- Others are in the middle of retiring and reclaiming ---- */

static void *retire_on(void *argument)
{
	struct scene *s = argument;
	void *objects[8];

	while (!atomic_load(&s->stop)) {
		const size_t count = lfpool_acquire_bulk(s->pool, objects, COUNT(objects));

		REQUIRE(lfpool_retire_bulk(s->pool, objects, count) == count);
		(void)lfpool_retire_poll(s->pool);
	}
	return NULL;
}

/* What lies in a place whose thread was inside the scheme is lost to the child; it retires elsewhere, and gets
 * that back. */
static void go_on_alone(void *argument)
{
	struct scene *s = argument;
	static void *objects[CAPACITY];
	size_t first, again;

	while (lfpool_retire_poll(s->pool))
		;
	first = acquire_all(s->pool, objects, CAPACITY);
	REQUIRE(sort_disjoint(objects, first, SIZE));
	REQUIRE(first >= ACTIVE);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < first; i++)
			stamp_write(objects[i], SIZE, i);
		for (size_t i = 0; i < first; i++)
			REQUIRE(stamp_holds(objects[i], SIZE, i));
		for (size_t i = 0; i < first; i++)
			REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
		while (lfpool_retire_poll(s->pool))
			;
		again = acquire_all(s->pool, objects, CAPACITY);
		REQUIRE(again >= first && sort_disjoint(objects, again, SIZE));
		first = again;
	}
	REQUIRE(lfpool_misuse_count(s->pool) == 0);
}

TEST(a_child_goes_on_though_others_were_retiring)
{
	struct scene s = {.pool = POOL_OF(SIZE, CAPACITY, .scheme = fake_scheme(ASKED))};

	/* These the others do not have: there is always something to be had. */
	assert_int_equal(lfpool_acquire_bulk(s.pool, s.objects, ACTIVE), ACTIVE);
	atomic_store(&fake.yes, true);
	const struct threads threads = threads_start(2, retire_on, &s, 0);

	for (int round = 0; round < TIMES(30, 5); round++) {
		usleep(1000);
		child_run(go_on_alone, &s);
	}
	atomic_store(&s.stop, true);
	threads_join(&threads);
	fake_end_all(s.pool);
	assert_int_equal(lfpool_release_bulk(s.pool, s.objects, ACTIVE), ACTIVE);
	pool_close(s.pool, SIZE);
}

RUN_TESTS()
