/* SPDX-License-Identifier: MIT */
/*
 * test_bulk.c - bulk calls change the states of neighbouring objects together.
 *
 * The fuzzer's model checks partial results, refusals in the middle of a list, and a hook that uses the pool during
 * the call: model_acquire_bulk() and model_release_bulk() of verify/fuzz/model.c.
 */
#define LFPOOL_INLINE_KEEP_NAMES_
#include "lfpool/inline.h"

#include "../support/support.h"

#include "lfpool/handle.h"

#include <stdatomic.h>

/* ---- States, a word at a time ---- */

enum { ROW = 64, LONGEST = 26 };

/* All objects of a pool are out, in the order of their slots; refusals are noted. */
struct row {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	void *object[ROW];
	const void *refused;
	size_t refusals;
};

static void note_misuse(void *context, const lfpool_misuse_t *misuse)
{
	struct row *row = context;

	row->refused = misuse->object;
	row->refusals++;
}

/* no-tools: if a tool knows the free objects, a call handles them singly; and one test writes a state that the tool
 * would not know. */
static void row_open(struct row *row)
{
	*row = (struct row){0};
	row->pool = POOL_OF(32, ROW, .debug = "no-tools", .hooks.context = row, .hooks.misuse = note_misuse);
	row->cache = lfpool_cache_create(row->pool);
	assert_int_equal(lfpool_cache_acquire_bulk(row->cache, row->object, ROW), ROW);
	assert_true(sort_disjoint(row->object, ROW, 32));
}

/* Acquires all again; it is known which are in use. */
static void row_refill(struct row *row)
{
	void *again[ROW];
	const size_t missing = ROW - lfpool_active_count(row->pool);

	assert_int_equal(lfpool_cache_acquire_bulk(row->cache, again, ROW), missing);
	assert_true(sort_disjoint(again, missing, 32));
	for (size_t i = 0; i < ROW; i++)
		assert_true(lfpool_in_use(row->pool, row->object[i]));
}

static void row_close(struct row *row)
{
	lfpool_cache_destroy(row->cache);
	assert_int_equal(lfpool_destroy(row->pool), ROW);
}

/* `count` from `first` on, ascending or descending. */
static void row_list(const struct row *row, size_t first, size_t count, bool down, void **list_out)
{
	for (size_t i = 0; i < count; i++)
		list_out[i] = row->object[down ? first + count - 1 - i : first + i];
}

TEST(bulk_calls_accept_runs_of_any_length)
{
	struct row row;
	void *list[LONGEST];

	row_open(&row);
	for (size_t turn = 0; turn < 2 * ROW * (LONGEST + 1); turn++) {
		const size_t first = turn / 2 % ROW, wanted = turn / 2 / ROW;
		const size_t count = wanted < ROW - first ? wanted : ROW - first;

		row_list(&row, first, count, turn % 2, list);
		assert_int_equal(lfpool_cache_release_bulk(row.cache, list, count), count);
		for (size_t i = 0; i < ROW; i++)
			assert_int_equal(lfpool_in_use(row.pool, row.object[i]), i < first || i >= first + count);
		row_refill(&row);
	}
	assert_int_equal(row.refusals, 0);
	row_close(&row);
}

/* One pointer of a row is odd: the others are released, and it gets the status of a single release. */
TEST(bulk_release_treats_one_odd_pointer_as_a_single_release_would)
{
	enum { FREE, TWICE, INTERIOR, FOREIGN, BEFORE, BEHIND, SWAPPED, MARKED, ABSENT, ODDITIES };
	struct row row;
	void *list[LONGEST];
	int stranger;

	row_open(&row);

	const size_t stride = (size_t)((char *)row.object[1] - (char *)row.object[0]);

	for (size_t turn = 0; turn < 2 * 9 * LONGEST * ODDITIES; turn++) {
		const size_t first = turn / 2 % 9, at = turn / 18 % LONGEST, odd = turn / 18 / LONGEST;
		const size_t other = (at + 1) % LONGEST;
		lfpool_handle_t handle = 0;

		row_list(&row, first, LONGEST, turn % 2, list);
		void *const object = list[at], *const neighbour = list[other];

		row.refusals = 0;
		switch (odd) {
		case FREE: assert_int_equal(lfpool_cache_release(row.cache, object), LFPOOL_OK); break;
		case TWICE: list[at] = neighbour; break;
		case INTERIOR: list[at] = moved(object, 1); break;
		case FOREIGN: list[at] = &stranger; break;
		case BEFORE: list[at] = (char *)row.object[0] - stride; break;
		case BEHIND: list[at] = (char *)row.object[ROW - 1] + stride; break;
		case SWAPPED: list[at] = neighbour, list[other] = object; break;
		case MARKED: handle = lfpool_handle_of(row.pool, object); break;
		default: list[at] = NULL;
		}

		const bool fine = odd == SWAPPED || odd == MARKED, refused = !fine && odd != ABSENT;

		assert_int_equal(lfpool_cache_release_bulk(row.cache, list, LONGEST), LONGEST - !fine);
		assert_int_equal(row.refusals, refused);
		if (refused)
			assert_ptr_equal(row.refused, list[at]);
		assert_null(lfpool_resolve(row.pool, handle));
		for (size_t i = 0; i < ROW; i++) {
			const bool listed = i >= first && i < first + LONGEST;
			const bool stays = row.object[i] == object && !fine && odd != FREE;

			assert_int_equal(lfpool_in_use(row.pool, row.object[i]), !listed || stays);
		}
		row_refill(&row);
	}
	row_close(&row);
}

#ifndef IN_BUFFER
/* The state after two simultaneous releases of one object: a free entry of an object that is in use. */
TEST(bulk_acquire_skips_an_entry_whose_object_is_in_use)
{
	struct row row;
	void *list[LONGEST], *got[ROW];

	row_open(&row);
	for (size_t turn = 0; turn < 2 * 9 * LONGEST; turn++) {
		const size_t first = turn / 2 % 9, at = turn / 18;

		row_list(&row, first, LONGEST, turn % 2, list);
		assert_int_equal(lfpool_cache_release_bulk(row.cache, list, LONGEST), LONGEST);
		row.refusals = 0;
		atomic_store(lfpool_state_at_(row.cache, list[at]), (uintptr_t)list[at]);
		assert_int_equal(lfpool_cache_acquire_bulk(row.cache, got, ROW), LONGEST - 1);
		assert_int_equal(row.refusals, 1);
		assert_ptr_equal(row.refused, list[at]);
		for (size_t i = 0; i < LONGEST - 1; i++)
			assert_ptr_not_equal(got[i], list[at]);
		assert_true(sort_disjoint(got, LONGEST - 1, 32));
		for (size_t i = 0; i < ROW; i++)
			assert_true(lfpool_in_use(row.pool, row.object[i]));
	}
	row_close(&row);
}
#endif

RUN_TESTS()
