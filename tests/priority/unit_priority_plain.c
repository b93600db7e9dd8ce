/* SPDX-License-Identifier: MIT */
/* test: once wrap=os_heap_aligned wrap=os_heap_free */
/*
 * unit_priority_plain.c - the other backends of an evicting pool: what differs from the library proper.
 *
 * (That the calls do the same: priority_order, once more with each backend.  Hooks and threads: priority_hooks.)
 */
#include "../support/priority_support.h"

#include "os/os.h"

enum { SIZE = 24, CAPACITY = 10 };

static lfpool_priority_t *plain_of(lfpool_backend_t backend)
{
	return PRIORITY_WITH(.name = "voices", .object_size = SIZE, .capacity = CAPACITY, .backend = backend);
}

static size_t blocks;

void *__wrap_os_heap_aligned(size_t alignment, size_t bytes);
void *__real_os_heap_aligned(size_t alignment, size_t bytes);
void __wrap_os_heap_free(void *memory);
void __real_os_heap_free(void *memory);

void *__wrap_os_heap_aligned(size_t alignment, size_t bytes)
{
	blocks++;
	return __real_os_heap_aligned(alignment, bytes);
}

void __wrap_os_heap_free(void *memory)
{
	blocks -= memory != NULL;
	__real_os_heap_free(memory);
}

static size_t heap_blocks(void)
{
	return blocks;
}

TEST(the_dump_says_which)
{
	static const char *const names[] = {"lockfree", "mutex", "malloc"};

	for (size_t i = 0; i < COUNT(names); i++) {
		lfpool_priority_t *pool = plain_of((lfpool_backend_t)i);
		char part[64];

		(void)snprintf(part, sizeof(part), "\nbackend     %s\nobjects     10 of ", names[i]);
		require_priority_dumped(pool, LFPOOL_TEXT, part);
		(void)snprintf(part, sizeof(part), ",\"backend\":\"%s\",\"object_size\":24,", names[i]);
		require_priority_dumped(pool, LFPOOL_JSON, part);
		require_priority_dumped(pool, LFPOOL_TEXT, "\nidentity    10 = 0 active + 0 new + 0 released + 10 free\n");
		priority_close(pool, SIZE);
	}
	lfpool_priority_config_t config = priority_config_of(SIZE, CAPACITY);
	lfpool_priority_t *pool;

	config.backend = (lfpool_backend_t)3;
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_BACKEND);
}

/* An object is there from its acquire until nobody has it any more. */
TEST(an_allocated_object_is_freed_when_its_use_ends)
{
	lfpool_priority_t *pool = plain_of(LFPOOL_BACKEND_MALLOC);
	const size_t before = heap_blocks();
	lfpool_handle_t handles[CAPACITY];

	for (uint64_t i = 0; i < CAPACITY; i++)
		assert_true(handles[i] = priority_put(pool, i));
	assert_int_equal(heap_blocks(), before + CAPACITY);
	/* An eviction, a release, the least, and one that was pinned. */
	assert_true(priority_put(pool, 100));
	assert_int_equal(heap_blocks(), before + CAPACITY);
	assert_int_equal(lfpool_priority_release(pool, handles[1]), LFPOOL_OK);
	assert_int_equal(lfpool_priority_release_min(pool, 1), 1);
	assert_non_null(lfpool_priority_pin(pool, handles[3]));
	assert_int_equal(lfpool_priority_release(pool, handles[3]), LFPOOL_OK);
	assert_int_equal(heap_blocks(), before + CAPACITY - 2);
	assert_int_equal(lfpool_priority_unpin(pool, handles[3]), LFPOOL_OK);
	assert_int_equal(heap_blocks(), before + CAPACITY - 3);
	/* What could be freed while it is looked at is not shown. */
	assert_true(lfpool_priority_is_active(pool, handles[4]));
	assert_null(lfpool_priority_look(pool, handles[4]));
	assert_int_equal(lfpool_priority_release_min(pool, CAPACITY), CAPACITY - 3);
	assert_int_equal(heap_blocks(), before);
	assert_int_equal(lfpool_priority_destroy(pool), 0);
}

RUN_TESTS()
