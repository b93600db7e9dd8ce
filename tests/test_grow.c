/* SPDX-License-Identifier: MIT */
/*
 * test_grow.c - a pool gets more objects, by hand and by itself: how many, never beyond its maximum, and nothing that
 * was there before notices.
 */
#include "kinds.h"

#include <limits.h>
#include <pthread.h>

enum { FIRST = 10, MOST = 300 };

/* ---- By hand ---- */

static void adds(const struct kind *kind)
{
	struct stage s;
	void *objects[MOST + 1];

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_max_capacity(s.pool), MOST);
	require_counts(s.pool, FIRST, 0);
	assert_int_equal(acquire_all(s.pool, objects, MOST + 1), FIRST);
	for (size_t i = 0; i < FIRST; i++)
		mark_write(objects[i], i);
	assert_int_equal(lfpool_grow(s.pool, 0), 0);
	assert_null(lfpool_acquire(s.pool));
	size_t held = FIRST;

	for (size_t count = 1; held < MOST; count = count * 2 + 1) {
		size_t expected = count < MOST - held ? count : MOST - held;

		assert_int_equal(lfpool_grow(s.pool, count), expected);
		require_counts(s.pool, held + expected, held);
		assert_int_equal(acquire_all(s.pool, objects + held, MOST + 1 - held), expected);
		for (size_t i = held; i < held + expected; i++)
			mark_write(objects[i], i);
		held += expected;
		require_counts(s.pool, held, held);
	}
	assert_int_equal(lfpool_grow(s.pool, 1), 0);
	assert_int_equal(lfpool_grow(s.pool, SIZE_MAX), 0);
	assert_null(lfpool_acquire(s.pool));
	/* What was written before the pool grew is where it was. */
	for (size_t i = 0; i < MOST; i++) {
		assert_true(mark_holds(objects[i], i));
		assert_true(lfpool_owns(s.pool, objects[i]));
		assert_int_equal(lfpool_in_use(s.pool, objects[i]), true);
	}
	assert_true(sort_disjoint(objects, MOST, SIZE));
	release_all(s.pool, objects, MOST);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
}

TEST(grow_adds_what_it_says)
{
	on_every_kind(adds);
}

static void at_once(const struct kind *kind)
{
	struct stage s;

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_grow(s.pool, SIZE_MAX), MOST - FIRST);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
	/* Nothing was reserved: it is as large as it can be. */
	for (size_t max = 0; max <= FIRST; max += FIRST) {
		stage_open_growing(&s, kind, FIRST, max, 1);
		assert_int_equal(lfpool_max_capacity(s.pool), FIRST);
		assert_int_equal(lfpool_grow(s.pool, 1), 0);
		assert_int_equal(lfpool_reserve(s.pool, FIRST + 1), 0);
		require_counts(s.pool, FIRST, 0);
		stage_close(&s);
	}
}

TEST(all_that_was_reserved_and_no_more)
{
	on_every_kind(at_once);
}

static void reserves(const struct kind *kind)
{
	struct stage s;

	stage_open(&s, kind, FIRST, MOST);
	assert_int_equal(lfpool_reserve(s.pool, 0), 0);
	assert_int_equal(lfpool_reserve(s.pool, FIRST), 0);
	assert_int_equal(lfpool_reserve(s.pool, FIRST + 1), 1);
	assert_int_equal(lfpool_reserve(s.pool, FIRST), 0);
	assert_int_equal(lfpool_reserve(s.pool, 100), 100 - FIRST - 1);
	require_counts(s.pool, 100, 0);
	assert_int_equal(lfpool_reserve(s.pool, SIZE_MAX), MOST - 100);
	require_counts(s.pool, MOST, 0);
	stage_close(&s);
}

TEST(reserve_grows_up_to)
{
	on_every_kind(reserves);
}

