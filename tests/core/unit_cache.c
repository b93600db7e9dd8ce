/* SPDX-License-Identifier: MIT */
/*
 * unit_cache.c - caches and stealing, with several caches in the hands of one thread: what moves where, what a
 * stopped thread leaves behind, what costs a heavy fence and what does not.
 *
 * A thread that is stopped in the middle of an operation is played by doing the operation's first steps by hand and
 * no more.
 */
#include "../support/support.h"

#include "core/cache.h"
#include "os/os.h"
#include "pool/pool.h"

#define SLOTS 4
#define CAPACITY 32

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

/* Takes until there is nothing; returns how many distinct slots came. */
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

TEST_WITH(one_cache_gets_everything_once, setup, teardown)
{
	assert_int_equal(drain(a), CAPACITY);
	assert_int_equal(cache_take(a, false), SLOT_NONE);
}

/* What b holds in both magazines is a's when a asks. */
TEST_WITH(nothing_stays_behind_in_another_cache, setup, teardown)
{
	b_takes_all();
	put_n(b, 2 * SLOTS + 1, slots);
	assert_int_equal(drain(a), 2 * SLOTS + 1);
	put_n(b, CAPACITY - 2 * SLOTS - 1, slots + 2 * SLOTS + 1);
	assert_int_equal(drain(a), CAPACITY - 2 * SLOTS - 1);
}

TEST_WITH(a_whole_previous_is_stolen_without_a_fence, setup, teardown)
{
	b_takes_all();
	/* One magazine full in previous, one object in current. */
	put_n(b, SLOTS + 1, slots);
	unsigned long fences = os_testing_heavy_fences();

	for (int i = 0; i < SLOTS; i++)
		assert_int_not_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(os_testing_heavy_fences(), fences);
	/* The one in current costs a fence. */
	assert_int_not_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(os_testing_heavy_fences(), fences + 1);
}

/* With LFPOOL_FENCED none does, and nothing stays behind. */
TEST_WITH(a_fenced_pool_interrupts_nobody, setup, teardown)
{
	lfpool_t *fenced = POOL_OF(16, CAPACITY, .cache_capacity = 2 * SLOTS, .flags = LFPOOL_FENCED);
	struct cache *thief = (struct cache *)lfpool_cache_create(fenced);
	lfpool_cache_t *owner = lfpool_cache_create(fenced);
	const unsigned long fences = os_testing_heavy_fences();
	void *objects[CAPACITY];

	assert_int_equal(lfpool_cache_acquire_bulk(owner, objects, CAPACITY), CAPACITY);
	assert_int_equal(lfpool_cache_release_bulk(owner, objects, CAPACITY), CAPACITY);
	assert_int_equal(drain(thief), CAPACITY);
	assert_int_equal(os_testing_heavy_fences(), fences);
	assert_false(thief->core->asymmetric);
	(void)lfpool_destroy(fenced);
}

TEST_WITH(saying_no_costs_no_fence, setup, teardown)
{
	b_takes_all();
	unsigned long fences = os_testing_heavy_fences();

	for (int i = 0; i < 1000; i++)
		assert_int_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(os_testing_heavy_fences(), fences);
	cache_put(b, slots[0]);
	assert_int_equal(cache_take(a, false), slots[0]);
}

/* An acquire that finds nothing leaves no trace that another one, which is looking too, could take for a change. */
TEST_WITH(saying_no_changes_nothing, setup, teardown)
{
	b_takes_all();
	assert_int_equal(cache_take(a, false), SLOT_NONE);
	uint64_t before[] = {atomic_load(&a->in_transit), atomic_load(&a->current_word), atomic_load(&a->previous),
			     atomic_load(&a->current->top), atomic_load(&a->current->bottom)};

	assert_int_equal(cache_take(a, false), SLOT_NONE);
	uint64_t after[] = {atomic_load(&a->in_transit), atomic_load(&a->current_word), atomic_load(&a->previous),
			    atomic_load(&a->current->top), atomic_load(&a->current->bottom)};

	assert_memory_equal(before, after, sizeof(before));
}

/* b has announced and popped a magazine and is stopped before it installs it. */
TEST_WITH(stopped_with_a_magazine_in_the_hand, setup, teardown)
{
	assert_int_not_equal(stack_pop(&core->depot.shard[0].full, &core->magazines, &b->in_transit) +
				     depot_carve(&core->depot, &core->magazines, &b->in_transit),
			     0);
	assert_int_equal(drain(a), CAPACITY);
}

/* b has stored its new bottom and is stopped before it looks at top: the object in its hands is its own, the others
 * are not. */
