/* SPDX-License-Identifier: MIT */
/* ways.h - every way to acquire an object of a pool, and every way to release one. */
#ifndef LFPOOL_TESTS_WAYS_H
#define LFPOOL_TESTS_WAYS_H

#include "support.h"

enum way_to { TO_THREAD, TO_CACHE, BULK_TO_THREAD, BULK_TO_CACHE, WAITING, WAITING_WITH_CACHE, WAYS_TO };

/* NULL: the pool has no object, or none for a call of this kind. */
static inline void *take_by(enum way_to way, lfpool_t *pool, lfpool_cache_t *cache)
{
	void *object = NULL;

	switch (way) {
	case TO_THREAD: return lfpool_acquire(pool);
	case TO_CACHE: return lfpool_cache_acquire(cache);
	case BULK_TO_THREAD: return lfpool_acquire_bulk(pool, &object, 1) == 1 ? object : NULL;
	case BULK_TO_CACHE: return lfpool_cache_acquire_bulk(cache, &object, 1) == 1 ? object : NULL;
	case WAITING: return lfpool_acquire_wait(pool, 0);
	default: return lfpool_cache_acquire_wait(cache, 0);
	}
}

enum way_back {
	BY_THREAD,
	BY_CACHE,
	BULK,
	BULK_BY_CACHE,
	BY_HANDLE,
	BY_ITSELF,
	WITH_ALL,
	BY_EXITING_THREAD,
	WAYS_BACK
};

struct way_home {
	lfpool_t *pool;
	void *object;
};

static inline void *release_and_exit(void *argument)
{
	struct way_home *home = argument;

	REQUIRE(lfpool_release(home->pool, home->object) == LFPOOL_OK);
	return NULL;
}

/* WITH_ALL: releases all other active objects too.  Returns the number released. */
static inline size_t give_back_by(enum way_back way, lfpool_t *pool, lfpool_cache_t *cache, void *object)
{
	struct way_home home = {pool, object};

	switch (way) {
	case BY_THREAD: REQUIRE(lfpool_release(pool, object) == LFPOOL_OK); return 1;
	case BY_CACHE: REQUIRE(lfpool_cache_release(cache, object) == LFPOOL_OK); return 1;
	case BULK: REQUIRE(lfpool_release_bulk(pool, &object, 1) == 1); return 1;
	case BULK_BY_CACHE: REQUIRE(lfpool_cache_release_bulk(cache, &object, 1) == 1); return 1;
	case BY_HANDLE: REQUIRE(lfpool_release_handle(pool, lfpool_handle_of(pool, object)) == LFPOOL_OK); return 1;
	case BY_ITSELF: REQUIRE(lfpool_release_self(object) == LFPOOL_OK); return 1;
	case WITH_ALL: return lfpool_release_all(pool);
	default: threads_run(1, release_and_exit, &home, 0); return 1;
	}
}

#endif
