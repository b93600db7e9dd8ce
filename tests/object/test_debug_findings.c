/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_debug_findings.c - what the debug modes find, and the exact words in which they say so.
 *
 * The tools are not told (no-tools): what is planted here is for the modes, AddressSanitizer shall not end the program.
 */
#include "../support/support.h"
#include "../support/told.h"

#include <sys/syscall.h>

static lfpool_t *pool_that(size_t object_size, size_t capacity, int backend, const char *modes)
{
	static char words[100];
	lfpool_config_t config = config_of(object_size, capacity);

	snprintf(words, sizeof(words), "no-tools,%s", modes);
	config.backend = (lfpool_backend_t)backend;
	config.hooks.misuse = hear;
	config.debug = words;
	told.count = 0;
	return pool_with(&config);
}

static unsigned thread_number(void)
{
	return (unsigned)syscall(SYS_gettid);
}

#define FOR_BACKENDS(backend) for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++)

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

TEST(a_byte_written_after_release_is_found_at_acquire)
{
	FOR_BACKENDS(backend) {
		for (size_t size = 1; size <= 70; size++) {
			lfpool_t *pool = pool_that(size, 1, backend, "poison");

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
}

/* *context activates are still to be let through, then one is refused. */
static bool refuse_once(void *context, void *object)
{
	memset(object, 0x42, 8);
	return (*(int *)context)-- != 0;
}

/* An object that is free since hooks.activate has refused it. */
TEST(and_after_an_acquire_that_a_hook_refused)
{
	FOR_BACKENDS(backend)
		for (int before = 0; before < 2; before++) {
			lfpool_config_t config = config_of(64, 1);
			int left = before;

			config.backend = (lfpool_backend_t)backend;
			config.debug = "no-tools,poison";
			config.hooks = (lfpool_hooks_t){.context = &left, .misuse = hear, .activate = refuse_once};
			told.count = 0;
			lfpool_t *pool = pool_with(&config);
			unsigned char *object = before ? lfpool_acquire(pool) : NULL;

			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			assert_null(lfpool_acquire(pool));
			assert_int_equal(left, -1);
			assert_int_equal(told.count, 0);
			/* What the hook wrote is no finding, what anybody writes then is. */
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

TEST(and_at_destroy_and_when_it_leaves_quarantine)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(64, 10, backend, "poison");
		unsigned char *object = lfpool_acquire(pool);

		lfpool_label(pool, object, "physics");
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		memset(object + 20, 0x41, 8);
		lfpool_destroy(pool);
		expect_written(pool, object, 20, 8);

		pool = pool_that(64, 10, backend, "poison,quarantine=3");
		object = lfpool_acquire(pool);
		lfpool_label(pool, object, "physics");
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		object[63] = 0x41;
		for (int releases = 0; releases < 3; releases++) {
			assert_int_equal(told.count, 0);
			assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		}
		expect_written(pool, object, 63, 1);
		/* It is told once. */
		for (int releases = 0; releases < 20; releases++)
			assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		lfpool_destroy(pool);
		assert_int_equal(told.count, 0);
	}
}

/* ---- Never used before ---- */

static bool is_poisoned(const unsigned char *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (object[i] != poison_at(i))
			return false;
	return true;
}

static lfpool_t *growing_pool(int backend, const char *modes, uint32_t flags)
{
	lfpool_config_t config = config_of(33, 10);

	config.backend = (lfpool_backend_t)backend;
	config.max_capacity = 20;
	config.flags = flags;
	config.debug = modes;
	config.hooks.misuse = hear;
	told.count = 0;
	return pool_with(&config);
}

/* All of them: those at creation, those by which it grew, and those that were trimmed. */
TEST(an_object_is_poisoned_in_its_first_life_as_in_its_second)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = growing_pool(backend, "no-tools,poison", 0);
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
}

TEST(zero_bytes_are_zero_with_poison)
{
	FOR_BACKENDS(backend)
		for (int by_mode = 0; by_mode < 2; by_mode++) {
			lfpool_t *pool = growing_pool(backend, by_mode ? "no-tools,poison,zero" : "no-tools,poison",
						      by_mode ? 0 : LFPOOL_ZERO);

			for (int life = 1; life <= 3; life++) {
				unsigned char *object = lfpool_acquire(pool);

				assert_true(all_bytes_are(object, 33, 0));
				memset(object, 0x41, 33);
				assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			}
			assert_int_equal(lfpool_destroy(pool), 0);
			assert_int_equal(told.count, 0);
		}
}

static bool prepare(void *context, void *object, bool active)
{
	(void)context;
	(void)active;
	memset(object, 0x43, 33);
	return true;
}

/* What a visitor prepared is there in the next use. */
TEST(what_was_shown_free_is_left_alone_once)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = growing_pool(backend, "no-tools,poison", 0);
		unsigned char *object;

		assert_true(lfpool_for_each_slot(pool, prepare, NULL) >= 10);
		object = lfpool_acquire(pool);
		assert_true(all_bytes_are(object, 33, 0x43));
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_true(is_poisoned(lfpool_acquire(pool), 33));
		assert_int_equal(lfpool_destroy(pool), 1);
		assert_int_equal(told.count, 0);
	}
}

