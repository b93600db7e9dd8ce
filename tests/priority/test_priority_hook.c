/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_hook.c - config.on_evict: called once for each object that is taken from its holder, by the thread that
 * takes it, before anybody else gets it, and free to call the pool.
 */
#include "../support/priority_support.h"

#include <stdatomic.h>

enum { SIZE = 32, CAPACITY = 4 };

struct log {
	lfpool_priority_t *pool;
	size_t calls;
	lfpool_evicted_t last;
	void (*then)(struct log *log, const lfpool_evicted_t *e);
	size_t depth, deepest;
	lfpool_handle_t handle; /* for and by what the hook does */
};

static void on_evict(void *context, const lfpool_evicted_t *e)
{
	struct log *log = context;

	REQUIRE(e->pool == log->pool);
	log->calls++;
	log->last = *e;
	/* Stale already; and the object is still in use, by this call. */
	require_stale(log->pool, e->handle);
	REQUIRE(lfpool_priority_unpin(log->pool, e->handle) != LFPOOL_OK);
	REQUIRE(lfpool_priority_count(log->pool) > 0);
	if (++log->depth > log->deepest)
		log->deepest = log->depth;
	if (log->then)
		log->then(log, e);
	log->depth--;
}

static void open_log(struct log *log, size_t capacity, uint32_t flags)
{
	memset(log, 0, sizeof(*log));
	log->pool = PRIORITY_WITH(.object_size = SIZE, .capacity = capacity, .on_evict = on_evict, .context = log,
				  .flags = flags);
}

static void *put(struct log *log, uint64_t priority, void *owner, lfpool_handle_t *handle_out)
{
	void *object = lfpool_priority_acquire(log->pool, priority, owner, handle_out);

	REQUIRE(object);
	stamp_write(object, SIZE, *handle_out);
	REQUIRE(lfpool_priority_publish(log->pool, *handle_out) == LFPOOL_OK);
	return object;
}

/* ---- What it is told ---- */

static void leave_a_message(struct log *log, const lfpool_evicted_t *e)
{
	(void)log;
	REQUIRE(stamp_holds(e->object, SIZE, e->handle));
	stamp_write(e->object, SIZE, 4711);
}

TEST(it_is_told_of_what_is_taken)
{
	struct log log;
	lfpool_handle_t handle, other;
	int owners[2];

	open_log(&log, 1, 0);
	log.then = leave_a_message;
	void *object = put(&log, 3, &owners[0], &handle);

	/* Of a refusal nothing, nor of a release. */
	assert_null(lfpool_priority_acquire(log.pool, 3, &owners[1], &other));
	assert_int_equal(log.calls, 0);
	assert_int_equal(lfpool_priority_update(log.pool, handle, 2), LFPOOL_OK);
	assert_ptr_equal(lfpool_priority_acquire(log.pool, 3, &owners[1], &other), object);
	assert_int_equal(log.calls, 1);
	assert_true(log.last.handle == handle && log.last.priority == 2 && log.last.owner == &owners[0]);
	assert_ptr_equal(log.last.object, object);
	/* What the hook wrote is what the newcomer finds. */
	assert_true(stamp_holds(object, SIZE, 4711));
	stamp_write(object, SIZE, other);
	assert_int_equal(lfpool_priority_publish(log.pool, other), LFPOOL_OK);
	assert_int_equal(lfpool_priority_release_min(log.pool, 5), 1);
	assert_int_equal(log.calls, 2);
	assert_true(log.last.handle == other && log.last.priority == 3 && log.last.owner == &owners[1]);
	/* Nobody's, where somebody's was before. */
	(void)put(&log, 8, NULL, &handle);
	assert_int_equal(lfpool_priority_release_min(log.pool, 1), 1);
	assert_int_equal(log.calls, 3);
	assert_null(log.last.owner);
	object = put(&log, 9, NULL, &handle);
	assert_int_equal(lfpool_priority_release(log.pool, handle), LFPOOL_OK);
	(void)put(&log, 9, NULL, &handle);
	/* Nor of what is active when the pool ends. */
	assert_int_equal(lfpool_priority_destroy(log.pool), 1);
	assert_int_equal(log.calls, 3);
}

