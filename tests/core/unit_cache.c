/* SPDX-License-Identifier: MIT */
/* test: wrap=os_heavy_fence */
/*
 * unit_cache.c - caches and stealing, with one thread using several caches: which objects move where, and which calls
 * cost a heavy fence.
 *
 * (Any sequence of calls through up to twenty caches of one thread: verify/fuzz.  A thread that is stopped at any
 * instruction: verify/step.)
 */
#include "../support/support.h"

#include "core/cache.h"
#include "os/os.h"
#include "pool/pool.h"

#define SLOTS 4
#define CAPACITY 32

static unsigned long fences_made;

void __wrap_os_heavy_fence(void);
void __real_os_heavy_fence(void);

void __wrap_os_heavy_fence(void)
{
	fences_made++;
	__real_os_heavy_fence();
}

static lfpool_t *pool;
static struct cache *a, *b;
static struct core *core;
static uint32_t slots[CAPACITY]; /* b_takes_all() */

static struct cache *cache_new(void)
{
	struct cache *c = (struct cache *)lfpool_cache_create(pool);

	REQUIRE(c);
	return c;
}

static int setup(__attribute__((unused)) void **state)
{
	pool = POOL_OF(16, CAPACITY, .cache_capacity = 2 * SLOTS, .depot_shards = 1);
	a = cache_new();
	b = cache_new();
	core = a->core;
	REQUIRE(core->magazines.slots == SLOTS);
	return 0;
}

static int teardown(__attribute__((unused)) void **state)
{
	(void)lfpool_destroy(pool);
	return 0;
}

/* Takes until there is nothing; returns the number of distinct slots. */
static uint32_t drain(struct cache *c)
{
	bool seen[CAPACITY + 1] = {false};
	uint32_t count = 0, slot;

	while ((slot = cache_take(c, false))) {
		assert_in_range(slot, 1, CAPACITY);
		assert_false(seen[slot]);
		seen[slot] = true;
		count++;
	}
	return count;
}

static void b_takes_all(void)
{
	for (uint32_t i = 0; i < CAPACITY; i++)
		assert_int_not_equal(slots[i] = cache_take(b, false), SLOT_NONE);
}

static void put_n(struct cache *c, uint32_t n, const uint32_t *first)
{
	for (uint32_t i = 0; i < n; i++)
		cache_put(c, first[i]);
}

/* Removes all empty magazines from all stacks. */
static void set_empty_ones_aside(void)
{
	struct stack *const stacks[] = {&core->depot.shard[0].empty, &a->empty, &b->empty};

	for (size_t i = 0; i < COUNT(stacks); i++)
		while (stack_pop(stacks[i], &core->magazines, &a->in_transit))
			;
	tagged_set(&a->in_transit, 0);
}

TEST_WITH(magazine_of_another_stack_is_stolen_without_a_fence, setup, teardown)
{
	b_takes_all();
	/* One full magazine on its stack, one object in current. */
	put_n(b, SLOTS + 1, slots);
	unsigned long fences = fences_made;

	for (int i = 0; i < SLOTS; i++)
		assert_int_not_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(fences_made, fences);
	/* The one in current costs a fence. */
	assert_int_not_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(fences_made, fences + 1);
}

/* With LFPOOL_FENCED none does, and nothing is left. */
TEST_WITH(fenced_pool_uses_no_heavy_fence, setup, teardown)
{
	lfpool_t *fenced = POOL_OF(16, CAPACITY, .cache_capacity = 2 * SLOTS, .flags = LFPOOL_FENCED);
	struct cache *thief = (struct cache *)lfpool_cache_create(fenced);
	lfpool_cache_t *owner = lfpool_cache_create(fenced);
	const unsigned long fences = fences_made;
	void *objects[CAPACITY];

	assert_int_equal(lfpool_cache_acquire_bulk(owner, objects, CAPACITY), CAPACITY);
	assert_int_equal(lfpool_cache_release_bulk(owner, objects, CAPACITY), CAPACITY);
	assert_int_equal(drain(thief), CAPACITY);
	assert_int_equal(fences_made, fences);
	assert_false(thief->core->asymmetric);
	(void)lfpool_destroy(fenced);
}

TEST_WITH(null_costs_no_fence, setup, teardown)
{
	b_takes_all();
	unsigned long fences = fences_made;

	for (int i = 0; i < 1000; i++)
		assert_int_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(fences_made, fences);
	cache_put(b, slots[0]);
	assert_int_equal(cache_take(a, false), slots[0]);
}

/* Thieves empty a magazine that is away from home.  A release resets it, so hits may work on it again. */
TEST_WITH(release_turns_hits_on_again, setup, teardown)
{
	uintptr_t taken, last = 0;

	b_takes_all();
	put_n(b, SLOTS, slots);
	assert_true(magazine_take(b->current, SLOTS, atomic_load(&b->current->top), 1));
	cache_put(b, slots[SLOTS]);
	set_empty_ones_aside();
	put_n(b, SLOTS - 1, slots + SLOTS + 1);
	cache_put(b, slots[0]);
	assert_ptr_equal(b->head.face.hot, cache_closed(b));
	while ((taken = magazine_take(b->current, SLOTS, atomic_load(&b->current->top), 1)))
		last = taken;
	cache_put(b, arena_slot(&core->arena, last));
	assert_true(magazine_is_home(b->current, SLOTS));
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
}

/* The only magazine with room is one from which a thief took while it was full, so it has no free place at home.  A
 * release still finds room there; hits avoid it until it has lost the objects beyond its end. */