TEST_WITH(stopped_in_the_middle_of_a_pop, setup, teardown)
{
	b_takes_all();
	put_n(b, 3, slots);
	atomic_fetch_sub(&b->current->bottom, 1);
	assert_int_equal(drain(a), 2);
	/* It goes on, and gets its object: the last one, which needs the CAS. */
	atomic_fetch_add(&b->current->bottom, 1);
	assert_int_equal(cache_take(b, false), slots[2]);
}

/* b has put its full magazine into `previous` too and is stopped before it has a new one; then it goes on. */
TEST_WITH(stopped_with_one_magazine_named_twice, setup, teardown)
{
	b_takes_all();
	put_n(b, SLOTS, slots);
	assert_int_equal(magazine_count_now(b->current, SLOTS), SLOTS);
	tagged_set(&b->previous, atomic_load(&b->current->number));
	assert_int_equal(drain(a), SLOTS);
	cache_install(b, stack_pop(&core->depot.shard[0].empty, &core->magazines, &b->in_transit));
	put_n(b, CAPACITY - SLOTS, slots + SLOTS);
	assert_int_equal(drain(a), CAPACITY - SLOTS);
}

/* A note that is old by the time it is used takes nothing from where the magazine is now. */
TEST_WITH(an_old_note_is_worthless, setup, teardown)
{
	b_takes_all();
	cache_put(b, slots[0]);
	struct lfpool_magazine *m = b->current;
	uint64_t note = atomic_load(&m->top);

	assert_int_equal(cache_take(b, false), slots[0]);
	cache_put(b, slots[1]);
	assert_int_equal(magazine_take(m, SLOTS, note, 1), 0);
	assert_int_equal(drain(a), 1);
}

/*
 * The only magazine with room is one from which a thief took while it was full: it has no place left at home.  A release finds
 * room there all the same; hits keep off it until it has lost what lies behind its end.
 */
TEST_WITH(room_is_found_where_a_thief_took, setup, teardown)
{
	struct stack *empty = &core->depot.shard[0].empty;
	uint32_t aside, robbed;

	b_takes_all();
	put_n(b, SLOTS, slots);
	robbed = tagged_number(atomic_load(&b->current_word));
	assert_int_equal(magazine_take(b->current, SLOTS, atomic_load(&b->current->top), 1),
			 (uintptr_t)arena_object(&core->arena, slots[0]));
	cache_install(b, stack_pop(empty, &core->magazines, &b->in_transit));
	depot_put(&core->depot, &core->magazines, magazines_at(&core->magazines, robbed));
	assert_int_equal(tagged_number(atomic_load(&core->depot.shard[0].partial.head)), robbed);
	while ((aside = stack_pop(empty, &core->magazines, &a->in_transit)) != 0)
		;
	put_n(b, SLOTS, slots + SLOTS);
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
	/* `previous` is empty: it takes the first ones. */
	put_n(b, SLOTS, slots + 2 * SLOTS);
	cache_put(b, slots[0]);
	assert_int_equal(tagged_number(atomic_load(&b->current_word)), robbed);
	assert_false(magazine_is_home(b->current, SLOTS));
	assert_ptr_equal(b->head.face.hot, cache_closed(b));
	assert_int_equal(cache_take(b, false), slots[0]);
	assert_ptr_equal(b->head.face.hot, core->hits ? b->current : cache_closed(b));
	for (uint32_t i = SLOTS; i > 1; i--)
		assert_int_equal(cache_take(b, false), slots[i - 1]);
	assert_int_equal(drain(a), 2 * SLOTS);
}

TEST_WITH(flush_gives_everything_to_the_depot, setup, teardown)
{
	b_takes_all();
	put_n(b, CAPACITY, slots);
	cache_flush(b);
	assert_int_equal(magazine_count_now(b->current, SLOTS), 0);
	assert_int_equal(tagged_number(atomic_load(&b->previous)), 0);
	assert_int_equal(tagged_number(atomic_load(&b->in_transit)), 0);
	unsigned long fences = os_testing_heavy_fences();

	assert_int_equal(drain(a), CAPACITY);
	assert_int_equal(os_testing_heavy_fences(), fences);
}

/* The next user of a cache that was given up hits the magazine that is now its own, not the one that went to the
 * depot. */
