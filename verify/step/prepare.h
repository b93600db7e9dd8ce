/* SPDX-License-Identifier: MIT */
/*
 * prepare.h - how a pool is brought into one exact state, for the tables of operations.
 */
#ifndef LFPOOL_VERIFY_PREPARE_H
#define LFPOOL_VERIFY_PREPARE_H

#include "scene.h"

#define EACH 4 /* slots per magazine, for cache_capacity 8 */

/* The middle of a table's row: capacity, cache_capacity, flags, hooks, debug, special. */
#define POOL(capacity, cache_capacity, flags, hooks, debug, special) \
	0, capacity, cache_capacity, 0, 0, flags, hooks, debug, special
/* One that can grow to `most`, by itself if there is a `step`. */
#define GROWING(capacity, most, step) \
	0, capacity, 2 * EACH, most, step, 0, NULL, NULL, SPECIAL_NOTHING
#define SMALL POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define USUAL POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define WITH(flags) POOL(4 * EACH, 2 * EACH, flags, NULL, NULL, SPECIAL_NOTHING)

#define CHANGED (MOVES_CURRENT | MOVES_PREVIOUS)

/* Acquires `count` objects through `cache`, or through the thread's own (NULL), for the victim's caller to hold. */
static inline void take(struct scene *s, lfpool_cache_t *cache, size_t count)
{
	while (count--)
		s->held[s->held_count++] = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(s->pool);
}

/* Releases the last `count` of them. */
static inline void give(struct scene *s, lfpool_cache_t *cache, size_t count)
{
	while (count--) {
		void *object = s->held[--s->held_count];

		if (cache)
			(void)lfpool_cache_release(cache, object);
		else
			(void)lfpool_release(s->pool, object);
	}
}

/* Moves the last `count` held objects to those the operation is to release. */
static inline void hand_over(struct scene *s, size_t count)
{
	while (count--)
		s->given[s->given_count++] = s->held[--s->held_count];
}

/* Moves the last `count` held objects to the others. */
static inline void lend(struct scene *s, size_t count)
{
	while (count--)
		s->lent[s->lent_count++] = s->held[--s->held_count];
}

/* The continuation of every lfpool_acquire_async(): got[0] of the scene. */
void keep_object(void *scene, lfpool_t *pool, void *object);

/* In operations.c.  A fresh cache; two of the four in `current` held; those, and one of them to release; six wanted;
 * all held but by others. */
void prepare_fresh(struct scene *s);
void prepare_hit(struct scene *s);
void prepare_release_hit(struct scene *s);
void prepare_bulk_acquire(struct scene *s);
void prepare_exhausted(struct scene *s);

void acquire_inlined(struct scene *s);
void release_inlined(struct scene *s);
void acquire_through_cache(struct scene *s);
void release_through_cache(struct scene *s);
void acquire_bulk(struct scene *s);

#endif
