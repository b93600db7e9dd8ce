/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the calling thread's cache of a pool, found by the pool's id: the look-up (threads.c has the rest).
 *
 * Idea         A thread's table is a thread-local variable of the model initial-exec: one load.  In a library for
 *              plug-ins (LFPOOL_THREAD_KEY) it is the value of a pthread key: that takes no room of the static TLS
 *              block, which may be used up when dlopen() brings the library in; and unlike __tls_get_addr() it never
 *              allocates, so that where there is no memory a thread goes without a cache, and the process does not end.
 *              docs/decisions/0007-thread-local-variables-or-a-pthread-key.md has the figures.
 *              An id says where its entry is, and each table has room for the first TABLE_ENTRIES_MIN places: so
 *              those are looked at without a look at the table's size.  Further ones thread_cache() finds.
 * Invariants   L4  an entry with a pool's id has the thread's cache of it; and while that pool lives only the thread's
 *                  exit changes the entry, or moves the table.  So a signal handler, which looks as well, may come between
 *                  the look at the id and the load of the cache.
 *              L5  lfpool_last (lfpool/inline.h) has no pool, or one and the thread's cache of it; from the thread's exit on it has
 *                  none.
 * Progress     Wait-free.
 */
#ifndef LFPOOL_THREADS_H
#define LFPOOL_THREADS_H

#include "base/atomics.h"
#include "lfpool/inline.h"
#include "os/os.h"

struct cache_head;

/* A table is entries in a row.  The one before the first is its head: there `pool_id` is the mask of L1 (threads.c).  An id
 * below 2^LIVE_POOLS_PLACE_BITS is no pool's, but a count: L2; never 0, which is the id of pools without one. */
struct thread_entry {
	uint64_t pool_id;
	struct cache_head *cache;
};

#define TABLE_ENTRIES_MIN 64

#ifdef LFPOOL_THREAD_KEY
extern os_thread_key_t thread_key;
#else
extern THREAD_LOCAL struct thread_entry *thread_table;
#endif

/* Of a pool's table_id (pool.h).  NULL: it is not in the first places, or the thread has none yet, or can have none. */
static inline struct cache_head *thread_find(uint64_t pool_id)
{
#ifdef LFPOOL_THREAD_KEY
	/* L3: without a pool that has such an id there may be no key, and 0 is another's. */
	if (unlikely(!pool_id))
		return NULL;

	const struct thread_entry *table = os_thread_key_get(thread_key);

	if (unlikely(!table))
		return NULL;
#else
	const struct thread_entry *table = thread_table;
#endif
	const struct thread_entry *e = &table[pool_id % TABLE_ENTRIES_MIN];

	if (unlikely(e->pool_id != pool_id))
		return NULL;
	/* L4 */
	if (!e->cache)
		__builtin_unreachable();
	return e->cache;
}

/* Can a thread have caches of its own?  After process_open(). */
bool threads_keep_caches(void);
/* A number that differs from thread to thread, more or less. */
uint32_t thread_hint(void);
/* The calling thread's cache of this pool, made if need be; NULL: it cannot have one now, or the backend has none. */
struct cache_head *thread_cache(struct lfpool_pool *pool);
/* The same, and lfpool/inline.h knows it as the last (L5). */
struct cache_head *thread_cache_remembered(struct lfpool_pool *pool);
/* The calling thread's cache of this pool, or NULL: none is made. */
struct cache_head *thread_cache_if_any(const struct lfpool_pool *pool);
/* The pools that this thread is serving (waiters.c), the innermost first; another innermost.  Neither allocates, nor can be
 * refused by the system; from a signal handler too. */
struct serving;
struct serving *thread_serving(void);
void thread_serve(struct serving *innermost);

/* For process.c, under the lock of the live pools: the key by which exiting threads are noticed, if keys are usable; false when
 * the system refuses.  And in the child of a fork: the others are no more, and their numbers will be those of new threads. */
bool threads_create_key(bool usable);
void threads_forget_servers(void);

#endif
