/* SPDX-License-Identifier: MIT */
/*
 * test_wait.c - calls that wait: for how long, in which order, for whom an object is meant; nothing is lost, and nobody
 * sleeps while an object is free.
 *
 * Idea         lfpool_stats() says how many wait: a test goes on when they do, and depends on no time.  A call that
 *              waits for ever, and should not, is ended by ctest's time-out.
 */
#include "kinds.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>

enum { FIRST = 3, THREADS = 4, LONG_NS = 1000000000, SHORT_NS = 200000 };
#define FOR_EVER INT64_C(-1)

/* ---- Threads that wait ---- */

struct waiter {
	struct stage *stage;
	lfpool_cache_t *cache; /* waits through this one, or through the thread's own */
	int64_t timeout_ns;
	pthread_t thread;
	void *object;
	size_t order;          /* the how-manieth it was to get an object */
	bool keep;             /* does not release                        */
};

static atomic_size_t served;

static void *wait_for_one(void *argument)
{
	struct waiter *w = argument;

	errno = 4711;
	w->object = w->cache ? lfpool_cache_acquire_wait(w->cache, w->timeout_ns) :
			       lfpool_acquire_wait(w->stage->pool, w->timeout_ns);
	REQUIRE(errno == 4711);
	if (w->object)
		w->order = atomic_fetch_add(&served, 1);
	if (!w->keep)
		REQUIRE(lfpool_release(w->stage->pool, w->object) == LFPOOL_OK);
	return NULL;
}

/* Returns when so many calls and continuations wait. */
static void await_waiting(const struct stage *s, size_t count)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	for (;;) {
		REQUIRE(lfpool_stats(s->pool, &stats) == LFPOOL_OK);
		if (stats.waiting == count)
			return;
		sched_yield();
	}
}

static void waiter_start(struct waiter *w, struct stage *s)
{
	pthread_attr_t attributes;

	w->stage = s;
	w->timeout_ns = w->timeout_ns ? w->timeout_ns : FOR_EVER;
	REQUIRE(pthread_attr_init(&attributes) == 0);
	REQUIRE(pthread_attr_setstacksize(&attributes, TIMES(64, 512) * 1024) == 0);
	REQUIRE(pthread_create(&w->thread, &attributes, wait_for_one, w) == 0);
	pthread_attr_destroy(&attributes);
}

static void hold_all(struct stage *s, void **objects, size_t count)
{
	atomic_store(&served, 0);
	REQUIRE(lfpool_acquire_bulk(s->pool, objects, count) == count);
	REQUIRE(!lfpool_acquire(s->pool));
}

/* ---- For how long ---- */

static void timeouts(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);

	errno = 4711;
	/* There is one: whatever the time, at once. */
	static const int64_t any[] = {0, 1, LONG_NS, INT64_MAX, -1, INT64_MIN};
	for (size_t i = 0; i < COUNT(any); i++) {
		assert_non_null(objects[0] = lfpool_acquire_wait(s.pool, any[i]));
		assert_non_null(objects[1] = lfpool_cache_acquire_wait(cache, any[i]));
		require_counts(s.pool, FIRST, 2);
		release_all(s.pool, objects, 2);
	}
	hold_all(&s, objects, FIRST);
	for (int64_t ns = 0; ns <= 2000000; ns = ns * 10 + 2) {
		uint64_t start = now_ns();

		assert_null(lfpool_acquire_wait(s.pool, ns));
		assert_true(now_ns() - start >= (uint64_t)ns);
		start = now_ns();
		assert_null(lfpool_cache_acquire_wait(cache, ns));
		assert_true(now_ns() - start >= (uint64_t)ns);
	}
	assert_int_equal(errno, 4711);
	require_counts(s.pool, FIRST, FIRST);
	release_all(s.pool, objects, FIRST);
	lfpool_cache_destroy(cache);
	stage_close(&s);
}

TEST(a_call_waits_as_long_as_it_says)
{
	on_every_kind(timeouts);
}

/* All objects lie in the cache of a thread that sleeps: they are free. */
struct parked {
	struct stage *stage;
	sem_t parked, go_on;
};

