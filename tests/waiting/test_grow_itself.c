/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_grow_itself.c - a pool gets more objects by itself, when a call finds nothing: by whatever call, step by step, never
 * beyond its maximum, and exactly up to it, however many threads make it grow.
 */
#include "../support/kinds.h"

#include <pthread.h>

enum { FIRST = 10, MOST = 300 };

/* ---- By itself ---- */

enum way { OF_THREAD, BY_CACHE, BULK_OF_THREAD, BULK_BY_CACHE, WAITING, WAITING_BY_CACHE, WAYS };

static void *take(lfpool_t *pool, lfpool_cache_t *cache, enum way way)
{
	void *object = NULL;

	switch (way) {
	case OF_THREAD: return lfpool_acquire(pool);
	case BY_CACHE: return lfpool_cache_acquire(cache);
	case BULK_OF_THREAD: return lfpool_acquire_bulk(pool, &object, 1) == 1 ? object : NULL;
	case BULK_BY_CACHE: return lfpool_cache_acquire_bulk(cache, &object, 1) == 1 ? object : NULL;
	case WAITING: return lfpool_acquire_wait(pool, 0);
	default: return lfpool_cache_acquire_wait(cache, 0);
	}
}

/* The capacity once `count` objects are out, of a pool that adds `step` each time that there is none. */
static size_t grown_to(size_t count, size_t step)
{
	size_t capacity = FIRST;

	while (capacity < count)
		capacity = step < MOST - capacity ? capacity + step : MOST;
	return capacity;
}

/* By each way, and by hand; and it may become empty again. */
KIND_TEST(from_no_object_at_all)
{
	if (kind->flags & LFPOOL_CREATE_ALL)
		return;
	for (enum way way = OF_THREAD; way < WAYS; way++) {
		struct stage s;
		void *object;

		stage_open_growing(&s, kind, 0, MOST, 3);
		require_counts(s.pool, 0, 0);
		assert_int_equal(s.created + s.destroyed, 0);
		lfpool_cache_t *cache = lfpool_cache_create(s.pool);

		assert_non_null(object = take(s.pool, cache, way));
		assert_int_equal(lfpool_capacity(s.pool), 3);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_shrink(s.pool, 3), 3);
		require_counts(s.pool, 0, 0);
		assert_int_equal(lfpool_grow(s.pool, 2), 2);
		assert_non_null(object = take(s.pool, cache, way));
		assert_int_equal(lfpool_capacity(s.pool), 2);
		assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
		lfpool_cache_destroy(cache);
		stage_close(&s);
	}
}

KIND_TEST(a_pool_grows_by_itself_step_by_step)
{
	static const size_t steps[] = {1, 7, 64, MOST, SIZE_MAX};

	for (size_t i = 0; i < COUNT(steps); i++)
		for (enum way way = OF_THREAD; way < WAYS; way++) {
			struct stage s;
			void *objects[MOST + 1];

			stage_open_growing(&s, kind, FIRST, MOST, steps[i]);
			lfpool_cache_t *cache = lfpool_cache_create(s.pool);
			for (size_t count = 1; count <= MOST; count++) {
				assert_non_null(objects[count - 1] = take(s.pool, cache, way));
				mark_write(objects[count - 1], count);
				assert_int_equal(lfpool_capacity(s.pool), grown_to(count, steps[i]));
			}
			for (int round = 0; round < 3; round++)
				assert_null(take(s.pool, cache, way));
			require_counts(s.pool, MOST, MOST);
			for (size_t count = 1; count <= MOST; count++)
				assert_true(mark_holds(objects[count - 1], count));
			assert_true(sort_disjoint(objects, MOST, SIZE));
			release_all(s.pool, objects, MOST);
			lfpool_cache_destroy(cache);
			/* It does not shrink by itself. */
			require_counts(s.pool, MOST, 0);
			stage_close(&s);
		}
}

