/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_process_exit.c - a pool that is used and destroyed by an atexit handler, while threads that used it are still
 * running.
 *
 * The scene is a separate process, which ends through exit(1); the handler turns that into 0.
 */
#include "../support/child.h"

#include <semaphore.h>

enum { CAPACITY = 100 };

static lfpool_t *pool;
static sem_t cached;

/* Caches most of the pool's objects and keeps running. */
static void *stay(void *nothing)
{
	void *objects[CAPACITY];

	release_all(pool, objects, acquire_all(pool, objects, CAPACITY));
	REQUIRE(lfpool_acquire(pool));
	sem_post(&cached);
	for (;;)
		pause();
	return nothing;
}

static void use_and_destroy(void)
{
	void *objects[CAPACITY];
	size_t got = acquire_all(pool, objects, CAPACITY);

	REQUIRE(got == CAPACITY - 1);
	release_all(pool, objects, got);
	REQUIRE(lfpool_destroy(pool) == 1);
	_exit(0);
}

static void leave(void *nothing)
{
	(void)nothing;
	pool = pool_of(64, CAPACITY);
	REQUIRE(sem_init(&cached, 0, 0) == 0);
	(void)threads_start(1, stay, NULL, 0);
	while (sem_wait(&cached))
		;
	REQUIRE(atexit(use_and_destroy) == 0);
	exit(1);
}

TEST(a_pool_is_destroyed_by_an_atexit_handler)
{
	for (int i = 0; i < TIMES(20, 5); i++)
		child_run(leave, NULL);
}

RUN_TESTS()
