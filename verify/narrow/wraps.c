/* SPDX-License-Identifier: MIT */
/*
 * wraps.c - the wraps of the counters in docs/design.md, "Counters that run over".
 *
 * Idea         Built with LFPOOL_NARROW, which gives each counter a few bits.  If the wrap of a counter must not
 *              matter, the test wraps it several times, and nothing may go wrong.  If a counter is a tag, the test
 *              counts the changes until it has an old value again: exactly 2^bits, so the table has the width of the
 *              code.
 */
#include "../../tests/support/support.h"

#include "core/arena.h"
#include "pool/pool.h"
#include "object/quarantine.h"
#include "pool/live_pools.h"
#include "base/widths.h"

#include "lfpool/handle.h"
#include "lfpool/wait.h"

#define TIMES_ROUND(bits) (UINT64_C(1) << (bits))

/* Pushes, pops and thefts move both ends of one magazine through all positions. */
TEST(magazine_count_is_right_while_positions_wrap)
{
	enum { SLOTS = MAGAZINE_SLOTS_FIT };
	struct lfpool_magazine *m = aligned_alloc(CACHE_LINE_PAIR, magazine_bytes(SLOTS));
	uint32_t held = SLOTS;
	uint64_t first, pushes = 0;

	REQUIRE(m);
	memset((void *)m, 0, magazine_bytes(SLOTS));
	magazine_make_full(m, 1, SLOTS, 1, 1);
	for (uint64_t step = 0; step < 64 * TIMES_ROUND(LFPOOL_POSITION_BITS_); step++) {
		/* A theft advances top.  A pop of all objects lowers bottom. */
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
	assert_true(load_relaxed(&m->top) > 2 * TIMES_ROUND(LFPOOL_POSITION_BITS_));
	free(m);
}

/* Each use of the slot with a handle gets a new handle, and older ones do not resolve.  Uses without a handle do not
 * count. */
TEST(a_handle_repeats_only_when_its_count_wraps)
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
		/* Releases alternately by handle and by pointer. */
		assert_int_equal(use % 2 ? lfpool_release_handle(pool, handle) : lfpool_release(pool, object),
				 LFPOOL_OK);
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		before = handle;
	}
	lfpool_destroy(pool);
}

/* The pools have the same place, one after the other.  Only their salts keep the handles apart (N3 in handle.c). */
TEST(handles_of_earlier_pools_do_not_resolve)
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
	*(void **)context = object;
}

/* Between two continuations 200 others are queued and cancelled. */
TEST(waiters_are_served_in_order_while_tickets_wrap)
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

/* The ticket was cancelled, and later continuations wait in the same cell. */
TEST(a_stale_ticket_cancels_nothing_until_tickets_wrap)
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

TEST(a_version_of_the_quarantine_repeats_after_its_width)
{
	quarantine_place place;
	struct quarantine q = {.places = 1, .place = &place};
	uint64_t before, now, changes = 0;

	store_relaxed(&place, 0);
	assert_int_equal(quarantine_take(&q, &before), SLOT_NONE);
	do {
		assert_int_equal(quarantine_put(&q, 1), SLOT_NONE);
		assert_int_equal(quarantine_take(&q, &now), 1);
		assert_int_equal(quarantine_take(&q, &now), SLOT_NONE);
		changes += 2;
	} while (now != before);
	assert_int_equal(changes, TIMES_ROUND(QUARANTINE_VERSION_BITS));
}

TEST(a_version_of_the_address_ranges_repeats_after_its_width)
{
	struct address_map ranges = {0};
	uint64_t before, changes = 0;

	assert_true(address_map_add(&ranges, 1000, 2000, &ranges));
	before = load_relaxed(&ranges.head);
	do {
		assert_true(address_map_add(&ranges, 3000, 4000, &changes));
		assert_ptr_equal(address_map_find(&ranges, 1500), &ranges);
		assert_ptr_equal(address_map_find(&ranges, 3500), &changes);
		address_map_remove(&ranges, 3000, &changes);
		assert_null(address_map_find(&ranges, 3500));
		changes += 2;
	} while (load_relaxed(&ranges.head) != before);
	assert_int_equal(changes, TIMES_ROUND(RANGES_VERSION_BITS));
}

/* Pools in one place of the list of live pools, one after the other.  Generation 0 is skipped, so that no id is 0. */
TEST(an_id_of_a_place_repeats_after_all_generations)
{
	struct lfpool_t *pool = (struct lfpool_t *)(uintptr_t)64;
	const uint64_t first = live_pools_add(pool, 0, 0);
	uint64_t id = first, pools = 0;

	assert_true(first);
	do {
		live_pools_lock();
		assert_ptr_equal(live_pools_find(id), pool);
		live_pools_unlock();
		live_pools_remove(id);
		live_pools_lock();
		assert_null(live_pools_find(id));
		live_pools_unlock();
		id = live_pools_add(pool, 0, 0);
		assert_true(id);
		assert_int_equal(live_pools_place(id), live_pools_place(first));
		pools++;
	} while (id != first);
	live_pools_remove(id);
	assert_int_equal(pools, TIMES_ROUND(REGISTRY_GENERATION_BITS) - 1);
}

/* An earlier reset cannot close the mark of a later one, unless exactly 2^bits resets have begun in between. */
TEST(only_the_latest_reset_closes_a_low_water_mark)
{
	low_water_word mark;

	store_relaxed(&mark, 0);
	for (uint64_t between = 1; between <= TIMES_ROUND(LOW_WATER_RESETS_BITS); between++) {
		const uint64_t first = low_water_open(&mark);
		uint64_t last = first;

		for (uint64_t i = 0; i < between; i++)
			last = low_water_open(&mark);
		low_water_note(&mark, 5);
		low_water_close(&mark, first);
		assert_int_equal(low_water_least(&mark), between == TIMES_ROUND(LOW_WATER_RESETS_BITS) ? 5 : 0);
		low_water_close(&mark, last);
		assert_int_equal(low_water_least(&mark), 5);
	}
}

RUN_TESTS()
