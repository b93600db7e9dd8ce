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
lfpool_t *pool_create(const lfpool_config_t *config);
/* Both. */
lfpool_t *pool_open(const struct plan *plan, lfpool_backend_t backend, uint32_t flags);
/* The usual one, for open(). */
void *pool_open_usual(const struct plan *plan);

/* Destroys it.  Ends the program when something was not given back or a release was refused: what was measured then is
 * not what the table says. */
void pool_close(void *pool);

/* For settle(), see workload.h: drains it, if this is the first thread. */
void pool_settle(void *pool, bool first);

/* For join() and leave(): an explicit cache for each thread. */
void *pool_cache_join(void *pool);
void pool_cache_leave(void *cache);

#define POOL_TRAITS (TRAIT_BOUNDED | TRAIT_POOL)
/* The last members of subjects with such a cache, and of those that find the thread's own. */
#define POOL_BY_CACHE(its_open) FOR_EACH_THREAD(its_open, pool_close, pool_cache_join, pool_cache_leave, SUBJECT_LOOPS)
#define POOL_BY_THREAD(its_open) SHARED_BY_ALL(its_open, pool_close, SUBJECT_LOOPS)

#endif
