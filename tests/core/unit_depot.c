/* SPDX-License-Identifier: MIT */
/* unit_depot.c - the tagged stacks: the ABA that the tag prevents (S1), interleaved by hand; and which magazines go
 * on which stack.  (Depths, D5: lfpool_check(); their minima: test_high_water.c.) */
#include "../support/support.h"

#include "core/cache.h"

#include <signal.h>
#include <sys/mman.h>

static lfpool_t *pool;
static struct cache *cache;
static struct core *core;
static struct stack *full; /* of the depot: the stack of full magazines */

/* Eight chunks of four slots, all carved and on `full`, so nothing happens except by the tests. */
static int setup(__attribute__((unused)) void **state)
{
	pool = POOL_OF(16, 32, .cache_capacity = 8, .depot_shards = 1);
	cache = (struct cache *)lfpool_cache_create(pool);
	core = cache->core;
	full = &core->depot.shard[0].full;
	for (uint32_t n = 1; n <= 8; n++) {
		REQUIRE(depot_carve(&core->depot, 0, &core->magazines, &cache->in_transit) == n);
		stack_push(full, &core->magazines, magazines_at(&core->magazines, n));
	}
	tagged_set(&cache->in_transit, 0);
	return 0;
}

static int teardown(__attribute__((unused)) void **state)
{
	(void)lfpool_destroy(pool);
	return 0;
}

static uint32_t pop(struct stack *s)
{
	return stack_pop(s, &core->magazines, &cache->in_transit);
}

static void push(struct stack *s, uint32_t number)
{
	stack_push(s, &core->magazines, magazines_at(&core->magazines, number));
}

/* A pop stops between its load and its CAS; meanwhile two magazines are popped and the first is pushed back. */
TEST_WITH(the_tag_defeats_aba, setup, teardown)
{
	uint64_t stale = atomic_load(&full->head);
	uint32_t top = tagged_number(stale);
	uint32_t below = link_below(atomic_load(&magazines_at(&core->magazines, top)->next));

	assert_int_equal(pop(full), top);
	assert_int_equal(pop(full), below);
	push(full, top);
	assert_int_equal(tagged_number(atomic_load(&full->head)), top);
	/* The stopped pop continues: if it succeeded, `below`, which this test holds, would be on the stack again. */
	uint64_t expected = stale;

	assert_false(atomic_compare_exchange_strong(&full->head, &expected, tagged_next(stale, below)));
	push(full, below);
}

/* ---- A compare-and-swap that fails: a write between load and CAS hits a read-only page, and the fault handler
 * pushes a magazine.  (Not with a sanitizer: ThreadSanitizer holds a lock around the faulting store.) ---- */

#if !SANITIZED
static struct meddling {
	struct lfpool_magazine *page;
	uint32_t number; /* pushed by the handler */
} meddling;

static void meddle(int signal_number)
{
	(void)signal_number;
	REQUIRE(mprotect(meddling.page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE) == 0);
	push(full, meddling.number);
}

TEST_WITH(failed_compare_and_swaps_are_counted, setup, teardown)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct sigaction action = {.sa_handler = meddle}, before;
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(pop(full), 8);
	assert_int_equal(stats_of(pool).retries, 0);
	/* A pop announces 7, and finds 8. */
	meddling = (struct meddling){at, 8};
	assert_int_equal(mprotect(at, page, PROT_READ), 0);
	assert_int_equal(stack_pop(full, &core->magazines, at), 8);
	assert_int_equal(pop(full), 7);

	const uint64_t popped = stats_of(pool).retries;

	/* More only where a compare-and-swap may fail spuriously. */
	assert_in_range(popped, 1, 100);
	/* A push of 8 links it to 6, and then to 7: in a copy of 8, whose own link is unchanged. */
	meddling.page->number = 8;
	meddling.number = 7;
	assert_int_equal(mprotect(at, page, PROT_READ), 0);
	stack_push(full, &core->magazines, at);
	assert_in_range(stats_of(pool).retries, popped + 1, popped + 100);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	munmap(at, page);
}

