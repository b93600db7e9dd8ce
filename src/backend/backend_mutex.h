/* SPDX-License-Identifier: MIT */
/*
 * backend_mutex.h - a pool of the mutex backend, for the files that make it up: see backend_mutex.c.
 *
 * Invariants   M1  the list holds the slots that were used and are free, each once; except those in quarantine and in
 *                  the cold store, which has a bit for each of its own.
 *              M2  `listed` are on the list; of the slots that the pool began with at most all are used.
 * Progress     Blocking.
 */
#ifndef LFPOOL_BACKEND_MUTEX_H
#define LFPOOL_BACKEND_MUTEX_H

#include "os/os.h"
#include "pool/pool.h"

struct mutex_pool {
	struct lfpool_pool head;
	struct arena arena;
	bool zero;                   /* LFPOOL_ZERO                                                   */
	bool check_races;            /* LFPOOL_CHECK_RACES, or there is a lifecycle                          */
	struct lifecycle *lifecycle; /* what each acquire and release has to do besides; NULL: nothing */
	struct lifecycle *builds;    /* what builds all objects beforehand, and those from the cold store now; NULL: nothing */
	os_mutex_t mutex;
	void *list;                  /* free objects, each linked to the next                         */
	size_t listed;               /* so many                                                       */
	size_t used;                 /* of the slots that it began with: ever handed out              */
	size_t most;                 /* slots in the hands of callers, at the most since the last reset */
	uint64_t releases;           /* a statistic                                        */
	_Atomic(uint64_t) exhausted; /* a statistic                                        */
	struct plain_cache *caches;  /* explicit ones; under the registry's lock             */
	bool aside;                  /* links lie here, since what is in a free object must stay      */
	_Alignas(8) void *links[];   /* per slot, and then the words of the cold store       */
};

/* Where the link to the next free object stands.  Under the mutex. */
static inline void *link_of(struct mutex_pool *pool, void *object, uint32_t slot)
{
	return pool->aside ? (void *)&pool->links[slot] : object;
}

/* ---- plain_cache.c: explicit caches, of which this backend has none of its own ---- */

struct cache_head *plain_cache_create(lfpool_t *pool);
void plain_cache_destroy(struct cache_head *head);
void plain_cache_destroy_all(struct mutex_pool *pool);
/* One by one. */
size_t plain_cache_acquire_bulk(struct cache_head *head, void **objects_out, size_t count);
size_t plain_cache_release_bulk(struct cache_head *head, void *const *objects, size_t count);

/* lfpool_check(). */
const char *mutex_check(const lfpool_t *head, size_t *where_out);

#endif
