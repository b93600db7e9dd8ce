/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_bulk_wait.c - several objects at once, all or none: with a reason, in their turn, and without two calls that wait for each
 * other.  (How far a pool grows for it: verify/fuzz.)
 */
#include "../support/waiters.h"

enum { SIX = 6 };

KIND_TEST(all_or_none_without_a_wait)
{
	struct stage s;
	void *objects[SIX + 1];

	stage_open(&s, kind, SIX, 0);
	errno = 4711;
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects, 0, 0), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, 1, 0), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects, SIX + 1, FOR_EVER), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects, 4, 0), LFPOOL_OK);
	require_counts(s.pool, SIX, 4);
	assert_true(sort_disjoint(objects, 4, SIZE));
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects + 4, 3, 0), LFPOOL_E_EXHAUSTED);
	require_counts(s.pool, SIX, 4);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects + 4, 3, SHORT_NS), LFPOOL_E_EXHAUSTED);
	require_counts(s.pool, SIX, 4);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects + 4, 2, FOR_EVER), LFPOOL_OK);
	require_counts(s.pool, SIX, SIX);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, objects + SIX, 1, 0), LFPOOL_E_EXHAUSTED);
	assert_int_equal(errno, 4711);
	release_all(s.pool, objects, SIX);
	stage_close(&s);
}

static bool passes(void *context, void *object)
{
	size_t *left = context;

	REQUIRE(object);
	return *left && (*left)--;
}

/* Those that were active before the refusal are free again, too. */
BACKEND_TEST(one_is_refused_after_others, LFPOOL_BACKEND_MALLOC)
{
	size_t left;
	lfpool_t *pool = POOL_OF(SIZE, SIX, .backend = backend, .hooks = {.context = &left, .activate = passes});
	void *objects[SIX];

	for (size_t good = 0; good < SIX; good++) {
		left = good;
		assert_int_equal(lfpool_acquire_bulk_wait(pool, objects, SIX, good % 2 ? FOR_EVER : 0), LFPOOL_E_REFUSED);
		require_counts(pool, SIX, 0);
	}
	left = SIX;
	assert_int_equal(lfpool_acquire_bulk_wait(pool, objects, SIX, 0), LFPOOL_OK);
	require_counts(pool, SIX, SIX);
	release_all(pool, objects, SIX);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- In turn ---- */

struct taker {
	struct stage *stage;
	size_t count;
	size_t order;
	pthread_t thread;
};

static void *take(void *argument)
{
	struct taker *t = argument;
	void *objects[SIX];

	REQUIRE(lfpool_acquire_bulk_wait(t->stage->pool, objects, t->count, FOR_EVER) == LFPOOL_OK);
	t->order = atomic_fetch_add(&served, 1);
	REQUIRE(lfpool_release_bulk(t->stage->pool, objects, t->count) == t->count);
	return NULL;
}

/* One that wants all, then others that want little, and objects that come back one by one: it does not starve. */
KIND_TEST(first_come_first_served)
{
	static const size_t counts[] = {SIX, 1, 2, 1};
	struct taker takers[COUNT(counts)];
	struct stage s;
	void *objects[SIX];
	size_t wanted = 0;

	stage_open(&s, kind, SIX, 0);
	hold_all(&s, objects, SIX);
	for (size_t i = 0; i < COUNT(counts); i++) {
		takers[i] = (struct taker){.stage = &s, .count = counts[i]};
		thread_start(&takers[i].thread, take, &takers[i]);
		await_waiting(&s, wanted += counts[i]);
	}
	for (size_t i = 0; i < SIX; i++) {
		assert_int_equal(atomic_load(&served), 0);
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
	}
	for (size_t i = 0; i < COUNT(counts); i++)
		assert_int_equal(pthread_join(takers[i].thread, NULL), 0);
	assert_int_equal(takers[0].order, 0);
	stage_close(&s);
}

/* ---- Many that want several ---- */

enum { MEMBERS = 4 };

static void *member(void *argument)
{
	struct stage *s = argument;
	void *objects[SIX];

	for (size_t i = 0; i < TIMES(300, 60); i++) {
		const size_t count = 1 + i % SIX;

		REQUIRE(lfpool_acquire_bulk_wait(s->pool, objects, count, FOR_EVER) == LFPOOL_OK);
		for (size_t j = 0; j < count; j++)
			mark_write(objects[j], i + j);
		for (size_t j = 0; j < count; j++)
			REQUIRE(mark_holds(objects[j], i + j));
		REQUIRE(lfpool_release_bulk(s->pool, objects, count) == count);
	}
	return NULL;
}

/* Each wants up to all objects, for ever: it ends only if no two hold what the other needs. */
KIND_TEST(two_calls_do_not_wait_for_each_other)
{
	struct stage s;

	stage_open(&s, kind, SIX, 0);
	threads_run(MEMBERS, member, &s, 0);
	require_counts(s.pool, SIX, 0);
	stage_close(&s);
}

/* No place in the queue: 16 in a buffer. */
TEST(more_than_there_are_places)
{
	enum { MANY = 40 };
	lfpool_config_t config = config_of(SIZE, MANY);
	const size_t bytes = lfpool_buffer_bytes(&config);
	void *memory = NULL, *objects[MANY], *one;
	lfpool_t *pool;

	assert_int_equal(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, bytes), 0);
	assert_int_equal(lfpool_create_in(&pool, &config, memory, bytes), LFPOOL_OK);
	assert_non_null(one = lfpool_acquire(pool));
	assert_int_equal(lfpool_acquire_bulk_wait(pool, objects, MANY, SHORT_NS), LFPOOL_E_EXHAUSTED);
	assert_int_equal(lfpool_release(pool, one), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(pool, objects, MANY, FOR_EVER), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(pool, &one, 1, 0), LFPOOL_E_EXHAUSTED);
	release_all(pool, objects, MANY);
	require_intact(pool);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(memory);
}

RUN_TESTS()
