/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_trim_cursor.c - lfpool_trim() continues where the previous call ended, and still examines everything.  (The
 * objects' contents: verify/fuzz, stress/ledger.c; that they are rebuilt: verify/pairs.) */
#include "../support/support.h"

#define OBJECTS 8192
#define BYTES ((size_t)OBJECTS * 256)

static size_t given_back(const lfpool_t *pool)
{
	return (size_t)stats_of(pool).given_back;
}

static void use_all(lfpool_t *pool, void **objects)
{
	assert_int_equal(acquire_all(pool, objects, OBJECTS), OBJECTS);
	for (size_t i = 0; i < OBJECTS; i++)
		memset(objects[i], 1, 256);
	release_all(pool, objects, OBJECTS);
}

/* Without the tools, which would add bytes next to the objects. */
static lfpool_t *pool_used_up(lfpool_backend_t backend, void **objects)
{
	lfpool_t *pool = POOL_OF(256, OBJECTS, .backend = backend, .debug = "no-tools");

	use_all(pool, objects);
	return pool;
}

BACKEND_TEST(trim_returns_pages_used_again_before_the_cursor, LFPOOL_BACKEND_MUTEX)
{
	static void *objects[OBJECTS];
	lfpool_t *pool = pool_used_up(backend, objects);
	size_t before;

	/* Until the cursor is somewhere in the middle. */
	while (given_back(pool) < BYTES / 2)
		assert_true(lfpool_trim(pool, 0, BYTES / 16));
	use_all(pool, objects);
	before = given_back(pool);
	/* Repeated trims end. */
	for (unsigned calls = 0; lfpool_trim(pool, 0, BYTES / 16); calls++)
		assert_in_range(calls, 0, 1000);
	assert_true(given_back(pool) - before > BYTES / 8 * 7);
	/* And then there is nothing left to do. */
	before = given_back(pool);
	assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	assert_int_equal(given_back(pool), before);
	assert_int_equal(lfpool_destroy(pool), 0);
}

BACKEND_TEST(trim_keeps_the_requested_count, LFPOOL_BACKEND_MUTEX)
{
	static const size_t keep[] = {SIZE_MAX, OBJECTS, 1000, 1, 0};
	static void *objects[OBJECTS];
	lfpool_t *pool = pool_used_up(backend, objects);

	for (size_t i = 0; i < COUNT(keep); i++) {
		const size_t kept = keep[i] < OBJECTS ? keep[i] : OBJECTS;

		assert_false(lfpool_trim(pool, keep[i], SIZE_MAX));
		const lfpool_stats_t stats = stats_of(pool);

		assert_int_equal(stats.cached + stats.shared, kept);
		assert_int_equal(stats.untouched, OBJECTS - kept);
		assert_in_range(stats.given_back, 0, (OBJECTS - kept) * 256);
	}
	lfpool_destroy(pool);
}

/* No page can be returned here.  A budget of one page then pays for the examination of 64. */
TEST(trim_budget_counts_examined_pages)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = BYTES / page;
	static void *objects[OBJECTS];
	lfpool_t *pool = pool_used_up(LFPOOL_BACKEND_LOCKFREE, objects);
	size_t calls = 1;

	while (lfpool_trim(pool, SIZE_MAX, page))
		calls++;
	/* The last step may exceed the budget. */
	assert_in_range(calls, (pages + 64) / 65, pages / 64 + 1);
	assert_int_equal(given_back(pool), 0);
	lfpool_destroy(pool);
}

/* Nothing is left of it for pages. */
static void require_trim_cools(lfpool_t *pool, size_t keep, size_t budget, size_t expected)
{
	const size_t before = stats_of(pool).untouched;

	assert_true(lfpool_trim(pool, keep, budget));
	assert_int_equal(stats_of(pool).untouched, before + expected);
	assert_int_equal(given_back(pool), 0);
}

BACKEND_TEST(trim_budget_counts_cooled_objects, LFPOOL_BACKEND_MUTEX)
{
	static void *objects[OBJECTS];

	for (int idle = 0; idle < 2; idle++) {
		const size_t keep = idle ? LFPOOL_IDLE : 0;
		lfpool_t *pool = pool_used_up(backend, objects);
		const size_t stride = stride_of(pool, objects[0]);

		/* The first round cools none. */
		assert_false(idle && lfpool_trim(pool, keep, SIZE_MAX));
		/* At least one step. */
		require_trim_cools(pool, keep, 0, 1);
		require_trim_cools(pool, keep, 1, 1);
		require_trim_cools(pool, keep, stride, 1);
		require_trim_cools(pool, keep, 10 * stride, 10);
		/* The last step may exceed the budget. */
		require_trim_cools(pool, keep, 10 * stride + 1, 11);
		lfpool_destroy(pool);
	}
}

BACKEND_TEST(trim_reports_exact_bytes, LFPOOL_BACKEND_MUTEX)
{
	enum { PAGES = 40 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	lfpool_t *pool = POOL_OF(page, PAGES, .object_alignment = page, .backend = backend, .debug = "no-tools");
	void *objects[PAGES];

	assert_int_equal(acquire_all(pool, objects, PAGES), PAGES);
	release_all(pool, objects + 1, PAGES - 1);
	for (int round = 0; round < 2; round++) {
		assert_false(lfpool_trim(pool, 0, SIZE_MAX));
		assert_int_equal(given_back(pool), (PAGES - 1) * page);
	}
	release_all(pool, objects, 1);
	assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	assert_int_equal(given_back(pool), PAGES * page);
	lfpool_destroy(pool);
}

/* The objects end in the middle of a page. */
BACKEND_TEST(trim_returns_the_last_page, LFPOOL_BACKEND_MUTEX)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t capacity = 1; capacity <= 200; capacity += 33) {
		lfpool_t *pool = POOL_OF(96, capacity, .backend = backend, .flags = LFPOOL_PLAIN_STRIDE,
					 .debug = "no-tools");
		void *objects[200];

		assert_int_equal(acquire_all(pool, objects, 200), capacity);
		assert_true(sort_disjoint(objects, capacity, 96));
		const uintptr_t begin = (uintptr_t)objects[0] / page * page,
				end = ((uintptr_t)objects[capacity - 1] + 96 + page - 1) / page * page;

		release_all(pool, objects, capacity);
		assert_false(lfpool_trim(pool, 0, SIZE_MAX));
		assert_int_equal(given_back(pool), end - begin);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

RUN_TESTS()
