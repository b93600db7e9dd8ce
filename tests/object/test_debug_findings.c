/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_debug_findings.c - the findings of the debug modes, and their exact messages.
 *
 * The pools report nothing to tools (no-tools): the planted errors are for the modes, and AddressSanitizer must not
 * end the program.
 */
#include "../support/texts.h"
#include "../support/told.h"

#include <sys/syscall.h>

static lfpool_t *listening(lfpool_config_t config)
{
	static char words[100];

	snprintf(words, sizeof(words), "no-tools,%s", config.debug);
	config.hooks.misuse = hear;
	config.debug = words;
	told.count = 0;
	return pool_with(&config);
}

#define POOL_THAT(size, slots, on, ...) \
	listening(CONFIG_OF(size, slots, .backend = (lfpool_backend_t)(on), .debug = __VA_ARGS__))

static unsigned thread_number(void)
{
	return (unsigned)syscall(SYS_gettid);
}

static unsigned char poison_at(size_t offset)
{
	const uint32_t poison = UINT32_C(0x1deadb0b);

	return ((const unsigned char *)&poison)[offset % 4];
}

/* ---- Written after the release ---- */

static void expect_written(const lfpool_t *pool, const void *object, size_t first, size_t wrong)
{
	char expected[300];

	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
	assert_ptr_equal(told.misuse.pool, pool);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, first);
	assert_in_range(told.misuse.index, 0, 9);
	snprintf(expected, sizeof(expected),
		 "%zu %s wrong, the first at offset %zu: 0x41 instead of 0x%02x.  "
		 "Released by thread %u (\"physics\").",
		 wrong, wrong == 1 ? "byte is" : "bytes are", first, poison_at(first), thread_number());
	assert_string_equal(told.detail, expected);
	told.count = 0;
}

BACKEND_TEST(write_after_release_is_found_at_acquire, LFPOOL_BACKEND_MUTEX)
{
	for (size_t size = 1; size <= 70; size++) {
		lfpool_t *pool = POOL_THAT(size, 1, backend, "poison");

		for (size_t offset = 0; offset < size; offset++) {
			unsigned char *object = lfpool_acquire(pool);

			assert_int_equal(told.count, 0);
			lfpool_label(pool, object, "physics");
			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			object[offset] = 0x41;
			assert_ptr_equal(lfpool_acquire(pool), object);
			expect_written(pool, object, offset, 1);
			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		}
		lfpool_destroy(pool);
		assert_int_equal(told.count, 0);
	}
}

/* The first *context activates pass, then one is refused. */
static bool refuse_once(void *context, void *object)
{
	memset(object, 0x42, 8);
	return (*(int *)context)-- != 0;
}

/* An object that is free because hooks.activate refused it. */
BACKEND_TEST(write_after_a_refused_acquire_is_found_at_acquire, LFPOOL_BACKEND_MUTEX)
{
	for (int before = 0; before < 2; before++) {
		int left = before;
		lfpool_t *pool = POOL_THAT(64, 1, backend, "poison", .hooks.context = &left,
					   .hooks.activate = refuse_once);
		unsigned char *object = before ? lfpool_acquire(pool) : NULL;

		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_null(lfpool_acquire(pool));
		assert_int_equal(left, -1);
		/* The hook's writes are no finding, later writes are. */
		object = lfpool_acquire(pool);
		assert_int_equal(told.count, 0);
		left = 0;
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_null(lfpool_acquire(pool));
		object[5] = 0x41;
		assert_ptr_equal(lfpool_acquire(pool), object);
		assert_int_equal(told.count, 1);
		assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
		assert_int_equal(told.misuse.offset, 5);
		lfpool_destroy(pool);
		assert_int_equal(told.count, 1);
	}
}

BACKEND_TEST(write_after_release_is_found_at_destroy_and_after_quarantine, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(64, 10, backend, "poison");
	unsigned char *object = lfpool_acquire(pool);

	lfpool_label(pool, object, "physics");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	memset(object + 20, 0x41, 8);
	lfpool_destroy(pool);
	expect_written(pool, object, 20, 8);

	pool = POOL_THAT(64, 10, backend, "poison,quarantine=3");
	object = lfpool_acquire(pool);
	lfpool_label(pool, object, "physics");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	object[63] = 0x41;
	for (int releases = 0; releases < 3; releases++) {
		assert_int_equal(told.count, 0);
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	}
	expect_written(pool, object, 63, 1);
	/* It is reported once. */
	for (int releases = 0; releases < 20; releases++)
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	lfpool_destroy(pool);
	assert_int_equal(told.count, 0);
}

