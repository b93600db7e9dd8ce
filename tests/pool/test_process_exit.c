/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_process_exit.c - a pool that is used and destroyed from an atexit handler, while threads that used it are
 * still alive.
 *
 * Each scene is a process of its own, which ends through exit(); what it says is its exit status.
 */
#include "../support/support.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

enum { CAPACITY = 100, FINE = 42 };

static lfpool_t *pool;
static sem_t cached;

/* Caches most of the pool's objects and stays. */
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
	_exit(FINE);
}

static void leave(void)
{
	pthread_t thread;
	lfpool_config_t config = config_of(64, CAPACITY);

	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	REQUIRE(sem_init(&cached, 0, 0) == 0);
	thread_start(&thread, stay, NULL);
	while (sem_wait(&cached))
		;
	REQUIRE(atexit(use_and_destroy) == 0);
	exit(1);
}

TEST(a_pool_is_destroyed_by_an_atexit_handler)
{
	for (int i = 0; i < TIMES(20, 5); i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			leave();
		assert_true(child > 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), FINE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_is_destroyed_by_an_atexit_handler),
	};

	return cmocka_run_group_tests_name("process_exit", tests, NULL, NULL);
}
