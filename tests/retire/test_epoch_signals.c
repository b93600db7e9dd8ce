/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_epoch_signals.c - signal handlers acquire objects from a pool with lfpool/epoch.h, wherever they interrupt
 * threads that defer.
 *
 * Idea         Threads retire their objects, each in a section, in a pool so small that a call finds nothing before a
 *              batch is due.  A handler that finds nothing polls the scheme, even in the middle of the interrupted
 *              call's poll.  A retired object keeps its stamp until sections that began before have ended.
 */
#include "../support/epoch_support.h"
#include "../support/workers.h"

#include <sched.h>
#include <signal.h>

enum { SIZE = 40, CAPACITY = 24, MOST = 6, SIGNALS = TIMES(400, 100), THREADS = 2 };

static lfpool_t *pool;
static _Atomic(unsigned) ready;
static _Atomic(unsigned long) handled, got;

/* For this thread's handler: written before the first signal. */
static _Thread_local lfpool_cache_t *handlers_cache;
static _Thread_local uint64_t handlers_stamp;

static void on_signal(int number)
{
	const int errno_before = errno;
	void *objects[MOST];
	size_t count = 0;

	(void)number;
	handlers_stamp += MOST;
	while (count < MOST && (objects[count] = lfpool_cache_acquire(handlers_cache)))
		count++;
	/* relaxed, here and below: counts. */
	(void)atomic_fetch_add_explicit(&got, count, memory_order_relaxed);
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects[i]), SIZE, handlers_stamp + i);
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_in_use(pool, objects[i]) && stamp_holds(objects[i], SIZE, handlers_stamp + i));
	while (count-- > 0)
		REQUIRE(lfpool_cache_release(handlers_cache, objects[count]) == LFPOOL_OK);
	REQUIRE(errno == errno_before);
	(void)atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

/* Retires some objects and checks that they keep their contents until the section ends. */
static void retire_some(size_t wanted, uint64_t stamp)
{
	void *objects[MOST];
	size_t count = 0;

	enter();
	while (count < wanted && (objects[count] = lfpool_acquire(pool)))
		count++;
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects[i]), SIZE, stamp + i);
	retire_each(pool, objects, count);
	for (size_t i = 0; i < count; i++)
		REQUIRE(stamp_holds(objects[i], SIZE, stamp + i));
	leave();
}

static void work(struct worker *me)
{
	uint64_t stamp = (uint64_t)(me->number + 1) << 48;

	join_readers();
	handlers_stamp = stamp | UINT64_C(1) << 60;
	REQUIRE(handlers_cache = lfpool_cache_create(pool));
	atomic_fetch_add(&ready, 1);
	for (size_t i = 0; !told_to_end(me); i++, stamp += MOST)
		retire_some(1 + i % MOST, stamp);
	leave_readers();
}

TEST(signal_handlers_poll_while_threads_retire)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct workers workers;

	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pool = readers_pool_of(SIZE, CAPACITY);
	workers_start(&workers, THREADS, work, NULL, 0);
	while (atomic_load(&ready) < THREADS)
		(void)sched_yield();
	for (size_t i = 0; i < SIGNALS; i++) {
		REQUIRE(pthread_kill(workers.worker[i % THREADS].thread, SIGUSR1) == 0);
		/* Two signals at once could merge into one. */
		while (i % THREADS == THREADS - 1 && atomic_load(&handled) <= i)
			(void)sched_yield();
	}
	(void)workers_end(&workers);
	assert_true(atomic_load(&got) > 0);
	assert_int_equal(lfpool_quick_stats(pool).misuses, 0);
	drain_and_destroy(pool, SIZE);
}

RUN_READERS_TESTS()
