/* SPDX-License-Identifier: MIT */
/*
 * unit_queue.c - the queue and the debt in numbers that take too long to reach: 2^28 tickets and more, 2^31 objects owed.
 */
#include "../support/support.h"

#include "pool/pool.h"
#include "../../src/waiting/waiters.h"

/* ---- Tickets ---- */

static size_t calls;
static lfpool_ticket_t tickets[3];

/* Called as the how-manieth? */
static void note(void *context, lfpool_t *pool, void *object)
{
	*(size_t *)context = ++calls;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

/* So many tickets, and some more, were given out between the first and the second. */
static const uint64_t jumps[] = {UINT64_C(1) << 13, UINT64_C(1) << 28, UINT64_C(1) << 29,
				 UINT64_C(3) << 28, UINT64_C(1) << 32, UINT64_C(1) << 60};

static void three_wait(lfpool_t *pool, size_t order[3], uint64_t jump)
{
	calls = 0;
	/* relaxed: this thread alone uses the pool. */
	for (size_t i = 0; i < 3; i++) {
		REQUIRE(lfpool_acquire_async(pool, note, &order[i], &tickets[i]) == LFPOOL_OK && tickets[i]);
		store_relaxed(&pool->waiters.tickets, load_relaxed(&pool->waiters.tickets) + (i == 0 ? jump : 0));
	}
}

/* First come, first served; and each ticket cancels its own. */
TEST(order_and_cancelling_whatever_the_tickets)
{
	for (size_t i = 0; i < 2 * COUNT(jumps); i++) {
		lfpool_t *pool = pool_of(64, 1);
		void *object = lfpool_acquire(pool);
		const bool cancel = i % 2;
		size_t order[3] = {0};

		three_wait(pool, order, jumps[i / 2]);
		if (cancel) {
			assert_true(lfpool_cancel(pool, tickets[1]));
			assert_false(lfpool_cancel(pool, tickets[1]));
		}
		REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
		assert_int_equal(order[0] * 100 + order[1] * 10 + order[2], cancel ? 102 : 123);
		REQUIRE(lfpool_destroy(pool) == 0);
	}
}

/* A server that stood still for so long fails to give: no two words of one cell are alike. */
TEST(words_of_different_tickets_differ)
{
	for (size_t i = 0; i < COUNT(jumps); i++)
		assert_true(cell_waiting(5) != cell_waiting(5 + jumps[i]));
}

/* Whoever sleeps on the lower half sees that it was given something: any slot to any ticket. */
TEST(what_is_slept_on_changes)
{
	static const uint32_t slots[] = {1, 2, 3, UINT32_C(1) << 28, UINT32_C(1) << 29, UINT32_C(1) << 31};

	for (size_t i = 0; i < COUNT(jumps); i++)
		for (size_t k = 0; k < COUNT(slots); k++) {
			const uint64_t waiting = cell_waiting(jumps[i] + slots[k]), given = cell_given(waiting, slots[k]);

			assert_true((uint32_t)waiting != (uint32_t)given);
			assert_int_equal(cell_slot(given), slots[k]);
			assert_true(cell_phase(waiting) == WAITING && cell_phase(given) == GIVEN);
			assert_true(cell_phase(given - GIVEN + WOKEN) == WOKEN && cell_slot(given - GIVEN + WOKEN) == slots[k]);
		}
}

/* ---- The debt ---- */

TEST(two_shrinks_of_all_there_may_be)
{
	const size_t most = (size_t)1 << 31;
	lfpool_t *pool = pool_of(64, 1);
	void *object = lfpool_acquire(pool);
	/* relaxed, all: this thread alone uses the pool. */
	const uint64_t counts = load_relaxed(&pool->cold.counts);

	store_relaxed(&pool->cold.counts, (uint64_t)most << 32);
	for (int i = 0; i < 3; i++) {
		debt_add(pool, most);
		assert_true(lfpool_shrink_owed(pool) == most);
		/* A release sees it. */
		assert_int_equal(load_relaxed(pool->waiters.wanted), 1);
	}
	debt_add(pool, SIZE_MAX);
	assert_true(lfpool_shrink_owed(pool) == most);
	assert_true(debt_forgive(&pool->waiters, most - 1) == most - 1);
	assert_int_equal(load_relaxed(pool->waiters.wanted), 1);
	assert_true(debt_forgive(&pool->waiters, SIZE_MAX) == 1);
	assert_int_equal(load_relaxed(pool->waiters.wanted), 0);
	store_relaxed(&pool->cold.counts, counts);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_destroy(pool) == 0);
}

RUN_TESTS()