static void sets_max(const struct kind *kind)
{
	struct stage s;
	void *objects[MOST + 1];

	stage_open_growing(&s, kind, FIRST, MOST, 4);
	assert_int_equal(lfpool_set_max_capacity(s.pool, MOST + 1), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_set_max_capacity(s.pool, SIZE_MAX), LFPOOL_E_CONFIG_MAX_CAPACITY);
	assert_int_equal(lfpool_max_capacity(s.pool), MOST);
	/* Below what there is: nothing goes, nothing comes. */
	assert_int_equal(lfpool_set_max_capacity(s.pool, 3), LFPOOL_OK);
	assert_int_equal(lfpool_max_capacity(s.pool), 3);
	require_counts(s.pool, FIRST, 0);
	assert_int_equal(lfpool_grow(s.pool, 1), 0);
	assert_int_equal(acquire_all(s.pool, objects, MOST), FIRST);
	require_counts(s.pool, FIRST, FIRST);
	assert_int_equal(lfpool_set_max_capacity(s.pool, 0), LFPOOL_OK);
	assert_null(lfpool_acquire(s.pool));
	assert_int_equal(lfpool_set_max_capacity(s.pool, FIRST), LFPOOL_OK);
	assert_null(lfpool_acquire(s.pool));
	/* By hand and by itself, up to where it ends now. */
	assert_int_equal(lfpool_set_max_capacity(s.pool, FIRST + 7), LFPOOL_OK);
	assert_int_equal(lfpool_grow(s.pool, 2), 2);
	assert_int_equal(acquire_all(s.pool, objects + FIRST, MOST - FIRST), 7);
	require_counts(s.pool, FIRST + 7, FIRST + 7);
	assert_int_equal(lfpool_set_max_capacity(s.pool, MOST), LFPOOL_OK);
	assert_int_equal(acquire_all(s.pool, objects + FIRST + 7, MOST - FIRST - 7 + 1),
			 MOST - FIRST - 7);
	release_all(s.pool, objects, MOST);
	stage_close(&s);
}

TEST(growing_ends_where_set_max_capacity_says)
{
	on_every_kind(sets_max);
}

/* ---- By itself ---- */

enum way { OF_THREAD, BY_CACHE, BULK_OF_THREAD, BULK_BY_CACHE, WAITING, WAITING_BY_CACHE, WAYS };

static void *take(lfpool_t *pool, lfpool_cache_t *cache, enum way way)
{
	void *object = NULL;

	switch (way) {
	case OF_THREAD:
		return lfpool_acquire(pool);
	case BY_CACHE:
		return lfpool_cache_acquire(cache);
	case BULK_OF_THREAD:
		return lfpool_acquire_bulk(pool, &object, 1) == 1 ? object : NULL;
	case BULK_BY_CACHE:
		return lfpool_cache_acquire_bulk(cache, &object, 1) == 1 ? object : NULL;
	case WAITING:
		return lfpool_acquire_wait(pool, 0);
	default:
		return lfpool_cache_acquire_wait(cache, 0);
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

static void by_itself(const struct kind *kind)
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

TEST(a_pool_grows_by_itself_step_by_step)
{
	on_every_kind(by_itself);
}

static void not_before(const struct kind *kind)
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

TEST(it_does_not_grow_while_an_object_is_free_anywhere)
{
	on_every_kind(not_before);
}

static void in_bulk(const struct kind *kind)
{
	static const size_t steps[] = {1, 13, MOST};
	struct stage s;
	void *objects[MOST + 5];

	for (size_t i = 0; i < COUNT(steps); i++) {
		stage_open_growing(&s, kind, FIRST, MOST, steps[i]);
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST + 20), FIRST + 20);
		assert_int_equal(lfpool_capacity(s.pool), grown_to(FIRST + 20, steps[i]));
		/* Exact at the end, and what is beyond the end is not written to. */
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects + FIRST + 20, MOST + 5 - FIRST - 20),
				 MOST - FIRST - 20);
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

TEST(bulk_over_grown_objects)
{
	on_every_kind(in_bulk);
}

/* ---- Handles, walks, questions ---- */

static bool count_slot(void *context, void *object, bool active)
{
	size_t *counts = context;

	/* Readable, whether it was ever used or not. */
	REQUIRE(*(volatile unsigned char *)object <= UCHAR_MAX);
	counts[active]++;
	return true;
}

static bool count_active(void *context, void *object)
{
	REQUIRE(object);
	++*(size_t *)context;
	return true;
}

