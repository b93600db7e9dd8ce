/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_wait_exhausted.c - hooks.exhausted: called by each call that found nothing and could not make the pool grow;
 * it evicts, grows, waits in the queue, or gives up. */
#include "../support/waiters.h"
#include "../support/ways.h"

enum plan { GIVE_UP, EVICT, GROW_ONE, WAIT_A_LITTLE, WAIT_FOR_EVER, RETRY };

struct eviction {
	struct stage stage; /* must be first: it is the hooks' context */
	enum plan plan;
	atomic_uint calls, attempts_most;
	unsigned give_up_at;
	void *victim;
};

static bool on_exhausted(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	struct eviction *e = context;

	REQUIRE(pool == e->stage.pool && *wait_ns == 0);
	e->calls++;
	if (attempt > e->attempts_most)
		e->attempts_most = attempt;
	switch (e->plan) {
	case EVICT: REQUIRE(lfpool_release(pool, e->victim) == LFPOOL_OK); return true;
	case GROW_ONE: REQUIRE(lfpool_grow(pool, 1) == 1); return true;
	case WAIT_A_LITTLE: *wait_ns = SHORT_NS; return attempt < e->give_up_at;
	case WAIT_FOR_EVER: *wait_ns = FOR_EVER; return true;
	case RETRY: return attempt < e->give_up_at;
	default: return false;
	}
}

static void eviction_open(struct eviction *e, const struct kind *kind, size_t capacity, size_t max, size_t step)
{
	memset(e, 0, sizeof(*e));
	lfpool_config_t config = stage_config(&e->stage, kind, capacity, max);

	config.growth_step = step;
	config.hooks.exhausted = on_exhausted;
	e->stage.pool = pool_with(&config);
}

static void eviction_close(struct eviction *e)
{
	e->plan = GIVE_UP;
	stage_close(&e->stage);
}

KIND_TEST(exhausted_hook_releases_grows_retries_or_fails)
{
	for (enum way_to way = 0; way < WAYS_TO; way++) {
		struct eviction e;
		void *objects[5];

		eviction_open(&e, kind, 2, 5, 1);
		lfpool_cache_t *cache = lfpool_cache_create(e.stage.pool);
		/* The hook is not called while there are objects, or the pool can grow automatically. */
		lfpool_limit(e.stage.pool, 3);
		for (size_t i = 0; i < 3; i++)
			assert_non_null(objects[i] = take_by(way, e.stage.pool, cache));
		assert_int_equal(e.calls, 0);
		/* Give up. */
		assert_null(take_by(way, e.stage.pool, cache));
		assert_int_equal(e.calls, 1);
		assert_int_equal(e.attempts_most, 0);
		/* Release an object of the program's choice. */
		e.plan = EVICT;
		e.victim = objects[1];
		assert_non_null(objects[1] = take_by(way, e.stage.pool, cache));
		assert_int_equal(e.calls, 2);
		assert_int_equal(e.attempts_most, 0);
		require_counts(e.stage.pool, 3, 3);
		/* Retry repeatedly; each call counts from 0. */
		for (int round = 0; round < 2; round++) {
			e.plan = round ? WAIT_A_LITTLE : RETRY;
			e.give_up_at = 4;
			e.calls = e.attempts_most = 0;
			assert_null(take_by(way, e.stage.pool, cache));
			/* A call that must not wait ends instead. */
			const bool waits = round == 0 || (way != WAITING && way != WAITING_WITH_CACHE);

			assert_int_equal(e.calls, waits ? 5 : 1);
			assert_int_equal(e.attempts_most, waits ? 4 : 0);
		}
		/* Grow. */
		lfpool_limit(e.stage.pool, 4);
		lfpool_shrink(e.stage.pool, 1);
		e.plan = GROW_ONE;
		e.calls = e.attempts_most = 0;
		assert_int_equal(lfpool_quick_stats(e.stage.pool).owed, 1);
		/* The first time it cancels the shrink; then the pool grows automatically, or the hook grows it. */
		assert_non_null(objects[3] = take_by(way, e.stage.pool, cache));
		assert_int_equal(lfpool_capacity(e.stage.pool), 4);
		assert_true(e.calls >= 1);
		lfpool_cache_destroy(cache);
		release_all(e.stage.pool, objects, 4);
		eviction_close(&e);
	}
}

static void *acquire_plainly(void *argument)
{
	struct waiter *w = argument;

	errno = 4711;
	w->object = lfpool_acquire(w->stage->pool);
	REQUIRE(errno == 4711);
	w->order = atomic_fetch_add(&served, 1);
	return NULL;
}

/* Its hook makes lfpool_acquire() wait: in the queue, among the others. */
KIND_TEST(exhausted_hook_waits_in_fifo_order)
{
	struct eviction e;
	struct waiter w[3];
	void *object;

	memset(w, 0, sizeof(w));
	eviction_open(&e, kind, 1, 0, 0);
	hold_all(&e.stage, &object, 1);
	e.plan = WAIT_FOR_EVER;
	for (size_t i = 0; i < 3; i++) {
		w[i].stage = &e.stage;
		w[i].keep = true;
		if (i == 1)
			waiter_start(&w[i], &e.stage);
		else
			thread_start(&w[i].thread, acquire_plainly, &w[i]);
		await_waiting(&e.stage, i + 1);
	}
	for (size_t i = 0; i < 3; i++) {
		REQUIRE(lfpool_release(e.stage.pool, object) == LFPOOL_OK);
		pthread_join(w[i].thread, NULL);
		/* Another thread may overtake between `first` at the top and its count; the objects show which one
		 * had it. */
		object = w[i].object;
		REQUIRE(object);
	}
	REQUIRE(lfpool_release(e.stage.pool, object) == LFPOOL_OK);
	eviction_close(&e);
}

RUN_TESTS()
