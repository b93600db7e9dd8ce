/* SPDX-License-Identifier: MIT */
/*
 * test_bulk.c - the bulk calls: partial results, NULLs passed over, refusals in the middle, no write beyond the room
 * given; states that are changed by the word.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "lfpool/inline.h"

#include "../support/support.h"

#include "lfpool/handle.h"

#include <stdatomic.h>

static void count_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)misuse;
	++*(size_t *)context;
}

static lfpool_t *quiet_pool(size_t object_size, size_t capacity, size_t *refused_out)
{
	lfpool_config_t config = config_of(object_size, capacity);

	config.hooks.context = refused_out;
	config.hooks.misuse = count_misuse;
	return pool_with(&config);
}

TEST(acquire_gives_all_that_is_there)
{
	static const size_t capacities[] = {1, 2, 5, 31, 32, 100, 1000, 5000};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		size_t capacity = capacities[i];

		for (size_t wanted = 0; wanted <= capacity + 3; wanted += wanted / 4 + 1) {
			lfpool_t *pool = pool_of(48, capacity);
			void **objects = pointers_new(capacity + 4);
			size_t expected = wanted < capacity ? wanted : capacity;

			objects[wanted] = &objects;
			assert_int_equal(lfpool_acquire_bulk(pool, objects, wanted), expected);
			assert_ptr_equal(objects[wanted], &objects);
			assert_int_equal(lfpool_active_count(pool), expected);
			for (size_t k = 0; k < expected; k++) {
				assert_true(lfpool_in_use(pool, objects[k]));
				stamp_write(objects[k], 48, k);
			}
			for (size_t k = 0; k < expected; k++)
				assert_true(stamp_holds(objects[k], 48, k));
			/* The rest, then nothing. */
			assert_int_equal(lfpool_acquire_bulk(pool, objects + expected, capacity + 1 - expected),
					 capacity - expected);
			assert_int_equal(lfpool_acquire_bulk(pool, objects + capacity, 1), 0);
			assert_true(sort_disjoint(objects, capacity, 48));
			assert_int_equal(lfpool_release_bulk(pool, objects, capacity), capacity);
			assert_int_equal(lfpool_active_count(pool), 0);
			lfpool_destroy(pool);
			free(objects);
		}
	}
}

TEST(release_passes_over_null)
{
	size_t refused = 0;
	lfpool_t *pool = quiet_pool(16, 10, &refused);
	void *objects[10];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 10), 10);
	void *const mixed[] = {NULL, objects[0], NULL, NULL, objects[1], objects[2], NULL};
	assert_int_equal(lfpool_release_bulk(pool, mixed, COUNT(mixed)), 3);
	assert_int_equal(lfpool_active_count(pool), 7);
	void *const nulls[] = {NULL, NULL};
	assert_int_equal(lfpool_release_bulk(pool, nulls, 2), 0);
	assert_int_equal(lfpool_release_bulk(pool, nulls, 0), 0);
	assert_int_equal(refused, 0);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	assert_int_equal(lfpool_destroy(pool), 7);
}

TEST(release_goes_on_after_a_refusal)
{
	size_t refused = 0;
	lfpool_t *pool = quiet_pool(16, 10, &refused);
	void *objects[10];
	int stranger;

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 10), 10);
	assert_int_equal(lfpool_release(pool, objects[9]), LFPOOL_OK);
	void *const mixed[] = {
		&stranger,            /* foreign          */
		objects[0],           /* fine             */
		moved(objects[1], 1), /* interior         */
		objects[1],           /* fine             */
		objects[9],           /* free already     */
		objects[0],           /* twice in here    */
		NULL,                 /* nothing          */
		objects[2],           /* fine             */
	};
	assert_int_equal(lfpool_release_bulk(pool, mixed, COUNT(mixed)), 3);
	assert_int_equal(refused, 4);
	assert_int_equal(lfpool_misuse_count(pool), 4);
	assert_int_equal(lfpool_active_count(pool), 6);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(lfpool_in_use(pool, objects[i]), i >= 3 && i != 9);
	assert_int_equal(lfpool_release_bulk(pool, objects + 3, 6), 6);
	require_whole(pool, 16);
	lfpool_destroy(pool);
}

TEST(release_leaves_the_list_alone)
{
	lfpool_t *pool = pool_of(16, 600);
	void *objects[600], *copy[600];

	assert_int_equal(lfpool_acquire_bulk(pool, objects, 600), 600);
	memcpy(copy, objects, sizeof(copy));
	assert_int_equal(lfpool_release_bulk(pool, objects, 600), 600);
	assert_memory_equal(objects, copy, sizeof(copy));
	lfpool_destroy(pool);
}