KIND_TEST(it_does_not_grow_while_an_object_is_free_anywhere)
{
	struct stage s;
	void *objects[FIRST];

	/* Free objects lie in a cache of somebody else: then nothing is to be added. */
	stage_open_growing(&s, kind, FIRST, MOST, 1);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);

	for (int round = 0; round < 3; round++) {
		assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, FIRST), FIRST);
		assert_int_equal(lfpool_cache_release_bulk(cache, objects, FIRST), FIRST);
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST), FIRST);
		require_counts(s.pool, FIRST, FIRST);
		assert_int_equal(lfpool_release_bulk(s.pool, objects, FIRST), FIRST);
	}
	lfpool_cache_destroy(cache);
	require_counts(s.pool, FIRST, 0);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

KIND_TEST(bulk_over_grown_objects)
{
	static const size_t steps[] = {1, 13, MOST};
	struct stage s;
	void *objects[MOST + 5];

	for (size_t i = 0; i < COUNT(steps); i++) {
		stage_open_growing(&s, kind, FIRST, MOST, steps[i]);
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST + 20), FIRST + 20);
		assert_int_equal(lfpool_capacity(s.pool), grown_to(FIRST + 20, steps[i]));
		/* Exact at the end, and what is beyond the end is not written to. */
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects + FIRST + 20, MOST + 5 - FIRST - 20), MOST - FIRST - 20);
		require_counts(s.pool, MOST, MOST);
		assert_int_equal(lfpool_release_bulk(s.pool, objects, MOST), MOST);
		stage_close(&s);
	}
	/* By hand: fewer than wanted, as many as there are. */
	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, MOST), FIRST);
	assert_int_equal(lfpool_grow(s.pool, 100), 100);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects + FIRST, MOST), 100);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, FIRST + 100), FIRST + 100);
	stage_close(&s);
}

/* ---- Hooks ---- */

KIND_TEST(a_hook_refuses_what_was_added)
{
	struct stage s;
	void *objects[MOST + 1];

	if (!kind->hooks)
		return;
	/* Activate refuses an object of those that were added: nothing is lost. */
	stage_open_growing(&s, kind, 1, MOST, 10);
	assert_non_null(objects[0] = lfpool_acquire(s.pool));
	s.activate_refuses = 1;
	assert_null(lfpool_acquire(s.pool));
	s.activate_refuses = 0;
	assert_int_equal(acquire_all(s.pool, objects + 1, 10), 10);
	require_counts(s.pool, 11, 11);
	release_all(s.pool, objects, 11);
	stage_close(&s);
}

KIND_TEST(create_all_builds_what_is_added_too)
{
	struct stage s;

	if (!kind->hooks || !(kind->flags & LFPOOL_CREATE_ALL))
		return;
	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(s.created, kind->backend == LFPOOL_BACKEND_MALLOC ? 0 : FIRST);
	assert_int_equal(lfpool_grow(s.pool, 50), 50);
	/* The hooks themselves see to it that each is built once before it is used. */
	require_whole(s.pool, SIZE);
	assert_int_equal(s.created, FIRST + 50);
	stage_close(&s);
	assert_int_equal(s.created, FIRST + 50);
}

KIND_TEST(what_is_added_reads_as_zero)
{
	struct stage s;
	void *objects[MOST + 1];

	if (kind->hooks || (kind->backend == LFPOOL_BACKEND_MALLOC && !(kind->flags & LFPOOL_ZERO)))
		return;
	/* Poison fills them instead: tests/object/test_debug.c. */
	if (kind->debug && strstr(kind->debug, "poison") && !(kind->flags & LFPOOL_ZERO))
		return;
	/* Never-used objects are zero bytes, wherever they come from. */
	stage_open_growing(&s, kind, FIRST, MOST, 50);
	assert_int_equal(acquire_all(s.pool, objects, MOST), MOST);
	if (kind->backend == LFPOOL_BACKEND_LOCKFREE || kind->flags & LFPOOL_ZERO)
		for (size_t i = 0; i < MOST; i++)
			assert_true(all_bytes_are(objects[i], SIZE, 0));
	release_all(s.pool, objects, MOST);
	stage_close(&s);
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = TIMES(30, 3) };