/* A pop writes to two pages in turn: its announcement, and the head.  The handler lets the first write pass.  At the
 * second one it changes the stack, so that the compare-and-swap fails. */
static struct {
	tagged_word *announcement;
	struct stack *stack;
	unsigned faults;
} disturbing;

static void set_page(void *at, bool writable)
{
	REQUIRE(mprotect(at, (size_t)sysconf(_SC_PAGESIZE), writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0);
}

static void disturb(int signal_number)
{
	const unsigned fault = ++disturbing.faults;

	(void)signal_number;
	if (fault % 2) {
		set_page(disturbing.announcement, true);
		set_page(disturbing.stack, false);
		return;
	}
	set_page(disturbing.stack, true);
	if (fault == 2)
		(void)pop(disturbing.stack);
	else
		push(disturbing.stack, 8);
	set_page(disturbing.announcement, fault > 2);
}

TEST_WITH(each_failure_of_one_pop_is_counted, setup, teardown)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct sigaction action = {.sa_handler = disturb}, before;
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(pages != MAP_FAILED);
	disturbing.announcement = (void *)pages;
	disturbing.stack = (void *)(pages + page);
	atomic_store(&disturbing.stack->head, atomic_load(&full->head));
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	set_page(pages, false);
	assert_int_equal(stack_pop(disturbing.stack, &core->magazines, disturbing.announcement), 8);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_int_equal(disturbing.faults, 4);
	/* More only where a compare-and-swap may fail spuriously. */
	assert_in_range(tally_read(&disturbing.stack->retries), 2, 100);
	atomic_store(&full->head, atomic_load(&disturbing.stack->head));
	munmap(pages, 2 * page);
}
#endif

/* The failures on each kind of stack are added up. */
TEST_WITH(retries_of_all_stacks_are_added, setup, teardown)
{
	struct shard *shard = &core->depot.shard[0];
	struct stack *const stacks[] = {&shard->full, &shard->partial, &shard->empty, &cache->full, &cache->empty};
	uint64_t expected = stats_of(pool).retries;

	for (size_t i = 0; i < COUNT(stacks); i++) {
		tally_shared(&stacks[i]->retries, UINT64_C(1) << i);
		expected += UINT64_C(1) << i;
		assert_int_equal(stats_of(pool).retries, expected);
	}
}

/* A stopped reset: until another one ends the minimum is unknown, and the stopped one ends nothing. */
TEST_WITH(stopped_reset_leaves_the_mark_unknown, setup, teardown)
{

	stack_reset(full, &full->least, &core->magazines);
	(void)low_water_open(&full->least);
	assert_int_equal(low_water_least(&full->least), 0);
	push(full, pop(full));
	assert_int_equal(low_water_least(&full->least), 0);
	stack_reset(full, &full->least, &core->magazines);
	assert_int_equal(low_water_least(&full->least), 8);
}

/* A pop that was stopped before it recorded the depth; a call that finds the stack empty records it. */
TEST_WITH(a_vain_look_records_that_the_stack_is_empty, setup, teardown)
{
	while (tagged_number(atomic_load(&full->head)) != 1)
		assert_int_not_equal(pop(full), 0);
	stack_reset(full, &full->least, &core->magazines);
	stack_reset(full, &full->idle, &core->magazines);
	atomic_store(&full->head, tagged_next(atomic_load(&full->head), 0));
	assert_int_equal(low_water_least(&full->least), 1);
	assert_int_equal(low_water_least(&full->idle), 1);
	assert_int_equal(pop(full), 0);
	assert_int_equal(low_water_least(&full->least), 0);
	assert_int_equal(low_water_least(&full->idle), 0);
}

/* A thief with an old note takes from a full magazine on its stack: the mark allows for stolen objects. */
TEST_WITH(high_water_mark_includes_a_theft_from_a_full_magazine, setup, teardown)
{
	struct lfpool_magazine *m = magazines_at(&core->magazines, 1);

	lfpool_high_water_reset(pool);
	assert_int_equal(stats_of(pool).high_water, 0);
	const uintptr_t object = magazine_take(m, 4, atomic_load(&m->top), 1);

	assert_int_not_equal(object, 0);
	atomic_store(&cache->counts.steals, 1);
	assert_int_equal(stats_of(pool).high_water, 1);
	magazine_push_round(m, 4, object);
}

