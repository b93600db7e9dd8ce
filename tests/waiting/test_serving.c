/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_serving.c - continuations of pools in buffers do not nest, and objects that other threads release
 * meanwhile are not lost.
 *
 * Idea         With LFPOOL_EMBEDDED the pool counts the running continuations, instead of asking the thread, so each
 *              test is run with both libraries.  DEFERS: a running continuation delays those of other threads.
 */
#include "../support/workers.h"

enum { SIZE = 64, CALLS = 100000, THREADS = 4, ROUNDS = 2000 };

#ifdef LFPOOL_EMBEDDED
#define DEFERS 1
#else
#define DEFERS 0
#endif

static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES_WITH(SIZE, 0, 4, THREADS + 2)];

static lfpool_t *open_pool(size_t capacity)
{
	lfpool_config_t config = config_of(SIZE, capacity);
	lfpool_t *pool;

	config.buffer_caches = THREADS + 2;
	REQUIRE(lfpool_create_in(&pool, &config, memory, sizeof(memory)) == LFPOOL_OK);
	return pool;
}

/* ---- One thread ---- */

static unsigned calls, depth, deepest;

static void ask_again(void *context, lfpool_t *pool, void *object)
{
	deepest = ++depth > deepest ? depth : deepest;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	if (++calls < CALLS)
		REQUIRE(lfpool_acquire_async(pool, ask_again, context, NULL) == LFPOOL_OK);
	depth--;
}

TEST(continuations_that_ask_again_do_not_nest)
{
	lfpool_t *pool = open_pool(4);

	assert_int_equal(lfpool_acquire_async(pool, ask_again, NULL, NULL), LFPOOL_OK);
	assert_int_equal(calls, CALLS);
	assert_int_equal(deepest, 1);
	assert_int_equal(lfpool_destroy(pool), 0);
}

static void wait_for_more(void *context, lfpool_t *pool, void *object)
{
	void *another = lfpool_acquire_wait(pool, -1);

	REQUIRE(another && another != object);
	REQUIRE(!lfpool_acquire_wait(pool, 1000));
	REQUIRE(lfpool_release(pool, another) == LFPOOL_OK && lfpool_release(pool, object) == LFPOOL_OK);
	/* The released objects are free at once, not only when the continuation returns. */
	another = lfpool_acquire_wait(pool, -1);
	REQUIRE(another && lfpool_release(pool, another) == LFPOOL_OK);
	++*(unsigned *)context;
}

