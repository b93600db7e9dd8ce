/* SPDX-License-Identifier: MIT */
/*
 * wait.c - lfpool/wait.h: the calls that wait.  The queue itself is in waiters.h.
 */
#include "os/os.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

/* Did another call come first?  relaxed: one that comes at the same instant may be first or second.  The hook is asked by
 * every call that finds nothing, so that each can have its victim: what it releases goes to the call that came first. */
static bool must_queue(const lfpool_t *pool, int64_t timeout_ns)
{
	return timeout_ns && !pool->hooks.exhausted && load_relaxed(pool->waiters.wanted);
}

void *lfpool_acquire_wait(lfpool_t *pool, int64_t timeout_ns)
{
	void *object = must_queue(pool, timeout_ns) ? NULL : lfpool_acquire(pool);

	if (!object && timeout_ns)
		object = waiters_wait(pool, thread_cache(pool), os_deadline(timeout_ns));
	KEEP_FRAME();
	return object;
}

void *lfpool_cache_acquire_wait(lfpool_cache_t *cache, int64_t timeout_ns)
{
	struct cache_head *head = (struct cache_head *)cache;
	lfpool_t *pool = head->pool;
	void *object = must_queue(pool, timeout_ns) ? NULL : lfpool_cache_acquire_inline(cache);

	if (!object && timeout_ns)
		object = waiters_wait(pool, pool->core ? head : NULL, os_deadline(timeout_ns));
	KEEP_FRAME();
	return object;
}

lfpool_status_t lfpool_acquire_bulk_wait(lfpool_t *pool, void **objects_out, size_t count, int64_t timeout_ns)
{
	struct cache_head *head = thread_cache(pool);
	lfpool_status_t status = LFPOOL_E_EXHAUSTED;

	if (!objects_out || count > pool->cold.reserved)
		return LFPOOL_E_ARGUMENT;
	if (!count)
		return LFPOOL_OK;
	if (waiters_closed(&pool->waiters))
		return LFPOOL_E_CLOSED;
	if (!must_queue(pool, timeout_ns))
		status = waiters_take(pool, head, objects_out, count);
	if (status == LFPOOL_E_EXHAUSTED && timeout_ns)
		status = waiters_wait_for(pool, head, objects_out, count, os_deadline(timeout_ns));
	KEEP_FRAME();
	return status;
}
