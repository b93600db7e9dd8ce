/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the calling thread's cache of a pool, found by the pool's id: the look-up (threads.c has the rest).
 *
 * Idea         A thread finds its table in a thread-local variable of the model initial-exec: one load.  Unlike a
 *              variable of the dynamic models it is never allocated, so a thread that gets no memory runs without a
 *              cache, and the process continues.  docs/decisions/0007-thread-local-variables.md has the figures.  An id
 *              says where its entry is, and each table has room for the first TABLE_ENTRIES_MIN places: so those are
 *              looked at without a look at the table's size.  Further ones thread_cache() finds.
 * Invariants   L4  an entry with a pool's id has the thread's cache of it; and while that pool lives only the thread's
 *                  exit changes the entry, or moves the table.  So a signal handler, which looks as well, may come
 *                  between the look at the id and the load of the cache.
 *              L5  lfpool_last_ (lfpool/inline.h) has no pool, or one and the thread's cache of it; from the thread's
 *                  exit on it has none.
 * Progress     Wait-free.
 */
#ifndef LFPOOL_THREADS_H
#define LFPOOL_THREADS_H

#include "base/atomics.h"
#include "lfpool/inline.h"
#include "os/os.h"

struct cache_head;

/* A table is entries in a row.  The one before the first is its head: there `pool_id` is the mask of L1 (threads.c).
 * An id below 2^LIVE_POOLS_PLACE_BITS is no pool's, but a count: L2; never 0, which is the id of pools without one. */
struct thread_entry {
	uint64_t pool_id;
	struct cache_head *cache;
};

#define TABLE_ENTRIES_MIN 64

extern THREAD_LOCAL struct thread_entry *thread_table;

/* Of a pool's table_id (pool.h).  NULL: it is not in the first places, or the thread has none yet, or can have none. */
static inline struct cache_head *thread_find(uint64_t pool_id)
{
	if (EMBEDDED)
		return NULL;

	const struct thread_entry *table = os_of_thread(thread_table);
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
#if EMBEDDED
/* No thread has a cache: each call without one borrows one. */
static inline uint32_t thread_hint(void)
{
	return (uint32_t)(os_thread_self() >> 10);
}

#define thread_cache(pool) ((void)(pool), (struct cache_head *)NULL)
#define thread_cache_remembered(pool) thread_cache(pool)
#define thread_cache_if_any(pool) thread_cache(pool)
#else
/* A number that differs from thread to thread, more or less. */
uint32_t thread_hint(void);
/* The calling thread's cache of this pool, made if need be; NULL: it cannot have one now, or never. */
struct cache_head *thread_cache(struct lfpool_pool *pool);
/* The same, and lfpool/inline.h knows it as the last (L5). */
struct cache_head *thread_cache_remembered(struct lfpool_pool *pool);
/* The calling thread's cache of this pool, or NULL: none is made. */
struct cache_head *thread_cache_if_any(const struct lfpool_pool *pool);
#endif
/* The pools that this thread is serving (waiters.c), the innermost first; another innermost.  Usable in signal
 * handlers. */
struct serving;
struct serving *thread_serving(void);
void thread_serve(struct serving *innermost);

/* For process.c, under the lock of the live pools: exiting threads are noticed from now on, if the system's keys are
 * usable; false when the system refuses. */
bool threads_notice_exits(bool keys_usable);

#endif
