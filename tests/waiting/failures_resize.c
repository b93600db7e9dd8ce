/* SPDX-License-Identifier: MIT */
/*
 * failures_resize.c - the operating system refuses the n-th call while a pool grows, shrinks and is waited for, for every
 * n: fewer objects are added, a continuation is not queued, and nothing is lost.
 */
#include "../support/support.h"

#include "os/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 24, FIRST = 20, MOST = 400, ASKS = 70 };

static struct {
	size_t mapped, blocks;
} before, after;

static void count_call(void *context, lfpool_t *pool, void *object)
{
	atomic_fetch_add((atomic_size_t *)context, 1);
	REQUIRE(!object || lfpool_release(pool, object) == LFPOOL_OK);
}

static void *wait_a_little(void *pool)
{
	errno = 0;
	REQUIRE(!lfpool_acquire_wait(pool, 1000));
	REQUIRE(errno == 0);
	return NULL;
}

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(const lfpool_config_t *config, unsigned long n)
{
	lfpool_t *pool = pool_with(config);
	void **objects = pointers_new(MOST);
	lfpool_ticket_t tickets[ASKS];
	atomic_size_t calls = 0;
	size_t queued = 0, cancelled = 0;
	pthread_t thread;

	/* The thread's own cache. */
	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	(void)os_testing_refuse(n);
	size_t count = acquire_all(pool, objects, MOST), capacity = lfpool_capacity(pool);

	/* By itself: where growing was refused, the call says NULL; and the next one may grow after all. */
	REQUIRE(count >= FIRST && count <= capacity);
	size_t added = lfpool_grow(pool, 50);

	REQUIRE(added <= 50 && lfpool_capacity(pool) == capacity + added);
	capacity += added;
	count += acquire_all(pool, objects + count, MOST - count);
	capacity = lfpool_capacity(pool);
	REQUIRE(lfpool_limit(pool, 0) == LFPOOL_OK);
	count += acquire_all(pool, objects + count, MOST - count);
	REQUIRE(count == capacity);
	REQUIRE(lfpool_shrink(pool, 5) == 0 && lfpool_shrink_owed(pool) == 5);
	for (size_t i = 0; i < ASKS; i++) {
		lfpool_status_t status = lfpool_acquire_async(pool, count_call, &calls, &tickets[queued]);

		REQUIRE(status == LFPOOL_OK || status == LFPOOL_E_NO_MEMORY);
		queued += status == LFPOOL_OK;
	}
	REQUIRE(calls == 0 && queued + 1 >= ASKS - 32);
	thread_start(&thread, wait_a_little, pool);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < queued; i += 2)
		cancelled += lfpool_cancel(pool, tickets[i]);
	bool refused = os_testing_refuse(0) >= n;

	REQUIRE(cancelled == (queued + 1) / 2);
	release_all(pool, objects, count);
	REQUIRE(calls == queued - cancelled);
	REQUIRE(lfpool_capacity(pool) == capacity - 5);
	require_whole(pool, SIZE);
	/* What was refused is possible now. */
	REQUIRE(lfpool_limit(pool, MOST) == LFPOOL_OK);
	REQUIRE(lfpool_reserve(pool, MOST) == MOST - (capacity - 5));
	REQUIRE(lfpool_limit(pool, 0) == LFPOOL_OK);
	require_whole(pool, SIZE);
	free(objects);
	assert_int_equal(lfpool_destroy(pool), 0);
	return refused;
}

static void refuse_each_in_turn(uint32_t flags, lfpool_backend_t backend, size_t step)
{
	lfpool_config_t config = config_of(SIZE, FIRST);
	unsigned long n = 1;

	config.flags = flags;
	config.backend = backend;
	config.max_capacity = MOST;
	config.growth_step = step;
	(void)scenario(&config, 0);
	os_testing_held(&before.mapped, &before.blocks);
	for (; scenario(&config, n); n++) {
		os_testing_held(&after.mapped, &after.blocks);
		assert_int_equal(after.mapped, before.mapped);
		assert_int_equal(after.blocks, before.blocks);
	}
	print_message("flags %x, backend %d: each of %lu calls refused\n", (unsigned)flags, (int)backend, n - 1);
	assert_true(n > 1);
}

TEST(lockfree)
{
	refuse_each_in_turn(0, LFPOOL_BACKEND_LOCKFREE, 0);
	refuse_each_in_turn(0, LFPOOL_BACKEND_LOCKFREE, 7);
	refuse_each_in_turn(LFPOOL_PREFAULT, LFPOOL_BACKEND_LOCKFREE, 40);
	refuse_each_in_turn(LFPOOL_ZERO, LFPOOL_BACKEND_LOCKFREE, 500);
}

TEST(mutex)
{
	refuse_each_in_turn(0, LFPOOL_BACKEND_MUTEX, 0);
	refuse_each_in_turn(LFPOOL_PREFAULT, LFPOOL_BACKEND_MUTEX, 40);
}

RUN_TESTS()