/* ---- Never used before ---- */

static bool is_poisoned(const unsigned char *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (object[i] != poison_at(i))
			return false;
	return true;
}

/* All objects: those from the creation, added ones, and trimmed ones. */
BACKEND_TEST(first_use_of_an_object_is_poisoned_too, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 10, backend, "poison", .max_capacity = 20);
	unsigned char *objects[20];

	for (int life = 1; life <= 3; life++) {
		assert_int_equal(acquire_all(pool, (void **)objects, 10), 10);
		assert_int_equal(lfpool_grow(pool, 10), life == 1 ? 10 : 0);
		assert_int_equal(acquire_all(pool, (void **)objects + 10, 10), 10);
		for (size_t i = 0; i < 20; i++) {
			assert_true(is_poisoned(objects[i], 33));
			memset(objects[i], 0x41, 33);
		}
		release_all(pool, (void **)objects, 20);
		while (life == 2 && lfpool_trim(pool, 0, SIZE_MAX))
			;
	}
	assert_int_equal(lfpool_destroy(pool), 0);
	assert_int_equal(told.count, 0);
}

static bool prepare(void *context, void *object, bool active)
{
	(void)context;
	(void)active;
	memset(object, 0x43, 33);
	return true;
}

/* A visitor's writes to free objects are there in the next use. */
BACKEND_TEST(visitor_may_prepare_free_objects_once, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 10, backend, "poison", .max_capacity = 20);
	unsigned char *object;

	assert_true(lfpool_for_each_slot(pool, prepare, NULL) >= 10);
	object = lfpool_acquire(pool);
	assert_true(all_bytes_are(object, 33, 0x43));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_true(is_poisoned(lfpool_acquire(pool), 33));
	assert_int_equal(lfpool_destroy(pool), 1);
	assert_int_equal(told.count, 0);
}

static bool build_zero(void *context, void *object)
{
	(void)context;
	return all_bytes_are(object, 33, 0);
}

/* The bytes promised to create, and those it wrote. */
BACKEND_TEST(objects_of_create_hooks_are_not_poisoned, LFPOOL_BACKEND_MUTEX)
{
	for (uint32_t flags = 0; flags <= LFPOOL_CREATE_ALL; flags += LFPOOL_CREATE_ALL) {
		lfpool_t *pool = POOL_THAT(33, 10, backend, "poison,owner", .flags = flags, .hooks.create = build_zero);
		void *object = lfpool_acquire(pool);

		assert_true(all_bytes_are(object, 33, 0));
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(told.count, 0);
	}
}

/* ---- Written next to an object ---- */

static void expect_guard(const void *object, ptrdiff_t offset)
{
	char beginning[100];

	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_GUARD);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, offset);
	snprintf(beginning, sizeof(beginning), "1 byte is wrong, the first at offset %td: 0x41 instead of 0x", offset);
	assert_memory_equal(told.detail, beginning, strlen(beginning));
	snprintf(beginning, sizeof(beginning), ".  Acquired by thread %u.", thread_number());
	assert_non_null(strstr(told.detail, beginning));
	told.count = 0;
}

static void sweep_guards(lfpool_backend_t backend, size_t size, size_t alignment)
{
	lfpool_t *pool = POOL_THAT(size, 3, backend, "guard", .object_alignment = alignment);
	unsigned char *objects[3];

	assert_int_equal(acquire_all(pool, (void **)objects, 3), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal((uintptr_t)objects[i] % alignment, 0);
		memset(objects[i], 0x41, size);
	}
	assert_true(sort_disjoint((void **)objects, 3, size + 32));
	/* The user may write all bytes of the objects. */
	release_all(pool, (void **)objects, 3);
	assert_int_equal(told.count, 0);
	for (ptrdiff_t beside = 0; beside < 32; beside++) {
		const ptrdiff_t offset = beside < 16 ? beside - 16 : (ptrdiff_t)size + beside - 16;
		unsigned char *object = lfpool_acquire(pool);

		object[offset] = 0x41;
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		expect_guard(object, offset);
	}
	assert_int_equal(acquire_all(pool, (void **)objects, 3), 3);
	lfpool_destroy(pool);
	assert_int_equal(told.count, 0);
}

BACKEND_TEST(overrun_is_found_at_release, LFPOOL_BACKEND_MUTEX)
{
	for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
		for (size_t size = 1; size <= 200; size += alignment < 64 ? 1 : 13)
			sweep_guards(backend, size, alignment);
}

