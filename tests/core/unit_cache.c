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

#define SLOTS 4
#define CAPACITY 32

static lfpool_t *pool;
static struct cache *a, *b;
static struct core *core;

static struct cache *cache_new(void)
{
	struct cache *c = (struct cache *)lfpool_cache_create(pool);

	REQUIRE(c);
	return c;
}

static int setup(__attribute__((unused)) void **state)
{
	lfpool_config_t config = config_of(16, CAPACITY);

	config.cache_capacity = 2 * SLOTS;
	config.depot_shards = 1;
	pool = pool_with(&config);
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

static void take_n(struct cache *c, uint32_t n, uint32_t *slots_out)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_not_equal(slots_out[i] = cache_take(c, false), SLOT_NONE);
}

static void put_n(struct cache *c, uint32_t n, const uint32_t *slots)
{
	for (uint32_t i = 0; i < n; i++)
		cache_put(c, slots[i]);
}

TEST(one_cache_gets_everything_once)
{
	assert_int_equal(drain(a), CAPACITY);
	assert_int_equal(cache_take(a, false), SLOT_NONE);
}

/* What b holds in both magazines is a's when a asks. */
TEST(nothing_stays_behind_in_another_cache)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
	put_n(b, 2 * SLOTS + 1, slots);
	assert_int_equal(drain(a), 2 * SLOTS + 1);
	put_n(b, CAPACITY - 2 * SLOTS - 1, slots + 2 * SLOTS + 1);
	assert_int_equal(drain(a), CAPACITY - 2 * SLOTS - 1);
}

TEST(a_whole_previous_is_stolen_without_a_fence)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
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

TEST(saying_no_costs_no_fence)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
	unsigned long fences = os_testing_heavy_fences();

	for (int i = 0; i < 1000; i++)
		assert_int_equal(cache_take(a, false), SLOT_NONE);
	assert_int_equal(os_testing_heavy_fences(), fences);
	cache_put(b, slots[0]);
	assert_int_equal(cache_take(a, false), slots[0]);
}

/* An acquire that finds nothing leaves no trace that another one, which is looking too, could take for a change. */
TEST(saying_no_changes_nothing)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
	assert_int_equal(cache_take(a, false), SLOT_NONE);
	uint64_t before[] = {atomic_load(&a->in_transit), atomic_load(&a->current_word), atomic_load(&a->previous),
			     atomic_load(&a->current->top), atomic_load(&a->current->bottom)};

	assert_int_equal(cache_take(a, false), SLOT_NONE);
	uint64_t after[] = {atomic_load(&a->in_transit), atomic_load(&a->current_word), atomic_load(&a->previous),
			    atomic_load(&a->current->top), atomic_load(&a->current->bottom)};

	assert_memory_equal(before, after, sizeof(before));
}

/* b has announced and popped a magazine and is stopped before it installs it. */
TEST(stopped_with_a_magazine_in_the_hand)
{
	assert_int_not_equal(stack_pop(&core->depot.shard[0].full, &core->magazines, &b->in_transit) +
				     depot_carve(&core->depot, &core->magazines, &b->in_transit),
			     0);
	assert_int_equal(drain(a), CAPACITY);
}

/* b has stored its new bottom and is stopped before it looks at top: the object in its hands is its own, the others
 * are not. */
TEST(stopped_in_the_middle_of_a_pop)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
	put_n(b, 3, slots);
	atomic_fetch_sub(&b->current->bottom, 1);
	assert_int_equal(drain(a), 2);
	/* It goes on, and gets its object: the last one, which needs the CAS. */
	atomic_fetch_add(&b->current->bottom, 1);
	assert_int_equal(cache_take(b, false), slots[2]);
}

/* b has put its full magazine into `previous` too and is stopped before it has a new one; then it goes on. */
TEST(stopped_with_one_magazine_named_twice)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
	put_n(b, SLOTS, slots);
	assert_int_equal(magazine_count_now(b->current, SLOTS), SLOTS);
	tagged_set(&b->previous, atomic_load(&b->current->number));
	assert_int_equal(drain(a), SLOTS);
	cache_install(b, stack_pop(&core->depot.shard[0].empty, &core->magazines, &b->in_transit));
	put_n(b, CAPACITY - SLOTS, slots + SLOTS);
	assert_int_equal(drain(a), CAPACITY - SLOTS);
}

