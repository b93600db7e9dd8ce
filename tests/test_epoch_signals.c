/* SPDX-License-Identifier: MIT */
/*
 * test_epoch_signals.c - handlers take objects out of a pool with lfpool/epoch.h, wherever they meet threads that defer.
 *
 * Idea         Threads retire what they hold, each in a section of its own, out of a pool so small that nothing is to be had
 *              before something is due.  A handler that finds nothing asks the scheme: in the middle of the interrupted
 *              call's asking, too.  What is retired keeps its stamp while a section lasts that began before.
 */
#include "epoch_support.h"

#include <sched.h>
#include <signal.h>

enum { SIZE = 40, CAPACITY = 24, THREADS = 2, MOST = 6, SIGNALS = TIMES(400, 100) };

static struct scene scene;
static _Atomic(bool) stop;
static _Atomic(unsigned long) handled, got;

/* Known to the handler of that thread: written before the first signal. */
static __thread lfpool_cache_t *handlers_cache;
static __thread uint64_t handlers_stamp;

static void on_signal(int number)
{
	const int errno_before = errno;
	void *objects[MOST];
	size_t count = 0;

	(void)number;
	handlers_stamp += MOST;
	while (count < MOST && (objects[count] = lfpool_cache_acquire(handlers_cache)))
		count++;
	/* relaxed, here and below: numbers. */
	(void)atomic_fetch_add_explicit(&got, count, memory_order_relaxed);
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects[i]), SIZE, handlers_stamp + i);
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_in_use(scene.pool, objects[i]) && stamp_holds(objects[i], SIZE, handlers_stamp + i));
	while (count-- > 0)
		REQUIRE(lfpool_cache_release(handlers_cache, objects[count]) == LFPOOL_OK);
	REQUIRE(errno == errno_before);
	(void)atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

struct worker {
	pthread_t thread;
	pthread_barrier_t *ready;
	uint64_t stamp;
};

/* Retires some objects and sees them keep what is in them until the section ends. */
static void retire_some(ck_epoch_record_t *record, size_t wanted, uint64_t stamp)
{
	void *objects[MOST];
	size_t count = 0;

	ck_epoch_begin(record, NULL);
	while (count < wanted && (objects[count] = lfpool_acquire(scene.pool)))
		count++;
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects[i]), SIZE, stamp + i);
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_release_epoch(scene.pool, record, objects[i]) == LFPOOL_OK);
	for (size_t i = 0; i < count; i++)
		REQUIRE(stamp_holds(objects[i], SIZE, stamp + i));
	TELL_RELEASE(&sections);
	(void)ck_epoch_end(record, NULL);
}

static void *work(void *argument)
{
	const struct worker *w = argument;
	ck_epoch_record_t *record = record_new(&scene.epoch);
	uint64_t stamp = w->stamp;

	handlers_stamp = stamp | UINT64_C(1) << 60;
	handlers_cache = lfpool_cache_create(scene.pool);
	REQUIRE(handlers_cache);
	pthread_barrier_wait(w->ready);
	for (size_t i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++, stamp += MOST)
		retire_some(record, 1 + i % MOST, stamp);
	ck_epoch_unregister(record);
	return NULL;
}

TEST(handlers_ask_where_threads_retire_and_ask)
{
	struct worker workers[THREADS];
	pthread_barrier_t ready;

	open_scene(&scene, SIZE, CAPACITY);
	pthread_barrier_init(&ready, NULL, THREADS + 1);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.ready = &ready, .stamp = (uint64_t)(i + 1) << 48};
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	pthread_barrier_wait(&ready);
	for (unsigned i = 0; i < SIGNALS; i++) {
		REQUIRE(pthread_kill(workers[i % THREADS].thread, SIGUSR1) == 0);
		/* Two that come at once would be one. */
		while (i % THREADS == THREADS - 1 && atomic_load(&handled) <= i)
			(void)sched_yield();
	}
	atomic_store(&stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_barrier_destroy(&ready);
	assert_true(atomic_load(&got) > 0);
	assert_int_equal(lfpool_misuse_count(scene.pool), 0);
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handlers_ask_where_threads_retire_and_ask),
	};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	return cmocka_run_group_tests_name("epoch_signals", tests, NULL, NULL);
}