static void *park(void *argument)
{
	struct parked *p = argument;
	void *objects[FIRST];

	REQUIRE(acquire_all(p->stage->pool, objects, FIRST) == FIRST);
	release_all(p->stage->pool, objects, FIRST);
	sem_post(&p->parked);
	sem_wait(&p->go_on);
	return NULL;
}

static void in_a_cache(const struct kind *kind)
{
	struct stage s;
	struct parked p = {.stage = &s};
	pthread_t thread;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	sem_init(&p.parked, 0, 0);
	sem_init(&p.go_on, 0, 0);
	thread_start(&thread, park, &p);
	sem_wait(&p.parked);
	for (size_t i = 0; i < FIRST; i++)
		assert_non_null(objects[i] = lfpool_acquire_wait(s.pool, i == 1 ? FOR_EVER : 0));
	assert_null(lfpool_acquire_wait(s.pool, 0));
	release_all(s.pool, objects, FIRST);
	sem_post(&p.go_on);
	pthread_join(thread, NULL);
	stage_close(&s);
}

TEST(what_lies_in_another_cache_is_not_waited_for)
{
	on_every_kind(in_a_cache);
}

/* ---- Who serves ---- */

enum way { ONE, BY_CACHE, BULK, HANDLE, SELF, ALL, GROW, RESERVE, RAISE_AND_GROW, BY_EXITING_THREAD, WAYS };

static void *release_and_exit(void *argument)
{
	struct waiter *w = argument;

	REQUIRE(lfpool_release(w->stage->pool, w->object) == LFPOOL_OK);
	return NULL;
}

static void ways(const struct kind *kind)
{
	for (enum way way = ONE; way < WAYS; way++) {
		struct stage s;
		struct waiter w = {.keep = true}, last = {.stage = &s};
		void *object;

		if (!kind_tracked(kind) && (way == HANDLE || way == ALL))
			continue;
		stage_open(&s, kind, 1, 2);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);
		w.cache = way % 2 ? lfpool_cache_create(s.pool) : NULL;
		hold_all(&s, &object, 1);
		waiter_start(&w, &s);
		await_waiting(&s, 1);
		last.object = object;
		switch (way) {
		case ONE:
			REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
			break;
		case BY_CACHE:
			REQUIRE(lfpool_cache_release(cache, object) == LFPOOL_OK);
			break;
		case BULK:
			REQUIRE(lfpool_release_bulk(s.pool, &object, 1) == 1);
			break;
		case HANDLE:
			REQUIRE(lfpool_release_handle(s.pool, lfpool_handle_of(s.pool, object)) == LFPOOL_OK);
			break;
		case SELF:
			REQUIRE(lfpool_release_self(object) == LFPOOL_OK);
			break;
		case ALL:
			/* It may meet the object again, once it is the waiter's. */
			(void)lfpool_release_all(s.pool);
			break;
		case GROW:
			REQUIRE(lfpool_grow(s.pool, 1) == 1);
			break;
		case RESERVE:
			REQUIRE(lfpool_reserve(s.pool, 2) == 1);
			break;
		case RAISE_AND_GROW:
			REQUIRE(lfpool_set_max_capacity(s.pool, 1) == LFPOOL_OK);
			REQUIRE(lfpool_grow(s.pool, 1) == 0);
			REQUIRE(lfpool_set_max_capacity(s.pool, 2) == LFPOOL_OK);
			REQUIRE(lfpool_grow(s.pool, 1) == 1);
			break;
		default:
			thread_start(&last.thread, release_and_exit, &last);
			pthread_join(last.thread, NULL);
			break;
		}
		pthread_join(w.thread, NULL);
		assert_non_null(w.object);
		if (way == ALL) {
			(void)lfpool_release_all(s.pool);
		} else {
			assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
			if (way == GROW || way == RESERVE || way == RAISE_AND_GROW)
				assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		}
		lfpool_cache_destroy(cache);
		lfpool_cache_destroy(w.cache);
		stage_close(&s);
	}
}

