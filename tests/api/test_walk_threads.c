/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_walk_threads.c - walks while other threads acquire: what hooks.activate and LFPOOL_ZERO wrote is visible.
 *
 * That what is active throughout is visited once, and anything at most once: the scenario walk of lfpool-stress.
 */
#include "../support/workers.h"

enum { EACH = 1000, ALL = 3 * EACH };

/* ---- What hooks.activate wrote: no lock and no atomic orders it except the walk ---- */

struct made {
	uint64_t number, complement;
};

static bool make(void *context, void *object)
{
	struct made *made = object;

	(void)context;
	made->number = (uintptr_t)object;
	made->complement = ~made->number;
	return true;
}

static bool look(void *context, void *object)
{
	const struct made *made = object;

	REQUIRE(made->number == (uintptr_t)object && made->complement == ~made->number);
	++*(size_t *)context;
	return true;
}

static void acquire_many(struct worker *me)
{
	for (unsigned i = 0; i < EACH; i++)
		REQUIRE(lfpool_acquire(me->scene));
}

/* The first by single calls, the others in bulk. */
static void acquire_many_ways(struct worker *me)
{
	void *objects[200];

	if (me->number == 0)
		acquire_many(me);
	for (unsigned i = 0; me->number && i < EACH; i += COUNT(objects))
		REQUIRE(lfpool_acquire_bulk(me->scene, objects, COUNT(objects)) == COUNT(objects));
}

/* Three threads acquire all objects; walks look at what they visit meanwhile. */
static void look_while_acquired(lfpool_t *pool, bool (*looker)(void *, void *), void (*acquire)(struct worker *))
{
	struct workers workers;
	size_t seen;

	workers_start(&workers, 3, acquire, pool, 0);
	do {
		seen = 0;
		REQUIRE(lfpool_for_each_active(pool, looker, &seen) == seen);
	} while (seen < ALL);
	(void)workers_join(&workers);
	assert_int_equal(lfpool_destroy(pool), ALL);
}

BACKEND_TEST(what_activate_wrote_is_visible, LFPOOL_BACKEND_MUTEX)
{
	for (size_t round = 0; round < TIMES(30, 10); round++)
		look_while_acquired(POOL_OF(sizeof(struct made), ALL, .backend = backend, .hooks.activate = make), look,
				    acquire_many);
}

/* ---- What LFPOOL_ZERO wrote, too: by acquires of one, and of many ---- */

static int compare_addresses_down(const void *a, const void *b)
{
	return compare_addresses(b, a);
}

static bool look_at_zero(void *context, void *object)
{
	REQUIRE(all_bytes_are(object, 64, 0));
	++*(size_t *)context;
	return true;
}

BACKEND_TEST(what_is_visited_is_zeroed, LFPOOL_BACKEND_MUTEX)
{
	void **objects = pointers_new(ALL);

	for (size_t round = 0; round < TIMES(30, 10); round++) {
		lfpool_t *pool = POOL_OF(64, ALL, .backend = backend, .flags = LFPOOL_ZERO);

		assert_int_equal(acquire_all(pool, objects, ALL), ALL);
		for (size_t i = 0; i < ALL; i++)
			memset(objects[i], 0xff, 64);
		/* Bulk calls take them upwards or downwards. */
		qsort(objects, ALL, sizeof(*objects), round % 2 ? compare_addresses : compare_addresses_down);
		release_all(pool, objects, ALL);
		look_while_acquired(pool, look_at_zero, acquire_many_ways);
	}
	free(objects);
}

RUN_TESTS()