struct team {
	struct stage *stage;
	pthread_barrier_t start;
	size_t each, rounds;
	struct member {
		struct team *team;
		pthread_t thread;
		size_t count;
		void *objects[MOST + 1];
	} members[THREADS];
};

static void run_team(struct team *team, void *(*run)(void *))
{
	pthread_barrier_init(&team->start, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		team->members[i].team = team;
		thread_start(&team->members[i].thread, run, &team->members[i]);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_barrier_destroy(&team->start);
}

static void *acquire_every(void *argument)
{
	struct member *m = argument;

	pthread_barrier_wait(&m->team->start);
	m->count = acquire_all(m->team->stage->pool, m->objects, MOST + 1);
	return NULL;
}

KIND_TEST(threads_at_once_get_exactly_the_maximum)
{
	static const size_t steps[] = {1, 5, MOST};
	static struct team team;

	for (size_t i = 0; i < COUNT(steps) * ROUNDS / 4; i++) {
		struct stage s;
		void *all[MOST + 1];
		size_t count = 0;

		stage_open_growing(&s, kind, 1, MOST, steps[i % COUNT(steps)]);
		team.stage = &s;
		run_team(&team, acquire_every);
		for (size_t k = 0; k < THREADS; k++) {
			REQUIRE(count + team.members[k].count <= MOST);
			memcpy(all + count, team.members[k].objects, team.members[k].count * sizeof(void *));
			count += team.members[k].count;
		}
		assert_int_equal(count, MOST);
		assert_true(sort_disjoint(all, MOST, SIZE));
		assert_null(lfpool_acquire(s.pool));
		require_counts(s.pool, MOST, MOST);
		assert_int_equal(lfpool_release_bulk(s.pool, all, MOST), MOST);
		stage_close(&s);
	}
}

static void *acquire_share(void *argument)
{
	struct member *m = argument;

	for (size_t round = 0; round < m->team->rounds; round++) {
		pthread_barrier_wait(&m->team->start);
		for (size_t i = 0; i < m->team->each; i++)
			REQUIRE(m->objects[i] = lfpool_acquire(m->team->stage->pool));
		pthread_barrier_wait(&m->team->start);
		release_all(m->team->stage->pool, m->objects, m->team->each);
	}
	return NULL;
}

/* Demands that add up to the maximum: no call may find nothing, however the others are making the pool grow. */
KIND_TEST(demands_that_add_up_to_the_maximum_are_met)
{
	static struct team team;

	for (size_t each = 1; each <= 16; each *= 4)
		for (size_t i = 0; i < ROUNDS; i++) {
			struct stage s;

			stage_open_growing(&s, kind, 1, THREADS * each, i % 2 ? 1 : SIZE_MAX);
			team.stage = &s;
			team.each = each;
			team.rounds = 2;
			run_team(&team, acquire_share);
			require_counts(s.pool, THREADS * each, 0);
			stage_close(&s);
		}
}

static void *grow_share(void *argument)
{
	struct member *m = argument;

	pthread_barrier_wait(&m->team->start);
	m->count = lfpool_grow(m->team->stage->pool, m->team->each);
	return NULL;
}

/* There is room for all that they add, so each adds all of it. */
KIND_TEST(threads_that_grow_at_once_each_add_what_there_is_room_for)
{
	static struct team team;

	for (size_t i = 0; i < ROUNDS; i++) {
		struct stage s;

		team.each = i % 70 + 1;
		/* So that they open pages at the same time, up to the last one. */
		stage_open(&s, kind, FIRST, FIRST + THREADS * team.each);
		team.stage = &s;
		run_team(&team, grow_share);
		for (size_t k = 0; k < THREADS; k++)
			assert_int_equal(team.members[k].count, team.each);
		require_counts(s.pool, FIRST + THREADS * team.each, 0);
		stage_close(&s);
	}
}

RUN_TESTS()
