/* SPDX-License-Identifier: MIT */
/*
 * wraps.c - counters run over, once round exactly: what docs/design.md, "Counters that run over", says of those that no unit
 * test on the narrow library runs over.
 *
 * Idea         Built with LFPOOL_NARROW.  Of a counter whose wrap must not matter: it is driven round several times, and
 *              nothing is different.  Of a tag: a value comes back after exactly so many changes, and after no fewer; so
 *              the number in the table is the number in the code.
 */
#include "../../tests/support/priority_support.h"

#include "core/arena.h"
#include "pool/pool.h"
#include "base/widths.h"

#define TIMES_ROUND(bits) (UINT64_C(1) << (bits))

/* Objects come and go at both ends of one magazine, and its count is right wherever its positions stand. */
TEST(positions)
{
	enum { SLOTS = MAGAZINE_SLOTS_FIT };
	struct lfpool_magazine *m = aligned_alloc(CACHE_LINE_PAIR, magazine_bytes(SLOTS));
	uint32_t held = SLOTS;
	uint64_t first, pushes = 0;

	REQUIRE(m);
	memset((void *)m, 0, magazine_bytes(SLOTS));
	magazine_make_full(m, 1, SLOTS, 1, 1);
	for (uint64_t step = 0; step < 64 * TIMES_ROUND(LFPOOL_POSITION_BITS); step++) {
		/* A theft moves both ends on; a pop of all lowers bottom as far as it goes. */
		if (step % 3 && held) {
			assert_int_not_equal(magazine_take(m, SLOTS, load_relaxed(&m->top), 1), 0);
			held--;
		} else if (step % 7 == 0) {
			assert_int_equal(magazine_pop_many(m, true, SLOTS, &first), held);
			held = 0;
		}
		while (held < SLOTS / 2 + step % (SLOTS / 2 + 1)) {
			if (!magazine_push(m, SLOTS, 1 + held))
				magazine_push_round(m, SLOTS, 1 + held);
			held++;
			pushes++;
		}
		assert_int_equal(magazine_count_now(m, SLOTS), held);
		assert_int_equal(magazine_pushes(load_relaxed(&m->bottom)), pushes & LOW_BITS(PUSHES_BITS));
	}
	assert_true(load_relaxed(&m->top) > 2 * TIMES_ROUND(LFPOOL_POSITION_BITS));
	free(m);
}

/* Each use of a slot with a handle has another one, and those before it name nothing, until the count in the handle has come
 * round.  Uses without a handle do not count. */
TEST(generations)
{
	lfpool_t *pool = pool_of(16, 1);
	lfpool_handle_t before = 0, first = 0;

	for (uint64_t use = 0; use <= TIMES_ROUND(HANDLE_COUNT_BITS); use++) {
		void *object = lfpool_acquire(pool);
		const lfpool_handle_t handle = lfpool_handle_of(pool, object);

		assert_ptr_equal(lfpool_resolve(pool, handle), object);
		assert_null(lfpool_resolve(pool, before));
		assert_int_not_equal(handle, before);
		first = first ? first : handle;
		assert_int_equal(handle == first, use % TIMES_ROUND(HANDLE_COUNT_BITS) == 0);
		/* By handle, and not. */
		assert_int_equal(use % 2 ? lfpool_release_handle(pool, handle) : lfpool_release(pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		before = handle;
	}
	lfpool_destroy(pool);
}

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