BACKEND_TEST(overrun_is_found_at_destroy, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 5, backend, "guard");
	unsigned char *object = lfpool_acquire(pool);

	object[33] = 0x41;
	assert_int_equal(lfpool_destroy(pool), 1);
	expect_guard(object, 33);
}

/* ---- Never released ---- */

BACKEND_TEST(leaks_are_reported_one_by_one, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 50, backend, "owner");
	void *objects[5];
	unsigned thread, ms, seconds;

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 5), 5);
	lfpool_label(pool, objects[0], "a");
	lfpool_label(pool, objects[0], NULL);
	for (int i = 1; i < 5; i++)
		lfpool_label(pool, objects[i], "ships");
	/* Never acquired: no thread has released it. */
	assert_int_equal(lfpool_release(pool, lfpool_object_at(pool, 49)), LFPOOL_E_NOT_IN_USE);
	assert_string_equal(told.detail, "");
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 4);
	assert_int_equal(told.count, 1 + 4);
	assert_int_equal(told.misuse.count, 1 + 4);
	assert_int_equal(told.misuse.status, LFPOOL_E_STILL_ACTIVE);
	assert_int_equal(sscanf(told.detail, "Acquired by thread %u (\"ships\") %u.%3u s ago.", &thread, &seconds, &ms),
			 3);
	assert_int_equal(thread, thread_number());
}

BACKEND_TEST(dump_shows_debug_modes_and_holders, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 50, backend, "quarantine=9,owner");
	void *objects[7];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 7), 7);
	for (int i = 0; i < 4; i++)
		lfpool_label(pool, objects[i], "a \"quoted\" label");
	require_said(pool, "\ndebug       quarantine=9,owner,no-tools\n    active     oldest  holder\n         4 ");
	require_said(pool, "\n         3 ");
	require_said(pool, "\n         7             in all\n");
	char *json = whole_dump(pool_dump, pool, LFPOOL_JSON);

	require_in(json, ",\"debug\":[\"quarantine=9\",\"owner\",\"no-tools\"],\"holders\":[{\"objects\":4,");
	require_in(json, "\"label\":\"a \\\"quoted\\\" label\"},{\"objects\":3,");
	free(json);
	release_all(pool, objects, 7);
	json = whole_dump(pool_dump, pool, LFPOOL_JSON);
	require_in(json, "\"holders\":[]}");
	free(json);
	lfpool_destroy(pool);
}

/* ---- Call sites: this program is linked with -rdynamic ---- */

__attribute__((noinline)) void *spawn_a_ship(lfpool_t *pool);
__attribute__((noinline)) void lose_a_ship(lfpool_t *pool, void *object);

void *spawn_a_ship(lfpool_t *pool)
{
	void *object = lfpool_acquire(pool);

	__asm__ __volatile__("" ::: "memory"); /* no tail call */
	return object;
}

void lose_a_ship(lfpool_t *pool, void *object)
{
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	__asm__ __volatile__("" ::: "memory");
}

BACKEND_TEST(call_sites_name_the_calling_function, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = POOL_THAT(33, 50, backend, "poison,backtrace=1/1");
	unsigned char *object = spawn_a_ship(pool);

	/* The thread's first acquire took another path, but the call site must still be right. */
	require_said(pool, " at spawn_a_ship+0x");
	assert_non_null(spawn_a_ship(pool));
	lose_a_ship(pool, object);
	object[0] = 0x41;
	lfpool_destroy(pool);
	assert_int_equal(told.count, 2);
	assert_true(strstr(told.detail, "spawn_a_ship+0x") || strstr(told.detail, "lose_a_ship+0x"));
}

TEST(one_call_site_in_n_is_recorded)
{
	lfpool_t *pool = POOL_THAT(33, 50, LFPOOL_BACKEND_LOCKFREE, "backtrace=1/10");
	size_t with_site = 0;

	for (int i = 0; i < 50; i++) {
		void *object = lfpool_acquire(pool), *again;

		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		/* A second release: the message names the thread that released it, and sometimes the place. */
		assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
		with_site += strstr(told.detail, " at ") != NULL;
		again = lfpool_acquire(pool);
		assert_int_equal(lfpool_release(pool, again), LFPOOL_OK);
	}
	assert_in_range(with_site, 1, 20);
	lfpool_destroy(pool);
}

RUN_TESTS()