/* Single and bulk calls, and calls through a cache, are one pool. */
TEST(bulk_and_single_mix)
{
	struct random r = random_for(test_seed("bulk_and_single_mix"), 0);
	lfpool_t *pool = pool_of(24, 300);
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *held[300];
	size_t count = 0;

	assert_non_null(cache);
	for (int step = 0; step < 20000; step++) {
		size_t many = random_below(&r, 64), taken;
		void *object;

		switch (random_below(&r, 6)) {
		case 0:
			taken = lfpool_acquire_bulk(pool, held + count, many < 300 - count ? many : 300 - count);
			assert_int_equal(taken, many < 300 - count ? many : 300 - count);
			count += taken;
			break;
		case 1:
			many = many < count ? many : count;
			assert_int_equal(lfpool_release_bulk(pool, held + count - many, many), many);
			count -= many;
			break;
		case 2:
		case 3:
			object = step % 2 ? lfpool_acquire(pool) : lfpool_cache_acquire(cache);
			assert_int_equal(object != NULL, count < 300);
			if (object)
				held[count++] = object;
			break;
		default:
			if (count) {
				size_t k = random_below(&r, (uint32_t)count);

				object = held[k];
				held[k] = held[--count];
				lfpool_status_t status = step % 2 ? lfpool_release(pool, object)
								  : lfpool_cache_release(cache, object);
				assert_int_equal(status, LFPOOL_OK);
			}
		}
		if (step % 16 == 0)
			assert_int_equal(lfpool_active_count(pool), count);
	}
	assert_true(sort_disjoint(held, count, 24));
	lfpool_cache_destroy(cache);
	assert_int_equal(lfpool_destroy(pool), count);
}