/* ---- What it may do ---- */

/* A newcomer in the hook evicts another one, who is told of too. */
static void acquire_there(struct log *log, const lfpool_evicted_t *e)
{
	lfpool_handle_t handle;

	if (e->priority >= CAPACITY - 2)
		return;
	/* Not what this call has in its hands. */
	REQUIRE(put(log, 100 + e->priority, NULL, &handle) != e->object);
	REQUIRE(stamp_holds(e->object, SIZE, e->handle));
}

TEST(it_may_acquire_and_evict)
{
	struct log log;
	lfpool_handle_t handle;

	open_log(&log, CAPACITY, 0);
	log.then = acquire_there;
	for (uint64_t i = 0; i < CAPACITY; i++)
		(void)put(&log, i, NULL, &handle);
	assert_non_null(lfpool_priority_acquire(log.pool, 50, NULL, &handle));
	/* 0 by the call, 1 in its hook, 2 in the hook of that. */
	assert_int_equal(log.calls, 3);
	assert_int_equal(log.deepest, 3);
	assert_int_equal(lfpool_priority_count(log.pool), CAPACITY);
	assert_int_equal(lfpool_priority_publish(log.pool, handle), LFPOOL_OK);
	assert_true(lfpool_priority_peek_min(log.pool, NULL) != handle);
	require_priority(log.pool, lfpool_priority_peek_min(log.pool, NULL), CAPACITY - 1);
	assert_int_equal(lfpool_priority_destroy(log.pool), CAPACITY);
}

static void call_everything(struct log *log, const lfpool_evicted_t *e)
{
	uint64_t priority;

	(void)e;
	REQUIRE(lfpool_priority_update(log->pool, log->handle, 60) == LFPOOL_OK);
	REQUIRE(lfpool_priority_pin(log->pool, log->handle));
	REQUIRE(lfpool_priority_unpin(log->pool, log->handle) == LFPOOL_OK);
	REQUIRE(lfpool_priority_get(log->pool, log->handle, &priority) && priority == 60);
	REQUIRE(lfpool_priority_peek_min(log->pool, &priority) && priority == 60);
	REQUIRE(lfpool_priority_release(log->pool, log->handle) == LFPOOL_OK);
	REQUIRE(lfpool_priority_count(log->pool) == 1 && !lfpool_priority_peek_min(log->pool, NULL));
	REQUIRE(lfpool_priority_acquire(log->pool, 1, NULL, &log->handle) != e->object);
	REQUIRE(lfpool_priority_publish(log->pool, log->handle) == LFPOOL_OK);
}

TEST(it_may_call_the_pool)
{
	struct log log;
	lfpool_handle_t first, handle;

	open_log(&log, 2, 0);
	log.then = call_everything;
	void *object = put(&log, 1, NULL, &first);

	(void)put(&log, 70, NULL, &log.handle);
	assert_ptr_equal(lfpool_priority_acquire(log.pool, 80, NULL, &handle), object);
	assert_true(log.calls == 1 && log.last.handle == first);
	require_priority(log.pool, log.handle, 1);
	assert_int_equal(lfpool_priority_publish(log.pool, handle), LFPOOL_OK);
	require_priority(log.pool, handle, 80);
	log.then = NULL;
	assert_int_equal(lfpool_priority_release_min(log.pool, 2), 2);
	/* By release_min, too. */
	(void)put(&log, 1, NULL, &first);
	(void)put(&log, 70, NULL, &log.handle);
	log.then = call_everything;
	log.calls = 0;
	assert_int_equal(lfpool_priority_release_min(log.pool, 1), 1);
	assert_true(log.calls == 1 && log.last.handle == first);
	assert_int_equal(lfpool_priority_count(log.pool), 1);
	assert_int_equal(lfpool_priority_destroy(log.pool), 1);
}

