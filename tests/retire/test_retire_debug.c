/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_retire_debug.c - debug modes and retired objects: what they do at a release they do when an object is
 * reclaimed, and not before; LFPOOL_ZERO clears what was reclaimed.
 */
#include "../support/schemes.h"

enum { SIZE = 40, CAPACITY = 10 };

static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

static struct fake fake;

static struct {
	lfpool_misuse_t misuse;
	size_t count;
} told;

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	told.misuse = *misuse;
	told.count++;
}

static void each_way(const char *debug, uint32_t flags, void (*body)(lfpool_t *pool, char *object))
{
	for (size_t b = 0; b < COUNT(backends); b++)
		for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
			lfpool_config_t config = config_of(SIZE, CAPACITY);

			config.backend = backends[b];
			config.debug = debug;
			config.flags = flags;
			config.hooks.misuse = on_misuse;
			config.scheme = fake_scheme(&fake, how);
			memset(&told, 0, sizeof(told));
			lfpool_t *pool = pool_with(&config);

			body(pool, lfpool_acquire(pool));
			fake_end_all(&fake, pool);
			require_intact(pool);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

/* no-tools: the test looks at free objects, and writes to them. */
static void poison(lfpool_t *pool, char *object)
{
	stamp_write(object, SIZE, 1);
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_true(stamp_holds(object, SIZE, 1));
	fake_end_all(&fake, pool);
	for (size_t i = 0; i < SIZE; i++)
		assert_true((unsigned char)object[i] == (unsigned char)(UINT32_C(0x1deadb0b) >> 8 * (i % 4)) ||
			    (unsigned char)object[i] == (unsigned char)(UINT32_C(0x1deadb0b) >> 8 * (3 - i % 4)));
	assert_int_equal(told.count, 0);
	/* Too late: the next who gets it tells. */
	object[7] = 1;
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, 7);
	release_all(pool, objects, CAPACITY);
}

TEST(poison_comes_when_it_is_reclaimed)
{
	each_way("poison,no-tools", 0, poison);
}

static void guard(lfpool_t *pool, char *object)
{
	object[SIZE + 2] ^= 1;
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_int_equal(told.count, 0);
	fake_end_all(&fake, pool);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_GUARD);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, SIZE + 2);
}

TEST(guards_are_looked_at_when_it_is_reclaimed)
{
	each_way("guard,no-tools", 0, guard);
}

/* Not before so many others came back after it, unless nothing else is free: that counts from the reclaim. */
static void quarantine(lfpool_t *pool, char *object)
{
	void *others[CAPACITY];

	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	for (int i = 0; i < 20; i++)
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	fake_end_all(&fake, pool);
	/* Three of the four are in quarantine with it: the others are taken. */
	assert_int_equal(lfpool_acquire_bulk(pool, others, CAPACITY - 4), CAPACITY - 4);
	for (size_t i = 0; i < CAPACITY - 4; i++)
		assert_ptr_not_equal(others[i], object);
	release_all(pool, others, CAPACITY - 4);
}

TEST(quarantine_begins_when_it_is_reclaimed)
{
	each_way("quarantine=4", 0, quarantine);
}

static void zero(lfpool_t *pool, char *object)
{
	void *objects[CAPACITY];

	stamp_write(object, SIZE, 1);
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY - 1);
	assert_true(stamp_holds(object, SIZE, 1));
	fake_end_all(&fake, pool);
	assert_ptr_equal(lfpool_acquire(pool), object);
	assert_true(all_bytes_are(object, SIZE, 0));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	release_all(pool, objects, CAPACITY - 1);
}

TEST(zeros_come_when_it_is_acquired_again)
{
	each_way(NULL, LFPOOL_ZERO, zero);
}

/* Whose it was is still known, for the message, and who gets it next is another. */
static void owner(lfpool_t *pool, char *object)
{
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_NOT_IN_USE);
	fake_end_all(&fake, pool);
	/* Nothing is held by anybody at the end. */
	told.count = 0;
	assert_int_equal(lfpool_active_count(pool), 0);
}

TEST(owners_of_what_was_reclaimed_hold_nothing)
{
	each_way("owner", 0, owner);
	assert_int_equal(told.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poison_comes_when_it_is_reclaimed),
		cmocka_unit_test(guards_are_looked_at_when_it_is_reclaimed),
		cmocka_unit_test(quarantine_begins_when_it_is_reclaimed),
		cmocka_unit_test(zeros_come_when_it_is_acquired_again),
		cmocka_unit_test(owners_of_what_was_reclaimed_hold_nothing),
	};

	return cmocka_run_group_tests_name("retire: debug modes", tests, NULL, NULL);
}
