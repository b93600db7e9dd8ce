/* SPDX-License-Identifier: MIT */
/* test_retire_batches.c - how retired objects become batches (lfpool/retire.h): the first object alone, those retired
 * in the meantime next; when a scheme is polled, and the questions it may ask about a batch. */
#include "../support/schemes.h"

enum { SIZE = 24, CAPACITY = 500, PLENTY = 100 };

/* ---- The contents of a batch ---- */

/* The one batch that the scheme has; or NULL. */
static lfpool_batch_t *the_batch(void)
{
	lfpool_batch_t *found = NULL;

	for (size_t place = 0; place < LFPOOL_PLACES_MAX; place++)
		if (atomic_load(&fake.kept[place])) {
			assert_null(found);
			found = atomic_load(&fake.kept[place]);
			assert_int_equal(found->place, place);
		}
	return found;
}

/* These objects, and no others. */
static void assert_consists_of(const lfpool_batch_t *batch, void **objects, size_t count)
{
	void *found[PLENTY];
	uint32_t cursor = 0;

	assert_non_null(batch);
	assert_int_equal(batch->count, count);
	for (size_t i = 0; i < count; i++)
		assert_non_null(found[i] = (void *)(uintptr_t)lfpool_batch_next(batch, &cursor));
	assert_null(lfpool_batch_next(batch, &cursor));
	assert_true(sort_disjoint(found, count, 1) && sort_disjoint(objects, count, 1));
	assert_memory_equal(found, objects, count * sizeof(*objects));
}

BACKEND_TEST(batches_collect_objects_while_one_is_under_way, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = fake_pool(config_of(SIZE, CAPACITY), backend, KEPT);
	void *objects[PLENTY];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, PLENTY), PLENTY);
	for (int round = 0; round < 3; round++) {
		void **retired = objects + 30 * round;

		assert_null(the_batch());
		for (size_t i = 0; i < 10; i++) {
			assert_int_equal(lfpool_retire(pool, retired[i]), LFPOOL_OK);
			assert_consists_of(the_batch(), retired, 1);
			assert_int_equal((uintptr_t)the_batch()->room % 16, 0);
		}
		assert_int_equal(fake.begun, 3 * round + 1);
		/* A scheme that is not polled. */
		assert_false(lfpool_retire_poll(pool));
		assert_int_equal(fake_period(pool), 1);
		assert_consists_of(the_batch(), retired + 1, 9);
		/* By two calls, into one batch. */
		assert_int_equal(lfpool_retire_bulk(pool, retired + 10, 12), 12);
		assert_int_equal(lfpool_retire_bulk(pool, retired + 22, 8), 8);
		assert_consists_of(the_batch(), retired + 1, 9);
		assert_int_equal(fake_period(pool), 1);
		assert_consists_of(the_batch(), retired + 10, 20);
		assert_int_equal(fake_period(pool), 1);
		assert_int_equal(fake.begun, 3 * round + 3);
		assert_int_equal(lfpool_quick_stats(pool).retired, 0);
	}
	release_all(pool, objects + 90, PLENTY - 90);
	pool_close(pool, SIZE);
}

/* ---- Schemes that are polled ---- */

BACKEND_TEST(scheme_is_polled_by_retires_and_failing_acquires, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = fake_pool(config_of(SIZE, CAPACITY), backend, ASKED);
	void *objects[CAPACITY];
	size_t asks;

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_false(lfpool_retire_poll(pool));
	/* Every 64th. */
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(lfpool_retire(pool, objects[i]), LFPOOL_OK);
	assert_in_range(fake.asks, 300 / 64 - 1, 300 / 64 + 1);
	assert_int_equal(lfpool_quick_stats(pool).retired, 300);
	/* Only an acquire that finds nothing. */
	assert_int_equal(lfpool_release(pool, objects[300]), LFPOOL_OK);
	asks = fake.asks;
	assert_non_null(objects[300] = lfpool_acquire(pool));
	assert_int_equal(fake.asks, asks);
	assert_null(lfpool_acquire(pool));
	assert_true(fake.asks > asks);
	/* An explicit poll. */
	asks = fake.asks;
	assert_false(lfpool_retire_poll(pool));
	assert_int_equal(fake.asks, asks + 1);
	atomic_store(&fake.yes, true);
	assert_true(lfpool_retire_poll(pool));
	atomic_store(&fake.yes, false);
	assert_int_equal(lfpool_quick_stats(pool).retired, 299);
	assert_non_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire(pool));
	/* It polls automatically. */
	atomic_store(&fake.yes, true);
	assert_non_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_quick_stats(pool).retired, 0);
	assert_false(lfpool_retire_poll(pool));
	(void)lfpool_release_all(pool);
	pool_close(pool, SIZE);
}

/* ---- The result of a poll ---- */

static struct {
	lfpool_t *pool;
	bool begun, by_other;
} meanwhile;

static void retire_one(void)
{
	REQUIRE(lfpool_retire(meanwhile.pool, lfpool_acquire(meanwhile.pool)) == LFPOOL_OK);
}

/* The first batch's shard is held: another object goes to another shard. */
static void begin_two(void *context, lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	if (meanwhile.begun)
		return;
	meanwhile.begun = true;
	retire_one();
}

static void *poll_as_other(void *pool)
{
	REQUIRE(lfpool_retire_poll(pool));
	return NULL;
}

/* One batch is not ready; while the scheme answers, another thread reclaims the other one. */
static bool ready_for_other(void *context, const lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	if (meanwhile.by_other)
		return true;
	meanwhile.by_other = true;
	threads_run(1, poll_as_other, meanwhile.pool, 0);
	return false;
}

TEST(poll_reports_objects_that_another_thread_reclaimed)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = {.begin = begin_two, .ready = ready_for_other});

	meanwhile.pool = pool;
	retire_one();
	assert_int_equal(lfpool_quick_stats(pool).retired, 2);
	assert_true(lfpool_retire_poll(pool));
	/* The other thread's object, not this thread's own. */
	assert_int_equal(lfpool_quick_stats(pool).retired, 1);
	assert_true(lfpool_retire_poll(pool));
	assert_false(lfpool_retire_poll(pool));
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