TEST(served_by_every_way_back_and_by_growth)
{
	on_every_kind(ways);
}

static void note_order(void *context, lfpool_t *pool, void *object)
{
	struct waiter *w = context;

	(void)pool;
	w->object = object;
	w->order = atomic_fetch_add(&served, 1);
}

static void in_order(const struct kind *kind)
{
	enum { MANY = 9 };
	struct stage s;
	struct waiter w[MANY];
	void *object;

	memset(w, 0, sizeof(w));
	stage_open(&s, kind, 1, 0);
	hold_all(&s, &object, 1);
	/* Every third is a continuation. */
	for (size_t i = 0; i < MANY; i++) {
		w[i].keep = true;
		if (i % 3 == 2) {
			REQUIRE(lfpool_acquire_async(s.pool, note_order, &w[i], NULL) == LFPOOL_OK);
		} else {
			waiter_start(&w[i], &s);
		}
		await_waiting(&s, i + 1);
	}
	for (size_t i = 0; i < MANY; i++) {
		REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
		if (i % 3 != 2)
			pthread_join(w[i].thread, NULL);
		REQUIRE(w[i].object && w[i].order == i);
		object = w[i].object;
	}
	REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
	stage_close(&s);
}

TEST(first_come_first_served)
{
	on_every_kind(in_order);
}

/* One bulk release, one growth, one release after another, for very many. */
static void crowd(const struct kind *kind, size_t many)
{
	struct stage s;
	struct waiter *w = calloc(many, sizeof(*w));
	void **objects = pointers_new(many);

	REQUIRE(w);
	stage_open(&s, kind, many / 2, many);
	hold_all(&s, objects, many / 2);
	for (size_t i = 0; i < many; i++) {
		w[i].keep = true;
		waiter_start(&w[i], &s);
	}
	await_waiting(&s, many);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, many / 2), many / 2);
	assert_int_equal(lfpool_grow(s.pool, many - many / 2), many - many / 2);
	for (size_t i = 0; i < many; i++) {
		pthread_join(w[i].thread, NULL);
		objects[i] = w[i].object;
		assert_non_null(objects[i]);
	}
	assert_true(sort_disjoint(objects, many, SIZE));
	require_counts(s.pool, many, many);
	release_all(s.pool, objects, many);
	stage_close(&s);
	free(objects);
	free(w);
}

static void small_crowd(const struct kind *kind)
{
	crowd(kind, 40);
}

TEST(as_many_as_there_are_objects_are_served)
{
	on_every_kind(small_crowd);
}

TEST(very_many_threads_wait)
{
	static const struct kind plain = {0}, mutex = {.backend = LFPOOL_BACKEND_MUTEX};

	crowd(&plain, TIMES(3000, 300));
	crowd(&mutex, TIMES(600, 100));
}

/* ---- Debts ---- */

static void owed_first(const struct kind *kind)
{
	struct stage s;
	struct waiter w = {.keep = true};
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	release_all(s.pool, objects, 2);
	await_waiting(&s, 1);
	assert_int_equal(lfpool_capacity(s.pool), 1);
	assert_int_equal(lfpool_shrink_owed(s.pool), 0);
	assert_int_equal(lfpool_release(s.pool, objects[2]), LFPOOL_OK);
	pthread_join(w.thread, NULL);
	assert_non_null(w.object);
	require_counts(s.pool, 1, 1);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	/* Of a pool that has nothing at all. */
	assert_int_equal(lfpool_shrink(s.pool, 1), 1);
	w = (struct waiter){.keep = true};
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	assert_int_equal(lfpool_grow(s.pool, 1), 1);
	pthread_join(w.thread, NULL);
	assert_int_equal(lfpool_release(s.pool, w.object), LFPOOL_OK);
	stage_close(&s);
}

TEST(a_debt_is_paid_before_those_who_wait)
{
	on_every_kind(owed_first);
}

/* ---- Hooks ---- */

