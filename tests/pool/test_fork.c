/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork.c - the child of a fork is not locked out of its copy of the pool, whatever other threads were doing at that moment.
 *
 * (Every object that was not active is there for it, at any instruction of any call, evicting pools too: verify/step, step.fork and
 * step.evict.fork.)
 */
#include "../support/child.h"
#include "../support/workers.h"

enum { SIZE = 40, CAPACITY = 400, WORKERS = 3, MANY = 200 };

/*
 * Others make and destroy pools, and exit with caches in many of them; all of that takes the library's lock, the last
 * for longest.  The child's first call on a pool must not wait for it; and the child may make pools and start threads
 * of its own.
 */
static void *visit_many_and_exit(void *argument)
{
	lfpool_t **many = argument;

	for (size_t i = 0; i < MANY; i++)
		REQUIRE(lfpool_release(many[i], lfpool_acquire(many[i])) == LFPOOL_OK);
	return NULL;
}

static void make_pools(struct worker *me)
{
	while (!told_to_end(me)) {
		threads_run(1, visit_many_and_exit, me->scene, 0);
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
		lfpool_destroy(pool);
	}
}

static void *use(void *argument)
{
	lfpool_t *pool = argument;
	void *objects[CAPACITY];

	REQUIRE(acquire_all(pool, objects, CAPACITY) == CAPACITY);
	release_all(pool, objects, CAPACITY);
	return NULL;
}

static void first_call(void *argument)
{
	(void)use(argument);
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	(void)use(pool);
	threads_run(1, use, argument, 0);
	threads_run(1, use, pool, 0);
	(void)use(argument);
	REQUIRE(lfpool_destroy(pool) == 0);
}

TEST(a_child_is_not_locked_out)
{
	lfpool_t *many[MANY];
	struct workers workers;

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	for (size_t i = 0; i < MANY; i++)
		many[i] = pool_of(SIZE, WORKERS);
	workers_start(&workers, WORKERS, make_pools, many, 0);
	for (int round = 0; round < 200; round++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		child_run(first_call, pool);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	(void)workers_end(&workers);
	for (size_t i = 0; i < MANY; i++)
		pool_close(many[i], SIZE);
}

RUN_TESTS()
