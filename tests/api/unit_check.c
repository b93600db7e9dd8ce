/* SPDX-License-Identifier: MIT */
/*
 * unit_check.c - lfpool_check(): each kind of damage is done once, and the right invariant is named.
 *
 * Scene        A used pool: objects out, a cache with a magazine on its stack, the three stacks of the depot, unused
 *              chunks.
 */
#include "../support/support.h"

#include "core/cache.h"
#include "pool/pool.h"

enum { SLOTS = 4, CAPACITY = 62, CHUNKS = 16, OUT = 9 };

struct scene {
	lfpool_t *pool;
	struct core *core;
	struct cache *cache, *given_up;
	void *out[OUT];
	uint32_t full, second, third, partial, empty; /* on the depot's stacks, the first three on one */
	uint32_t current, own;                        /* of the cache; a full one on its stack */
	uint64_t count, carved;                       /* counts needed to destroy the pool */
};

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static struct lfpool_magazine *at(const struct scene *s, uint32_t number)
{
	return magazines_at(&s->core->magazines, number);
}

static uint32_t below(const struct scene *s, uint32_t number)
{
	return link_below(LOAD(&at(s, number)->next));
}

static struct shard *shard_of(const struct scene *s)
{
	return &s->core->depot.shard[0];
}

static struct scene scene_open(void)
{
	void *objects[30];
	struct scene s = {.pool = POOL_OF(80, CAPACITY, .cache_capacity = 2 * SLOTS, .depot_shards = 1)};
	lfpool_cache_t *cache = lfpool_cache_create(s.pool), *other = lfpool_cache_create(s.pool);
	size_t where = 12345;

	s.cache = (struct cache *)cache;
	s.given_up = (struct cache *)other;
	s.core = s.cache->core;
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, 30), 30);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects + 6, 24), 24);
	/* One magazine with one object left, which goes to `partial` with the cache. */
	assert_int_equal(lfpool_cache_acquire_bulk(other, s.out, 3), 3);
	lfpool_cache_destroy(other);
	memcpy(s.out + 3, objects, 6 * sizeof(objects[0]));
	s.full = tagged_number(LOAD(&shard_of(&s)->full.head));
	s.second = below(&s, s.full);
	s.third = below(&s, s.second);
	s.partial = tagged_number(LOAD(&shard_of(&s)->partial.head));
	s.empty = tagged_number(LOAD(&shard_of(&s)->empty.head));
	s.current = tagged_number(LOAD(&s.cache->current_word));
	s.own = tagged_number(LOAD(&s.cache->full.head));
	s.count = LOAD(&s.core->table.count);
	s.carved = LOAD(&shard_of(&s)->carved);
	REQUIRE(s.third && s.partial && s.empty && s.current && s.own);
	assert_null(lfpool_check(s.pool, &where));
	assert_true(where == SIZE_MAX);
	return s;
}

static void require_named(struct scene *s, size_t expected, const char *named)
{
	size_t where = 12345;
	const char *violated = lfpool_check(s->pool, &where);

	if (!violated || where != expected || strncmp(violated, named, strlen(named)) != 0)
		fail_msg("expected \"%s\" at %zu, got \"%s\" at %zu", named, expected, violated ? violated : "nothing",
			 where);
	STORE(&shard_of(s)->carved, s->carved);
	STORE(&s->core->table.count, (uint32_t)s->count);
	(void)lfpool_destroy(s->pool);
}

/* ---- Parts of the scene ---- */

static _Atomic(uintptr_t) *state_of(const struct scene *s, uint32_t slot)
{
	return arena_state(&s->core->arena, slot);
}

/* The state of the first granule in which no object begins.  With a stride of 80 bytes, or 96 if a tool watches the
 * gaps, there is one among the first five. */
static _Atomic(uintptr_t) *state_of_none(const struct scene *s)
{
	const struct arena *arena = &s->core->arena;
	uintptr_t granule = 0;

	while (state_of(s, arena_slot_in(arena, granule)) == &arena->face.state[granule])
		granule++;
	return &arena->face.state[granule];
}

static uint32_t slot_out(const struct scene *s)
{
	return (uint32_t)arena_slot_of(&s->core->arena, s->out[0]);
}

static uintptr_t object_of(const struct scene *s, uint32_t slot)
{
	return (uintptr_t)arena_object(&s->core->arena, slot);
}

/* The slot of object number `which` of a magazine, from the oldest; and sets another one. */
static uint32_t entry_slot(const struct scene *s, uint32_t number, uint32_t which)
{
	struct lfpool_magazine *m = at(s, number);

	return (uint32_t)arena_slot_of(&s->core->arena, (void *)magazine_at(m, SLOTS, LOAD(&m->top) + which));
}

static void entry_set(const struct scene *s, uint32_t number, uint32_t which, uintptr_t object)
{
	struct lfpool_magazine *m = at(s, number);

	STORE(&m->entry[magazine_place_of(LOAD(&m->top) + which, SLOTS)], object);
}

/* Adds to the numbers taken from it and pushed. */
static void change(const struct scene *s, uint32_t number, uint64_t taken, uint64_t pushed)
{
	struct lfpool_magazine *m = at(s, number);

	STORE(&m->top, LOAD(&m->top) + taken);
	STORE(&m->bottom, LOAD(&m->bottom) + pushed * LFPOOL_PUSHED_);
}

/* Puts magazine `number` on `lower`, with the right depth. */
static void put_on(const struct scene *s, uint32_t number, uint32_t lower)
{
	STORE(&at(s, number)->next, link_to(link_depth(LOAD(&at(s, lower)->next)) + 1, lower));
}

static void set_number(tagged_word *word, uint32_t number)
{
	STORE(word, tagged_next(LOAD(word), number));
}

