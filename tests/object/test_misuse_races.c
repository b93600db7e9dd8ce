/* SPDX-License-Identifier: MIT */
/* test: misuse threads once */
/*
 * test_misuse_races.c - wrong releases from several threads at once.  With LFPOOL_CHECK_RACES, of two releases of one
 * object at the same instant exactly one succeeds.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/pin.h"
#include "../support/support.h"

#include "lfpool/inline.h"

#include <sched.h>
#include <stdatomic.h>

static void count_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)misuse;
	/* relaxed: read after the threads are joined. */
	atomic_fetch_add_explicit((atomic_size_t *)context, 1, memory_order_relaxed);
}

/*
 * Rounds that two threads enter as nearly together as can be: the leader opens round n, both release the object at
 * once.  The follower hears of it a cache miss later, so the leader idles for a while, longer after each round it
 *        wins and shorter after each it loses: the two close
 * in on the same instant.
 */
struct duel {
	lfpool_t *pool;
	void *object;             /* of the round; written before `opened` */
	_Atomic(unsigned) opened; /* number of the round                   */
	_Atomic(unsigned) closed; /* rounds the follower has finished      */
	_Atomic(unsigned) here;   /* rounds the follower is ready for      */
	_Atomic(unsigned) idled;  /* of no meaning                         */
	unsigned rounds;
	bool through_caches;
	lfpool_status_t follower_says; /* written before `closed`               */
};

static lfpool_status_t release_one(const struct duel *duel, lfpool_cache_t *cache)
{
	return duel->through_caches ? lfpool_cache_release_inline(cache, duel->object) : lfpool_release(duel->pool, duel->object);
}

static void *follow(void *argument)
{
	struct duel *duel = argument;
	lfpool_cache_t *cache = lfpool_cache_create(duel->pool);

	REQUIRE(cache);
	pin_thread(1);
	for (unsigned round = 1; round <= duel->rounds; round++) {
		/* relaxed: only a sign of life. */
		atomic_store_explicit(&duel->here, round, memory_order_relaxed);
		/* acquire: the leader's object. */
		for (unsigned spins = 1; atomic_load_explicit(&duel->opened, memory_order_acquire) != round; spins++)
			if (spins % 1024 == 0)
				sched_yield();
		duel->follower_says = release_one(duel, cache);
		/* release: what we say. */
		atomic_store_explicit(&duel->closed, round, memory_order_release);
	}
	lfpool_cache_destroy(cache);
	return NULL;
}

/* Nanoseconds to microseconds, without a system call. */
static void idle(struct duel *duel, uint32_t turns)
{
	while (turns--)
		/* relaxed: nobody reads it. */
		atomic_store_explicit(&duel->idled, turns, memory_order_relaxed);
}

static void fight(struct duel *duel, size_t capacity)
{
	lfpool_cache_t *cache = lfpool_cache_create(duel->pool);
	struct random r = random_for(test_seed("racing releases"), 0);
	uint32_t followed = 0, turns = 0;
	cpu_set_t everywhere;
	pthread_t thread;

	assert_non_null(cache);
	thread_start(&thread, follow, duel);
	REQUIRE(sched_getaffinity(0, sizeof(everywhere), &everywhere) == 0);
	pin_thread(0);
	for (unsigned round = 1; round <= duel->rounds; round++) {
		duel->object = lfpool_acquire(duel->pool);
		REQUIRE(duel->object);
		/* relaxed: as above.  The follower spins when it is here, so the two start within a cache miss of
		 * each other. */
		while (atomic_load_explicit(&duel->here, memory_order_relaxed) != round)
			sched_yield();
		/* release: the object. */
		atomic_store_explicit(&duel->opened, round, memory_order_release);
		idle(duel, turns + random_below(&r, 16));
		lfpool_status_t leader_says = release_one(duel, cache);
		/* acquire: what the follower says. */
		while (atomic_load_explicit(&duel->closed, memory_order_acquire) != round)
			sched_yield();
		followed += duel->follower_says == LFPOOL_OK;
		if (duel->follower_says == LFPOOL_OK)
			turns -= turns / 8;
		else if (turns < 10000)
			turns += turns / 8 + 8;
		REQUIRE((leader_says == LFPOOL_OK) != (duel->follower_says == LFPOOL_OK));
		REQUIRE(leader_says == LFPOOL_OK || leader_says == LFPOOL_E_NOT_IN_USE);
		REQUIRE(duel->follower_says == LFPOOL_OK || duel->follower_says == LFPOOL_E_NOT_IN_USE);
		REQUIRE(lfpool_active_count(duel->pool) == 0);
		REQUIRE(lfpool_misuse_count(duel->pool) == round);
		if (round % 64 == 0)
			require_whole(duel->pool, 16);
	}
	pthread_join(thread, NULL);
	REQUIRE(sched_setaffinity(0, sizeof(everywhere), &everywhere) == 0);
	lfpool_cache_destroy(cache);
	print_message("    the follower won %u of %u rounds\n", followed, duel->rounds);
	assert_int_equal(lfpool_capacity(duel->pool), capacity);
	require_whole(duel->pool, 16);
}

