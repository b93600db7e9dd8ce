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
BACKEND_TEST(bulk_returns_earlier_objects_when_a_hook_refuses, LFPOOL_BACKEND_MALLOC)
{
	size_t left;
	lfpool_t *pool = POOL_OF(SIZE, SIX, .backend = backend, .hooks = {.context = &left, .activate = passes});
	void *objects[SIX];

	for (size_t good = 0; good < SIX; good++) {
		left = good;
		assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, SIX, good % 2 ? FOR_EVER : 0),
				 LFPOOL_E_REFUSED);
		require_counts(pool, SIX, 0);
	}
	left = SIX;
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, objects, SIX, 0), LFPOOL_OK);
	require_counts(pool, SIX, SIX);
	release_all(pool, objects, SIX);
	assert_int_equal(lfpool_destroy(pool), 0);
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