/* Regions: each shard first carves its own, then the others'; each chunk is carved once. */
TEST(a_shard_carves_its_own_region_first)
{
	lfpool_t *divided = POOL_OF(16, 4 * 7 - 1, .cache_capacity = 8, .depot_shards = 3);
	struct cache *c = (struct cache *)lfpool_cache_create(divided);
	struct core *its = c->core;
	static const uint32_t expected[] = {4, 5, 6, 7, 1, 2, 3, 0};

	assert_int_equal(its->depot.shards, 3);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(depot_carve(&its->depot, 1, &its->magazines, &c->in_transit), expected[i]);
		/* The last chunk is short by one. */
		assert_int_equal(census_carved(its), i < 3 ? 4 * (i + 1) : i < 7 ? 4 * (i + 1) - 1 : 27);
	}
	(void)lfpool_destroy(divided);
}

/* A thread of any shard finds a magazine on a stack of another shard. */
TEST(every_stack_is_searched_in_all_shards)
{
	lfpool_t *divided = POOL_OF(16, 4 * 3, .cache_capacity = 8, .depot_shards = 3);
	struct cache *c = (struct cache *)lfpool_cache_create(divided);
	struct depot *depot = &c->core->depot;
	const struct magazines *ms = &c->core->magazines;
	const uint32_t number = depot_carve(depot, 0, ms, &c->in_transit);

	while (depot_pop_room(depot, 0, ms, &c->in_transit))
		;
	for (uint32_t lies = 0; lies < 3; lies++)
		for (uint32_t home = 0; home < 3; home++) {
			struct shard *shard = &depot->shard[lies];

			stack_push(&shard->empty, ms, magazines_at(ms, number));
			assert_int_equal(depot_pop_room(depot, home, ms, &c->in_transit), number);
			stack_push(&shard->partial, ms, magazines_at(ms, number));
			assert_int_equal(depot_pop_room(depot, home, ms, &c->in_transit), number);
			stack_push(&shard->partial, ms, magazines_at(ms, number));
			assert_int_equal(depot_pop_filled(depot, home, ms, &c->in_transit), number);
			stack_push(&shard->full, ms, magazines_at(ms, number));
			assert_int_equal(depot_pop_filled(depot, home, ms, &c->in_transit), number);
		}
	(void)lfpool_destroy(divided);
}

/* The depot gets the surplus of a cache, and all magazines of a flushed one, each on the right stack. */
TEST_WITH(flushed_magazines_go_to_the_right_stack, setup, teardown)
{
	struct shard *shard = &core->depot.shard[0];
	void *objects[14];

	assert_int_equal(core->bound, 1);
	assert_int_equal(lfpool_cache_acquire_bulk(&cache->head.face, objects, 14), 14);
	/* Four full ones went there.  Of the five empty magazines of the cache's birth and of these four, two stay. */
	assert_int_equal(depth_below(&core->magazines, atomic_load(&full->head)), 4);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&cache->empty.head)), 1);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&shard->empty.head)), 5);
	assert_int_equal(lfpool_cache_release_bulk(&cache->head.face, objects, 14), 14);
	/* Two and fourteen: three are full, and the fourth is the current one. */
	assert_int_equal(depth_below(&core->magazines, atomic_load(&cache->full.head)), 1);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&full->head)), 6);
	assert_int_equal(magazine_count_now(cache->current, 4), 4);
	assert_non_null(lfpool_cache_acquire(&cache->head.face));
	cache_flush(cache);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&cache->full.head)), 0);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&full->head)), 7);
	assert_int_equal(depth_below(&core->magazines, atomic_load(&shard->partial.head)), 1);
	assert_int_equal(magazine_count_now(cache->current, 4), 0);
}

RUN_TESTS()
