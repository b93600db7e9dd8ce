/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_walk_threads.c - walks while other threads acquire, singly and in bulk: the writes of LFPOOL_ZERO are visible,
 * although only the walk orders them.  (Writes of hooks.activate: the programs walk-hooks-* of verify/explore.)
 *
 * That an object active throughout is visited once, and none twice: the scenario walk of lfpool-stress.
 */
#include "../support/workers.h"

enum { EACH = 1000, THREADS = 3, ALL = THREADS * EACH, MANY = 200, SIZE = 64 };

/* The first thread by single calls, the others in bulk. */
static void acquire_many(struct worker *me)
{
	const size_t at_once = me->number ? MANY : 1;
	void *objects[MANY];

	for (size_t i = 0; i < EACH; i += at_once)
		REQUIRE(lfpool_acquire_bulk(me->scene, objects, at_once) == at_once);
}

static bool look(void *context, void *object)
{
	REQUIRE(all_bytes_are(object, SIZE, 0));
	++*(size_t *)context;
	return true;
}

/* Three threads acquire all objects; meanwhile walks check the objects they visit. */
static void look_while_acquired(lfpool_t *pool)
{
	struct workers workers;
	size_t seen;

	workers_start(&workers, THREADS, acquire_many, pool, 0);
	do {
		seen = 0;
		REQUIRE(lfpool_for_each_active(pool, look, &seen) == seen);
	} while (seen < ALL);
	(void)workers_join(&workers);
}

static int compare_addresses_down(const void *a, const void *b)
{
	return compare_addresses(b, a);
}

BACKEND_TEST(walk_during_acquires_sees_zeroed_objects, LFPOOL_BACKEND_MUTEX)
{
	void **objects = pointers_new(ALL);

	for (size_t round = 0; round < TIMES(30, 10); round++) {
		lfpool_t *pool = POOL_OF(SIZE, ALL, .backend = backend, .flags = LFPOOL_ZERO);

		assert_int_equal(acquire_all(pool, objects, ALL), ALL);
		for (size_t i = 0; i < ALL; i++)
			memset(objects[i], 0xff, SIZE);
		/* Bulk calls acquire them in ascending or descending order. */
		qsort(objects, ALL, sizeof(*objects), round % 2 ? compare_addresses : compare_addresses_down);
		release_all(pool, objects, ALL);
		look_while_acquired(pool);
		assert_int_equal(lfpool_destroy(pool), ALL);
	}
	free(objects);
}

RUN_TESTS()
