/* SPDX-License-Identifier: MIT */
/*
 * calls.h - acquire, release and waits, for the other files of src/api.  A call uses the cache `head`, or no cache if
 * `head` is NULL.
 */
#ifndef LFPOOL_CALLS_H
#define LFPOOL_CALLS_H

#include "pool/pool.h"

/* A wait that hooks.exhausted asks for ends at `deadline_ns`, on the clock of os_now_ns().  0: the call must not wait.
 * UINT64_MAX: only the hook limits the wait. */
void *pool_acquire(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);
void pool_exhausted(lfpool_t *pool, struct cache_head *head);
/* Reports a refusal as misuse.  Does nothing if `object` is NULL. */
lfpool_status_t pool_release(lfpool_t *pool, struct cache_head *head, void *object);

/* ---- Calls that wait: wait.c ---- */

/* waiters_wait_for() and waiters_take() get all `count` objects, or none.  They return LFPOOL_OK, LFPOOL_E_EXHAUSTED if
 * the time is over, LFPOOL_E_REFUSED if a hook refused an object, or LFPOOL_E_CLOSED.  waiters_wait_for() waits until
 * `deadline_ns`, on the clock of os_now_ns().  waiters_take() does not wait.  waiters_wait() waits for one object, and
 * returns it or NULL. */
lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count,
				 uint64_t deadline_ns);
lfpool_status_t waiters_take(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count);
void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);

/* Sleeps while the lower halves of *word and `seen` are equal, at most until `deadline_ns`, and at most `most_ms`
 * milliseconds (0: no limit).  In a pool in a buffer it only pauses the processor for a moment. */
void waiters_doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns,
		  uint64_t most_ms);

#endif
