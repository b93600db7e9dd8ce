/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority_hook.c - what config.on_evict may do: call the pool, acquire and evict in its turn; and that no other call gets the
 * object meanwhile.
 *
 * (What it is told, and how often: test_priority_order.c, and the stress scenario `priority`.)
 */
#include "../support/priority_support.h"

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

/* A newcomer in the hook evicts another one, and the hook is told of that too. */
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

RUN_TESTS()
