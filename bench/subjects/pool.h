/* SPDX-License-Identifier: MIT */
/*
 * pool.h - opening and closing the lfpool pools among the subjects.
 */
#ifndef LFPOOL_BENCH_POOL_H
#define LFPOOL_BENCH_POOL_H

#include "../subject.h"

#include "lfpool/lfpool.h"

/* What all of them have in common. */
lfpool_config_t pool_config(const struct plan *plan, lfpool_backend_t backend);

/* Ends the program when there is none. */
lfpool_t *pool_open(const struct plan *plan, lfpool_backend_t backend, uint32_t flags);
/* `cache_capacity` as in lfpool_config_t. */
lfpool_t *pool_open_cached(const struct plan *plan, lfpool_backend_t backend, uint32_t flags, size_t cache_capacity);

/* The usual one, for open(). */
void *pool_open_usual(const struct plan *plan);

/* The same, with hooks. */
lfpool_t *pool_open_hooked(const struct plan *plan, lfpool_backend_t backend, uint32_t flags, size_t cache_capacity,
			   const lfpool_hooks_t *hooks);

/* The same, for objects that are retired. */
lfpool_t *pool_open_deferring(const struct plan *plan, lfpool_backend_t backend, lfpool_scheme_t scheme);

/* Destroys it.  Ends the program when something was not given back or a release was refused: what was measured then is
 * not what the table says. */
void pool_close(void *pool);

/* For counters(): calls that had to change magazines, and CASes on the depot's heads that failed. */
void pool_counters(void *pool, uint64_t *misses, uint64_t *retries);

/* For deferred release, see ../retire/retiring.h: acquires; */
static inline void *pool_acquire(void *pool)
{
	return lfpool_acquire((lfpool_t *)pool);
}
/* acquires, and waits while the pool is empty; */
void *pool_acquire_wait(void *pool);
/* drains it, if this is the first thread; */
void pool_settle(void *pool, bool first);
/* what is retired. */
size_t pool_in_flight(void *pool, size_t deferred);

/* For join() and leave(): an explicit cache for each thread. */
void *pool_cache_join(void *pool);
void pool_cache_leave(void *cache);

/* The last members of subjects with such a cache, and of those that find the thread's own. */
#define POOL_BY_CACHE(its_open) POOL_MEMBERS(its_open, pool_cache_join, pool_cache_leave)
#define POOL_BY_THREAD(its_open) POOL_MEMBERS(its_open, join_shared, leave_nothing)
#define POOL_MEMBERS(its_open, its_join, its_leave)                                                     \
	.group = "lfpool", .open = its_open, .close = pool_close, .join = its_join, .leave = its_leave, \
	.counters = pool_counters, .loops = SUBJECT_LOOPS

#endif
