/* SPDX-License-Identifier: MIT */
/* test: threads native */
/*
 * test_no_kernel.c - no function of a pool in a buffer makes a system call.
 *
 * Idea         A process that may not (no_kernel.h), from before lfpool_create_in() on.  In it everything that a pool can
 *              do is done, also by two threads.
 * Witness      That the trap works: lfpool_create() does not come out of it.
 */
#include "../support/no_kernel.h"

#include <stdatomic.h>

/* ---- Pools ---- */

enum { SIZE = 40, CAPACITY = 700 };

/* Once by the macro for static arrays; with room for what hooks need. */
static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(SIZE, 0, CAPACITY) + CAPACITY + 256];
static void *objects[CAPACITY + 1];
static char text[8192];

static lfpool_t *made_with(const lfpool_config_t *config)
{
	lfpool_t *pool = NULL;

	MUST(lfpool_buffer_bytes(config) <= sizeof(memory));
	MUST(lfpool_create_in(&pool, config, memory, sizeof(memory)) == LFPOOL_OK);
	return pool;
}

static size_t take_all(lfpool_t *pool)
{
	return acquire_all(pool, objects, CAPACITY + 1);
}

static void give_all(lfpool_t *pool, size_t count)
{
	for (size_t i = 0; i < count; i++)
		MUST(lfpool_release(pool, objects[i]) == LFPOOL_OK);
}

/* ---- One by one ---- */

static void call_acquire_and_release(lfpool_t *pool)
{
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	MUST(cache);
	for (int round = 0; round < 3; round++) {
		MUST(take_all(pool) == CAPACITY);
		MUST(!lfpool_acquire(pool) && !lfpool_cache_acquire(cache));
		give_all(pool, CAPACITY);
		MUST(lfpool_acquire_bulk(pool, objects, CAPACITY + 1) == CAPACITY);
		MUST(lfpool_release_bulk(pool, objects, CAPACITY) == CAPACITY);
		/* Out of the caches of others, too. */
		MUST(lfpool_cache_acquire_bulk(cache, objects, CAPACITY + 1) == CAPACITY);
		MUST(lfpool_cache_release_bulk(cache, objects, CAPACITY) == CAPACITY);
		MUST(take_all(pool) == CAPACITY);
		give_all(pool, CAPACITY);
	}
	lfpool_cache_destroy(cache);
}

static void call_misuse(lfpool_t *pool)
{
	char *object = lfpool_acquire(pool);

	MUST(lfpool_release(pool, object + 1) == LFPOOL_E_INTERIOR);
	MUST(lfpool_release(pool, text) == LFPOOL_E_FOREIGN);
	MUST(lfpool_release(pool, object) == LFPOOL_OK);
	MUST(lfpool_release(pool, object) == LFPOOL_E_NOT_IN_USE);
	MUST(lfpool_misuse_count(pool) == 3);
	MUST(lfpool_release_self(object) == LFPOOL_E_FOREIGN && !lfpool_of(object));
}

static bool count_visits(void *context, void *object)
{
	(void)object;
	++*(size_t *)context;
	return true;
}

static bool count_slots(void *context, void *object, bool active)
{
	(void)active;
	return count_visits(context, object);
}

static void call_questions(lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	size_t visits = 0, where;
	void *object = lfpool_acquire(pool);
	lfpool_handle_t handle = lfpool_handle_of(pool, object);

	MUST(handle && lfpool_resolve(pool, handle) == object);
	MUST(lfpool_stats(pool, &stats) == LFPOOL_OK && stats.active == 1);
	MUST(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));
	MUST(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
	MUST(!lfpool_check(pool, &where));
	MUST(lfpool_for_each_active(pool, count_visits, &visits) == 1 && visits == 1);
	MUST(lfpool_for_each_slot(pool, count_slots, &visits) == CAPACITY);
	MUST(lfpool_copy_active(pool, objects, CAPACITY) == 1);
	MUST(lfpool_owns(pool, object) && lfpool_in_use(pool, object));
	MUST(lfpool_active_count(pool) == 1 && lfpool_available_count(pool) == CAPACITY - 1);
	MUST(lfpool_release_handle(pool, handle) == LFPOOL_OK);
	MUST(lfpool_release_handle(pool, handle) == LFPOOL_E_STALE);
	MUST(lfpool_acquire(pool) && lfpool_release_all(pool) == 1);
}

