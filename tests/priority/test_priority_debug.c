/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_priority_debug.c - the debug modes in an evicting pool: what they find when a holder goes on with an object that was taken
 * from it, or is careless with its own.
 *
 * (That a quarantine changes nothing of what is free, full and least: the test priority_order.debug.)
 *
 * The tools are not told (no-tools), as in tests/object/test_debug_findings.c, which has each mode and its words.
 */
#include "../support/priority_support.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 4, QUARANTINE = 3 };

static lfpool_priority_t *listening(const char *modes, uint32_t flags)
{
	char words[100];

	(void)snprintf(words, sizeof(words), "no-tools,%s", modes);
	told_forget();
	return PRIORITY_WITH(.name = "voices", .object_size = SIZE, .capacity = CAPACITY, .flags = flags, .hooks.misuse = hear,
			     .debug = words);
}

/* An object that is active, and its handle. */
static unsigned char *put(lfpool_priority_t *pool, uint64_t priority, lfpool_handle_t *handle_out)
{
	unsigned char *object = lfpool_priority_acquire(pool, priority, NULL, handle_out);

	assert_non_null(object);
	assert_int_equal(lfpool_priority_publish(pool, *handle_out), LFPOOL_OK);
	return object;
}

static void expect_told(lfpool_status_t status, const void *object, ptrdiff_t offset, lfpool_handle_t handle)
{
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, status);
	assert_null(told.misuse.pool);
	assert_string_equal(told.pool_name, "voices");
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, offset);
	assert_int_equal(told.misuse.index, handle & ((1u << 20) - 1));
	assert_true(strstr(told.detail, " thread ") != NULL);
	told.count = 0;
}

/* ---- After it was taken away ---- */

/* The object of a victim is the newcomer's at once; only a quarantine tells one that writes too late. */
TEST(a_holder_that_writes_after_its_eviction)
{
	lfpool_priority_t *pool = listening("poison,quarantine=3", 0);
	unsigned char *victim, *newcomer;
	lfpool_handle_t first, other;

	victim = put(pool, 1, &first);
	for (uint64_t i = 2; i <= CAPACITY; i++)
		(void)put(pool, i, &other);
	newcomer = put(pool, 10, &other);
	require_stale(pool, first);
	assert_ptr_not_equal(victim, newcomer);
	victim[7] = 0x41;
	for (uint64_t i = 1; i < QUARANTINE; i++)
		assert_ptr_not_equal(put(pool, 10 + i, &other), victim);
	assert_int_equal(told.count, 0);
	assert_ptr_equal(put(pool, 10 + QUARANTINE, &other), victim);
	expect_told(LFPOOL_E_WRITTEN_WHEN_FREE, victim, 7, first);
	assert_null(lfpool_priority_check(pool, NULL));
	assert_int_equal(lfpool_priority_destroy(pool), CAPACITY);
	assert_int_equal(told.count, 0);
}

TEST(a_holder_that_writes_after_its_release)
{
	lfpool_priority_t *pool = listening("poison", 0);
	lfpool_handle_t handle;
	unsigned char *object = put(pool, 1, &handle);

	assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	object[SIZE - 1] = 0x41;
	assert_ptr_equal(put(pool, 1, &handle), object);
	expect_told(LFPOOL_E_WRITTEN_WHEN_FREE, object, SIZE - 1, handle);
	/* While it is pinned it is nobody's mistake. */
	assert_non_null(lfpool_priority_pin(pool, handle));
	assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	object[0] = 0x41;
	assert_int_equal(lfpool_priority_unpin(pool, handle), LFPOOL_OK);
	object[1] = 0x41;
	assert_int_equal(lfpool_priority_destroy(pool), 0);
	expect_told(LFPOOL_E_WRITTEN_WHEN_FREE, object, 1, handle);
}

/* ---- Beside it ---- */