/* Through a cache, on every backend and with every flag: the same. */
TEST(through_a_cache)
{
	static const uint32_t flags[] = {0, LFPOOL_CHECK_RACES, LFPOOL_ZERO};

	for (unsigned backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		for (size_t f = 0; f < COUNT(flags); f++) {
			lfpool_config_t config = config_of(32, 1000);
			void *objects[1001];

			config.backend = (lfpool_backend_t)backend;
			config.flags = flags[f];
			lfpool_t *pool = pool_with(&config);
			lfpool_cache_t *cache = lfpool_cache_create(pool);

			for (size_t wanted = 1; wanted <= 1001; wanted += wanted / 3 + 1) {
				size_t expected = wanted < 1000 ? wanted : 1000;

				assert_int_equal(lfpool_cache_acquire_bulk(cache, objects, wanted), expected);
				assert_int_equal(lfpool_active_count(pool), expected);
				assert_true(sort_disjoint(objects, expected, 32));
				for (size_t i = 0; i < expected; i++) {
					if (flags[f] == LFPOOL_ZERO)
						assert_int_equal(*(char *)objects[i], 0);
					*(char *)objects[i] = 1;
				}
				/* One stays out, a NULL takes its place. */
				void *kept = objects[expected / 2];

				objects[expected / 2] = NULL;
				assert_int_equal(lfpool_cache_release_bulk(cache, objects, expected), expected - 1);
				assert_int_equal(lfpool_active_count(pool), 1);
				assert_int_equal(lfpool_cache_release_bulk(cache, &kept, 1), 1);
				assert_int_equal(lfpool_active_count(pool), 0);
			}
			lfpool_cache_destroy(cache);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
	}
}

/* The hook may use the very cache that reports to it. */
struct meddler {
	lfpool_cache_t *cache;
	size_t called;
};

static void meddle(void *context, const lfpool_misuse_t *misuse)
{
	struct meddler *meddler = context;
	void *objects[5];

	(void)misuse;
	meddler->called++;
	assert_int_equal(lfpool_cache_acquire_bulk(meddler->cache, objects, 5), 5);
	assert_int_equal(lfpool_cache_release_bulk(meddler->cache, objects, 5), 5);
}

TEST(the_hook_may_use_the_cache)
{
	struct meddler meddler = {0};
	lfpool_config_t config = config_of(32, 64);
	void *objects[32];

	config.hooks.context = &meddler;
	config.hooks.misuse = meddle;
	lfpool_t *pool = pool_with(&config);
	meddler.cache = lfpool_cache_create(pool);
	assert_int_equal(lfpool_cache_acquire_bulk(meddler.cache, objects, 32), 32);
	objects[10] = objects[3];
	objects[20] = moved(objects[20], 1);
	assert_int_equal(lfpool_cache_release_bulk(meddler.cache, objects, 32), 30);
	assert_int_equal(meddler.called, 2);
	assert_int_equal(lfpool_active_count(pool), 2);
	lfpool_cache_destroy(meddler.cache);
	assert_int_equal(lfpool_destroy(pool), 2);
}

/* ---- States by the word ---- */

enum { ROW = 64, LONGEST = 26 };

/* All objects of a pool are out, in the order of their slots; what is refused is noted. */
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

/* no-tools: where a tool is told what is free, a call has no rows; and one test writes to a state behind the tool's back. */
static void row_open(struct row *row)
{
	lfpool_config_t config = config_of(32, ROW);

	*row = (struct row){0};
	config.debug = "no-tools";
	config.hooks.context = row;
	config.hooks.misuse = note_misuse;
	row->pool = pool_with(&config);
	row->cache = lfpool_cache_create(row->pool);
	assert_int_equal(lfpool_cache_acquire_bulk(row->cache, row->object, ROW), ROW);
	assert_true(sort_disjoint(row->object, ROW, 32));
}

/* All are out again; of each it is known whether it is in use. */
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

/* `count` from the first-th on, upwards or downwards. */
static void row_list(const struct row *row, size_t first, size_t count, bool down, void **list_out)
{
	for (size_t i = 0; i < count; i++)
		list_out[i] = row->object[down ? first + count - 1 - i : first + i];
}

TEST(each_end_of_a_row)
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

/* One of a row is not as the others are: of the others each is released, of it what its own release would say. */
TEST(one_in_a_row_is_odd)
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
/* What two releases of one object at once leave behind: a free entry of an object that is in use. */
TEST(one_in_a_row_is_in_use)
{
	struct row row;
	void *list[LONGEST], *got[ROW];

	row_open(&row);
	for (size_t turn = 0; turn < 2 * 9 * LONGEST; turn++) {
		const size_t first = turn / 2 % 9, at = turn / 18;

		row_list(&row, first, LONGEST, turn % 2, list);
		assert_int_equal(lfpool_cache_release_bulk(row.cache, list, LONGEST), LONGEST);
		row.refusals = 0;
		atomic_store(&row.cache->state[lfpool_slot_at(row.cache, list[at])], LFPOOL_ACTIVE);
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

TEST(stats_count_what_is_no_hit)
{
	lfpool_t *pool = pool_of(32, 1000);
	lfpool_cache_t *one = lfpool_cache_create(pool), *other = lfpool_cache_create(pool);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	void *objects[1000];

	assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
	assert_int_equal(stats.refills + stats.drains + stats.depot_trips + stats.steals + stats.retries, 0);
	assert_int_equal(stats.exhausted, 0);
	assert_int_equal(lfpool_cache_acquire_bulk(one, objects, 1000), 1000);
	assert_null(lfpool_cache_acquire(one));
	assert_null(lfpool_cache_acquire(other));
	assert_int_equal(lfpool_cache_release_bulk(one, objects, 1000), 1000);
	assert_int_equal(lfpool_cache_acquire_bulk(other, objects, 1000), 1000);
	assert_int_equal(lfpool_stats(pool, &stats), LFPOOL_OK);
	assert_int_equal(stats.struct_size, sizeof(stats));
	/* Magazines are at most 256 slots. */
	assert_in_range(stats.refills, 4, 1000);
	assert_in_range(stats.drains, 3, 1000);
	assert_in_range(stats.steals, 1, 1000);
	assert_int_equal(stats.exhausted, 2);
	assert_int_equal(stats.retries, 0);
	assert_int_equal(lfpool_cache_release_bulk(other, objects, 1000), 1000);

	/* An older caller, a newer one, and nonsense. */
	struct {
		lfpool_stats_t known;
		uint64_t future;
	} newer = {.known = {.struct_size = sizeof(newer)}, .future = 7};
	lfpool_stats_t older = {.struct_size = offsetof(lfpool_stats_t, steals), .steals = 7};

	assert_int_equal(lfpool_stats(pool, &newer.known), LFPOOL_OK);
	assert_int_equal(newer.known.exhausted, 2);
	assert_int_equal(newer.future, 0);
	assert_int_equal(lfpool_stats(pool, &older), LFPOOL_OK);
	assert_int_equal(older.refills, stats.refills);
	assert_int_equal(older.steals, 7);
	older.struct_size = 0;
	assert_int_equal(lfpool_stats(pool, &older), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_stats(pool, NULL), LFPOOL_E_ARGUMENT);
	lfpool_destroy(pool);
}

RUN_TESTS()