TEST_WITH(release_finds_room_in_a_robbed_magazine, setup, teardown)
{
	uint32_t robbed;

	b_takes_all();
	put_n(b, SLOTS, slots);
	robbed = tagged_number(atomic_load(&b->current_word));
	assert_int_equal(magazine_take(b->current, SLOTS, atomic_load(&b->current->top), 1),
			 (uintptr_t)arena_object(&core->arena, slots[0]));
	/* It has three objects and no free place at home, and goes to the depot; then no other magazine has room. */
	cache_put(b, slots[SLOTS]);
	assert_int_equal(tagged_number(atomic_load(&core->depot.shard[0].partial.head)), robbed);
	set_empty_ones_aside();
	put_n(b, SLOTS - 1, slots + SLOTS + 1);
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
	cache_put(b, slots[0]);
	assert_int_equal(tagged_number(atomic_load(&b->current_word)), robbed);
	assert_false(magazine_is_home(b->current, SLOTS));
	assert_ptr_equal(b->head.face.hot, cache_closed(b));
	assert_int_equal(cache_take(b, false), slots[0]);
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
	for (uint32_t i = SLOTS; i > 1; i--)
		assert_int_equal(cache_take(b, false), slots[i - 1]);
	assert_int_equal(drain(a), SLOTS);
}

/* A thief chooses an object in a current magazine, but takes it when the magazine is on the cache's stack.  So the
 * object was not idle, although the stack never changed.  (Interleaved by hand.) */
TEST_WITH(idle_round_leaves_a_used_object_when_a_thief_took_an_idle_one, setup, teardown)
{
	b_takes_all();
	put_n(b, SLOTS, slots);
	struct lfpool_magazine *robbed = b->current;
	const uint64_t top = atomic_load(&robbed->top);

	cache_put(b, slots[SLOTS]);
	assert_ptr_not_equal(b->current, robbed);
	assert_false(lfpool_trim(pool, LFPOOL_IDLE, SIZE_MAX));
	assert_int_equal(magazine_take(robbed, SLOTS, top, 1), (uintptr_t)arena_object(&core->arena, slots[0]));
	tally(&a->counts.steals);
	assert_int_equal(cache_take(b, false), slots[SLOTS]);
	cache_put(b, slots[SLOTS]);
	/* Three idle objects are left on the stack, and the used one is in the current magazine. */
	assert_false(lfpool_trim(pool, LFPOOL_IDLE, SIZE_MAX));
	assert_int_equal(stats_of(pool).untouched, SLOTS - 1);
	assert_int_equal(cache_take(b, false), slots[SLOTS]);
	assert_int_equal(cache_take(b, false), slots[SLOTS - 1]);
}

/* A producer acquires, a consumer releases: touched objects are those in flight, plus at most the bound of each
 * cache. */
TEST(touched_objects_stay_within_use_and_bounds)
{
	enum { IN_FLIGHT = 1024, ROUNDS = 300, LARGE = 1 << 17 };
	static void *objects[IN_FLIGHT];
	lfpool_t *large = POOL_OF(64, LARGE, .name = "large");
	lfpool_cache_t *producer = lfpool_cache_create(large), *consumer = lfpool_cache_create(large);
	const struct core *its = ((struct cache *)producer)->core;

	for (int round = 0; round < ROUNDS; round++) {
		REQUIRE(lfpool_cache_acquire_bulk(producer, objects, IN_FLIGHT) == IN_FLIGHT);
		REQUIRE(lfpool_cache_release_bulk(consumer, objects, IN_FLIGHT) == IN_FLIGHT);
	}
	assert_in_range(census_carved(its), IN_FLIGHT, IN_FLIGHT + 2 * cache_most_objects(its));
	(void)lfpool_destroy(large);
}

/* The last magazine with room is on a stack of another cache. */
TEST_WITH(room_is_found_in_another_cache, setup, teardown)
{
	const uint32_t last = tagged_number(atomic_load(&a->empty.head));

	b_takes_all();
	while (stack_pop(&core->depot.shard[0].empty, &core->magazines, &a->in_transit) ||
	       stack_pop(&b->empty, &core->magazines, &a->in_transit))
		;
	tagged_set(&a->in_transit, 0);
	put_n(b, SLOTS + 1, slots);
	assert_int_equal(tagged_number(atomic_load(&b->current_word)), last);
	assert_int_equal(drain(a), SLOTS + 1);
}

/* The cache's objects move one by one to a partial magazine.  Objects without room there can be stolen. */
TEST_WITH(flush_without_empty_magazines_moves_single_objects, setup, teardown)
{
	struct shard *shard = &core->depot.shard[0];

	b_takes_all();
	put_n(b, 2, slots);
	cache_flush(b);
	assert_int_equal(magazine_count_now(b->current, SLOTS), 0);
	set_empty_ones_aside();
	put_n(b, SLOTS, slots + 2);
	cache_flush(b);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&shard->full.head)), 1);
	assert_int_equal(tagged_number(atomic_load(&shard->partial.head)), 0);
	assert_int_equal(tagged_number(atomic_load(&b->in_transit)), 0);
	assert_int_equal(magazine_count_now(b->current, SLOTS), 2);
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
	/* Moving an object is not a release. */
	assert_int_equal(stats_of(pool).releases, SLOTS + 2);
	assert_int_equal(drain(a), SLOTS + 2);
}

/* A call announces the chunk that it is about to carve: until then no thread takes from it. */
TEST_WITH(an_unused_chunk_is_not_robbed, setup, teardown)
{
	tagged_set(&a->in_transit, 1);
	assert_int_equal(cache_take_idle(b), SLOT_NONE);
	assert_int_equal(depot_carve(&core->depot, 0, &core->magazines, &a->in_transit), 1);
	cache_adopt(a, 1);
	assert_int_equal(cache_take_idle(b), 1);
}

RUN_TESTS()