/* A note that is old by the time it is used takes nothing from where the magazine is now. */
TEST(an_old_note_is_worthless)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
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
TEST(room_is_found_where_a_thief_took)
{
	struct stack *empty = &core->depot.shard[0].empty;
	uint32_t slots[CAPACITY], aside, robbed;

	take_n(b, CAPACITY, slots);
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

TEST(flush_gives_everything_to_the_depot)
{
	uint32_t slots[CAPACITY];

	take_n(b, CAPACITY, slots);
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
TEST(a_flushed_cache_hits_its_own_magazine)
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
TEST(release_finds_room_among_partly_filled_magazines)
{
	struct random r = {7};
	struct cache *caches[40];
	uint32_t slots[CAPACITY];
	uint32_t out = 0;

	print_message("seed 7\n");
	for (size_t i = 0; i < COUNT(caches); i++)
		caches[i] = cache_new();
	for (int step = 0; step < 400000; step++) {
		struct cache *c = caches[random_below(&r, COUNT(caches))];

		switch (random_below(&r, 16)) {
		case 0:
			cache_flush(c);
			break;
		case 1: case 2: case 3: case 4: case 5: case 6: case 7:
			if ((slots[out] = cache_take(c, false)))
				out++;
			else
				assert_int_equal(out, CAPACITY);
			break;
		default:
			if (out) {
				uint32_t which = random_below(&r, out);

				cache_put(c, slots[which]);
				slots[which] = slots[--out];
			}
		}
		if (out == CAPACITY)
			while (out)
				cache_put(caches[random_below(&r, COUNT(caches))], slots[--out]);
	}
	put_n(a, out, slots);
	assert_int_equal(lfpool_active_count(pool), 0);
	assert_int_equal(drain(a), CAPACITY);
}

TEST(an_unclaimed_cache_is_used_again)
{
	struct cache *c = cache_new();
	uint32_t count = atomic_load(&core->table.count);

	for (int i = 0; i < 1000; i++) {
		cache_unclaim(c);
		c = cache_new();
	}
	assert_int_equal(atomic_load(&core->table.count), count);
}

TEST(a_spare_that_is_taken_and_not_made_holds_nothing)
{
	lfpool_config_t config = config_of(16, CAPACITY);
	lfpool_t *growing;

	config.cache_capacity = 2 * SLOTS;
	config.max_capacity = 2 * CAPACITY;
	growing = pool_with(&config);

	lfpool_cache_t *cache = lfpool_cache_create(growing);
	struct core *its = ((struct cache *)cache)->core;

	for (int i = 0; i < CAPACITY; i++)
		assert_non_null(lfpool_cache_acquire(cache));
	/* As depot_take_spare() before it makes the magazine. */
	atomic_fetch_add(&its->depot.spared, 1);
	assert_int_equal(lfpool_active_count(growing), CAPACITY);
	(void)lfpool_destroy(growing);
}

TEST(two_to_the_31_cold_objects_are_not_in_use)
{
	struct cold *cold = core->cold;

	/* As if so many had been put in. */
	atomic_store(&cold->room, 2 * (uint64_t)COLD_ROOM);
	cold_reset_most(cold);
	assert_int_equal(cold_out(cold), -COLD_ROOM);
	assert_int_equal(cold_most_out(cold), 1 - COLD_ROOM);
	atomic_store(&cold->room, (uint64_t)COLD_ROOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_cache_gets_everything_once, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_stays_behind_in_another_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(a_whole_previous_is_stolen_without_a_fence, setup, teardown),
		cmocka_unit_test_setup_teardown(saying_no_costs_no_fence, setup, teardown),
		cmocka_unit_test_setup_teardown(saying_no_changes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped_with_a_magazine_in_the_hand, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped_in_the_middle_of_a_pop, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped_with_one_magazine_named_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_note_is_worthless, setup, teardown),
		cmocka_unit_test_setup_teardown(room_is_found_where_a_thief_took, setup, teardown),
		cmocka_unit_test_setup_teardown(flush_gives_everything_to_the_depot, setup, teardown),
		cmocka_unit_test_setup_teardown(a_flushed_cache_hits_its_own_magazine, setup, teardown),
		cmocka_unit_test_setup_teardown(release_finds_room_among_partly_filled_magazines, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unclaimed_cache_is_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_spare_that_is_taken_and_not_made_holds_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(two_to_the_31_cold_objects_are_not_in_use, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