static void exactly_one_succeeds(size_t capacity, bool through_caches)
{
	lfpool_config_t config = config_of(16, capacity);
	atomic_size_t refused = 0;
	struct duel duel = {.rounds = TIMES(1000, 800), .through_caches = through_caches};

	config.flags = LFPOOL_CHECK_RACES;
	config.hooks.context = &refused;
	config.hooks.misuse = count_misuse;
	duel.pool = pool_with(&config);
	fight(&duel, capacity);
	assert_int_equal(atomic_load(&refused), duel.rounds);
	lfpool_destroy(duel.pool);
}

TEST(racing_releases_of_one_object)
{
	exactly_one_succeeds(1, false);
	exactly_one_succeeds(20, false);
}

TEST(racing_releases_of_one_object_through_inlined_caches)
{
	exactly_one_succeeds(1, true);
	exactly_one_succeeds(20, true);
}

/* Threads that use the pool rightly while others hammer it with wrong releases: nobody notices, every refusal is
 * counted. */
struct crowd {
	lfpool_t *pool;
	char *first;
	size_t stride;
	unsigned rounds;
};

static void *hammer(void *argument)
{
	const struct crowd *crowd = argument;
	int stranger;

	for (unsigned i = 0; i < crowd->rounds; i++) {
		REQUIRE(lfpool_release(crowd->pool, &stranger) == LFPOOL_E_FOREIGN);
		REQUIRE(lfpool_release(crowd->pool, crowd->first + i % 64 * crowd->stride + 1 + i % 7) == LFPOOL_E_INTERIOR);
	}
	return NULL;
}

static void *work(void *argument)
{
	const struct crowd *crowd = argument;
	void *objects[16];

	for (unsigned i = 0; i < crowd->rounds; i++) {
		size_t count = i % 16 + 1;

		for (size_t k = 0; k < count; k++) {
			REQUIRE(objects[k] = lfpool_acquire(crowd->pool));
			stamp_write(objects[k], 16, (uintptr_t)&objects[k]);
		}
		for (size_t k = 0; k < count; k++) {
			REQUIRE(stamp_holds(objects[k], 16, (uintptr_t)&objects[k]));
			REQUIRE(lfpool_release(crowd->pool, objects[k]) == LFPOOL_OK);
		}
	}
	return NULL;
}

TEST(refusals_disturb_nobody_and_are_all_counted)
{
	enum { THREADS = 4 };
	lfpool_config_t config = config_of(16, 64);
	atomic_size_t refused = 0;
	pthread_t threads[2 * THREADS];

	config.hooks.context = &refused;
	config.hooks.misuse = count_misuse;
	struct crowd crowd = {.pool = pool_with(&config), .rounds = TIMES(2000, 800)};
	char *object = lfpool_acquire(crowd.pool);
	crowd.stride = stride_of(crowd.pool, object);
	crowd.first = object - owned_beyond(crowd.pool, object, -(ptrdiff_t)crowd.stride) * crowd.stride;
	assert_int_equal(lfpool_release(crowd.pool, object), LFPOOL_OK);
	for (int i = 0; i < 2 * THREADS; i++)
		thread_start(&threads[i], i % 2 ? hammer : work, &crowd);
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&refused), 2 * THREADS * crowd.rounds);
	assert_int_equal(lfpool_misuse_count(crowd.pool), 2 * THREADS * crowd.rounds);
	require_whole(crowd.pool, 16);
	lfpool_destroy(crowd.pool);
}

RUN_TESTS()
