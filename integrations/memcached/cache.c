/* SPDX-License-Identifier: MIT */
/*
 * cache.c - memcached's object caches, made of lfpool.  Takes the place of memcached's file of this name.
 *
 * Idea         A cache is a pool that grows by itself.  What memcached's cache would have malloc'ed by then are the objects
 *              that were ever used; the others cost addresses.  All pools are in one registry, for the table of
 *              cache_report().
 * Headroom     A pool grows by more than private stores hold: what was never used is taken before a thread is robbed (README.md).
 * Differences  Nothing is locked.  Memory is never handed back to malloc, as it was when a limit was lowered (lfpool_trim()
 *              would give it to the system).  Without a limit there are CACHE_MOST objects: addresses are reserved for so many.
 * Debug build  Without NDEBUG a word before each object and one behind it are checked, as memcached's tests want it.
 *              LFPOOL_DEBUG=guard does the same in any build.
 */
#include "cache.h"

#include <lfpool/inline.h>
#include <lfpool/registry.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects in a private store: requests take one or two and give them back. */
#define CACHE_PRIVATE 16
/* Four stores' worth. */
#define CACHE_STEP 64

/* 4 GiB of addresses for memcached's largest, the read buffers. */
#define CACHE_MOST ((size_t)1 << 18)

struct cache {
	lfpool_t *pool;
	lfpool_cache_t *own; /* for do_cache_alloc() and do_cache_free() */
	size_t bufsize;      /* bytes of an object, as its user knows it */
};

/* All caches. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lfpool_registry_t *registry;
static unsigned created;

/* Bytes of a red zone, on either side of an object. */
#ifdef NDEBUG
enum { ZONE = 0 };
#else
enum { ZONE = 8 };
#endif
static const unsigned char zone[] = {0xde, 0xad, 0xbe, 0xef, 0xca, 0xfe, 0xde, 0xed};
int cache_error;

/* "rbuf" is the name of a cache in each thread: the second that is made of all is "rbuf-2". */
static lfpool_status_t add_pool(lfpool_t **pool_out, const char *name, const lfpool_config_t *config)
{
	lfpool_status_t status = LFPOOL_OK;
	char unique[64];

	pthread_mutex_lock(&lock);
	snprintf(unique, sizeof(unique), "%.48s-%u", name, ++created);
	if (!registry)
		status = lfpool_registry_create(&registry, NULL, NULL);
	if (status == LFPOOL_OK)
		status = lfpool_registry_create_pool(registry, unique, config, pool_out);
	pthread_mutex_unlock(&lock);
	return status;
}

cache_t *cache_create(const char *name, size_t bufsize, size_t align)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_status_t status;
	cache_t *cache = malloc(sizeof(*cache));

	if (!cache)
		return NULL;
	cache->bufsize = bufsize;
	config.object_size = bufsize + 2 * ZONE;
	/* What malloc gives, or more. */
	config.object_alignment = align > _Alignof(max_align_t) ? align : 0;
	config.capacity = 1;
	config.growth_step = CACHE_STEP;
	config.max_capacity = CACHE_MOST;
	config.cache_capacity = CACHE_PRIVATE;
	status = add_pool(&cache->pool, name, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "cache \"%s\": %s\n", name, lfpool_status_string(status));
		free(cache);
		return NULL;
	}
	cache->own = lfpool_cache_create(cache->pool);
	if (!cache->own) {
		cache_destroy(cache);
		return NULL;
	}
	return cache;
}

void cache_destroy(cache_t *cache)
{
	lfpool_registry_destroy_pool(registry, cache->pool);
	free(cache);
}

/* ---- From slot to object and back: without red zones nothing is left of it ---- */

static void *object_in(const cache_t *cache, char *slot)
{
	if (!slot)
		return NULL;
	memcpy(slot, zone, ZONE);
	memcpy(slot + ZONE + cache->bufsize, zone, ZONE);
	return slot + ZONE;
}

/* NULL, which releases nothing, if it was overwritten: that is said, and the object is kept for who wants to look at it. */
static void *slot_of(const cache_t *cache, void *object)
{
	char *slot = (char *)object - ZONE;

	if (memcmp(slot, zone, ZONE) == 0 && memcmp(slot + ZONE + cache->bufsize, zone, ZONE) == 0)
		return slot;
	raise(SIGABRT);
	cache_error = memcmp(slot, zone, ZONE) ? -1 : 1;
	return NULL;
}

/* ---- Any thread ---- */

void *cache_alloc(cache_t *cache)
{
	return object_in(cache, lfpool_acquire(cache->pool));
}

void cache_free(cache_t *cache, void *object)
{
	lfpool_release(cache->pool, slot_of(cache, object));
}

/* ---- One thread at a time: which is what a cache handle asks for ---- */

void *do_cache_alloc(cache_t *cache)
{
	return object_in(cache, lfpool_cache_acquire(cache->own));
}

void do_cache_free(cache_t *cache, void *object)
{
	lfpool_cache_release(cache->own, slot_of(cache, object));
}

/* ---- Limits and reports ---- */

void cache_set_limit(cache_t *cache, int limit)
{
	const size_t most = limit > 0 && (size_t)limit < CACHE_MOST ? (size_t)limit : CACHE_MOST;
	size_t now;

	/* What an earlier limit is still owed is forgiven: this one counts. */
	lfpool_shrink_cancel(cache->pool);
	/* Not refused: there are addresses for CACHE_MOST. */
	lfpool_limit(cache->pool, most);
	now = lfpool_capacity(cache->pool);
	if (now > most)
		lfpool_shrink(cache->pool, now - most);
}

int cache_total(const cache_t *cache)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	(void)lfpool_stats(cache->pool, &stats);
	return (int)(stats.capacity - stats.untouched);
}

int cache_free_total(const cache_t *cache)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	(void)lfpool_stats(cache->pool, &stats);
	return (int)(stats.cached + stats.shared);
}

/* What lfpool says of one, or of all; nothing of a cache that is none. */
static size_t describe(const char *name, char *text, size_t room)
{
	const lfpool_t *pool = name && registry ? lfpool_registry_find(registry, name) : NULL;

	if (pool)
		return lfpool_dump(pool, LFPOOL_TEXT, text, room);
	return name || !registry ? 0 : lfpool_registry_dump(registry, LFPOOL_TEXT, text, room);
}

char *cache_report(const char *name, int *length)
{
	static const char end[] = "END\r\n";
	char *text = NULL;
	size_t room = 0, bytes;

	/* Again only if it has become longer meanwhile. */
	while (bytes = describe(name, text, room), !text || bytes >= room) {
		free(text);
		room = bytes + 1000;
		text = malloc(room + sizeof(end));
		if (!text)
			return NULL;
	}
	memcpy(text + bytes, end, sizeof(end));
	*length = (int)(bytes + sizeof(end) - 1);
	return text;
}
