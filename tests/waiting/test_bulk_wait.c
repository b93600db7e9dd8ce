/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_bulk_wait.c - several objects at once, all or none, with the reason.  (How far a pool grows for it:
 * verify/fuzz.  Order, and that two such calls cannot block each other: the programs wait-two-* of verify/explore.) */
#include "../support/waiters.h"

enum { SIX = 6 };

KIND_TEST(bulk_without_wait_is_all_or_none)
{
	struct stage s;
	void *objects[SIX + 1];

	stage_open(&s, kind, SIX, 0);
	errno = 4711;
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects, 0, 0), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, NULL, 1, 0), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects, SIX + 1, FOR_EVER), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects, 4, 0), LFPOOL_OK);
	require_counts(s.pool, SIX, 4);
	assert_true(sort_disjoint(objects, 4, SIZE));
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects + 4, 3, 0), LFPOOL_E_EXHAUSTED);
	require_counts(s.pool, SIX, 4);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects + 4, 3, SHORT_NS), LFPOOL_E_EXHAUSTED);
	require_counts(s.pool, SIX, 4);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects + 4, 2, FOR_EVER), LFPOOL_OK);
	require_counts(s.pool, SIX, SIX);
	assert_int_equal(lfpool_acquire_bulk_wait(s.pool, NULL, objects + SIX, 1, 0), LFPOOL_E_EXHAUSTED);
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

/* The objects that were activated before the refusal are free again. */
static void refused_in_pool_with(lfpool_backend_t backend, const char *debug)
{
	size_t left;
	const lfpool_hooks_t hooks = {.context = &left, .activate = passes};
	lfpool_t *pool = POOL_OF(SIZE, SIX, .backend = backend, .hooks = hooks, .debug = debug);
	void *objects[SIX];

	for (size_t good = 0; good < SIX; good++) {
		left = good;
		assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, SIX, good % 2 ? FOR_EVER : 0),
				 LFPOOL_E_REFUSED);
		require_counts(pool, SIX, 0);
	}
	/* No caller had an object, and all were free. */
	assert_int_equal(stats_of(pool).acquires, 0);
	assert_int_equal(stats_of(pool).releases, 0);
	assert_int_equal(stats_of(pool).exhausted, 0);
	left = SIX;
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, SIX, 0), LFPOOL_OK);
	require_counts(pool, SIX, SIX);
	release_all(pool, objects, SIX);
	assert_int_equal(stats_of(pool).acquires, SIX);
	assert_int_equal(stats_of(pool).releases, SIX);
	assert_int_equal(lfpool_destroy(pool), 0);
}

BACKEND_TEST(bulk_returns_earlier_objects_when_a_hook_refuses, LFPOOL_BACKEND_MALLOC)
{
	refused_in_pool_with(backend, NULL);
}

TEST(bulk_returns_earlier_objects_to_a_quarantine)
{
	for (int mutex = 0; mutex < 2; mutex++) {
		const lfpool_backend_t backend = mutex ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE;

		refused_in_pool_with(backend, "quarantine=1");
		refused_in_pool_with(backend, "quarantine=4");
		refused_in_pool_with(backend, "quarantine=100");
	}
}

/* Whether it waits or not, for one object or for several. */
KIND_TEST(a_call_that_finds_too_few_counts_once)
{
	struct stage s;
	void *held[SIX], *objects[2];
	lfpool_advice_t advice;

	stage_open(&s, kind, SIX, 0);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);

	hold_all(&s, held, SIX);
	uint64_t exhausted = stats_of(s.pool).exhausted;

	for (size_t count = 1; count <= 2; count++)
		for (int64_t ns = 0; ns <= SHORT_NS; ns += SHORT_NS)
			for (int explicit = 0; explicit < 2; explicit ++) {
				assert_int_equal(
					lfpool_acquire_bulk_wait(s.pool, explicit ? cache : NULL, objects, count, ns),
					LFPOOL_E_EXHAUSTED);
				assert_int_equal(stats_of(s.pool).exhausted, ++exhausted);
			}
	assert_int_equal(lfpool_advise(s.pool, &advice), LFPOOL_OK);
	assert_true(advice.capacity > SIX);
	lfpool_cache_destroy(cache);
	release_all(s.pool, held, SIX);
	stage_close(&s);
}

/* A pool in a buffer has 16 waiter nodes. */
TEST(bulk_wait_for_more_objects_than_waiter_nodes)
{
	enum { MANY = 40 };
	lfpool_config_t config = config_of(SIZE, MANY);
	const size_t bytes = lfpool_buffer_bytes(&config);
	void *memory = NULL, *objects[MANY], *one;
	lfpool_t *pool;

	assert_int_equal(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, bytes), 0);
	assert_int_equal(lfpool_create_in(&pool, &config, memory, bytes), LFPOOL_OK);
	assert_non_null(one = lfpool_acquire(pool));
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, MANY, SHORT_NS), LFPOOL_E_EXHAUSTED);
	assert_int_equal(lfpool_release(pool, one), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, MANY, FOR_EVER), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, &one, 1, 0), LFPOOL_E_EXHAUSTED);
	release_all(pool, objects, MANY);
	require_intact(pool);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(memory);
}

RUN_TESTS()
