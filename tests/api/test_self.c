/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_self.c - lfpool_of() and lfpool_release_self(): the pool of an address, among pools that come and go (of hundreds at once:
 * test_many_pools.c; where ranges end: unit_ranges.c; in the malloc backend: unit_handle.c).
 */
#include "../support/told.h"
#include "../support/workers.h"

enum { SIZE = 40, CAPACITY = 50 };

TEST(wrong_releases_are_refused_by_the_pool)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .hooks.misuse = hear);
	char *object = lfpool_acquire(pool);

	assert_int_equal(lfpool_release_self(NULL), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(&pool), LFPOOL_E_FOREIGN);
	assert_int_equal(told.count, 0);
	assert_int_equal(lfpool_release_self(object + 1), LFPOOL_E_INTERIOR);
	assert_int_equal(lfpool_release_self(object), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.count, 2);
	lfpool_destroy(pool);
}

/* ---- Threads ---- */

/* Has pools of its own, and asks for them while others come and go. */
static void use_own_pools(struct worker *me)
{
	lfpool_t *pools[5];

	for (size_t i = 0; i < COUNT(pools); i++)
		pools[i] = pool_of(SIZE, CAPACITY);
	while (!told_to_end(me) || me->count < 1000)
		for (size_t i = 0; i < COUNT(pools); i++, me->count++) {
			void *object = lfpool_acquire(pools[i]);

			REQUIRE(lfpool_of(object) == pools[i]);
			REQUIRE(lfpool_release_self(object) == LFPOOL_OK);
			REQUIRE(lfpool_release_self(&object) == LFPOOL_E_FOREIGN);
		}
	for (size_t i = 0; i < COUNT(pools); i++)
		REQUIRE(lfpool_destroy(pools[i]) == 0);
}

static void come_and_go(struct worker *me)
{
	lfpool_t *pools[40] = {NULL};

	for (int i = 0; i < TIMES(4000, 800); i++) {
		lfpool_t **pool = &pools[random_below(&me->random, COUNT(pools))];

		if (*pool) {
			pool_close(*pool, SIZE);
			*pool = NULL;
			continue;
		}
		*pool = pool_of(SIZE, CAPACITY);
		REQUIRE(lfpool_release_self(lfpool_acquire(*pool)) == LFPOOL_OK);
	}
	for (size_t k = 0; k < COUNT(pools); k++)
		REQUIRE(lfpool_destroy(pools[k]) == 0);
}

TEST(others_come_and_go_meanwhile)
{
	struct workers users;

	workers_start(&users, 2, use_own_pools, NULL, 0);
	workers_run(2, come_and_go, NULL, test_seed("others_come_and_go_meanwhile"));
	print_message("    %zu looks\n", workers_end(&users));
}

RUN_TESTS()
