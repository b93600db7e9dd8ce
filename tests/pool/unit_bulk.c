/* SPDX-License-Identifier: MIT */
/* unit_bulk.c - what a bulk call does for the hits that follow it. */
#include "../support/support.h"

#include "core/cache.h"
#include "pool/pool.h"

/* magazine_room() resets a magazine that thieves have emptied, and no hit has looked at it since. */
TEST(bulk_release_turns_hits_on_again)
{
	lfpool_t *pool = POOL_OF(16, 100, .debug = "no-tools");
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	struct cache *c = (struct cache *)cache;
	void *objects[2];

	assert_non_null(cache);
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 2), 2);
	c->head.face.hot = cache_closed(c);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, 2), 2);
	assert_ptr_equal(c->head.face.hot, c->core->hits ? c->current : cache_closed(c));
	lfpool_cache_destroy(cache);
	lfpool_destroy(pool);
}

RUN_TESTS()
