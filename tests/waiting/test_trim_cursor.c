/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_trim_cursor.c - lfpool_trim() goes on where the call before ended, and still looks at everything; and what is in the
 * objects then.
 */
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

/* Without the tools, which would have bytes beside the objects. */
static lfpool_t *pool_used_up(lfpool_backend_t backend, void **objects)
{
	lfpool_t *pool = POOL_OF(256, OBJECTS, .backend = backend, .debug = "no-tools");

	use_all(pool, objects);
	return pool;
}

BACKEND_TEST(pages_before_the_cursor_that_were_used_since_are_given_back_too, LFPOOL_BACKEND_MUTEX)
{
	static void *objects[OBJECTS];
	lfpool_t *pool = pool_used_up(backend, objects);
	size_t before;

	/* Until the cursor is somewhere in the middle. */
	while (given_back(pool) < BYTES / 2)
		assert_true(lfpool_trim(pool, 0, BYTES / 16));
	use_all(pool, objects);
	before = given_back(pool);
	/* That it comes to an end is a promise too. */
	for (unsigned calls = 0; lfpool_trim(pool, 0, BYTES / 16); calls++)
		assert_in_range(calls, 0, 1000);
	assert_true(given_back(pool) - before > BYTES / 8 * 7);
	/* And then there is nothing more to do. */
	before = given_back(pool);
	assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	assert_int_equal(given_back(pool), before);
	assert_int_equal(lfpool_destroy(pool), 0);
}

BACKEND_TEST(as_many_as_are_kept_stay_in_the_free_lists, LFPOOL_BACKEND_MUTEX)
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

/* No page can be given back: a budget of one page is for a look at 64. */
TEST(a_look_at_a_page_has_its_price)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = BYTES / page;
	static void *objects[OBJECTS];
	lfpool_t *pool = pool_used_up(LFPOOL_BACKEND_LOCKFREE, objects);
	size_t calls = 1;

	while (lfpool_trim(pool, SIZE_MAX, page))
		calls++;
	/* The last look may be more than the budget has left. */
	assert_in_range(calls, (pages + 64) / 65, pages / 64 + 1);
	assert_int_equal(given_back(pool), 0);
	lfpool_destroy(pool);
}

BACKEND_TEST(what_was_given_back_is_counted_to_the_byte, LFPOOL_BACKEND_MUTEX)
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

/* ---- Contents: zero where the page was given back, else what the holder, or hooks.destroy, left ---- */

enum { FEW = 40, LARGE = 6000 };

static bool build(void *context, void *object)
{
	(void)context;
	for (size_t i = 0; i < LARGE; i++)
		REQUIRE(((unsigned char *)object)[i] == 0 || ((unsigned char *)object)[i] == 0xdd);
	memset(object, 0xff, LARGE);
	return true;
}

static void unbuild(void *context, void *object)
{
	++*(size_t *)context;
	memset(object, 0xdd, LARGE);
}

/* One object stays in use, and with it the pages on which it lies, of which its neighbours have a part. */
static void contents_of(bool hooks)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	lfpool_config_t config = config_of(LARGE, FEW);
	size_t zeros = 0, left = 0, destroyed = 0;
	unsigned char *objects[FEW], *again[FEW];

	config.debug = "no-tools"; /* which would report a look at free objects */
	if (hooks)
		config.hooks = (lfpool_hooks_t){.context = &destroyed, .create = build, .destroy = unbuild};
	lfpool_t *pool = pool_with(&config);

	assert_int_equal(acquire_all(pool, (void **)objects, FEW), FEW);
	for (size_t k = 0; k < FEW; k++)
		memset(objects[k], 0xff, LARGE);
	for (size_t k = 0; k < FEW; k++)
		assert_int_equal(lfpool_release(pool, k == FEW / 2 ? NULL : objects[k]), LFPOOL_OK);
	while (lfpool_trim(pool, 0, SIZE_MAX))
		;
	assert_int_equal(destroyed, hooks ? FEW - 1 : 0);
	assert_true(all_bytes_are(objects[FEW / 2], LARGE, 0xff));
	for (size_t k = 0; k < FEW; k++)
		for (size_t at = 0; at < LARGE && k != FEW / 2; at++) {
			assert_true(objects[k][at] == 0 || objects[k][at] == (hooks ? 0xdd : 0xff));
			/* The same all over the page. */
			assert_true(((uintptr_t)objects[k] + at) % page == 0 || at == 0 ||
				    (objects[k][at] == 0) == (objects[k][at - 1] == 0));
			zeros += objects[k][at] == 0;
			left += objects[k][at] != 0;
		}
	assert_in_range(zeros, (FEW - 3) * LARGE, given_back(pool));
	/* The neighbours' part of the page, or pages. */
	assert_in_range(left, 1, 2 * LARGE);
	/* build() looks at the bytes. */
	assert_int_equal(acquire_all(pool, (void **)again, FEW), FEW - 1);
	assert_int_equal(lfpool_destroy(pool), FEW);
}

TEST(what_was_trimmed_is_zero_by_the_page)
{
	contents_of(false);
	contents_of(true);
}

RUN_TESTS()
