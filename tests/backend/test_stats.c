/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_stats.c - lfpool_stats(): capacity = active + cached + shared + untouched, exactly when all is quiet and
 * within bounds when it is not; acquires and releases are those that succeeded.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 32, CAPACITY = 500, WORKERS = 4 };

/* What holds whatever the pool has been through, while it is quiet. */
static lfpool_stats_t settled(const lfpool_t *pool)
{
	lfpool_stats_t stats = stats_of(pool);

	require_intact(pool);
	assert_int_equal(stats.unaccounted, 0);
	assert_int_equal(stats.capacity, lfpool_capacity(pool));
	assert_int_equal(stats.active + stats.cached + stats.shared + stats.untouched, stats.capacity);
	assert_int_equal(stats.active, lfpool_active_count(pool));
	assert_int_equal(stats.misuses, lfpool_misuse_count(pool));
	assert_true(stats.caches_in_use <= stats.caches);
	return stats;
}

TEST(a_pool_that_nobody_used)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.untouched, CAPACITY);
	assert_int_equal(stats.acquires + stats.releases + stats.caches + stats.caches_in_use, 0);
	lfpool_destroy(pool);
}

TEST(where_the_objects_are)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *objects[CAPACITY];

	config.cache_capacity = 16;
	lfpool_t *pool = pool_with(&config);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	/* One chunk of eight is opened: one object is out, seven lie in the cache. */
	objects[0] = lfpool_cache_acquire(cache);
	lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.active, 1);
	assert_int_equal(stats.cached, 7);
	assert_int_equal(stats.shared, 0);
	assert_int_equal(stats.untouched, CAPACITY - 8);
	assert_int_equal(stats.caches, 1);
	assert_int_equal(stats.caches_in_use, 1);
	assert_int_equal(stats.refills, 1);

	/* One refill for each chunk of eight, none of them from the depot. */
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects + 1, CAPACITY - 1), CAPACITY - 1);
	stats = settled(pool);
	assert_int_equal(stats.active, CAPACITY);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	assert_int_equal(stats.drains + stats.depot_trips, 0);

	/* All come back: two magazines stay in the cache. */
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, CAPACITY), CAPACITY);
	stats = settled(pool);
	assert_int_equal(stats.active + stats.untouched, 0);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	/* For each magazine that was full when more came; the first time the cache had an empty one. */
	assert_int_equal(stats.drains, (CAPACITY - 1) / 8);
	assert_in_range(stats.cached, 9, 16);
	assert_int_equal(stats.shared, CAPACITY - stats.cached);

	/* A cache that is given up holds nothing. */
	lfpool_cache_destroy(cache);
	stats = settled(pool);
	assert_int_equal(stats.cached, 0);
	assert_int_equal(stats.shared, CAPACITY);
	assert_int_equal(stats.caches, 1);
	assert_int_equal(stats.caches_in_use, 0);
	assert_int_equal(lfpool_destroy(pool), 0);
}

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
}

/* Calls that succeed, and calls that do not. */
static void acquires_and_releases(lfpool_backend_t backend, uint32_t flags)
{
	lfpool_config_t config = config_of(SIZE, 10);
	const bool refuses = backend != LFPOOL_BACKEND_MALLOC;
	void *objects[11];
	uint64_t acquires = 0, releases = 0;

	config.backend = backend;
	config.flags = flags;
	config.hooks.misuse = on_misuse;
	lfpool_t *pool = pool_with(&config);

	for (size_t round = 1; round <= 11; round++) {
		size_t got = lfpool_acquire_bulk(pool, objects, round);

		acquires += got;
		assert_int_equal(got, round < 11 ? round : 10);
		assert_int_equal(settled(pool).active, got);
		if (refuses)
			assert_int_equal(lfpool_release(pool, &config), LFPOOL_E_FOREIGN);
		release_all(pool, objects, got);
		releases += got;

		lfpool_stats_t stats = settled(pool);

		assert_int_equal(stats.active, 0);
		assert_int_equal(stats.acquires, acquires);
		assert_int_equal(stats.releases, releases);
		assert_int_equal(stats.misuses, refuses ? round : 0);
	}
	objects[0] = lfpool_acquire(pool);
	lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.active, 1);
	assert_int_equal(stats.acquires, acquires + 1);
	assert_int_equal(stats.releases, releases);
	if (backend == LFPOOL_BACKEND_MUTEX) {
		assert_int_equal(stats.cached + stats.caches + stats.caches_in_use, 0);
		assert_int_equal(stats.refills + stats.drains + stats.depot_trips + stats.steals + stats.retries, 0);
	}
	release_all(pool, objects, 1);
	lfpool_destroy(pool);
}

