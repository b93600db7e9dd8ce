/* SPDX-License-Identifier: MIT */
/*
 * advice.c - lfpool_advise(): the capacity and the caches that a run would have needed.
 *
 * Idea         The function takes the high-water mark since the last lfpool_high_water_reset(), and the increase of
 *              each counter of lfpool_stats() since then.  Three rules, listed in lfpool/report.h, compute the advice
 *              from these numbers.
 * Reasons      Capacity: an acquire returns NULL only when all objects are in use.  So a pool that never has more than
 *              n objects in use at once needs a capacity of n.
 *              Cache capacity: a magazine has room for s objects, and the stacks of a cache have room for one full and
 *              one empty magazine.  After each trip to the depot the cache has s objects, and room for s more.  So two
 *              trips are at least s calls apart.  An acquire and its release are two calls, so there are at most 2 / s
 *              trips per acquire.
 *              Headroom: if the caches cannot hold all free objects, some free objects are outside the caches, and no
 *              call has to steal from another cache.
 * Progress     As lfpool_stats(); resetting is lock-free.
 */
#include "base/sized.h"
#include "base/text.h"
#include "core/cache.h"
#include "pool/pool.h"

#include "lfpool/report.h"

#include <inttypes.h>

#define CACHE_ENOUGH (4 * (size_t)LFPOOL_ADVICE_SELDOM) /* two magazines of 2 * LFPOOL_ADVICE_SELDOM each */
#define CACHE_LEAST 2                                   /* the smallest valid config.cache_capacity        */
#define ACQUIRES_MINIMUM 1000                           /* with fewer, most trips only fill new caches */

static lfpool_stats_t stats_since(const lfpool_t *pool)
{
	lfpool_stats_t stats;

	(void)lfpool_stats(pool, &stats);
	stats.acquires -= tally_read(&pool->since.acquires);
	stats.depot_trips -= tally_read(&pool->since.depot_trips);
	stats.steals -= tally_read(&pool->since.steals);
	stats.exhausted -= tally_read(&pool->since.exhausted);
	return stats;
}

void lfpool_high_water_reset(lfpool_t *pool)
{
	lfpool_stats_t stats;

	census_reset_high_water(&pool->core);
	(void)lfpool_stats(pool, &stats);
	/* relaxed, all: statistics. */
	store_relaxed(&pool->since.acquires, stats.acquires);
	store_relaxed(&pool->since.depot_trips, stats.depot_trips);
	store_relaxed(&pool->since.steals, stats.steals);
	store_relaxed(&pool->since.exhausted, stats.exhausted);
	store_relaxed(&pool->waited.longest_ns, UINT64_C(0));
}

/* Is this more than once in LFPOOL_ADVICE_SELDOM acquires? */
static bool often(uint64_t times, uint64_t acquires)
{
	return times > acquires / LFPOOL_ADVICE_SELDOM;
}

static void judge_capacity(const lfpool_stats_t *s, lfpool_advice_t *advice, struct text *why)
{
	/* An exhausted call finds high_water = capacity.  So if high_water < capacity now, the pool has grown since. */
	if (!s->exhausted || s->high_water < s->capacity) {
		advice->capacity = s->high_water;
		text_put(why, "At most %zu of %zu objects were in use at once.", s->high_water, s->capacity);
		return;
	}
	/* One more object for each exhausted call would have been enough. */
	advice->capacity = s->high_water + (size_t)(s->exhausted < s->high_water ? s->exhausted : s->high_water);
	text_put(why, "%" PRIu64 " calls found all %zu objects in use.", s->exhausted, s->high_water);
}

/* The largest cache to advise: CACHE_ENOUGH objects, or the number of objects in CACHE_BYTES if that is smaller. */
static size_t largest_cache(const lfpool_t *pool)
{
	const size_t in_bytes = CACHE_BYTES / pool->core.arena.stride,
		     most = in_bytes > CACHE_LEAST ? in_bytes : CACHE_LEAST;

	return most < CACHE_ENOUGH ? most : CACHE_ENOUGH;
}

static size_t larger_cache(const lfpool_stats_t *s, size_t now, size_t largest)
{
	size_t cache = now;

	/* Each doubling of the cache at least halves the trips. */
	for (uint64_t trips = s->depot_trips; cache < largest && often(trips, s->acquires); cache *= 2)
		trips = (trips + 1) / 2;
	return cache < largest || now >= largest ? cache : largest;
}

static void judge_caches(const lfpool_t *pool, const lfpool_stats_t *s, lfpool_advice_t *advice, struct text *why)
{
	if (pool->locked)
		return;

	const size_t now = cache_most_objects(&pool->core), largest = largest_cache(pool);
	size_t cache = now;

	if (s->acquires < ACQUIRES_MINIMUM) {
		text_put(why, " %" PRIu64 " acquires are too few to judge the caches by.", s->acquires);
	} else {
		text_put(why, " %" PRIu64 " acquires made %" PRIu64 " trips to the depot", s->acquires, s->depot_trips);
		if (!often(s->depot_trips, s->acquires)) {
			text_put(why, ": few enough.");
		} else if (now >= CACHE_ENOUGH) {
			text_put(why, ", though caches of %zu are large enough: their threads come and go.", now);
		} else if (now >= largest) {
			text_put(why, ", but caches larger than %zu would hold more than %zu KiB.", now,
				 CACHE_BYTES >> 10);
		} else {
			cache = larger_cache(s, now, largest);
			text_put(why, ": more than one in %d. Larger caches make fewer.", LFPOOL_ADVICE_SELDOM);
		}
		if (often(s->steals, s->acquires))
			text_put(why, " Caches were robbed %" PRIu64 " times: the headroom spares that.", s->steals);
	}
	/* Calls that borrow a cache and leave it empty (LFPOOL_CACHE_NONE) need no headroom. */
	advice->cache_capacity = pool->keeps_none && cache == now ? LFPOOL_CACHE_NONE : cache;
	advice->headroom = advice->cache_capacity == LFPOOL_CACHE_NONE ? 0 : s->caches * cache;
}

lfpool_status_t lfpool_advise_sized(const lfpool_t *pool, lfpool_advice_t *advice_out, size_t bytes)
{
	lfpool_advice_t advice = {0};
	struct text why;

	if (!advice_out)
		return LFPOOL_E_ARGUMENT;

	const lfpool_stats_t stats = stats_since(pool);

	text_open(&why, advice.reason, sizeof(advice.reason));
	judge_capacity(&stats, &advice, &why);
	judge_caches(pool, &stats, &advice, &why);
	sized_write(advice_out, bytes, &advice, sizeof(advice));
	return LFPOOL_OK;
}
