/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_close.c - a pool is closed while its threads run: acquires get nothing, objects in use are released, and no
 * call waits for ever.  (A closed pool has no objects to inspect: stage_end() instead of stage_close().) */
#include "../support/waiters.h"

KIND_TEST(close_takes_free_objects_and_awaits_active_ones)
{
	struct stage s;
	void *objects[10], *one;

	stage_open_growing(&s, kind, 10, 20, 5);
	assert_int_equal(acquire_all(s.pool, objects, 4), 4);
	assert_int_equal(lfpool_close(s.pool, 0), 4);
	require_counts(s.pool, 4, 4);
	/* No object by any call, and no growth. */
	assert_null(lfpool_acquire(s.pool));
	assert_null(lfpool_acquire_wait(s.pool, FOR_EVER));
	assert_int_equal(lfpool_acquire_bulk(s.pool, &one, 1), 0);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, &one, 1, FOR_EVER), LFPOOL_E_CLOSED);
	assert_int_equal(lfpool_grow(s.pool, 1), 0);
	assert_int_equal(lfpool_reserve(s.pool, 20), 0);
	assert_int_equal(lfpool_limit(s.pool, 20), LFPOOL_E_CLOSED);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 0);
	assert_int_equal(lfpool_quick_stats(s.pool).max_capacity, 0);
	for (size_t i = 0; i < 4; i++) {
		assert_true(lfpool_in_use(s.pool, objects[i]));
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		require_counts(s.pool, 3 - i, 3 - i);
		assert_null(lfpool_acquire(s.pool));
	}
	assert_int_equal(lfpool_close(s.pool, FOR_EVER), 0);
	stage_end(&s, 0);
}

KIND_TEST(close_times_out_with_objects_active)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	errno = 4711;
	for (int64_t ns = 0; ns <= 200000; ns = ns * 10 + 2) {
		const uint64_t start = now_ns();

		assert_int_equal(lfpool_close(s.pool, ns), FIRST);
		assert_true(now_ns() - start >= (uint64_t)ns);
	}
	assert_int_equal(errno, 4711);
	if (kind->hooks || kind->backend == LFPOOL_BACKEND_MALLOC) {
		release_all(s.pool, objects, FIRST);
		stage_end(&s, 0);
	} else {
		stage_end(&s, FIRST);
	}
}

/* ---- Calls that wait ---- */

static void told(void *context, lfpool_t *pool, void *object)
{
	atomic_size_t *count = context;

	REQUIRE(!object);
	/* It may use the pool, which gives it nothing. */
	REQUIRE(lfpool_acquire_async(pool, told, context, NULL) == LFPOOL_E_CLOSED);
	REQUIRE(lfpool_close(pool, 0) == FIRST);
	(*count)++;
}

KIND_TEST(close_ends_waiting_calls_and_calls_continuations)
{
	struct stage s;
	struct waiter waiters[THREADS] = {0};
	atomic_size_t calls = 0;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	for (size_t i = 0; i < THREADS; i++) {
		waiter_start(&waiters[i], &s);
		await_waiting(&s, 2 * i + 1);
		assert_int_equal(lfpool_acquire_async(s.pool, told, &calls, NULL), LFPOOL_OK);
	}
	assert_int_equal(lfpool_close(s.pool, 0), FIRST);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
		assert_null(waiters[i].object);
	}
	/* Called by any of these threads. */
	assert_int_equal(calls, THREADS);
	release_all(s.pool, objects, FIRST);
	assert_int_equal(lfpool_close(s.pool, FOR_EVER), 0);
	stage_end(&s, 0);
}

/* ---- While other calls run ---- */

enum { MEMBERS = 3, OBJECTS = 40, AT_ONCE = 3 };

static struct {
	struct stage *stage;
	atomic_size_t out; /* objects that their holders know to be out */
} play;

/* Until the pool is closed: holds some, waits for more, grows and shrinks the pool. */
static void *member(void *argument)
{
	lfpool_t *pool = play.stage->pool;
	void *held[AT_ONCE];
	size_t turn = (size_t)(uintptr_t)argument;

	for (;;) {
		const size_t count = 1 + turn++ % AT_ONCE;
		const lfpool_status_t status = lfpool_acquire_bulk_wait(pool, NULL, held, count, SHORT_NS);

		if (status == LFPOOL_E_CLOSED)
			return NULL;
		if (status != LFPOOL_OK) {
			/* Other threads may have made it too small. */
			(void)lfpool_grow(pool, 1);
			continue;
		}
		atomic_fetch_add(&play.out, count);
		if (turn % 5 == 0)
			(void)lfpool_grow(pool, turn % 7);
		if (turn % 7 == 0)
			(void)lfpool_shrink(pool, turn % 5);
		if (turn % 11 == 0)
			(void)lfpool_shrink_cancel(pool);
		atomic_fetch_sub(&play.out, count);
		REQUIRE(lfpool_release_bulk(pool, held, count) == count);
	}
}

KIND_TEST(close_during_concurrent_calls)
{
	for (int round = 0; round < TIMES(8, 3); round++) {
		struct stage s;
		struct threads threads;
		lfpool_stats_t stats;

		stage_open(&s, kind, MEMBERS * AT_ONCE, OBJECTS);
		play.stage = &s;
		threads = threads_start(MEMBERS, member, (void *)(uintptr_t)round, 0);
		/* Somewhere in the middle of their calls. */
		do
			assert_int_equal(lfpool_stats(s.pool, &stats), LFPOOL_OK);
		while (stats.acquires < (uint64_t)round * 10);
		assert_int_equal(lfpool_close(s.pool, FOR_EVER), 0);
		assert_int_equal(lfpool_capacity(s.pool), 0);
		threads_join(&threads);
		assert_int_equal(atomic_load(&play.out), 0);
		assert_int_equal(lfpool_close(s.pool, 0), 0);
		stage_end(&s, 0);
	}
}

RUN_TESTS()
