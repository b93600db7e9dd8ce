/* SPDX-License-Identifier: MIT */
/*
 * wraps.c - counters run over, once round exactly: what docs/design.md, "Counters that run over", says of those that no unit
 * test on the narrow library runs over.
 *
 * Idea         Built with LFPOOL_NARROW.  Of a tag: a value comes back after exactly so many changes, and after no fewer; so the
 *              number in the table is the number in the code.
 */
#include "../../tests/support/priority_support.h"

#include "base/widths.h"

#define TIMES_ROUND(bits) (UINT64_C(1) << (bits))

/* Pools in one place, one after the other: their handles are apart, though the count has few bits (N3 in handle.c). */
TEST(handles_of_pools_before)
{
	enum { POOLS = 300, USES = 16 };
	lfpool_handle_t before[POOLS][USES];

	for (size_t n = 0; n < POOLS; n++) {
		lfpool_t *pool = pool_of(16, 1);

		for (size_t use = 0; use < USES; use++) {
			void *object = lfpool_acquire(pool);

			before[n][use] = lfpool_handle_of(pool, object);
			for (size_t i = 0; i < n; i++)
				for (size_t k = 0; k < USES; k++)
					assert_null(lfpool_resolve(pool, before[i][k]));
			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		}
		lfpool_destroy(pool);
	}
}

static void note(void *context, __attribute__((unused)) lfpool_t *pool, void *object)
{
	/* Keeps it. */
	*(void **)context = object;
}

/* First come, first served, however many came and went in between. */
TEST(tickets)
{
	lfpool_t *pool = pool_of(16, 1);
	void *object = lfpool_acquire(pool), *first = NULL, *second = NULL;
	lfpool_ticket_t ticket;

	assert_int_equal(lfpool_acquire_async(pool, note, &first, NULL), LFPOOL_OK);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(lfpool_acquire_async(pool, note, &second, &ticket), LFPOOL_OK);
		assert_true(lfpool_cancel(pool, ticket));
	}
	assert_int_equal(lfpool_acquire_async(pool, note, &second, &ticket), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_ptr_equal(first, object);
	assert_null(second);
	assert_true(lfpool_cancel(pool, ticket));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	lfpool_destroy(pool);
}

/* A ticket that was cancelled cancels nothing more, until the place has it again. */
TEST(tickets_to_cancel)
{
	lfpool_t *pool = pool_of(16, 1);
	void *object = lfpool_acquire(pool), *got = NULL;
	lfpool_ticket_t old, ticket;

	assert_int_equal(lfpool_acquire_async(pool, note, &got, &old), LFPOOL_OK);
	assert_true(lfpool_cancel(pool, old));
	for (uint64_t more = 1; more < TIMES_ROUND(CANCEL_TICKET_BITS); more++) {
		assert_int_equal(lfpool_acquire_async(pool, note, &got, &ticket), LFPOOL_OK);
		assert_false(lfpool_cancel(pool, old));
		assert_true(lfpool_cancel(pool, ticket));
	}
	assert_int_equal(lfpool_acquire_async(pool, note, &got, NULL), LFPOOL_OK);
	assert_true(lfpool_cancel(pool, old));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	lfpool_destroy(pool);
}

/* The stamps of an evicting pool leave 0 out, so that no handle is 0. */
TEST(stamps)
{
	lfpool_priority_t *pool = priority_of(16, 1);
	const lfpool_handle_t old = priority_put(pool, 1);

	assert_int_equal(lfpool_priority_release(pool, old), LFPOOL_OK);
	for (uint64_t more = 1; more < TIMES_ROUND(HANDLE_STAMP_BITS); more++) {
		const lfpool_handle_t handle = priority_put(pool, 1);

		assert_true(handle);
		assert_true(lfpool_priority_is_active(pool, handle));
		assert_int_equal(lfpool_priority_is_active(pool, old), more == TIMES_ROUND(HANDLE_STAMP_BITS) - 1);
		assert_int_equal(lfpool_priority_release(pool, handle), LFPOOL_OK);
	}
	lfpool_priority_destroy(pool);
}

RUN_TESTS()
