/* SPDX-License-Identifier: MIT */
/*
 * threads.h - looks up the calling thread's cache of a pool by the pool's id; threads.c has the rest.
 *
 * Idea         A thread's table, and the thread's cache of the pool that it used last, are in a thread-local variable.
 *              In its TLS model, initial-exec, an access never allocates.  So a thread that gets no memory for a cache
 *              or a table still works, without a cache.  docs/decisions/0007-thread-local-variables.md has the figures.
 *              A pool's index among the live pools is also the index of its entry in every thread's table.  Each table
 *              has at least TABLE_ENTRIES_MIN entries, so an index below that needs no check of the table's size.  For
 *              a pool with a higher index, the fast look-up uses the index modulo TABLE_ENTRIES_MIN.  That entry
 *              never has the pool's id, so the look-up falls back to thread_cache().
 * Invariants   L4  an entry with a pool's id has the thread's cache of that pool.  While the pool lives, only the
 *                  thread's exit clears the entry.  Signal handlers only read the table, so a handler may run between
 *                  the thread's check of an id and the thread's load of the cache.
 *              L5  lfpool_thread_.last is empty, or has a pool's id and the thread's cache of that pool.  The field is
 *                  empty from the thread's exit on.
 * Progress     Wait-free.
 */
#ifndef LFPOOL_THREADS_H
#define LFPOOL_THREADS_H

#include "base/atomics.h"
#include "lfpool/inline.h"
#include "os/os.h"

struct cache_head;

/* A table is an array of entries.  The entry before the first one has the mask (L1, threads.c) as its `pool_id`.  In
 * other entries an id below 2^LIVE_POOLS_PLACE_BITS is a count (L2).  The count is never 0, because 0 is the id of
 * pools that no thread looks up. */
#define TABLE_ENTRIES_MIN 64

/* Declared again, to give the variable its TLS model. */
LFPOOL_API extern THREAD_LOCAL struct lfpool_thread_ lfpool_thread_;

/* From now on threads can have their own caches of the pool with this id. */
static inline void thread_head(struct lfpool_head_ *head, uint64_t id)
{
	head->id = id;
	head->in_tables = id % TABLE_ENTRIES_MIN * sizeof(struct lfpool_entry_);
}

/* The calling thread's cache of the pool with this id and this offset in the tables.  NULL: the thread has no cache of
 * this pool, or the pool's index is not below TABLE_ENTRIES_MIN. */
static inline lfpool_cache_t *thread_find_at(uint64_t id, uintptr_t in_tables)
{
	if (EMBEDDED)
		return NULL;

	const uintptr_t table = (uintptr_t)os_of_thread(lfpool_thread_).table;
	const struct lfpool_entry_ *e = (const struct lfpool_entry_ *)(table + in_tables);

	if (unlikely(e->pool_id != id))
		return NULL;
	/* An entry with this id has a cache (L4). */
	if (!e->cache)
		__builtin_unreachable();
	return e->cache;
}

/* lfpool_find_() of lfpool/inline.h, or its equivalent in C. */
static inline bool thread_find(const struct lfpool_t *pool, lfpool_cache_t **cache_out)
{
#if defined(LFPOOL_INLINES_POOLS_)
	return lfpool_find_(pool, cache_out);
#elif EMBEDDED
	return (void)pool, (void)cache_out, false;
#else
	const struct lfpool_head_ *head = (const struct lfpool_head_ *)(const void *)pool;
	struct lfpool_entry_ *last = &os_of_thread(lfpool_thread_).last;

	if (unlikely(last->pool_id != head->id)) {
		lfpool_cache_t *cache = thread_find_at(head->id, head->in_tables);

		if (!cache)
			return false;
		*last = (struct lfpool_entry_){head->id, cache};
	}
	*cache_out = last->cache;
	return true;
#endif
}

/* Can threads have caches?  May be called after process_open(). */
bool threads_keep_caches(void);
#if EMBEDDED
/* In this build no thread has a cache, so each call without an explicit cache borrows one. */
static inline uint32_t thread_hint(void)
{
	return (uint32_t)(os_thread_self() >> 10);
}

#define thread_cache(pool) ((void)(pool), (struct cache_head *)NULL)
#define thread_cache_remembered(pool) thread_cache(pool)
#define thread_cache_if_any(pool) thread_cache(pool)
#else
/* A number that usually differs between threads. */
uint32_t thread_hint(void);
/* The calling thread's cache of this pool, created if missing.  NULL: the thread cannot have one now, or can never have
 * one. */
struct cache_head *thread_cache(struct lfpool_t *pool);
/* The same, and stores the cache in lfpool_thread_.last (L5). */
struct cache_head *thread_cache_remembered(struct lfpool_t *pool);
/* The calling thread's cache of this pool, or NULL.  Never creates a cache. */
struct cache_head *thread_cache_if_any(const struct lfpool_t *pool);
#endif
/* Get and set the list of hooks and continuations that this thread is running for waiters (waiters.c), the innermost
 * first.  Usable in signal handlers. */
struct serving;
struct serving *thread_serving(void);
void thread_serve(struct serving *innermost);

/* For process.c, which has the lock of the live pools.  From now on hand_back() runs at thread exit, if the system's
 * keys are usable.  False when the system refuses. */
bool threads_notice_exits(bool keys_usable);

#endif
