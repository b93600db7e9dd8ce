/* SPDX-License-Identifier: MIT */
/*
 * calls.h - acquire, release and waits for other files of this room, through the cache `head` (NULL: without a cache).
 */
#ifndef LFPOOL_CALLS_H
#define LFPOOL_CALLS_H

#include "pool/pool.h"

/* A wait that hooks.exhausted asks for ends at `deadline_ns`, on the clock of os_now_ns().  0: the call must not wait.
 * UINT64_MAX: only the hook decides. */
void *pool_acquire(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);
void pool_exhausted(lfpool_t *pool, struct cache_head *head);
/* `object` NULL does nothing; a refusal is reported. */
lfpool_status_t pool_release(lfpool_t *pool, struct cache_head *head, void *object);

/* ---- Calls that wait: wait.c ---- */

/* Gets `count` objects, all or none: LFPOOL_OK; LFPOOL_E_EXHAUSTED: the time is over; LFPOOL_E_REFUSED: a hook refused
 * one; LFPOOL_E_CLOSED.  waiters_wait_for() waits until `deadline_ns`, on the clock of os_now_ns(); waiters_take() does
 * not wait.  waiters_wait() returns one object, or NULL. */
lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count,
				 uint64_t deadline_ns);
lfpool_status_t waiters_take(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count);
void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);

/* Sleeps while *word and `seen` have the same lower half, until `deadline_ns`, and at most `most_ms` milliseconds (0:
 * no limit).  In a buffer it only pauses the processor for a moment. */
void waiters_doze(const struct waiters *d, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns,
		  uint64_t most_ms);

#endif