static void walks(struct stage *s, void *const *objects, size_t active)
{
	size_t capacity = lfpool_capacity(s->pool), slots[2] = {0, 0}, visited = 0;
	void **seen = pointers_new(capacity), **sorted = pointers_new(active);
	bool tracked = kind_tracked(s->kind);

	memcpy(sorted, objects, active * sizeof(*objects));
	qsort(sorted, active, sizeof(*sorted), compare_addresses);
	assert_int_equal(lfpool_copy_active(s->pool, seen, capacity), tracked ? active : 0);
	assert_int_equal(lfpool_for_each_active(s->pool, count_active, &visited), tracked ? active : 0);
	assert_int_equal(visited, tracked ? active : 0);
	if (s->kind->backend != LFPOOL_BACKEND_MALLOC) {
		/* Slots that it has no object in, now, may be among them. */
		size_t all = lfpool_for_each_slot(s->pool, count_slot, slots);

		assert_true(all >= capacity && all <= lfpool_max_capacity(s->pool));
		assert_int_equal(slots[false] + slots[true], all);
		assert_int_equal(slots[true], tracked ? active : 0);
	}
	if (tracked) {
		lfpool_cursor_t cursors[3];
		size_t parts = 0;

		qsort(seen, active, sizeof(*seen), compare_addresses);
		assert_memory_equal(seen, sorted, active * sizeof(*seen));
		lfpool_cursor_split(cursors, 3, s->pool);
		for (size_t i = 0; i < 3; i++)
			while (lfpool_cursor_next(&cursors[i]))
				parts++;
		assert_int_equal(parts, active);
	}
	free(seen);
	free(sorted);
}

static void names(const struct kind *kind)
{
	struct stage s;
	void *objects[MOST + 1];
	lfpool_handle_t handles[MOST];
	bool seen[MOST] = {false};

	stage_open(&s, kind, FIRST, MOST);
	size_t held = 0;
	for (size_t add = 0; add <= 80; add += 20) {
		assert_int_equal(lfpool_grow(s.pool, add), add);
		size_t got = acquire_all(s.pool, objects + held, MOST + 1 - held);

		for (size_t i = held; i < held + got; i++)
			handles[i] = lfpool_handle_of(s.pool, objects[i]);
		held += got;
		walks(&s, objects, held);
	}
	assert_int_equal(held, FIRST + 200);
	for (size_t i = 0; i < held; i++) {
		size_t index = lfpool_index_of(s.pool, objects[i]);

		assert_true(index < lfpool_capacity(s.pool) && !seen[index]);
		seen[index] = true;
		assert_ptr_equal(lfpool_of(objects[i]), s.pool);
		assert_ptr_equal(lfpool_resolve(s.pool, handles[i]), kind_tracked(kind) ? objects[i] : NULL);
	}
	if (kind_tracked(kind)) {
		assert_int_equal(lfpool_release_handle(s.pool, handles[held - 1]), LFPOOL_OK);
		assert_int_equal(lfpool_release_self(objects[held - 2]), LFPOOL_OK);
		assert_int_equal(lfpool_release_all(s.pool), held - 2);
		for (size_t i = 0; i < held; i++)
			assert_null(lfpool_resolve(s.pool, handles[i]));
	} else {
		release_all(s.pool, objects, held);
	}
	require_counts(s.pool, FIRST + 200, 0);
	stage_close(&s);
}

TEST(handles_walks_and_questions_over_grown_objects)
{
	on_every_kind(names);
}

/* ---- Sizes ---- */