TEST_WITH(a_flushed_cache_hits_its_own_magazine, setup, teardown)
{
	void *objects[3];

	for (size_t i = 0; i < COUNT(objects); i++)
		assert_non_null(objects[i] = lfpool_cache_acquire_inline(&b->head.face));
	for (size_t i = 0; i < COUNT(objects); i++)
		assert_int_equal(lfpool_cache_release_inline(&b->head.face, objects[i]), LFPOOL_OK);
	lfpool_cache_destroy(&b->head.face);
	assert_ptr_equal(cache_new(), b);
	if (core->hits)
		assert_ptr_equal(b->head.face.hot, b->current);
	objects[0] = lfpool_cache_acquire_inline(&b->head.face);
	objects[1] = lfpool_cache_acquire_inline(&b->head.face);
	assert_int_equal(drain(a), CAPACITY - 2);
	assert_int_equal(lfpool_cache_release_inline(&b->head.face, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_cache_release_inline(&b->head.face, objects[1]), LFPOOL_OK);
	assert_int_equal(drain(a), 2);
}

/* Partly filled magazines as far as the eye sees: release must still find room (G2). */
TEST_WITH(release_finds_room_among_partly_filled_magazines, setup, teardown)
{
	struct random r = {7};
	struct cache *caches[40];
	uint32_t out = 0;

	print_message("seed 7\n");
	for (size_t i = 0; i < COUNT(caches); i++)
		caches[i] = cache_new();
	for (int step = 0; step < 400000; step++) {
		struct cache *c = caches[random_below(&r, COUNT(caches))];

		const uint32_t choice = random_below(&r, 16);

		if (choice == 0) {
			cache_flush(c);
		} else if (choice < 8) {
			if ((slots[out] = cache_take(c, false)))
				out++;
			else
				assert_int_equal(out, CAPACITY);
		} else if (out) {
			const uint32_t which = random_below(&r, out);

			cache_put(c, slots[which]);
			slots[which] = slots[--out];
		}
		if (out == CAPACITY)
			while (out)
				cache_put(caches[random_below(&r, COUNT(caches))], slots[--out]);
	}
	put_n(a, out, slots);
	assert_int_equal(lfpool_active_count(pool), 0);
	assert_int_equal(drain(a), CAPACITY);
}

TEST_WITH(an_unclaimed_cache_is_used_again, setup, teardown)
{
	struct cache *c = cache_new();
	uint32_t count = atomic_load(&core->table.count);

	for (int i = 0; i < 1000; i++) {
		cache_unclaim(c);
		c = cache_new();
	}
	assert_int_equal(atomic_load(&core->table.count), count);
}

TEST_WITH(a_spare_that_is_taken_and_not_made_holds_nothing, setup, teardown)
{
	lfpool_t *growing;

	growing = POOL_OF(16, CAPACITY, .cache_capacity = 2 * SLOTS, .max_capacity = 2 * CAPACITY);

	lfpool_cache_t *cache = lfpool_cache_create(growing);
	struct core *its = ((struct cache *)cache)->core;

	for (int i = 0; i < CAPACITY; i++)
		assert_non_null(lfpool_cache_acquire(cache));
	/* As depot_take_spare() before it makes the magazine. */
	atomic_fetch_add(&its->depot.spared, 1);
	assert_int_equal(lfpool_active_count(growing), CAPACITY);
	(void)lfpool_destroy(growing);
}

/* All caches of a pool in a buffer are in use: nothing is mapped for another. */
TEST(in_a_buffer_there_are_the_caches_of_the_first_lot_alone)
{
	lfpool_config_t config = config_of(24, 100);
	struct cache *claimed[LFPOOL_BUFFER_CACHES];
	void *memory = NULL;
	lfpool_t *buffered;

	assert_int_equal(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, lfpool_buffer_bytes(&config)), 0);
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_create_in(&buffered, &config, memory, lfpool_buffer_bytes(&config)), LFPOOL_OK);

	struct core *its = (struct core *)(uintptr_t)buffered->core;

	for (size_t i = 0; i < COUNT(claimed); i++)
		assert_non_null(claimed[i] = cache_claim(its, CACHE_FOR_CALL, 0));
	assert_null(cache_claim(its, CACHE_FOR_CALL, 0));
	assert_null(cache_claim(its, CACHE_FOR_LONG, 0));
	for (size_t i = 0; i < COUNT(claimed); i++)
		cache_unclaim(claimed[i]);
	require_whole(buffered, 24);
	assert_int_equal(lfpool_destroy(buffered), 0);
	assert_int_equal(os_testing_refuse(0), 0);
	free(memory);
}

TEST_WITH(two_to_the_31_cold_objects_are_not_in_use, setup, teardown)
{
	struct cold *cold = core->cold;

	/* As if so many had been put in. */
	atomic_store(&cold->room, 2 * (uint64_t)COLD_ROOM);
	cold_reset_most(cold);
	assert_int_equal(cold_out(cold), -COLD_ROOM);
	assert_int_equal(cold_most_out(cold), 1 - COLD_ROOM);
	atomic_store(&cold->room, (uint64_t)COLD_ROOM);
}

RUN_TESTS()
