/* SPDX-License-Identifier: MIT */
/*
 * backend_lockfree.h - what the files of the lock-free backend tell each other.
 */
#ifndef LFPOOL_BACKEND_LOCKFREE_H
#define LFPOOL_BACKEND_LOCKFREE_H

#include "cache.h"

/* ---- backend_lockfree.c ---- */

/* One object through a claimed cache.  `slot`: taken already; SLOT_NONE: to be taken, from anywhere. */
void *lockfree_acquire_through(struct handle *handle, uint32_t slot);

/* ---- bulk.c: lfpool_cache_acquire_bulk() and lfpool_cache_release_bulk() ---- */

size_t bulk_acquire(struct handle *handle, void **objects_out, size_t count);
size_t bulk_release(struct handle *handle, void *const *objects, size_t count);

#endif
