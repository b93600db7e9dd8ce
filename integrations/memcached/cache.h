/* SPDX-License-Identifier: MIT */
/*
 * cache.h - memcached's object caches, made of lfpool.  Takes the place of memcached's file of this name.
 *
 * The functions are those of memcached 1.6.18, except three: its struct had fields that others looked into (`total`,
 * `freecurr`), which are functions here, and cache_report() is new.  Any thread may call any of them, except do_cache_alloc()
 * and do_cache_free().
 */
#ifndef CACHE_H
#define CACHE_H

#include <stddef.h>

/* What the last cache_free() found in a build without NDEBUG: bytes overwritten before the object (-1) or behind it (1). */
extern int cache_error;

typedef struct cache cache_t;

/* A cache of objects of `bufsize` bytes, empty; it grows as they are allocated.  NULL: no memory, or LFPOOL_DEBUG says
 * what it must not (a line on stderr tells). */
cache_t *cache_create(const char *name, size_t bufsize, size_t align);
void cache_destroy(cache_t *cache);

/* An object; NULL only if as many as the limit allows are in use. */
void *cache_alloc(cache_t *cache);
void cache_free(cache_t *cache, void *object);

/* The same, for caches that one thread uses at a time.  An object may be freed by either. */
void *do_cache_alloc(cache_t *cache);
void do_cache_free(cache_t *cache, void *object);

/* So many objects at most; 0: as many as there are addresses for, see cache.c.  If there are more, those that are free go
 * at once, the others when they come back. */
void cache_set_limit(cache_t *cache, int limit);

/* How many objects were made so far, without those that a limit took; how many of them are free. */
int cache_total(const cache_t *cache);
int cache_free_total(const cache_t *cache);

/* All caches as a table, or with a name from that table: one in full; then "END", as memcached ends what it says.  For the
 * caller to free(); NULL: no memory.  No cache may be destroyed meanwhile. */
char *cache_report(const char *name, int *length);

#endif
