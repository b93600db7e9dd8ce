/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_hooks_threads.c - hooks of a pool that several threads use: each object goes through its life one step at a time,
 * and every step is taken exactly once, whatever refuses and whoever releases twice.
 */
#include "../support/support.h"

#include <sched.h>
#include <stdatomic.h>

enum { CAPACITY = 64, THREADS = 4, HELD = 24 };

/* Where an object is in its life; a hook on its way says so too, so that two at once would be seen. */
enum stage { RAW, READY, USED, BUSY };

struct thing {
	_Atomic(int) stage;
	uint64_t plain; /* written by every hook: a data race if two ran without order between them */
};

struct life {
	lfpool_t *pool;
	_Atomic(size_t) created, activated, deactivated, destroyed, released;
	_Atomic(unsigned) turns; /* a hook refuses every so often */
	bool refusals;
};

static bool refuses(struct life *life)
{
	return life->refusals && atomic_fetch_add_explicit(&life->turns, 1, memory_order_relaxed) % 7 == 0;
}

/* The object leaves stage `from`; nobody else is at it. */
static void enter(struct thing *thing, enum stage from)
{
	/* relaxed: the pool orders one hook of an object before the next, or ThreadSanitizer says so of `plain`. */
	REQUIRE(atomic_exchange_explicit(&thing->stage, BUSY, memory_order_relaxed) == (int)from);
	thing->plain++;
}

static bool leave(struct thing *thing, enum stage to, _Atomic(size_t) *count)
{
	atomic_store_explicit(&thing->stage, to, memory_order_relaxed);
	if (count)
		atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	return count;
}

static bool on_create(void *context, void *object)
{
	struct life *life = context;

	enter(object, RAW);
	return refuses(life) ? leave(object, RAW, NULL) : leave(object, READY, &life->created);
}

static bool on_activate(void *context, void *object)
{
	struct life *life = context;

	enter(object, READY);
	return refuses(life) ? leave(object, READY, NULL) : leave(object, USED, &life->activated);
}

static bool on_deactivate(void *context, void *object)
{
	struct life *life = context;

	enter(object, USED);
	(void)leave(object, READY, &life->deactivated);
	return !refuses(life);
}

static void on_destroy(void *context, void *object)
{
	struct life *life = context;

	enter(object, READY);
	(void)leave(object, RAW, &life->destroyed);
}

static void ignore_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	REQUIRE(misuse->status == LFPOOL_E_NOT_IN_USE);
}

static void open_life(struct life *life, lfpool_backend_t backend, size_t cache_capacity, uint32_t flags)
{
	lfpool_config_t config = config_of(sizeof(struct thing), CAPACITY);

	config.backend = backend;
	config.cache_capacity = cache_capacity;
	config.flags = flags;
	config.hooks = (lfpool_hooks_t){.context = life,
					.misuse = ignore_misuse,
					.create = on_create,
					.activate = on_activate,
					.deactivate = on_deactivate,
					.destroy = on_destroy};
	life->pool = pool_with(&config);
}

static void close_life(struct life *life, size_t still_active)
{
	assert_int_equal(lfpool_active_count(life->pool), still_active);
	assert_int_equal(life->activated - life->deactivated, still_active);
	assert_int_equal(lfpool_destroy(life->pool), still_active);
	assert_int_equal(life->created, life->destroyed);
	assert_int_equal(life->activated, life->deactivated);
}

/* ---- Churn ---- */

struct worker {
	pthread_t thread;
	struct life *life;
	struct random random;
};

static void *churn(void *argument)
{
	struct worker *worker = argument;
	lfpool_t *pool = worker->life->pool;
	void *held[HELD];
	size_t count = 0;

	for (unsigned step = 0; step < TIMES(200000, 10000); step++) {
		const uint32_t choice = random_below(&worker->random, 8);

		if (choice < 3 && count < HELD) {
			count += (held[count] = lfpool_acquire(pool)) != NULL;
		} else if (choice == 3 && count + 4 <= HELD) {
			count += lfpool_acquire_bulk(pool, held + count, 4);
		} else if (choice == 4 && count >= 3) {
			count -= 3;
			REQUIRE(lfpool_release_bulk(pool, held + count, 3) == 3);
		} else if (choice > 4 && count) {
			REQUIRE(lfpool_release(pool, held[--count]) == LFPOOL_OK);
		}
	}
	REQUIRE(lfpool_release_bulk(pool, held, count) == count);
	return NULL;
}

static void churn_on(lfpool_backend_t backend, size_t cache_capacity, uint32_t flags)
{
	const uint64_t seed = test_seed("hooks_threads");
	struct life life = {.refusals = false};
	struct worker workers[THREADS];

	open_life(&life, backend, cache_capacity, flags);
	life.refusals = true;
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.life = &life, .random = random_for(seed, i)};
		thread_start(&workers[i].thread, churn, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	assert_true(life.activated > CAPACITY && life.destroyed > 0);
	life.refusals = false;
	require_whole(life.pool, sizeof(struct thing));
	close_life(&life, 0);
}

TEST(every_step_is_taken_once_under_churn)
{
	churn_on(LFPOOL_BACKEND_LOCKFREE, 16, 0);
	churn_on(LFPOOL_BACKEND_LOCKFREE, 2, LFPOOL_CREATE_ALL);
	churn_on(LFPOOL_BACKEND_LOCKFREE, LFPOOL_CACHE_NONE, 0);
	churn_on(LFPOOL_BACKEND_MUTEX, 0, 0);
}

/* ---- Double releases ---- */

struct duel {
	struct life *life;
	void *object[CAPACITY];
	_Atomic(unsigned) round, done; /* of both                */
	_Atomic(size_t) succeeded;
	unsigned rounds;
};

static void *release_all_of_them(void *argument)
{
	struct duel *duel = argument;

	for (unsigned round = 1; round <= duel->rounds; round++) {
		/* acquire: the objects of the round. */
		while (atomic_load_explicit(&duel->round, memory_order_acquire) < round)
			sched_yield();
		for (size_t i = 0; i < CAPACITY; i++)
			if (lfpool_release(duel->life->pool, duel->object[i]) == LFPOOL_OK)
				atomic_fetch_add_explicit(&duel->succeeded, 1, memory_order_relaxed);
		/* release: ours are done. */
		atomic_fetch_add_explicit(&duel->done, 1, memory_order_release);
	}
	return NULL;
}

TEST(of_two_who_release_an_object_one_deactivates_it)
{
	static struct duel duel;
	struct life life = {.refusals = false};
	pthread_t thread[2];

	duel = (struct duel){.life = &life, .rounds = TIMES(3000, 300)};
	open_life(&life, LFPOOL_BACKEND_LOCKFREE, 8, 0);
	for (unsigned i = 0; i < 2; i++)
		thread_start(&thread[i], release_all_of_them, &duel);
	for (unsigned round = 1; round <= duel.rounds; round++) {
		assert_int_equal(acquire_all(life.pool, duel.object, CAPACITY), CAPACITY);
		atomic_store_explicit(&duel.round, round, memory_order_release);
		while (atomic_load_explicit(&duel.done, memory_order_acquire) < 2 * round)
			sched_yield();
		assert_int_equal(duel.succeeded, round * CAPACITY);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(lfpool_misuse_count(life.pool), duel.rounds * CAPACITY);
	close_life(&life, 0);
}

RUN_TESTS()
