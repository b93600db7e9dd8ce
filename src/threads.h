/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the calling thread's cache of a pool, found by the pool's id: the look-up (threads.c has the rest).
 *
 * Idea         Where the library is part of the program, a thread's table is a thread-local variable: one load.  In a
 *              shared library (LFPOOL_THREAD_KEY) it is the value of a pthread key: that takes no room of the static TLS
 *              block, which may be used up when dlopen() brings the library in; and unlike __tls_get_addr() it never
 *              allocates, so that where there is no memory a thread goes without a cache, and the process does not end.
 *              docs/decisions/0007-the-shared-library-finds-caches-by-a-pthread-key.md has the figures.
 * Progress     Wait-free.
 */
#ifndef LFPOOL_THREADS_H
#define LFPOOL_THREADS_H

#include "os.h"

struct handle;

/* A table is entries in a row.  The one before the first is its head: there `pool_id` is the mask of L1 (threads.c).  An id
 * below 2^REGISTRY_PLACE_BITS is no pool's, but a count: L2. */
struct thread_entry {
	uint64_t pool_id;
	struct handle *handle;
};

#ifdef LFPOOL_THREAD_KEY
extern pthread_key_t thread_key;
#else
extern THREAD_LOCAL struct thread_entry *thread_table;
/* That of its head once more: 0.7 ns less for a pair than when it must be waited for. */
extern THREAD_LOCAL uintptr_t thread_mask;
#endif

/* Of a pool's table_id (pool.h).  NULL: the thread has none yet, or can have none. */
static inline struct handle *thread_find(uint64_t pool_id)
{
#ifdef LFPOOL_THREAD_KEY
	/* L3: without a pool that has such an id there may be no key, and 0 is another's. */
	if (unlikely(!pool_id))
		return NULL;

	const struct thread_entry *table = pthread_getspecific(thread_key);

	if (unlikely(!table))
		return NULL;

	const uintptr_t mask = (uintptr_t)table[-1].pool_id;
#else
	const struct thread_entry *table = thread_table;
	const uintptr_t mask = thread_mask;
#endif
	const struct thread_entry *e = &table[pool_id & mask];

	return likely(e->pool_id == pool_id) ? e->handle : NULL;
}

#endif