static void refused(const struct kind *kind)
{
	struct stage s;
	struct waiter w[2] = {{.keep = true}, {.keep = true}};
	void *object;

	if (!kind->hooks)
		return;
	stage_open(&s, kind, 1, 0);
	/* An object that is there, and refused: no waiting. */
	s.activate_refuses = SIZE_MAX;
	assert_null(lfpool_acquire_wait(s.pool, 0));
	assert_null(lfpool_acquire_wait(s.pool, FOR_EVER));
	s.activate_refuses = 0;
	/* Refused to the first who waits: nothing is released any more, and the second gets it. */
	hold_all(&s, &object, 1);
	for (size_t i = 0; i < 2; i++) {
		waiter_start(&w[i], &s);
		await_waiting(&s, i + 1);
	}
	s.activate_refuses = 1;
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	for (size_t i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
	assert_null(w[0].object);
	assert_non_null(w[1].object);
	require_counts(s.pool, 1, 1);
	assert_int_equal(lfpool_release(s.pool, w[1].object), LFPOOL_OK);
	stage_close(&s);
}

TEST(a_hook_refuses_and_the_next_is_served)
{
	on_every_kind(refused);
}

/* ---- hooks.exhausted ---- */

enum plan { GIVE_UP, EVICT, GROW_ONE, WAIT_A_LITTLE, WAIT_FOR_EVER, RETRY };

struct eviction {
	struct stage stage; /* must come first: it is the hooks' context */
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
	case EVICT:
		REQUIRE(lfpool_release(pool, e->victim) == LFPOOL_OK);
		return true;
	case GROW_ONE:
		REQUIRE(lfpool_grow(pool, 1) == 1);
		return true;
	case WAIT_A_LITTLE:
		*wait_ns = SHORT_NS;
		return attempt < e->give_up_at;
	case WAIT_FOR_EVER:
		*wait_ns = FOR_EVER;
		return true;
	case RETRY:
		return attempt < e->give_up_at;
	default:
		return false;
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

static void *take(struct eviction *e, lfpool_cache_t *cache, unsigned way)
{
	void *object = NULL;

	switch (way) {
	case 0:
		return lfpool_acquire(e->stage.pool);
	case 1:
		return lfpool_cache_acquire(cache);
	case 2:
		return lfpool_acquire_bulk(e->stage.pool, &object, 1) ? object : NULL;
	case 3:
		return lfpool_cache_acquire_bulk(cache, &object, 1) ? object : NULL;
	case 4:
		return lfpool_acquire_wait(e->stage.pool, 0);
	default:
		return lfpool_cache_acquire_wait(cache, 0);
	}
}

static void exhausted(const struct kind *kind)
{
	for (unsigned way = 0; way < 6; way++) {
		struct eviction e;
		void *objects[5];

		eviction_open(&e, kind, 2, 5, 1);
		lfpool_cache_t *cache = lfpool_cache_create(e.stage.pool);
		/* Nobody asks the hook while there are objects, or the pool can grow by itself. */
		lfpool_set_max_capacity(e.stage.pool, 3);
		for (size_t i = 0; i < 3; i++)
			assert_non_null(objects[i] = take(&e, cache, way));
		assert_int_equal(e.calls, 0);
		/* Give up. */
		assert_null(take(&e, cache, way));
		assert_int_equal(e.calls, 1);
		assert_int_equal(e.attempts_most, 0);
		/* Release an object of the program's choice. */
		e.plan = EVICT;
		e.victim = objects[1];
		assert_non_null(objects[1] = take(&e, cache, way));
		assert_int_equal(e.calls, 2);
		assert_int_equal(e.attempts_most, 0);
		require_counts(e.stage.pool, 3, 3);
		/* Try again and again; each call counts from 0. */
		for (int round = 0; round < 2; round++) {
			e.plan = round ? WAIT_A_LITTLE : RETRY;
			e.give_up_at = 4;
			e.calls = e.attempts_most = 0;
			assert_null(take(&e, cache, way));
			assert_int_equal(e.calls, 5);
			assert_int_equal(e.attempts_most, 4);
		}
		/* Grow. */
		lfpool_set_max_capacity(e.stage.pool, 4);
		lfpool_shrink(e.stage.pool, 1);
		e.plan = GROW_ONE;
		e.calls = e.attempts_most = 0;
		assert_int_equal(lfpool_shrink_owed(e.stage.pool), 1);
		/* The first time it forgives the debt; then the pool grows by itself, or the hook grows it. */
		assert_non_null(objects[3] = take(&e, cache, way));
		assert_int_equal(lfpool_capacity(e.stage.pool), 4);
		assert_true(e.calls >= 1);
		lfpool_cache_destroy(cache);
		release_all(e.stage.pool, objects, 4);
		eviction_close(&e);
	}
}

TEST(exhausted_evicts_grows_tries_again_or_gives_up)
{
	on_every_kind(exhausted);
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

/* By its hook, lfpool_acquire() waits: in the queue, among the others. */
static void exhausted_waits(const struct kind *kind)
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
		/* The one at the top said first, before its count, may be overtaken; the objects say who had it. */
		object = w[i].object;
		REQUIRE(object);
	}
	REQUIRE(lfpool_release(e.stage.pool, object) == LFPOOL_OK);
	eviction_close(&e);
}

TEST(exhausted_waits_in_the_queue)
{
	on_every_kind(exhausted_waits);
}

/* A call that found nothing asks the hook, whether or not others wait already. */
static void asks_behind_others(const struct kind *kind)
{
	struct eviction e;
	struct waiter w = {.keep = true};
	void *objects[2], *second;

	eviction_open(&e, kind, 2, 0, 0);
	hold_all(&e.stage, objects, 2);
	waiter_start(&w, &e.stage);
	await_waiting(&e.stage, 1);
	/* Two evictions: one object for the one who waits, one for this call. */
	e.plan = WAIT_A_LITTLE;
	e.give_up_at = 1;
	e.calls = 0;
	assert_null(lfpool_acquire_wait(e.stage.pool, 1));
	assert_true(e.calls > 0);
	REQUIRE(lfpool_release(e.stage.pool, objects[0]) == LFPOOL_OK);
	pthread_join(w.thread, NULL);
	REQUIRE(w.object && !(second = lfpool_acquire_wait(e.stage.pool, 0)));
	objects[0] = w.object;
	release_all(e.stage.pool, objects, 2);
	eviction_close(&e);
}

TEST(exhausted_is_asked_behind_others_too)
{
	on_every_kind(asks_behind_others);
}

/* A pool that may grow again, while somebody waits from before: a call that waits makes it grow, as any other does. */
static void grows_behind_others(const struct kind *kind)
{
	struct stage s;
	struct waiter w = {.keep = true};
	void *object, *mine;

	stage_open_growing(&s, kind, 1, 4, 2);
	lfpool_set_max_capacity(s.pool, 1);
	hold_all(&s, &object, 1);
	waiter_start(&w, &s);
	await_waiting(&s, 1);
	lfpool_set_max_capacity(s.pool, 4);
	mine = lfpool_acquire_wait(s.pool, LONG_NS);
	assert_non_null(mine);
	pthread_join(w.thread, NULL);
	assert_non_null(w.object);
	assert_int_equal(lfpool_capacity(s.pool), 3);
	REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_release(s.pool, mine) == LFPOOL_OK);
	REQUIRE(lfpool_release(s.pool, w.object) == LFPOOL_OK);
	stage_close(&s);
}

