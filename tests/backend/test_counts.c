/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_counts.c - the questions while others work: counts lie within 0 .. capacity, objects that nobody touches
 * answer truly, and when all is quiet the counts are exact.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 32, CAPACITY = 500, WORKERS = 4, KEPT = 20, EACH = (CAPACITY - 2 * KEPT) / WORKERS };

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
	pthread_t thread;
	void *held[EACH];
};

static void *work(void *argument)
{
	struct worker *w = argument;
	struct scene *s = w->scene;
	struct random r = random_for(s->seed, w->index);

	pthread_barrier_wait(&s->start);
	/* relaxed: a sign only; the threads are joined. */
	while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
		size_t wanted = random_below(&r, EACH + 1);

		if (w->count < wanted) {
			REQUIRE(lfpool_acquire_bulk(s->pool, w->held + w->count, wanted - w->count) == wanted - w->count);
			w->count = wanted;
		}
		while (w->count > wanted)
			REQUIRE(lfpool_release(s->pool, w->held[--w->count]) == LFPOOL_OK);
	}
	return NULL;
}

static void ask(const struct scene *s, void *const *kept, void *const *freed)
{
	size_t active = lfpool_active_count(s->pool), available = lfpool_available_count(s->pool);

	assert_in_range(active, 0, CAPACITY);
	assert_in_range(available, 0, CAPACITY);
	assert_int_equal(lfpool_capacity(s->pool), CAPACITY);
	assert_int_equal(lfpool_misuse_count(s->pool), 0);
	for (size_t i = 0; i < KEPT; i++) {
		assert_true(lfpool_in_use(s->pool, kept[i]));
		assert_true(lfpool_owns(s->pool, kept[i]) && lfpool_owns(s->pool, freed[i]));
		assert_false(lfpool_in_use(s->pool, moved(freed[i], 1)));
		/* Somebody else's by now, or free: either answer, but no race. */
		(void)lfpool_in_use(s->pool, freed[i]);
	}
}

static void questions_while_others_work(size_t cache_capacity)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *kept[KEPT], *freed[KEPT];
	struct worker *workers = calloc(WORKERS, sizeof(*workers));
	size_t active = KEPT;

	assert_non_null(workers);
	config.cache_capacity = cache_capacity;
	struct scene s = {.pool = pool_with(&config), .seed = test_seed("questions_while_others_work")};
	pthread_barrier_init(&s.start, NULL, WORKERS + 1);
	assert_int_equal(acquire_all(s.pool, kept, KEPT), KEPT);
	assert_int_equal(acquire_all(s.pool, freed, KEPT), KEPT);
	release_all(s.pool, freed, KEPT);
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].scene = &s;
		workers[i].index = i;
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	pthread_barrier_wait(&s.start);
	for (int i = 0; i < TIMES(20000, 2000); i++)
		ask(&s, kept, freed);
	/* relaxed: a sign only. */
	atomic_store_explicit(&s.stop, true, memory_order_relaxed);
	for (unsigned i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		active += workers[i].count;
	}
	pthread_barrier_destroy(&s.start);
	assert_int_equal(lfpool_active_count(s.pool), active);
	assert_int_equal(lfpool_available_count(s.pool), CAPACITY - active);
	for (unsigned i = 0; i < WORKERS; i++)
		release_all(s.pool, workers[i].held, workers[i].count);
	release_all(s.pool, kept, KEPT);
	require_whole(s.pool, SIZE);
	lfpool_destroy(s.pool);
	free(workers);
}

TEST(questions_with_the_usual_caches)
{
	questions_while_others_work(0);
}

TEST(questions_with_the_smallest_caches)
{
	questions_while_others_work(2);
}

TEST(questions_without_caches)
{
	questions_while_others_work(LFPOOL_CACHE_NONE);
}

RUN_TESTS()