TEST(a_wait_inside_a_continuation_takes_a_free_object)
{
	lfpool_t *pool = open_pool(2);
	unsigned called = 0;

	assert_int_equal(lfpool_acquire_async(pool, wait_for_more, &called, NULL), LFPOOL_OK);
	assert_int_equal(called, 1);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* Another continuation is first in the queue, and runs only when this one has returned: a wait does not wait for it. */
static void wait_behind_another(void *context, lfpool_t *pool, void *object)
{
	const unsigned before = ++*(unsigned *)context;
	void *others[2];

	if (before == 1) {
		REQUIRE(lfpool_acquire_async(pool, wait_behind_another, context, NULL) == LFPOOL_OK);
		others[0] = lfpool_acquire_wait(pool, -1);
		REQUIRE(others[0] && lfpool_release(pool, others[0]) == LFPOOL_OK);
		REQUIRE(lfpool_acquire_bulk_wait(pool, NULL, others, 2, -1) == LFPOOL_OK);
		REQUIRE(lfpool_release_bulk(pool, others, 2) == 2);
		REQUIRE(*(unsigned *)context == before);
	}
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(a_wait_inside_a_continuation_does_not_wait_for_the_queue)
{
	lfpool_t *pool = open_pool(3);
	unsigned called = 0;

	assert_int_equal(lfpool_acquire_async(pool, wait_behind_another, &called, NULL), LFPOOL_OK);
	assert_int_equal(called, 2);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Other threads, while a continuation runs ---- */

struct scene {
	lfpool_t *pool;
	void *object; /* in use */
	atomic_uint called, asked, waits;
};

static void count_and_release(void *context, lfpool_t *pool, void *object)
{
	struct scene *s = context;

	atomic_fetch_add(&s->called, 1);
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
}

static void *queue_and_release(void *argument)
{
	struct scene *s = argument;

	REQUIRE(lfpool_acquire_async(s->pool, count_and_release, s, NULL) == LFPOOL_OK);
	REQUIRE(atomic_load(&s->called) == 0);
	REQUIRE(lfpool_release(s->pool, s->object) == LFPOOL_OK);
	return NULL;
}

static void let_another_queue(void *context, lfpool_t *pool, void *object)
{
	struct scene *s = context;
	pthread_t thread;

	thread_start(&thread, queue_and_release, s);
	REQUIRE(pthread_join(thread, NULL) == 0);
	REQUIRE(atomic_load(&s->called) == !DEFERS);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(a_release_of_another_thread_is_served_at_the_latest_when_the_continuation_returns)
{
	struct scene s = {.pool = open_pool(2)};

	s.object = lfpool_acquire(s.pool);
	assert_non_null(s.object);
	assert_int_equal(lfpool_acquire_async(s.pool, let_another_queue, &s, NULL), LFPOOL_OK);
	assert_int_equal(atomic_load(&s.called), 1);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

static void *wait_for_object(void *argument)
{
	struct scene *s = argument;
	void *object;

	atomic_store(&s->waits, 1);
	object = lfpool_acquire_wait(s->pool, -1);
	REQUIRE(object && lfpool_release(s->pool, object) == LFPOOL_OK);
	return NULL;
}

static void *release_object(void *argument)
{
	struct scene *s = argument;

	REQUIRE(lfpool_release(s->pool, s->object) == LFPOOL_OK);
	return NULL;
}

static void let_another_wait(void *context, lfpool_t *pool, void *object)
{
	struct scene *s = context;
	pthread_t waiting, releasing;

	thread_start(&waiting, wait_for_object, s);
	while (!atomic_load(&s->waits))
		(void)sched_yield();
	thread_start(&releasing, release_object, s);
	REQUIRE(pthread_join(releasing, NULL) == 0);
	/* It does not wait for this continuation. */
	REQUIRE(pthread_join(waiting, NULL) == 0);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(a_wait_of_another_thread_does_not_wait_for_a_continuation)
{
	struct scene s = {.pool = open_pool(2)};

	s.object = lfpool_acquire(s.pool);
	assert_non_null(s.object);
	assert_int_equal(lfpool_acquire_async(s.pool, let_another_wait, &s, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

/* ---- All at once ---- */

static pthread_barrier_t meeting;

static void ask_at_once(struct worker *me)
{
	struct scene *s = me->scene;

	for (unsigned round = 1; round <= ROUNDS; round++) {
		for (unsigned i = 0; i < 8; i++) {
			void *object = random_below(&me->random, 2) ? lfpool_acquire(s->pool) : NULL;

			const lfpool_status_t status = lfpool_acquire_async(s->pool, count_and_release, s, NULL);

			/* A pool in a buffer has a fixed number of waiter nodes. */
			REQUIRE(status == LFPOOL_OK || status == LFPOOL_E_NO_MEMORY);
			atomic_fetch_add(&s->asked, status == LFPOOL_OK);
			REQUIRE(!object || lfpool_release(s->pool, object) == LFPOOL_OK);
		}
		pthread_barrier_wait(&meeting);
		/* No call is in progress and all objects are free: no continuation may be left. */
		REQUIRE(atomic_load(&s->called) == atomic_load(&s->asked));
		pthread_barrier_wait(&meeting);
	}
}

TEST(no_continuation_is_left_when_all_calls_have_returned)
{
	struct scene s = {.pool = open_pool(2)};
	struct workers all;

	REQUIRE(pthread_barrier_init(&meeting, NULL, THREADS) == 0);
	workers_start(&all, THREADS, ask_at_once, &s, test_seed("no_continuation_is_left"));
	workers_join(&all);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

RUN_TESTS()
