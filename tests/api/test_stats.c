/* SPDX-License-Identifier: MIT */
/*
 * test_stats.c - lfpool_stats(): capacity = active + cached + shared + untouched, and where the objects are after
 * each call.
 *
 * (Other backends, after any sequence of calls: verify/fuzz.  After and during the work of other threads:
 * stress/accounts.c, worker_rescan() of stress/worker.c, verify/step.)
 */
#include "../support/support.h"

enum { SIZE = 32, CAPACITY = 500 };

/* Rules for a quiet pool, whatever its past. */
static lfpool_stats_t settled(const lfpool_t *pool)
{
	lfpool_stats_t stats = stats_of(pool);

	require_intact(pool);
	assert_int_equal(stats.unaccounted, 0);
	assert_int_equal(stats.capacity, lfpool_capacity(pool));
	assert_int_equal(stats.active + stats.cached + stats.shared + stats.untouched, stats.capacity);
	assert_int_equal(stats.active, lfpool_active_count(pool));
	assert_int_equal(stats.misuses, lfpool_quick_stats(pool).misuses);
	assert_true(stats.caches_in_use <= stats.caches);
	return stats;
}

TEST(stats_count_objects_by_place)
{
	void *objects[CAPACITY];
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = 16);
	lfpool_cache_t *cache = lfpool_cache_create(pool), *other;
	lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.untouched, CAPACITY);
	assert_int_equal(stats.acquires + stats.releases, 0);

	/* Opens one chunk of eight: one object is out, seven are in the cache. */
	objects[0] = lfpool_cache_acquire(cache);
	stats = settled(pool);

	assert_int_equal(stats.active, 1);
	assert_int_equal(stats.cached, 7);
	assert_int_equal(stats.shared, 0);
	assert_int_equal(stats.untouched, CAPACITY - 8);
	assert_int_equal(stats.caches, 1);
	assert_int_equal(stats.caches_in_use, 1);
	assert_int_equal(stats.refills, 1);

	/* One refill for each chunk of eight, none of them from the depot. */
	assert_int_equal(lfpool_cache_acquire_bulk(cache, objects + 1, CAPACITY - 1), CAPACITY - 1);
	stats = settled(pool);
	assert_int_equal(stats.active, CAPACITY);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	assert_int_equal(stats.drains + stats.depot_trips + stats.exhausted, 0);
	assert_null(lfpool_cache_acquire(cache));
	assert_int_equal(settled(pool).exhausted, 1);

	/* All are released: two magazines stay in the cache. */
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, CAPACITY), CAPACITY);
	stats = settled(pool);
	assert_int_equal(stats.active + stats.untouched, 0);
	assert_int_equal(stats.refills, (CAPACITY + 7) / 8);
	/* One per magazine that was full when more came, except the first: the cache had an empty one. */
	assert_int_equal(stats.drains, (CAPACITY - 1) / 8);
	assert_in_range(stats.cached, 9, 16);
	assert_int_equal(stats.shared, CAPACITY - stats.cached);
	assert_int_equal(stats.steals + stats.retries, 0);

	/* Another cache steals those. */
	assert_non_null(other = lfpool_cache_create(pool));
	assert_int_equal(lfpool_cache_acquire_bulk(other, objects, CAPACITY), CAPACITY);
	assert_in_range(settled(pool).steals, 1, 16);
	assert_int_equal(lfpool_cache_release_bulk(cache, objects, CAPACITY), CAPACITY);
	lfpool_cache_destroy(other);

	/* A destroyed cache holds nothing. */
	lfpool_cache_destroy(cache);
	stats = settled(pool);
	assert_int_equal(stats.cached, 0);
	assert_int_equal(stats.shared, CAPACITY);
	assert_int_equal(stats.caches, 2);
	assert_int_equal(stats.caches_in_use, 0);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* A trim takes nothing from a pool in a buffer. */
#ifdef IN_BUFFER
#define TRIMS false
#else
#define TRIMS true
#endif

/* A whole magazine of another cache is one steal, and each object from its current magazine is one. */
TEST(steals_and_depot_trips_are_counted_one_by_one)
{
	enum { MAGAZINE = 8, ALL = 3 * MAGAZINE };

	for (int trim = 0; trim <= TRIMS; trim++) {
		lfpool_t *pool = POOL_OF(SIZE, ALL, .cache_capacity = 2 * MAGAZINE, .depot_shards = 1,
					 .debug = "no-tools");
		lfpool_cache_t *from = lfpool_cache_create(pool), *to = lfpool_cache_create(pool);
		void *objects[ALL];

		assert_int_equal(lfpool_cache_acquire_bulk(from, objects, ALL), ALL);
		assert_int_equal(stats_of(pool).depot_trips, 0);
		assert_int_equal(lfpool_cache_release_bulk(from, objects, ALL), ALL);
		/* Of two drains, the first found an empty magazine in the cache. */
		assert_int_equal(stats_of(pool).drains, 2);
		assert_int_equal(stats_of(pool).depot_trips, 1);
		if (trim) {
			/* One magazine is in the depot, one on the stack of the cache, and the cache works on one. */
			assert_false(lfpool_trim(pool, 0, SIZE_MAX));
			assert_int_equal(stats_of(pool).untouched, ALL);
			assert_int_equal(stats_of(pool).steals, 1 + MAGAZINE);
		} else {
			for (uint64_t i = 0; i < ALL; i++) {
				assert_non_null(objects[i] = lfpool_cache_acquire(to));
				assert_int_equal(stats_of(pool).steals, i < MAGAZINE       ? 0
									: i < 2 * MAGAZINE ? 1
											   : i - 2 * MAGAZINE + 2);
				assert_int_equal(stats_of(pool).depot_trips, 2);
			}
			assert_null(lfpool_cache_acquire(to));
			assert_int_equal(stats_of(pool).steals, 1 + MAGAZINE);
			release_all(pool, objects, ALL);
		}
		lfpool_cache_destroy(from);
		lfpool_cache_destroy(to);
		pool_close(pool, SIZE);
	}
}