/* However its use ends. */
TEST(a_byte_beside_an_object_is_found_when_its_use_ends)
{
	for (int end = 0; end < 3; end++) {
		lfpool_priority_t *pool = listening("guard", LFPOOL_EVICT_EQUAL);
		const ptrdiff_t offset = end % 2 ? -16 : SIZE + 15;
		lfpool_handle_t handle, other;
		unsigned char *object = put(pool, 1, &handle);

		assert_int_equal((uintptr_t)object % 16, 0);
		for (int i = 1; i < CAPACITY; i++)
			(void)put(pool, 5, &other);
		object[offset] = 0x41;
		if (end == 0) {
			assert_ptr_equal(put(pool, 1, &other), object);
		} else if (end == 1) {
			assert_non_null(lfpool_priority_pin(pool, handle));
			assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
			assert_int_equal(told.count, 0);
			assert_int_equal(lfpool_priority_unpin(pool, handle), LFPOOL_OK);
		}
		if (end < 2)
			expect_told(LFPOOL_E_GUARD, object, offset, handle);
		(void)lfpool_priority_destroy(pool);
		if (end == 2)
			expect_told(LFPOOL_E_GUARD, object, offset, handle);
		assert_int_equal(told.count, 0);
	}
}

/* ---- Who has it ---- */

TEST(who_holds_what_and_what_is_left)
{
	lfpool_priority_t *pool = listening("owner", 0);
	lfpool_handle_t handle;

	(void)put(pool, 1, &handle);
	assert_non_null(lfpool_priority_acquire(pool, 2, NULL, &handle));
	require_priority_dumped(pool, LFPOOL_TEXT,
				"\nmisuses     0\ndebug       owner,no-tools\n    active     oldest  holder\n         2 ");
	require_priority_dumped(pool, LFPOOL_JSON,
				",\"misuses\":0,\"debug\":[\"owner\",\"no-tools\"],\"holders\":[{\"objects\":2,");
	assert_int_equal(lfpool_priority_destroy(pool), 2);
	assert_int_equal(told.count, 2);
	assert_int_equal(told.misuse.status, LFPOOL_E_STILL_ACTIVE);
	pool = listening("", 0);
	require_priority_dumped(pool, LFPOOL_TEXT, "\ndebug       no-tools\n");
	require_priority_dumped(pool, LFPOOL_JSON, ",\"holders\":null}");
	assert_int_equal(lfpool_priority_destroy(pool), 0);
}

/* ---- What is in it ---- */

static void expect_bytes(const char *modes, uint32_t flags, unsigned char first)
{
	lfpool_priority_t *pool = listening(modes, flags | LFPOOL_EVICT_EQUAL);
	lfpool_handle_t handle;

	for (int i = 0; i < 3 * CAPACITY; i++) {
		unsigned char *object = put(pool, 1, &handle);

		assert_int_equal(object[0], first);
		assert_true(first || all_bytes_are(object, SIZE, 0));
		memset(object, 0x42, SIZE);
		if (i % 3 == 0)
			assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	}
	(void)lfpool_priority_release_min(pool, CAPACITY);
	assert_int_equal(lfpool_priority_destroy(pool), 0);
	assert_int_equal(told.count, 0);
}

TEST(an_acquired_object_is_zero_or_poisoned_in_every_life)
{
	expect_bytes("", LFPOOL_ZERO, 0);
	expect_bytes("zero,poison,quarantine=2", 0, 0);
	expect_bytes("poison", 0, 0x0b);
	expect_bytes("poison,quarantine=100,guard", 0, 0x0b);
}

/* ---- The environment ---- */

TEST(the_words_of_the_environment_hold_too)
{
	lfpool_priority_config_t config = priority_config_of(SIZE, CAPACITY);
	lfpool_priority_t *pool;

	config.debug = "poisson";
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_DEBUG);
	config.debug = NULL;
	assert_int_equal(setenv("LFPOOL_DEBUG", "nothing of the kind", 1), 0);
	assert_int_equal(lfpool_priority_create(&pool, &config), LFPOOL_E_CONFIG_DEBUG);
	config.debug = "owner,quarantine=3";
	assert_int_equal(setenv("LFPOOL_DEBUG", "quarantine=5", 1), 0);
	pool = priority_with(&config);
	assert_int_equal(unsetenv("LFPOOL_DEBUG"), 0);
	require_priority_dumped(pool, LFPOOL_TEXT, "\ndebug       quarantine=5,owner\n");
	priority_close(pool, SIZE);
}

RUN_TESTS()
