/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_retire_seam.c - two schemes of a program behind config.scheme, own_hazard.h and own_qsbr.h: no thread gets an
 * object that was retired while a reader holds it, and every thread can get it afterwards.
 *
 * (Readers and writers at once, through the same interface: the stress scenario `retire`.)
 */
#include "../support/own_hazard.h"
#include "../support/own_qsbr.h"
#include "../support/support.h"

enum { SIZE = 40, CAPACITY = 5, READER = 3 };

/* Acquires everything: the retired object is among it, or is held back. */
static void require_held_back(lfpool_t *pool, const void *retired, bool held_back)
{
	void *objects[CAPACITY];
	const size_t count = acquire_all(pool, objects, CAPACITY);

	assert_int_equal(count, CAPACITY - held_back);
	assert_int_equal(lfpool_quick_stats(pool).retired, held_back);
	for (size_t i = 0; i < count; i++)
		assert_true(!held_back || objects[i] != retired);
	release_all(pool, objects, count);
}

TEST(hazard_pointers_protect)
{
	static struct hazards hazards;
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = hazards_scheme(&hazards));
	_Atomic(void *) place = lfpool_acquire(pool);
	void *object = hazard_protect(&hazards, READER, &place);

	assert_ptr_equal(object, place);
	assert_int_equal(lfpool_retire(pool, atomic_exchange(&place, NULL)), LFPOOL_OK);
	require_held_back(pool, object, true);
	hazard_clear(&hazards, READER);
	require_held_back(pool, object, false);
	assert_null(hazard_protect(&hazards, READER, &place));
	pool_close(pool, SIZE);
}

TEST(quiescent_states_protect)
{
	static struct qsbr qsbr;

	qsbr_open(&qsbr);
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = qsbr_scheme(&qsbr));

	/* The reader releases its hold, or ends. */
	for (int leaves = 0; leaves < 2; leaves++) {
		void *object = lfpool_acquire(pool);

		qsbr_quiescent(&qsbr, READER);
		assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
		require_held_back(pool, object, true);
		(leaves ? qsbr_offline : qsbr_quiescent)(&qsbr, READER);
		require_held_back(pool, object, false);
	}
	pool_close(pool, SIZE);
}

RUN_TESTS()
