/* SPDX-License-Identifier: MIT */
/* test: once wrap=__imp_VirtualAlloc wrap=__imp_VirtualFree */
/*
 * unit_memory.c - the memory of os.h, and of pools on it, in every port: alignment, access, returned pages, locks,
 * refusals.
 *
 * Witness      os_can_read(), which asks the system.
 */
#include "../support/support.h"

#include "os/os.h"

#include <errno.h>

static bool is_readable(const char *address, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += os_page_bytes())
		if (!os_can_read(address + at))
			return false;
	return true;
}

/* None of the pages is. */
static bool is_closed(const char *address, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += os_page_bytes())
		if (os_can_read(address + at))
			return false;
	return true;
}

/* ---- Mappings ---- */

TEST(mapped_page_has_the_alignment)
{
	const size_t page = os_page_bytes(), bytes = 8 * page;

	errno = EDOM;
	for (size_t alignment = page; alignment <= 64 * MIB; alignment *= 2)
		for (size_t offset = 0; offset < bytes; offset += 3 * page)
			for (int open = 0; open < 2; open++) {
				char *mapped = os_map_aligned(bytes, offset, alignment, open);

				assert_non_null(mapped);
				assert_int_equal(((uintptr_t)mapped + offset) % alignment, 0);
				if (open) {
					assert_true(all_bytes_are(mapped, bytes, 0));
					memset(mapped, 0x41, bytes);
				} else {
					assert_true(is_closed(mapped, bytes));
				}
				os_unmap(mapped, bytes);
				assert_true(is_closed(mapped, bytes));
			}
	assert_int_equal(errno, EDOM);
}

TEST(access_is_given_and_removed_by_page)
{
	const size_t page = os_page_bytes();
	char *mapped = os_reserve(5 * page);

	assert_non_null(mapped);
	assert_true(is_closed(mapped, 5 * page));
	for (int round = 0; round < 3; round++) {
		assert_true(os_open(mapped + page, 3 * page));
		assert_true(is_closed(mapped, page) && is_readable(mapped + page, 3 * page) &&
			    is_closed(mapped + 4 * page, page));
		/* Zero also after os_close(). */
		assert_true(all_bytes_are(mapped + page, 3 * page, 0));
		memset(mapped + page, 0x41, 3 * page);
		/* Open pages keep their contents. */
		assert_true(os_open(mapped + page, 3 * page));
		assert_true(all_bytes_are(mapped + page, 3 * page, 0x41));
		assert_true(os_guard(mapped + 2 * page, page));
		assert_true(is_readable(mapped + page, page) && is_closed(mapped + 2 * page, page) &&
			    is_readable(mapped + 3 * page, page));
		os_close(mapped + page, 3 * page);
		assert_true(is_closed(mapped, 5 * page));
	}
	os_unmap(mapped, 5 * page);
}

TEST(discarded_pages_are_zero_and_others_unchanged)
{
	const size_t page = os_page_bytes();
	char *mapped = os_map(4 * page);

	assert_non_null(mapped);
	for (int round = 0; round < 2; round++) {
		memset(mapped, 0x41, 4 * page);
		assert_true(os_discard(mapped + page, 2 * page));
		assert_true(all_bytes_are(mapped, page, 0x41) && all_bytes_are(mapped + page, 2 * page, 0) &&
			    all_bytes_are(mapped + 3 * page, page, 0x41));
	}
	assert_true(os_prefault(mapped, 4 * page));
	assert_true(all_bytes_are(mapped, page, 0x41) && all_bytes_are(mapped + page, 2 * page, 0));
	os_unmap(mapped, 4 * page);
}

/* Sanitizers make nothing of mlock(). */
TEST(only_accessible_pages_can_be_locked)
{
	const size_t page = os_page_bytes();
	char *mapped = os_reserve(3 * page);

	assert_non_null(mapped);
	assert_true(os_open(mapped, page));
	memset(mapped, 0x41, page);
	assert_true(os_lock(mapped, page));
	assert_true(all_bytes_are(mapped, page, 0x41));
	assert_int_equal(os_lock(mapped + page, page), SANITIZED);
	/* Their memory is given back, and the lock ends. */
	os_close(mapped, page);
	assert_true(is_closed(mapped, 3 * page));
	assert_true(os_open(mapped, page));
	assert_true(all_bytes_are(mapped, page, 0));
	os_unmap(mapped, 3 * page);
}

TEST(impossible_requests_are_refused)
{
	const size_t page = os_page_bytes(), most = SIZE_MAX / 2 / page * page;
	char *mapped = os_map(page);

	assert_non_null(mapped);
	os_unmap(mapped, page);
	errno = EDOM;
	/* The address is no longer mapped. */
	assert_false(os_open(mapped, page));
	assert_false(os_guard(mapped, page));
	assert_null(os_map(most));
	assert_null(os_reserve(most));
	assert_null(os_map_aligned(SIZE_MAX - page + 1, 0, 64 * MIB, true));
	assert_int_equal(errno, EDOM);
}

/* ---- Pools ---- */