static void call_resize(lfpool_t *pool, bool grows)
{
	const size_t left = grows ? CAPACITY : CAPACITY - 150;

	MUST(take_all(pool) == CAPACITY);
	MUST(lfpool_shrink(pool, 100) == 0 && lfpool_shrink_owed(pool) == 100);
	give_all(pool, CAPACITY);
	MUST(lfpool_capacity(pool) == CAPACITY - 100);
	MUST(lfpool_shrink(pool, 50) == 50);
	MUST(take_all(pool) == left);
	MUST(lfpool_grow(pool, CAPACITY) == CAPACITY - left);
	give_all(pool, left);
	MUST(lfpool_reserve(pool, CAPACITY) == 0);
	MUST(!lfpool_trim(pool, 0, SIZE_MAX));
}

static void take_it(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

static void call_wait(lfpool_t *pool)
{
	void *waited = NULL, *never = NULL;
	lfpool_ticket_t ticket;

	MUST(take_all(pool) == CAPACITY);
	MUST(!lfpool_acquire_wait(pool, 0));
	MUST(lfpool_acquire_async(pool, take_it, &waited, &ticket) == LFPOOL_OK && ticket && !waited);
	MUST(lfpool_acquire_async(pool, take_it, &never, &ticket) == LFPOOL_OK);
	MUST(lfpool_release(pool, objects[0]) == LFPOOL_OK && waited == objects[0]);
	MUST(lfpool_cancel(pool, ticket));
	give_all(pool, CAPACITY);
	waited = lfpool_acquire_wait(pool, -1);
	MUST(waited && lfpool_release(pool, waited) == LFPOOL_OK);
}

static void use(const lfpool_config_t *config)
{
	lfpool_t *pool = made_with(config);

	call_acquire_and_release(pool);
	call_misuse(pool);
	call_questions(pool);
	call_resize(pool, config->growth_step);
	call_wait(pool);
	MUST(!lfpool_check(pool, NULL));
	MUST(lfpool_acquire(pool) && lfpool_destroy(pool) == 1);
}

static bool always(void *context, void *object)
{
	(void)context;
	(void)object;
	return true;
}

static void at_the_end(void *context, void *object)
{
	(void)context;
	(void)object;
}

static bool give_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context;
	(void)pool;
	(void)wait_ns;
	return attempt < 1;
}

static void with_every_kind_of_pool(void)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	use(&config);
	config.cache_capacity = LFPOOL_CACHE_NONE;
	config.debug = "check,zero,no-tools";
	use(&config);
	config = config_of(SIZE, CAPACITY);
	config.flags = LFPOOL_ZERO | LFPOOL_CHECK_RACES | LFPOOL_PREFAULT;
	config.growth_step = 10;
	use(&config);
	config.flags = LFPOOL_CREATE_ALL;
	config.hooks.create = always;
	config.hooks.destroy = at_the_end;
	config.hooks.exhausted = give_up;
	use(&config);
	config.flags = 0;
	config.hooks.activate = config.hooks.deactivate = always;
	use(&config);
}

static void strictly(void)
{
	shut_strict();
	with_every_kind_of_pool();
}

static void by_filter(void)
{
	shut_filter();
	with_every_kind_of_pool();
}

TEST(every_function_of_every_kind_of_pool)
{
	assert_int_equal(run_in_process(strictly), 0);
	assert_int_equal(run_in_process(by_filter), 0);
}

/* ---- Two threads ---- */

static _Atomic(int) shut;
static _Atomic(lfpool_t *) shared;
static _Atomic(int) ended;

static _Atomic(unsigned) turn;

enum { FEW = 64, TURNS = 200 };

static _Atomic(int) has_all;