TEST(a_huge_reservation_is_cheap)
{
	const size_t most = (size_t)1 << 31;
	static void *objects[100000 + FIRST];

	if (SIZE_MAX / 64 <= most)
		skip();
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_of(64, FIRST);
		size_t before = resident_bytes();

		config.max_capacity = most;
		config.backend = (lfpool_backend_t)backend;
		lfpool_t *pool = pool_with(&config);

		assert_int_equal(lfpool_max_capacity(pool), most);
		require_whole(pool, 64);
		/* A sanitizer has memory of its own. */
		assert_true(SANITIZED || growth(before, resident_bytes()) < 8 * MIB);
		assert_int_equal(lfpool_grow(pool, COUNT(objects) - FIRST), COUNT(objects) - FIRST);
		/* A few are used: the others take no memory yet. */
		assert_int_equal(lfpool_acquire_bulk(pool, objects, 1000), 1000);
		assert_true(SANITIZED || growth(before, resident_bytes()) < 12 * MIB);
		assert_int_equal(lfpool_release_bulk(pool, objects, 1000), 1000);
		assert_int_equal(acquire_all(pool, objects, COUNT(objects)), COUNT(objects));
		assert_null(lfpool_acquire(pool));
		assert_true(sort_disjoint(objects, COUNT(objects), 64));
		assert_int_equal(lfpool_release_bulk(pool, objects, COUNT(objects)), COUNT(objects));
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

TEST(objects_of_every_size_grow)
{
	static const size_t sizes[] = {1, 7, 64, 100, 4096, 5000, 70000};

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t alignment = 0; alignment <= 4096; alignment = alignment ? alignment * 16 : 16)
			for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
				lfpool_config_t config = config_of(sizes[i], 1);
				void *objects[100];

				config.object_alignment = alignment;
				config.max_capacity = 100;
				config.growth_step = 3;
				config.backend = (lfpool_backend_t)backend;
				lfpool_t *pool = pool_with(&config);
				for (size_t k = 0; k < 100; k++) {
					assert_non_null(objects[k] = lfpool_acquire(pool));
					assert_int_equal((uintptr_t)objects[k] % (alignment ? alignment : 1), 0);
					stamp_write(objects[k], sizes[i], k);
				}
				assert_null(lfpool_acquire(pool));
				for (size_t k = 0; k < 100; k++)
					assert_true(stamp_holds(objects[k], sizes[i], k));
				release_all(pool, objects, 100);
				require_whole(pool, sizes[i]);
				lfpool_destroy(pool);
			}
}

/* ---- Hooks ---- */

static void refuses(const struct kind *kind)
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

TEST(a_hook_refuses_what_was_added)
{
	on_every_kind(refuses);
}

static void built(const struct kind *kind)
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

TEST(create_all_builds_what_is_added_too)
{
	on_every_kind(built);
}

static void zeroed(const struct kind *kind)
{
	struct stage s;
	void *objects[MOST + 1];

	if (kind->hooks || (kind->backend == LFPOOL_BACKEND_MALLOC && !(kind->flags & LFPOOL_ZERO)))
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

TEST(what_is_added_reads_as_zero)
{
	on_every_kind(zeroed);
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = TIMES(60, 8) };

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

static void exact_end(const struct kind *kind)
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

TEST(threads_at_once_get_exactly_the_maximum)
{
	on_every_kind(exact_end);
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
static void demands(const struct kind *kind)
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

TEST(demands_that_add_up_to_the_maximum_are_met)
{
	on_every_kind(demands);
}

static void *grow_share(void *argument)
{
	struct member *m = argument;

	pthread_barrier_wait(&m->team->start);
	m->count = lfpool_grow(m->team->stage->pool, m->team->each);
	return NULL;
}

/* There is room for all that they add, so each adds all of it. */
static void grows_at_once(const struct kind *kind)
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

TEST(threads_that_grow_at_once_each_add_what_there_is_room_for)
{
	on_every_kind(grows_at_once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(grow_adds_what_it_says),
		KIND_TEST(all_that_was_reserved_and_no_more),
		KIND_TEST(reserve_grows_up_to),
		KIND_TEST(growing_ends_where_set_max_capacity_says),
		KIND_TEST(a_pool_grows_by_itself_step_by_step),
		KIND_TEST(it_does_not_grow_while_an_object_is_free_anywhere),
		KIND_TEST(bulk_over_grown_objects),
		KIND_TEST(handles_walks_and_questions_over_grown_objects),
		KIND_TEST(a_huge_reservation_is_cheap),
		KIND_TEST(objects_of_every_size_grow),
		KIND_TEST(a_hook_refuses_what_was_added),
		KIND_TEST(create_all_builds_what_is_added_too),
		KIND_TEST(what_is_added_reads_as_zero),
		KIND_TEST(threads_at_once_get_exactly_the_maximum),
		KIND_TEST(demands_that_add_up_to_the_maximum_are_met),
		KIND_TEST(threads_that_grow_at_once_each_add_what_there_is_room_for),
	};

	return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
