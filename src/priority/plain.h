/* SPDX-License-Identifier: MIT */
/*
 * plain.h - the evicting pool that people write by hand, behind the same calls: one mutex around a binary heap.
 *
 * Idea         For comparison, and to look for a fault elsewhere: LFPOOL_BACKEND=mutex.  With LFPOOL_BACKEND=malloc each object is
 *              allocated when it is acquired, and freed when its last user lets go or it is evicted, so that a checker of the heap
 *              sees each use of one that is gone.
 *                 The heap (plain_heap.h) holds the slots that contend.
 *              A call is one critical section (an acquire that runs hooks is two); hooks and the allocator run outside of it, while
 *              the slot is nobody else's.
 * Invariants   PN1 a slot is in the heap exactly while it is active and not pinned, and no entry goes before the one above it.
 *              PN2 a slot is on the stack of free ones exactly while its life is FREE.
 * Progress     Blocking, and not safe after fork: what the library proper is not.
 */
#ifndef LFPOOL_PLAIN_H
#define LFPOOL_PLAIN_H

#include "priority/evicting.h"

bool plain_open(lfpool_priority_t *pool);
void plain_close(lfpool_priority_t *pool);

/* As the calls lfpool_priority_*(). */
void *plain_acquire(lfpool_priority_t *pool, uint64_t priority, void *owner, lfpool_handle_t *handle_out);
lfpool_status_t plain_publish(lfpool_priority_t *pool, lfpool_handle_t handle);
lfpool_status_t plain_release(lfpool_priority_t *pool, lfpool_handle_t handle);
lfpool_status_t plain_update(lfpool_priority_t *pool, lfpool_handle_t handle, uint64_t priority);
void *plain_pin(lfpool_priority_t *pool, lfpool_handle_t handle);
lfpool_status_t plain_unpin(lfpool_priority_t *pool, lfpool_handle_t handle);
size_t plain_release_min(lfpool_priority_t *pool, size_t count);
lfpool_handle_t plain_peek_min(lfpool_priority_t *pool, uint64_t *priority_out);
size_t plain_count(const lfpool_priority_t *pool);
const char *plain_check(const lfpool_priority_t *pool, size_t *where_out);

/* What is active by this handle. */
bool plain_find(const lfpool_priority_t *pool, lfpool_handle_t handle, struct contender *out);
/* Pins what is active in the slot; 0: nothing, or it cannot be pinned. */
lfpool_handle_t plain_pin_slot(lfpool_priority_t *pool, uint32_t slot, uint64_t *priority_out);
void *plain_object(const lfpool_priority_t *pool, uint32_t slot);
/* Its state, in the words of tournament.h, without version and record; a snapshot. */
uint64_t plain_state(const lfpool_priority_t *pool, uint32_t slot);

/* The same of any pool. */
static inline uint64_t state_of(const lfpool_priority_t *pool, uint32_t slot)
{
	/* relaxed: a snapshot. */
	return pool->backend ? plain_state(pool, slot) : load_relaxed(&place_of(pool, slot)->word);
}

#endif
