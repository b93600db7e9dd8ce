/* SPDX-License-Identifier: MIT */
/* test: debug once */
/*
 * test_retire_debug.c - debug modes and retired objects: what they do at a release they do when an object is
 * reclaimed, and not before.  (LFPOOL_ZERO, owners, and what is refused: verify/pairs.)
 */
#include "../support/schemes.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 10 };

static lfpool_t *watched(const char *debug)
{
	told_forget();
	return POOL_OF(SIZE, CAPACITY, .debug = debug, .hooks.misuse = hear, .scheme = fake_scheme(KEPT));
}

/* no-tools: the test looks at free objects, and writes to them. */
TEST(poison_comes_when_it_is_reclaimed)
{
	lfpool_t *pool = watched("poison,no-tools");
	unsigned char *object = lfpool_acquire(pool);

	stamp_write(object, SIZE, 1);
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_true(stamp_holds(object, SIZE, 1));
	fake_end_all(pool);
	for (size_t i = 0; i < SIZE; i++)
		assert_true(object[i] == (unsigned char)(UINT32_C(0x1deadb0b) >> 8 * (i % 4)) ||
			    object[i] == (unsigned char)(UINT32_C(0x1deadb0b) >> 8 * (3 - i % 4)));
	assert_int_equal(told.count, 0);
	/* Too late: the next acquire of it tells. */
	object[7] = 1;
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, 7);
	release_all(pool, objects, CAPACITY);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(guards_are_looked_at_when_it_is_reclaimed)
{
	lfpool_t *pool = watched("guard,no-tools");
	unsigned char *object = lfpool_acquire(pool);

	object[SIZE + 2] ^= 1;
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_int_equal(told.count, 0);
	fake_end_all(pool);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_GUARD);
	assert_ptr_equal(told.misuse.object, object);
	assert_int_equal(told.misuse.offset, SIZE + 2);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* Not before so many others came back after it, unless nothing else is free: that counts from the reclaim. */
TEST(quarantine_begins_when_it_is_reclaimed)
{
	lfpool_t *pool = watched("quarantine=4");
	unsigned char *object = lfpool_acquire(pool);
	void *others[CAPACITY];

	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	for (int i = 0; i < 20; i++)
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	fake_end_all(pool);
	/* Three of the four are in quarantine with it: the others are taken. */
	assert_int_equal(lfpool_acquire_bulk(pool, others, CAPACITY - 4), CAPACITY - 4);
	for (size_t i = 0; i < CAPACITY - 4; i++)
		assert_ptr_not_equal(others[i], object);
	release_all(pool, others, CAPACITY - 4);
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
