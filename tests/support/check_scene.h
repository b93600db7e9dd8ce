/* SPDX-License-Identifier: MIT */
/*
 * check_scene.h - a pool that has been lived in, and its parts, to be damaged: objects out, a cache with two magazines, the
 * three stacks of the depot, chunks never used.
 */
#ifndef LFPOOL_TESTS_CHECK_SCENE_H
#define LFPOOL_TESTS_CHECK_SCENE_H

#include "support.h"

#include "core/cache.h"
#include "pool/pool.h"

enum { SLOTS = 4, CAPACITY = 62, CHUNKS = 16, OUT = 9 };

struct scene {
	lfpool_t *pool;
	struct core *core;
	struct cache *cache, *given_up;
	void *out[OUT];
};

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static inline struct scene scene_open(uint32_t flags)
{
	lfpool_config_t config = config_of(24, CAPACITY);
	struct scene s = {0};
	void *objects[30];

	config.cache_capacity = 2 * SLOTS;
	config.depot_shards = 1;
	config.flags = flags;
	s.pool = pool_with(&config);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool), *other = lfpool_cache_create(s.pool);

	s.cache = (struct cache *)cache;
	s.given_up = (struct cache *)other;
	s.core = s.cache->core;
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects + 6, 24), 24);
	/* One magazine with one object left, which goes to `partial` with the cache. */
	assert_int_equal(lfpool_cache_acquire_bulk(other, s.out, 3), 3);
	lfpool_cache_destroy(other);
	memcpy(s.out + 3, objects, 6 * sizeof(objects[0]));
	assert_null(lfpool_check(s.pool, NULL));
	return s;
}

static inline struct stack *stack_of(const struct scene *s, char kind)
{
	struct shard *shard = &s->core->depot.shard[0];

	return kind == 'f' ? &shard->full : kind == 'p' ? &shard->partial : &shard->empty;
}

static inline uint32_t first_of(const struct scene *s, char kind)
{
	const uint32_t number = tagged_number(LOAD(&stack_of(s, kind)->head));

	REQUIRE(number);
	return number;
}

static inline struct lfpool_magazine *at(const struct scene *s, uint32_t number)
{
	return magazines_at(&s->core->magazines, number);
}

static inline uint32_t below(const struct scene *s, uint32_t number)
{
	return link_below(LOAD(&at(s, number)->next));
}

/* Magazine `number` now lies on `lower`, whose depth it knows. */
static inline void put_on(const struct scene *s, uint32_t number, uint32_t lower)
{
	STORE(&at(s, number)->next, link_to(link_depth(LOAD(&at(s, lower)->next)) + 1, lower));
}

static inline _Atomic(uint8_t) *state_of(const struct scene *s, uint32_t slot)
{
	return &s->core->arena.face.state[slot];
}

static inline uint32_t slot_out(const struct scene *s)
{
	return (uint32_t)lfpool_slot_of(&s->core->arena.face, s->out[0]);
}

/* A full magazine's object number `which`, from the oldest: its slot; and another in its place. */
static inline uint32_t entry_slot(const struct scene *s, uint32_t number, uint32_t which)
{
	struct lfpool_magazine *m = at(s, number);

	return (uint32_t)lfpool_slot_of(&s->core->arena.face, (void *)magazine_at(m, SLOTS, LOAD(&m->top) + which));
}

static inline void entry_set(const struct scene *s, uint32_t number, uint32_t which, uintptr_t object)
{
	struct lfpool_magazine *m = at(s, number);

	STORE(&m->entry[magazine_place_of(LOAD(&m->top) + which, SLOTS)], object);
}

static inline uintptr_t object_of(const struct scene *s, uint32_t slot)
{
	return (uintptr_t)arena_object(&s->core->arena, slot);
}

static inline void set_number(tagged_word *word, uint32_t number)
{
	STORE(word, tagged_next(LOAD(word), number));
}

#endif