TEST(objects_have_large_alignments)
{
	for (size_t alignment = os_page_bytes() / 2; alignment <= 16 * MIB; alignment *= 4) {
		lfpool_t *pool = POOL_OF(24, 1, .object_alignment = alignment, .max_capacity = 3);
		void *objects[3];

		assert_int_equal(lfpool_grow(pool, 2), 2);
		assert_int_equal(acquire_all(pool, objects, 3), 3);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal((uintptr_t)objects[i] % alignment, 0);
			memset(objects[i], 0x41, 24);
		}
		release_all(pool, objects, 3);
		pool_close(pool, 24);
	}
}

/* Objects of one page each.  The pages before and after them, and the pages for growth, have no access. */
TEST(pages_around_the_objects_have_no_access)
{
	const size_t page = os_page_bytes();

	for (size_t most = 3; most <= 6; most += 3) {
		lfpool_t *pool = POOL_OF(page, 3, .max_capacity = most, .object_alignment = page,
					 .flags = LFPOOL_PLAIN_STRIDE, .debug = "no-tools");
		char *const first = lfpool_object_at(pool, 0);

		assert_ptr_equal(lfpool_object_at(pool, 2), first + 2 * page);
		assert_true(is_closed(first - page, page) && is_readable(first, 3 * page) &&
			    is_closed(first + 3 * page, page));
		assert_int_equal(lfpool_grow(pool, 2), most - 3 ? 2 : 0);
		assert_int_equal(is_readable(first + 3 * page, 2 * page), most > 3);
		assert_true(is_closed(first + most * page, page));
		pool_close(pool, page);
	}
}

TEST(locked_objects_are_not_trimmed)
{
	enum { PAGES = 8 };
	const size_t page = os_page_bytes();
	lfpool_t *pool = POOL_OF(page, PAGES, .flags = LFPOOL_LOCK, .debug = "no-tools");
	void *objects[PAGES];

	assert_int_equal(acquire_all(pool, objects, PAGES), PAGES);
	for (size_t i = 0; i < PAGES; i++)
		memset(objects[i], 0x41, page);
	release_all(pool, objects, PAGES);
	assert_false(lfpool_trim(pool, 0, SIZE_MAX));
	assert_int_equal(stats_of(pool).given_back + stats_of(pool).untouched, 0);
	assert_int_equal(acquire_all(pool, objects, PAGES), PAGES);
	for (size_t i = 0; i < PAGES; i++)
		assert_true(all_bytes_are(objects[i], page, 0x41));
	release_all(pool, objects, PAGES);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Windows: the n-th commit from now on is refused.  (Linux: tests/refusals.) ---- */

#ifdef _WIN32
typedef void *WINAPI virtual_alloc(void *address, SIZE_T bytes, DWORD kind, DWORD access);
typedef BOOL WINAPI virtual_free(void *address, SIZE_T bytes, DWORD kind);

extern virtual_alloc *__real___imp_VirtualAlloc;
extern virtual_free *__real___imp_VirtualFree;

static unsigned long commits_left; /* 0: none is refused */
static long reserved;

static void *WINAPI allocate(void *address, SIZE_T bytes, DWORD kind, DWORD access)
{
	if (kind & MEM_COMMIT && commits_left && --commits_left == 0)
		return NULL;

	void *const allocated = __real___imp_VirtualAlloc(address, bytes, kind, access);

	reserved += allocated && kind & MEM_RESERVE;
	return allocated;
}

static BOOL WINAPI deallocate(void *address, SIZE_T bytes, DWORD kind)
{
	const BOOL done = __real___imp_VirtualFree(address, bytes, kind);

	reserved -= done && kind == MEM_RELEASE;
	return done;
}

virtual_alloc *__wrap___imp_VirtualAlloc = allocate;
virtual_free *__wrap___imp_VirtualFree = deallocate;

TEST(refused_commit_keeps_no_addresses)
{
	const long before = reserved;

	commits_left = 1;
	assert_null(os_map(os_page_bytes()));
	assert_int_equal(reserved, before);
	for (size_t most = 3; most <= 6; most += 3) {
		const lfpool_config_t config = CONFIG_OF(64, 3, .max_capacity = most);
		lfpool_t *pool = NULL;
		unsigned long nth = 0;

		while (!pool) {
			commits_left = ++nth;

			const lfpool_status_t status = lfpool_create(&pool, &config);

			assert_int_equal(status, pool ? LFPOOL_OK : LFPOOL_E_NO_MEMORY);
			assert_true(pool || reserved == before);
		}
		assert_true(nth > 1);
		commits_left = 0;
		pool_close(pool, 64);
		assert_int_equal(reserved, before);
	}
}

TEST(refused_commit_is_no_growth)
{
	const size_t page = os_page_bytes();
	lfpool_t *pool = POOL_OF(page, 1, .max_capacity = 2, .object_alignment = page);

	commits_left = 1;
	assert_int_equal(lfpool_grow(pool, 1), 0);
	assert_int_equal(lfpool_capacity(pool), 1);
	assert_int_equal(lfpool_grow(pool, 1), 1);
	pool_close(pool, page);
}
#endif

RUN_TESTS()
