/* SPDX-License-Identifier: MIT */
/*
 * failures_priority.c - the operating system refuses the n-th call while an evicting pool is made and used, for every n: it
 * is not made, and nothing is left behind; or it works.
 *
 * Idea         Calls that meet at one object take records from a pool, and their threads a cache of it.  So two threads
 *              change one object until they have met: mostly they do, and then the calls after those that make the pool are
 *              refused, too; how many they were is said.
 */
#include "../support/held.h"
#include "../support/priority_support.h"

#include <errno.h>

enum { SIZE = 24, CAPACITY = 20, UPDATES = 30000, CALLS = 16 };

struct meeting {
	lfpool_priority_t *pool;
	lfpool_handle_t handle;
	pthread_barrier_t start;
};

static void *update_often(void *argument)
{
	struct meeting *m = argument;

	(void)pthread_barrier_wait(&m->start);
	errno = 0;
	for (uint64_t i = 0; i < UPDATES; i++)
		REQUIRE(lfpool_priority_update(m->pool, m->handle, i) == LFPOOL_OK);
	REQUIRE(errno == 0);
	return NULL;
}

static void meet(lfpool_priority_t *pool, lfpool_handle_t handle)
{
	struct meeting m = {.pool = pool, .handle = handle};

	REQUIRE(pthread_barrier_init(&m.start, NULL, 2) == 0);
	threads_run(2, update_often, &m, 0);
	pthread_barrier_destroy(&m.start);
}

static void live(lfpool_priority_t *pool)
{
	lfpool_handle_t handles[CAPACITY];

	errno = 0;
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(handles[i] = priority_put(pool, 20 + i));
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(handles[i] = priority_put(pool, 50 + i));
	meet(pool, handles[3]);
	REQUIRE(lfpool_priority_release_min(pool, CAPACITY + 1) == CAPACITY);
	REQUIRE(errno == 0);
}

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(uint32_t flags, unsigned long n)
{
	lfpool_priority_config_t config = priority_config_of(SIZE, CAPACITY);
	lfpool_priority_t *pool = (lfpool_priority_t *)(uintptr_t)1;

	config.flags = flags;
	(void)os_testing_refuse(n);
	const lfpool_status_t status = lfpool_priority_create(&pool, &config);

	if (status != LFPOOL_OK) {
		assert_true(status == LFPOOL_E_NO_MEMORY || (flags & LFPOOL_LOCK && status == LFPOOL_E_LOCK));
		assert_null(pool);
		return os_testing_refuse(0) >= n;
	}
	live(pool);
	const bool refused = os_testing_refuse(0) >= n;

	live(pool);
	priority_close(pool, SIZE);
	return refused;
}

/* This thread has a table of caches from here on: only if two threads met would it take a spare record, and get one. */
static void get_a_table(void)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);

	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

static void refuse_each_in_turn(uint32_t flags)
{
	unsigned long refused = 0;

	/* Once undisturbed: this thread's own table and the list of pools stay for the next pool. */
	get_a_table();
	(void)scenario(flags, 0);
	const struct held before = held_now();

	for (unsigned long n = 1; n <= CALLS; n++) {
		refused += scenario(flags, n);
		require_held(before);
	}
	print_message("flags %x: each of %lu calls refused\n", (unsigned)flags, refused);
	assert_true(refused > 2 && refused < CALLS);
}

TEST(the_first_pool_of_a_process)
{
	for (unsigned long n = 1; n <= 3; n++) {
		lfpool_priority_config_t config = priority_config_of(SIZE, CAPACITY);
		lfpool_priority_t *pool = (lfpool_priority_t *)(uintptr_t)1;

		(void)os_testing_refuse(n);
		const lfpool_status_t status = lfpool_priority_create(&pool, &config);

		(void)os_testing_refuse(0);
		if (status == LFPOOL_OK) {
			assert_int_equal(lfpool_priority_destroy(pool), 0);
			continue;
		}
		assert_true(status == LFPOOL_E_NO_MEMORY && !pool);
		assert_int_equal(held_now().mapped, 0);
	}
}

TEST(each_call_refused)
{
	refuse_each_in_turn(0);
	refuse_each_in_turn(LFPOOL_PREFAULT);
	refuse_each_in_turn(LFPOOL_LOCK | LFPOOL_EVICT_EQUAL);
	refuse_each_in_turn(LFPOOL_LOCK | LFPOOL_PREFAULT);
}

RUN_TESTS()