static bool build_zero(void *context, void *object)
{
	(void)context;
	return all_bytes_are(object, 33, 0);
}

/* What create is promised, and what it built. */
TEST(built_objects_are_not_poisoned)
{
	for (uint32_t flags = 0; flags <= LFPOOL_CREATE_ALL; flags += LFPOOL_CREATE_ALL)
		FOR_BACKENDS(backend) {
			lfpool_config_t config = config_of(33, 10);
			lfpool_t *pool;

			config.backend = (lfpool_backend_t)backend;
			config.flags = flags;
			config.debug = "no-tools,poison";
			config.hooks.create = build_zero;
			pool = pool_with(&config);
			assert_true(all_bytes_are(lfpool_acquire(pool), 33, 0));
			assert_int_equal(lfpool_destroy(pool), 1);
		}
}

/* ---- Written beside an object ---- */

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

static void sweep_guards(int backend, size_t size, size_t alignment)
{
	lfpool_config_t config = config_of(size, 3);
	unsigned char *objects[3];

	told.count = 0;
	config.object_alignment = alignment;
	config.backend = (lfpool_backend_t)backend;
	config.hooks.misuse = hear;
	config.debug = "no-tools,guard";
	lfpool_t *pool = pool_with(&config);

	assert_int_equal(acquire_all(pool, (void **)objects, 3), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal((uintptr_t)objects[i] % alignment, 0);
		memset(objects[i], 0x41, size);
	}
	assert_true(sort_disjoint((void **)objects, 3, size + 32));
	/* The whole objects are the user's. */
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

TEST(a_byte_beside_an_object_is_found_at_release)
{
	FOR_BACKENDS(backend) {
		for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
			for (size_t size = 1; size <= 200; size += alignment < 64 ? 1 : 13)
				sweep_guards(backend, size, alignment);
	}
}

TEST(and_at_destroy)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 5, backend, "guard");
		unsigned char *object = lfpool_acquire(pool);

		object[33] = 0x41;
		assert_int_equal(lfpool_destroy(pool), 1);
		expect_guard(object, 33);
	}
}

/* ---- Released twice ---- */

TEST(a_double_release_names_who_released_before)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 5, backend, "poison");
		void *object = lfpool_acquire(pool);
		char expected[100];

		lfpool_label(pool, object, "audio");
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
		snprintf(expected, sizeof(expected), "Released by thread %u (\"audio\").", thread_number());
		assert_string_equal(told.detail, expected);
		/* Never acquired: nobody released it. */
		object = moved(object, (ptrdiff_t)stride_of(pool, object));
		assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
		assert_string_equal(told.detail, "");
		lfpool_destroy(pool);
	}
}

/* ---- Never released ---- */

TEST(what_is_active_at_destroy_is_told_one_by_one)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 50, backend, "owner");
		void *objects[5];
		unsigned thread, ms, seconds;

		assert_int_equal(lfpool_acquire_bulk(pool, objects, 5), 5);
		lfpool_label(pool, objects[0], "a");
		lfpool_label(pool, objects[0], NULL);
		for (int i = 1; i < 5; i++)
			lfpool_label(pool, objects[i], "ships");
		assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 4);
		assert_int_equal(told.count, 4);
		assert_int_equal(told.misuse.count, 4);
		assert_int_equal(told.misuse.status, LFPOOL_E_STILL_ACTIVE);
		assert_int_equal(sscanf(told.detail, "Acquired by thread %u (\"ships\") %u.%3u s ago.", &thread, &seconds, &ms),
				 3);
		assert_int_equal(thread, thread_number());
	}
}