static uint32_t lowest_below(const struct scene *s, uint32_t number)
{
	uint32_t lowest = UINT32_MAX;

	while ((number = below(s, number)))
		lowest = number < lowest ? number : lowest;
	return lowest;
}

static struct cache *cache_number(const struct scene *s, uint32_t number)
{
	uint32_t left;

	return cache_at(s->core, number, &left);
}

/* ---- Damages ---- */

/* A test: the statements change the scene `s`; then the check must return `where` and `named`. */
#define DAMAGE(name, where, named, ...)                         \
	TEST(name)                                              \
	{                                                       \
		struct scene scene = scene_open(), *s = &scene; \
		const size_t expected = (where);                \
                                                                \
		__VA_ARGS__;                                    \
		require_named(s, expected, (named));            \
	}

DAMAGE(free_object_active, entry_slot(s, s->full, 1) - 1, "A1: an object in use is listed",
       arena_activate(&s->core->arena, entry_slot(s, s->full, 1)))
DAMAGE(active_object_free, slot_out(s) - 1, "C1: a free slot is not listed", STORE(state_of(s, slot_out(s)), 0))
DAMAGE(state_of_another, slot_out(s) - 1, "A1: a state is invalid",
       STORE(state_of(s, slot_out(s)), object_of(s, slot_out(s)) + 1))
DAMAGE(state_between, SIZE_MAX, "A1: there is a state", STORE(state_of_none(s), 5))
DAMAGE(unused_state, 32, "A1: a slot that was never used", STORE(state_of(s, 33), 1))
DAMAGE(entry_doubled, entry_slot(s, s->full, 0) - 1, "C1: a free slot is listed twice",
       entry_set(s, s->full, 1, object_of(s, entry_slot(s, s->full, 0))))
DAMAGE(entry_zero, SIZE_MAX, "H5:", entry_set(s, s->full, 1, 0))
DAMAGE(entry_never_used, CAPACITY - 1, "C1: a slot that was never used",
       entry_set(s, s->full, 1, object_of(s, CAPACITY)))
/* Missing from a magazine that may be partly filled. */
DAMAGE(entry_lost, entry_slot(s, s->partial, 0) - 1, "C1: a free slot is not listed", change(s, s->partial, 1, 0))
DAMAGE(full_not_full, s->full, "D3:", change(s, s->full, 1, 0))
/* The same, with thefts that would allow it, but too much is missing for the number of caches. */
DAMAGE(full_all_empty, SIZE_MAX, "G2: the stacks", STORE(&s->cache->counts.steals, 1000);
       for (uint32_t number = s->full; number; number = below(s, number)) change(s, number, SLOTS, 0))
DAMAGE(partial_full, s->partial, "D4: a magazine on a stack of partial",
       STORE(&at(s, s->partial)->bottom, LOAD(&at(s, s->partial)->top) + SLOTS))
DAMAGE(empty_not_empty, s->empty, "D4: a magazine on a stack of empty", change(s, s->empty, 0, 1))
DAMAGE(overfull, s->full, "H1:", change(s, s->full, 0, 1))
DAMAGE(in_two_stacks, s->full, "D1: a magazine is in two places", put_on(s, s->partial, s->full))
DAMAGE(in_a_stack_and_a_cache, s->current, "D1: a magazine is in two places",
       STORE(&at(s, s->partial)->next, link_to(2, s->current)))
DAMAGE(circle, s->second, "D1: a stack is circular",
       STORE(&at(s, s->third)->next, link_to(link_depth(LOAD(&at(s, s->third)->next)), s->second)))
DAMAGE(chain_cut, lowest_below(s, s->full), "G2: a magazine in use", STORE(&at(s, s->full)->next, link_to(1, 0)))
DAMAGE(depth_of_the_top_wrong, s->second, "D5:", STORE(&at(s, s->full)->next, link_to(1, s->second)))
DAMAGE(head_to_a_chunk_never_used, CHUNKS, "D1: a cache or a stack names",
       set_number(&shard_of(s)->partial.head, CHUNKS))
DAMAGE(no_current, 0, "D1: a cache or a stack names", set_number(&s->cache->current_word, 0))
DAMAGE(current_exchanged, s->partial, "C5: a cache works", set_number(&s->cache->current_word, s->partial);
       set_number(&shard_of(s)->partial.head, s->current))
DAMAGE(stack_beyond_its_bound, s->own, "C6:", s->core->bound = 0)
DAMAGE(hand_full, s->full, "C5: a cache has a magazine in transit", set_number(&s->given_up->in_transit, s->full))
DAMAGE(misnumbered, s->full, "G1: a magazine has a wrong", STORE(&at(s, s->full)->number, s->full + 1))
DAMAGE(claimed_twice, SIZE_MAX, "T1:", STORE(&s->given_up->claimed, 2))
DAMAGE(unborn_claimed, SIZE_MAX, "T3: an unused cache", STORE(&cache_number(s, 0)->claimed, 1))
DAMAGE(uncounted_holds, SIZE_MAX, "T2: a cache beyond", set_number(&cache_number(s, LOT_CACHES - 1)->full.head, 1))
DAMAGE(cache_of_another_pool, SIZE_MAX, "T3: a cache names", s->cache->head.pool = NULL)
DAMAGE(count_too_low, SIZE_MAX, "T2: the number of caches", STORE(&s->core->table.count, 1))
DAMAGE(carved_too_many, SIZE_MAX, "D6:", STORE(&shard_of(s)->carved, CHUNKS + 1))
DAMAGE(unused_chunk_touched, 9, "H7:", STORE(&at(s, 9)->bottom, LFPOOL_PUSHED_))

RUN_TESTS()
