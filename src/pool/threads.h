/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the calling thread's cache of a pool, found by the pool's id: the look-up (threads.c has the rest).
 *
 * Idea         A thread finds its last pool, and its table, in a thread-local variable of the model initial-exec: one
 *              load.  Unlike a variable of the dynamic models it is never allocated, so a thread that gets no memory
 *              runs without a cache, and the process continues.  docs/decisions/0007-thread-local-variables.md has the
 *              figures.  A pool's place among the live pools says where its entry is.  Each table has room for the
 *              first TABLE_ENTRIES_MIN places, so an offset below that is used without a look at the table's size.  A
 *              pool with a higher place has the offset of a lower one, where its id never is: thread_cache() finds it.
 * Invariants   L4  an entry with a pool's id has the thread's cache of it; and while that pool lives only the thread's
 *                  exit changes the entry, or moves the table.  So a signal handler, which looks as well, may come
 *                  between the look at the id and the load of the cache.
 *              L5  lfpool_thread_.last has no pool, or one and the thread's cache of it; from the thread's exit on it
 *                  has none.
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
#define TABLE_ENTRIES_MIN 64

/* Once more, with its model. */
LFPOOL_API extern THREAD_LOCAL struct lfpool_thread_ lfpool_thread_;

/* The head of a pool with this id. */
static inline struct lfpool_head_ thread_head(uint64_t id)
{
	return (struct lfpool_head_){.id = id, .in_tables = id % TABLE_ENTRIES_MIN * sizeof(struct lfpool_entry_)};
}

/* The calling thread's cache of the pool with this id, by the table.  NULL: the pool has no place there, or the thread
 * has no cache of it yet, or can have none. */
static inline lfpool_cache_t *thread_find_by_id(uint64_t id)
{
	if (EMBEDDED)
		return NULL;

	const struct lfpool_entry_ *e = &os_of_thread(lfpool_thread_).table[id % TABLE_ENTRIES_MIN];

	if (unlikely(e->pool_id != id))
		return NULL;
	/* L4 */
	if (!e->cache)
		__builtin_unreachable();
	return e->cache;
}

/* lfpool_find_() of lfpool/inline.h, or the same in C. */
static inline bool thread_find(const struct lfpool_pool *pool, lfpool_cache_t **cache_out)
{
#if defined(LFPOOL_INLINES_POOLS_)
	return lfpool_find_(pool, cache_out);
#elif EMBEDDED
	return (void)pool, (void)cache_out, false;
#else
	const uint64_t id = ((const struct lfpool_head_ *)(const void *)pool)->id;
	struct lfpool_entry_ *last = &os_of_thread(lfpool_thread_).last;

	if (unlikely(last->pool_id != id)) {
		lfpool_cache_t *cache = thread_find_by_id(id);

		if (!cache)
			return false;
		*last = (struct lfpool_entry_){id, cache};
	}
	*cache_out = last->cache;
	return true;
#endif
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