/* A tag is forgotten with the next acquire, and a stranger's object is passed over. */
TEST(tags)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 1, backend, "owner");
		void *object = lfpool_acquire(pool);
		int stranger;

		lfpool_label(pool, object, "first");
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		lfpool_label(pool, object, "too late");
		lfpool_label(pool, NULL, "nothing");
		lfpool_label(pool, &stranger, "stranger");
		lfpool_label(pool, moved(object, 1), "inside");
		object = lfpool_acquire(pool);
		lfpool_destroy(pool);
		assert_int_equal(told.count, 1);
		assert_null(strchr(told.detail, '"'));
	}
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_t *pool = pool_that(33, 1, backend, "zero");
		void *object = lfpool_acquire(pool);

		lfpool_label(pool, object, "nobody keeps this");
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		lfpool_destroy(pool);
	}
}

TEST(a_dump_has_the_modes_and_the_holders)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 50, backend, "quarantine=9,owner");
		void *objects[7];
		char text[4096];

		assert_int_equal(lfpool_acquire_bulk(pool, objects, 7), 7);
		for (int i = 0; i < 4; i++)
			lfpool_label(pool, objects[i], "a \"quoted\" tag");
		assert_true(lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text)) < sizeof(text));
		assert_non_null(strstr(text, "\ndebug       quarantine=9,owner,no-tools\n"
					     "    active     oldest  holder\n         4 "));
		assert_non_null(strstr(text, "\n         3 "));
		assert_non_null(strstr(text, "\n         7             in all\n"));
		assert_true(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
		assert_non_null(strstr(text, ",\"debug\":[\"quarantine=9\",\"owner\",\"no-tools\"],"
					     "\"holders\":[{\"objects\":4,"));
		assert_non_null(strstr(text, "\"label\":\"a \\\"quoted\\\" tag\"},{\"objects\":3,"));
		release_all(pool, objects, 7);
		assert_true(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)) < sizeof(text));
		assert_non_null(strstr(text, "\"holders\":[]}"));
		lfpool_destroy(pool);
	}
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_t *pool = pool_that(33, 50, backend, "zero");
		char text[4096];

		(void)lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text));
		assert_non_null(strstr(text, "\"holders\":null}"));
		lfpool_destroy(pool);
	}
}

/* What is in quarantine is free, and shared. */
TEST(the_identity_counts_what_is_in_quarantine)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 50, backend, "quarantine=9");
		lfpool_stats_t stats = LFPOOL_STATS_INIT;
		void *objects[20];

		assert_int_equal(acquire_all(pool, objects, 20), 20);
		release_all(pool, objects, 15);
		assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
		assert_int_equal(stats.unaccounted, 0);
		assert_int_equal(stats.active, 5);
		assert_true(stats.shared >= 9);
		assert_null(lfpool_check(pool, NULL));
		lfpool_destroy(pool);
	}
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

TEST(call_sites)
{
	FOR_BACKENDS(backend) {
		lfpool_t *pool = pool_that(33, 50, backend, "poison,backtrace=1/1");
		unsigned char *object = spawn_a_ship(pool);
		char text[8192];

		/* The thread's first acquire went another way, and that is nobody's call site either. */
		(void)lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text));
		assert_non_null(strstr(text, " at spawn_a_ship+0x"));

		void *other = spawn_a_ship(pool);

		assert_non_null(other);
		lose_a_ship(pool, object);
		object[0] = 0x41;
		lfpool_destroy(pool);
		assert_int_equal(told.count, 2);
		assert_true(strstr(told.detail, "spawn_a_ship+0x") || strstr(told.detail, "lose_a_ship+0x"));
	}
}

TEST(one_call_site_in_n)
{
	lfpool_t *pool = pool_that(33, 50, LFPOOL_BACKEND_LOCKFREE, "backtrace=1/10");
	size_t with_site = 0;

	for (int i = 0; i < 50; i++) {
		void *object = lfpool_acquire(pool), *again;

		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		/* Released again: told who released it, and sometimes where. */
		assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
		with_site += strstr(told.detail, " at ") != NULL;
		again = lfpool_acquire(pool);
		assert_int_equal(lfpool_release(pool, again), LFPOOL_OK);
	}
	assert_in_range(with_site, 1, 20);
	lfpool_destroy(pool);
}

RUN_TESTS()
