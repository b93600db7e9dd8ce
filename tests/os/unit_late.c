/* SPDX-License-Identifier: MIT */
/* test: wrap=clock_gettime wrap=syscall wrap=backing_map */
/*
 * unit_late.c - a call waits exactly as long as its timeout (lfpool/wait.h): not longer and not shorter.
 *
 * Idea         With the clock of own_time.h, lateness is counted, not measured.
 */
#include "../support/kinds.h"
#include "../support/own_time.h"

enum { LOOKS_MAX = 8, QUEUED = 16 };

/* ---- How late ---- */

typedef void *(*wait_t)(void *with, int64_t timeout_ns);

static void *by_thread(void *pool, int64_t timeout_ns)
{
	return lfpool_acquire_wait(pool, timeout_ns);
}

static void *by_cache(void *cache, int64_t timeout_ns)
{
	return lfpool_cache_acquire_wait(cache, timeout_ns);
}

/* NULL, not before the timeout, and later only by the readings that the library needs. */
static void require_punctual(wait_t wait, void *with, bool sleeping)
{
	static const int64_t times[] = {1, 99, 20000, 999999, 1000000, 3000001, 20000000, 4000000000};

	for (size_t i = 0; i < COUNT(times) && (sleeping || times[i] < 4000000); i++) {
		const uint64_t start = clock_ns, end = start + (uint64_t)times[i];
		const unsigned before = sleeps;

		assert_null(wait(with, times[i]));
		assert_in_range(clock_ns, end, end + LOOKS_MAX * TICK_NS);
		/* Short waits may need only a reading or two. */
		assert_true((sleeps != before) == sleeping || times[i] < LOOKS_MAX * TICK_NS);
	}
}

KIND_TEST(waits_end_on_time)
{
	struct stage s;
	void *object;

	stage_open(&s, kind, 1, 0);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);

	assert_non_null(object = lfpool_acquire(s.pool));
	require_punctual(by_thread, s.pool, true);
	require_punctual(by_cache, cache, true);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	lfpool_cache_destroy(cache);
	stage_close(&s);
}

/* ---- Other ways to wait ---- */

static unsigned asked;
static bool due;

static bool ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	(void)batch;
	asked++;
	return due;
}

/* If the scheme is polled, a call wakes each millisecond. */
TEST(waits_end_on_time_where_a_scheme_is_polled)
{
	lfpool_config_t config = config_of(SIZE, 2);

	config.scheme = (lfpool_scheme_t){.ready = ready};
	lfpool_t *pool = pool_with(&config);
	void *retired = lfpool_acquire(pool), *held = lfpool_acquire(pool);

	assert_int_equal(lfpool_retire(pool, retired), LFPOOL_OK);
	asked = 0;
	require_punctual(by_thread, pool, true);
	/* In the 4 s alone, one poll per millisecond. */
	assert_in_range(asked, 4000, 5000);
	due = true;
	assert_int_equal(lfpool_release(pool, held), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

static void not_called(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	REQUIRE(!object);
	++*(unsigned *)context;
}

static void fill_the_queue(lfpool_t *pool, unsigned *called)
{
	for (unsigned i = 0; i < QUEUED; i++)
		assert_int_equal(lfpool_acquire_async(pool, not_called, called, NULL), LFPOOL_OK);
}

/* Beyond the queue, when the system refuses memory for more of it. */
static void *refused(void *pool, int64_t timeout_ns)
{
	maps_nothing = true;
	void *object = lfpool_acquire_wait(pool, timeout_ns);
	maps_nothing = false;
	return object;
}

TEST(waits_end_on_time_without_a_place_in_the_queue)
{
	lfpool_t *pool = pool_of(SIZE, 1);
	unsigned called = 0;

	assert_non_null(lfpool_acquire(pool));
	fill_the_queue(pool, &called);
	require_punctual(refused, pool, true);
	assert_int_equal(lfpool_destroy(pool), 1);
	assert_int_equal(called, QUEUED);
}

/* There no call sleeps. */
TEST(waits_end_on_time_in_a_buffer)
{
	static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(SIZE, 0, 1)];
	lfpool_config_t config = config_of(SIZE, 1);
	unsigned called = 0;
	lfpool_t *pool;

	assert_int_equal(lfpool_create_in(&pool, &config, memory, sizeof(memory)), LFPOOL_OK);
	assert_non_null(lfpool_acquire(pool));
	require_punctual(by_thread, pool, false);
	fill_the_queue(pool, &called);
	require_punctual(by_thread, pool, false);
	assert_int_equal(lfpool_destroy(pool), 1);
	assert_int_equal(called, QUEUED);
}

RUN_TESTS()