/* In the hook of release_min the object is not free yet. */
static void find_nothing(struct log *log, const lfpool_evicted_t *e)
{
	lfpool_handle_t handle;

	REQUIRE(lfpool_priority_count(log->pool) == 1);
	REQUIRE(!lfpool_priority_acquire(log->pool, UINT64_MAX, NULL, &handle) && !handle);
	REQUIRE(lfpool_priority_release_min(log->pool, 1) == 0);
	REQUIRE(stamp_holds(e->object, SIZE, e->handle));
}

TEST(nobody_else_has_it_meanwhile)
{
	struct log log;
	lfpool_handle_t handle;

	open_log(&log, 1, LFPOOL_EVICT_EQUAL);
	log.then = find_nothing;
	(void)put(&log, 1, NULL, &handle);
	assert_int_equal(lfpool_priority_release_min(log.pool, 1), 1);
	(void)put(&log, 1, NULL, &handle);
	assert_non_null(lfpool_priority_acquire(log.pool, 1, NULL, &handle));
	assert_int_equal(log.calls, 2);
	assert_int_equal(lfpool_priority_destroy(log.pool), 1);
}

/* ---- Threads ---- */

enum { THREADS = 3, STEPS = 200000 };

/* Who has an object writes plainly into it; the hook reads and wipes it, in the thread that took it. */
static _Thread_local uint64_t calls_here;

static void wipe(void *context, const lfpool_evicted_t *e)
{
	(void)context;
	calls_here++;
	REQUIRE(stamp_holds(e->object, SIZE, e->handle));
	memset(e->object, 0, SIZE);
	if (e->priority % 16 == 0 && calls_here % 2)
		REQUIRE(lfpool_priority_release_min(e->pool, 1) <= 1);
}

struct taker {
	lfpool_priority_t *pool;
	struct random random;
	_Atomic(uint64_t) *calls;
};

static void *take_and_lose(void *argument)
{
	struct taker *t = argument;
	lfpool_handle_t handle;

	for (int i = 0; i < TIMES(STEPS, STEPS / 15); i++) {
		const uint64_t before = calls_here;
		void *object = lfpool_priority_acquire(t->pool, random_below(&t->random, 1000), NULL, &handle);

		if (!object) {
			REQUIRE(calls_here == before);
			continue;
		}
		/* Never used, or wiped. */
		REQUIRE(all_bytes_are(object, SIZE, 0));
		stamp_write(object, SIZE, handle);
		REQUIRE(lfpool_priority_publish(t->pool, handle) == LFPOOL_OK);
	}
	atomic_fetch_add(t->calls, calls_here);
	return NULL;
}

static void take_from_each_other(size_t capacity, uint64_t seed)
{
	struct taker takers[THREADS];
	_Atomic(uint64_t) calls = 0;

	lfpool_priority_t *pool = PRIORITY_WITH(.object_size = SIZE, .capacity = capacity, .on_evict = wipe,
						.flags = LFPOOL_EVICT_EQUAL);

	for (unsigned i = 0; i < THREADS; i++)
		takers[i] = (struct taker){pool, random_for(seed, i), &calls};
	threads_run(THREADS, take_and_lose, takers, sizeof(takers[0]));

	const lfpool_priority_stats_t stats = priority_stats_of(pool);

	assert_int_equal(stats.evicted, calls);
	assert_int_equal(stats.acquired - stats.evicted, lfpool_priority_count(pool));
	(void)lfpool_priority_release_min(pool, capacity);
	priority_close(pool, SIZE);
}

TEST(it_is_called_once_and_before_the_newcomer)
{
	const uint64_t seed = test_seed("it_is_called_once_and_before_the_newcomer");

	for (size_t capacity = 1; capacity <= 40; capacity += capacity)
		take_from_each_other(capacity, seed + capacity);
}

RUN_TESTS()