/* ---- Calls that a hook refuses ---- */

static struct {
	int until;     /* hooks.activate refuses its next until - 1 calls; 0: none */
	bool releases; /* hooks.deactivate refuses                                */
} refuse;

static bool activate_or_refuse(void *context, void *object)
{
	(void)context, (void)object;
	refuse.until -= refuse.until > 0;
	return refuse.until == 0;
}

static bool deactivate_or_refuse(void *context, void *object)
{
	(void)context, (void)object;
	return !refuse.releases;
}

static void require_counted(const lfpool_t *pool, uint64_t acquires, uint64_t releases, uint64_t exhausted)
{
	const lfpool_stats_t stats = settled(pool);

	assert_int_equal(stats.acquires, acquires);
	assert_int_equal(stats.releases, releases);
	assert_int_equal(stats.exhausted, exhausted);
}

/* A call that a hook refused is neither an acquire, nor a release, nor exhausted. */
static void count_refused(lfpool_t *pool, bool in_place)
{
	void *objects[3];

	/* Each object is tried once; in malloc mode one. */
	refuse.until = 4;
	assert_null(lfpool_acquire(pool));
	assert_int_equal(refuse.until, in_place ? 1 : 3);
	require_counted(pool, 0, 0, 0);
	/* The next object is accepted. */
	refuse.until = in_place ? 2 : 0;
	assert_int_equal(acquire_all(pool, objects, 2), 2);
	require_counted(pool, 2, 0, 0);
	/* The last one is refused; then all are in use. */
	refuse.until = 9;
	assert_null(lfpool_acquire(pool));
	require_counted(pool, 2, 0, 0);
	refuse.until = 0;
	assert_non_null(objects[2] = lfpool_acquire(pool));
	for (uint64_t i = 0; i < 5; i++) {
		require_counted(pool, 3, 0, i);
		assert_null(lfpool_acquire(pool));
	}
	for (uint64_t i = 0; i < 3; i++) {
		/* Its object is destroyed. */
		refuse.releases = i == 1;
		assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
		require_counted(pool, 3, i + 1, 5);
	}
	refuse.releases = false;
	assert_int_equal(acquire_all(pool, objects, 3), 3);
	require_counted(pool, 6, 3, 5);
	release_all(pool, objects, 3);
	require_counted(pool, 6, 6, 5);
}

BACKEND_TEST(refused_calls_are_not_counted, LFPOOL_BACKEND_MALLOC)
{
	static const char *const debug[] = {NULL, "quarantine=1", "quarantine=100"};

	for (size_t i = 0; i < COUNT(debug); i++)
		for (int none = 0; none < 2; none++) {
			lfpool_t *pool = POOL_OF(
				SIZE, 3, .backend = backend, .debug = debug[i],
				.cache_capacity = none ? LFPOOL_CACHE_NONE : 0,
				.hooks = {.activate = activate_or_refuse, .deactivate = deactivate_or_refuse});

			refuse.until = 0;
			count_refused(pool, stats_of(pool).backend != LFPOOL_BACKEND_MALLOC);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

/* ---- Counters in the middle of a call ---- */

static struct {
	lfpool_t *pool;
	uint64_t acquires, releases;
	unsigned calls;
} reader;

/* An object that is on its way from its holder to the free lists, or back, is in neither of the two places that are
 * counted. */
static bool read_counters(void *context, void *object)
{
	(void)context;
	(void)object;
	if (reader.pool) {
		const lfpool_stats_t stats = stats_of(reader.pool);

		REQUIRE(stats.acquires >= reader.acquires && stats.releases >= reader.releases);
		REQUIRE(stats.acquires >= stats.releases);
		reader.acquires = stats.acquires;
		reader.releases = stats.releases;
		reader.calls++;
	}
	return true;
}

BACKEND_TEST(counters_do_not_go_back_in_a_hook, LFPOOL_BACKEND_MALLOC)
{
	const lfpool_hooks_t hooks = {.activate = read_counters, .deactivate = read_counters};
	lfpool_t *pool = POOL_OF(SIZE, 3, .backend = backend, .hooks = hooks);
	void *objects[3];

	memset(&reader, 0, sizeof(reader));
	reader.pool = pool;
	for (int round = 0; round < 3; round++) {
		assert_int_equal(lfpool_acquire_bulk(pool, objects, 3), 3);
		(void)read_counters(NULL, NULL);
		assert_int_equal(reader.acquires, 3 * round + 3);
		release_all(pool, objects, 3);
		(void)read_counters(NULL, NULL);
		assert_int_equal(reader.releases, 3 * round + 3);
	}
	assert_int_equal(reader.calls, 3 * 8);
	reader.pool = NULL;
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