static bool is_waiting(const lfpool_t *pool)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	return lfpool_stats(pool, &stats) == LFPOOL_OK && stats.waiting;
}

/* The first has all, until the second waits. */
static void let_wait(lfpool_t *pool, lfpool_cache_t *cache, unsigned self)
{
	void *mine[FEW];

	for (int i = 0; i < TURNS; i++) {
		if (self) {
			while (atomic_load(&has_all) != 2 * i + 1)
				;
			mine[0] = lfpool_cache_acquire_wait(cache, -1);
			MUST(mine[0] && lfpool_release(pool, mine[0]) == LFPOOL_OK);
			atomic_store(&has_all, 2 * i + 2);
			continue;
		}
		MUST(lfpool_cache_acquire_bulk(cache, mine, FEW) == FEW);
		atomic_store(&has_all, 2 * i + 1);
		while (!is_waiting(pool))
			;
		MUST(lfpool_cache_release_bulk(cache, mine, FEW) == FEW);
		while (atomic_load(&has_all) != 2 * i + 2)
			;
	}
}

/* Takes all there is, by turns: it lies in the other's cache.  And then both at once. */
static void rob(lfpool_t *pool, unsigned self)
{
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *mine[FEW + 1];

	MUST(cache);
	for (unsigned i = 0; i < TURNS; i++) {
		while (atomic_load(&turn) % 2 != self)
			;
		MUST(lfpool_cache_acquire_bulk(cache, mine, FEW + 1) == FEW);
		MUST(lfpool_cache_release_bulk(cache, mine, FEW) == FEW);
		atomic_fetch_add(&turn, 1);
	}
	while (atomic_load(&turn) < 2 * TURNS)
		;
	let_wait(pool, cache, self);
	for (unsigned i = 0; i < 20000; i++) {
		void *waited = i % 16 ? lfpool_acquire(pool) : lfpool_cache_acquire_wait(cache, -1);

		if (waited)
			MUST(lfpool_cache_release(cache, waited) == LFPOOL_OK);

		const size_t count = lfpool_cache_acquire_bulk(cache, mine, FEW * 3 / 4);

		for (size_t k = 0; k < count; k++)
			MUST(lfpool_release(pool, mine[k]) == LFPOOL_OK);
	}
	lfpool_cache_destroy(cache);
}

static void *second_thread(void *unused)
{
	lfpool_t *pool;

	(void)unused;
	shut_filter();
	atomic_store(&shut, 1);
	while (!(pool = atomic_load(&shared)))
		;
	rob(pool, 1);
	atomic_store(&ended, 1);
	end_thread(0);
}

static void by_two_threads(void)
{
	lfpool_config_t config = config_of(SIZE, FEW);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	pthread_t thread;
	lfpool_t *pool;

	config.cache_capacity = 2 * FEW;
	thread_start(&thread, second_thread, NULL);
	while (!atomic_load(&shut))
		;
	shut_filter();
	pool = made_with(&config);
	atomic_store(&shared, pool);
	rob(pool, 0);
	while (!atomic_load(&ended))
		;
	MUST(lfpool_stats(pool, &stats) == LFPOOL_OK);
	MUST(stats.steals > 0 && stats.exhausted > 0);
	MUST(take_all(pool) == FEW);
	give_all(pool, FEW);
	MUST(!lfpool_check(pool, NULL));
	MUST(lfpool_destroy(pool) == 0);
}

TEST(two_threads_that_rob_each_other)
{
	assert_int_equal(run_in_process(by_two_threads), 0);
}

/* ---- The trap ---- */

static void ordinary_create(void)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool;

	shut_filter();
	(void)!lfpool_create(&pool, &config);
}

static void ordinary_use(void)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = NULL;

	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	shut_filter();
	(void)lfpool_check(pool, NULL);
	(void)take_all(pool);
	(void)lfpool_destroy(pool);
}

TEST(what_makes_system_calls_does_not_survive)
{
	assert_int_equal(run_in_process(ordinary_create), -SIGSYS);
	assert_int_equal(run_in_process(ordinary_use), -SIGSYS);
}

RUN_TESTS()