TEST(a_pool_grows_by_itself_behind_others_too)
{
	on_every_kind(grows_behind_others);
}

/* ---- A full queue ---- */

enum { PLACES = 16368 };

static void count_call(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	atomic_fetch_add((atomic_size_t *)context, 1);
}

TEST(a_call_for_which_the_queue_has_no_place_waits_too)
{
	const struct kind kind = {0};
	struct stage s;
	struct waiter w = {.timeout_ns = 0};
	void *object;
	atomic_size_t calls = 0;

	/* Quadratic in the places: 2 s, and a minute with a sanitizer. */
	if (SANITIZED)
		skip();
	stage_open(&s, &kind, 1, 0);
	hold_all(&s, &object, 1);
	for (size_t i = 0; i < PLACES; i++)
		REQUIRE(lfpool_acquire_async(s.pool, count_call, &calls, NULL) == LFPOOL_OK);
	await_waiting(&s, PLACES);
	assert_int_equal(lfpool_acquire_async(s.pool, count_call, &calls, NULL), LFPOOL_E_NO_MEMORY);
	assert_null(lfpool_acquire_wait(s.pool, SHORT_NS));
	waiter_start(&w, &s);
	REQUIRE(lfpool_release(s.pool, object) == LFPOOL_OK);
	pthread_join(w.thread, NULL);
	assert_non_null(w.object);
	assert_int_equal(calls, PLACES);
	/* There are places again. */
	assert_int_equal(lfpool_acquire_async(s.pool, count_call, &calls, NULL), LFPOOL_OK);
	assert_int_equal(calls, PLACES + 1);
	stage_close(&s);
}