static void take_it(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

TEST(limit_debt_and_queue)
{
	for (unsigned backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		lfpool_config_t config = config_of(SIZE, 2);
		void *objects[2], *got = NULL;

		config.backend = (lfpool_backend_t)backend;
		config.max_capacity = 7;
		lfpool_t *pool = pool_with(&config);

		assert_int_equal(stats_of(pool).max_capacity, 7);
		assert_int_equal(lfpool_acquire_bulk(pool, objects, 2), 2);
		assert_int_equal(lfpool_acquire_async(pool, take_it, &got, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_shrink(pool, 1), 0);
		lfpool_stats_t stats = settled(pool);

		assert_int_equal(stats.owed, 1);
		assert_int_equal(stats.waiting, 1);
		/* The debt first, then who waits. */
		assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
		stats = settled(pool);
		assert_null(got);
		assert_int_equal(stats.owed, 0);
		assert_int_equal(stats.waiting, 1);
		assert_int_equal(lfpool_release(pool, objects[1]), LFPOOL_OK);
		assert_non_null(got);
		assert_int_equal(settled(pool).waiting, 0);
		assert_int_equal(lfpool_release(pool, got), LFPOOL_OK);
		lfpool_destroy(pool);
	}
}

TEST(what_each_backend_counts)
{
	acquires_and_releases(LFPOOL_BACKEND_LOCKFREE, 0);
	acquires_and_releases(LFPOOL_BACKEND_LOCKFREE, LFPOOL_ZERO | LFPOOL_CHECK_RACES);
	acquires_and_releases(LFPOOL_BACKEND_MUTEX, 0);
	acquires_and_releases(LFPOOL_BACKEND_MALLOC, 0);
}

/* ---- While others work ---- */

struct scene {
	lfpool_t *pool;
	uint64_t seed;
	pthread_barrier_t start;
	_Atomic(bool) stop;
};

struct worker {
	struct scene *scene;
	unsigned index;
	size_t count;
	uint64_t acquires;
	pthread_t thread;
	void *held[CAPACITY / WORKERS];
};

static void *work(void *argument)
{
	struct worker *w = argument;
	struct scene *s = w->scene;
	struct random r = random_for(s->seed, w->index);

	pthread_barrier_wait(&s->start);
	/* relaxed: a sign only; the threads are joined. */
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		size_t wanted = random_below(&r, COUNT(w->held) + 1);

		while (w->count < wanted) {
			w->held[w->count] = lfpool_acquire(s->pool);
			REQUIRE(w->held[w->count]);
			w->count++;
			w->acquires++;
		}
		while (w->count > wanted)
			REQUIRE(lfpool_release(s->pool, w->held[--w->count]) == LFPOOL_OK);
	}
	return NULL;
}

static void while_others_work(size_t cache_capacity, uint32_t flags)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	struct worker *workers = calloc(WORKERS, sizeof(*workers));
	size_t active = 0;
	uint64_t acquires = 0, before = 0;

	assert_non_null(workers);
	config.cache_capacity = cache_capacity;
	config.flags = flags;
	struct scene s = {.pool = pool_with(&config), .seed = test_seed("while_others_work")};

	pthread_barrier_init(&s.start, NULL, WORKERS + 1);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].scene = &s;
		workers[i].index = i;
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	pthread_barrier_wait(&s.start);
	for (int i = 0; i < TIMES(4000, 400); i++) {
		lfpool_stats_t stats = stats_of(s.pool);

		assert_int_equal(stats.capacity, CAPACITY);
		assert_true(stats.active <= CAPACITY && stats.cached <= CAPACITY);
		assert_true(stats.shared <= CAPACITY && stats.untouched <= CAPACITY);
		assert_true(stats.unaccounted >= -CAPACITY && stats.unaccounted <= CAPACITY);
		assert_true(stats.releases <= stats.acquires && stats.acquires >= before);
		assert_true(stats.caches_in_use <= stats.caches);
		before = stats.acquires;
	}
	/* relaxed: a sign only. */
	atomic_store_explicit(&s.stop, true, memory_order_relaxed);
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		active += workers[i].count;
		acquires += workers[i].acquires;
	}
	pthread_barrier_destroy(&s.start);

	lfpool_stats_t stats = settled(s.pool);

	assert_int_equal(stats.active, active);
	assert_int_equal(stats.acquires, acquires);
	assert_int_equal(stats.releases, acquires - active);
	assert_int_equal(stats.caches_in_use, 0);
	assert_int_equal(lfpool_destroy(s.pool), active);
	free(workers);
}

TEST(stats_while_others_work)
{
	while_others_work(0, 0);
	while_others_work(2, 0);
	while_others_work(LFPOOL_CACHE_NONE, 0);
	while_others_work(4, 0);
	while_others_work(4, LFPOOL_CHECK_RACES);
}

RUN_TESTS()