/* ---- Many hand-offs ---- */

struct line {
	struct stage *stage;
	unsigned rounds;
	bool short_waits;
	atomic_size_t holding, got, missed;
	size_t most;
};

static void *stand_in_line(void *argument)
{
	struct line *l = argument;
	lfpool_t *pool = l->stage->pool;

	for (unsigned i = 0; i < l->rounds; i++) {
		void *object = lfpool_acquire_wait(pool, l->short_waits ? (int64_t)(i % 7) * 5000 : FOR_EVER);

		if (!object) {
			REQUIRE(l->short_waits);
			l->missed++;
			continue;
		}
		REQUIRE(atomic_fetch_add(&l->holding, 1) < l->most);
		mark_write(object, i);
		l->got++;
		if (i % 64 == 0)
			sched_yield();
		REQUIRE(mark_holds(object, i));
		atomic_fetch_sub(&l->holding, 1);
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	}
	return NULL;
}

static void hand_offs(const struct kind *kind, size_t capacity, size_t threads, unsigned rounds, bool short_waits)
{
	struct stage s;
	struct line l = {.stage = &s, .rounds = rounds, .short_waits = short_waits, .most = capacity};
	pthread_t thread[16];

	stage_open(&s, kind, capacity, 0);
	for (size_t i = 0; i < threads; i++)
		thread_start(&thread[i], stand_in_line, &l);
	for (size_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	REQUIRE(l.got + l.missed == threads * rounds);
	require_counts(s.pool, capacity, 0);
	stage_close(&s);
}

static void all_hand_offs(const struct kind *kind)
{
	hand_offs(kind, 1, THREADS, TIMES(200, 50), false);
	hand_offs(kind, 2, THREADS + 1, TIMES(200, 50), false);
	hand_offs(kind, 1, THREADS, TIMES(200, 40), true);
	hand_offs(kind, 3, 2 * THREADS, TIMES(100, 20), true);
}

TEST(no_wake_up_is_lost_on_any_kind)
{
	on_every_kind(all_hand_offs);
}

TEST(no_wake_up_is_lost_in_very_many_hand_offs)
{
	static const struct kind some[] = {{0}, {.cache_capacity = LFPOOL_CACHE_NONE}, {.backend = LFPOOL_BACKEND_MUTEX}};

	for (size_t i = 0; i < COUNT(some); i++) {
		hand_offs(&some[i], 1, 2, TIMES(20000, 1000), false);
		hand_offs(&some[i], 1, 8, TIMES(3000, 200), false);
		hand_offs(&some[i], 3, 8, TIMES(3000, 200), false);
		hand_offs(&some[i], 2, 8, TIMES(2000, 150), true);
	}
}

/* The pool shrinks and grows under those who wait. */
static void shrinking_under_them(const struct kind *kind)
{
	struct stage s;
	struct line l = {.stage = &s, .rounds = TIMES(300, 60), .most = THREADS};
	pthread_t thread[THREADS + 2];
	size_t capacity = 2;

	stage_open(&s, kind, capacity, THREADS);
	for (size_t i = 0; i < COUNT(thread); i++)
		thread_start(&thread[i], stand_in_line, &l);
	for (int i = 0; i < TIMES(200, 40); i++) {
		size_t more = lfpool_grow(s.pool, (size_t)i % 3), by = capacity + more;

		REQUIRE(more <= 2);
		capacity += more;
		/* All of it, for a moment. */
		size_t gone = lfpool_shrink(s.pool, by);

		capacity -= by;
		size_t back = lfpool_grow(s.pool, 1 + (size_t)i % THREADS);

		REQUIRE(gone <= by && back >= 1);
		capacity += back;
		/* What is still owed goes when it comes back. */
		while (lfpool_shrink_owed(s.pool) && l.got < COUNT(thread) * l.rounds)
			sched_yield();
	}
	for (size_t i = 0; i < COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	require_counts(s.pool, capacity, 0);
	stage_close(&s);
}

TEST(a_pool_shrinks_and_grows_under_those_who_wait)
{
	on_every_kind(shrinking_under_them);
}

/* ---- Fork ---- */

static void in_the_child(struct stage *s, void **objects, size_t held)
{
	void *again[FIRST + 1];

	alarm(20);
	/* Those who waited are not here; what is released is free. */
	release_all(s->pool, objects, held);
	REQUIRE(acquire_all(s->pool, again, FIRST + 1) == FIRST);
	REQUIRE(!lfpool_acquire_wait(s->pool, SHORT_NS));
	release_all(s->pool, again, FIRST);
	REQUIRE(lfpool_shrink(s->pool, 1) == 1);
	REQUIRE(lfpool_grow(s->pool, 1) == 1);
	require_whole(s->pool, SIZE);
	REQUIRE(again[0] = lfpool_acquire_wait(s->pool, FOR_EVER));
	REQUIRE(lfpool_release(s->pool, again[0]) == LFPOOL_OK);
	_exit(0);
}

static void forks(const struct kind *kind)
{
	struct stage s;
	struct waiter w[20];
	void *objects[FIRST];
	int status;

	/* Its mutex is anybody's at the moment of the fork (lfpool.h). */
	if (kind->backend != LFPOOL_BACKEND_LOCKFREE)
		return;
	memset(w, 0, sizeof(w));
	stage_open(&s, kind, FIRST, 0);
	hold_all(&s, objects, FIRST);
	for (size_t i = 0; i < COUNT(w); i++) {
		waiter_start(&w[i], &s);
		await_waiting(&s, i + 1);
	}
	fflush(stdout);
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (child == 0)
		in_the_child(&s, objects, FIRST);
	REQUIRE(waitpid(child, &status, 0) == child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	release_all(s.pool, objects, FIRST);
	for (size_t i = 0; i < COUNT(w); i++) {
		pthread_join(w[i].thread, NULL);
		assert_non_null(w[i].object);
	}
	stage_close(&s);
}

TEST(a_child_goes_on_without_those_who_wait)
{
	on_every_kind(forks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(a_call_waits_as_long_as_it_says),
		KIND_TEST(what_lies_in_another_cache_is_not_waited_for),
		KIND_TEST(served_by_every_way_back_and_by_growth),
		KIND_TEST(first_come_first_served),
		KIND_TEST(as_many_as_there_are_objects_are_served),
		KIND_TEST(very_many_threads_wait),
		KIND_TEST(a_debt_is_paid_before_those_who_wait),
		KIND_TEST(a_hook_refuses_and_the_next_is_served),
		KIND_TEST(exhausted_evicts_grows_tries_again_or_gives_up),
		KIND_TEST(exhausted_waits_in_the_queue),
		KIND_TEST(exhausted_is_asked_behind_others_too),
		KIND_TEST(a_pool_grows_by_itself_behind_others_too),
		KIND_TEST(a_call_for_which_the_queue_has_no_place_waits_too),
		KIND_TEST(no_wake_up_is_lost_on_any_kind),
		KIND_TEST(no_wake_up_is_lost_in_very_many_hand_offs),
		KIND_TEST(a_pool_shrinks_and_grows_under_those_who_wait),
		KIND_TEST(a_child_goes_on_without_those_who_wait),
	};

	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
