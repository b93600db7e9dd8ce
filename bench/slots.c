/* SPDX-License-Identifier: MIT */
/*
 * slots.c - the workloads "walk-ACTIVE", "pages-KIND" and "queue-WAITING", which only lfpool has.
 *
 * Walk         A million slots of 64 bytes, of which none, a random tenth or all are active.  In ns per slot:
 *                 for_each_ns, cursor_ns     lfpool_for_each_active(), and a cursor; reads a word of each object
 *                 by_hand_ns                 the same walk over an array of structs with a flag in each
 * Pages        A pool of many objects, or of 256 large ones, with flags for the kind of pages.  In ns per object:
 *                 create_ns
 *                 first_ns, faults           acquire and write a word of each; the page faults of all
 *                 read_ns                    words in random order, each read depending on the last, so that each waits
 *                                            for memory and for the TLB
 * Queue        A pool of one object, which is out, and `count` waiting continuations.  Alternately a continuation
 *              is added, and the object is released to the oldest one.  So the queue's length stays constant, and
 *              every continuation that is measured has waited behind the whole queue.  Medians of single calls,
 *              including a read of the clock: ask_ns, serve_ns.
 */
#include "team.h"

#include <lfpool/lfpool.h>
#include <lfpool/wait.h>
#include <lfpool/walk.h>

#include <string.h>
#include <sys/resource.h>

/* A sink for the values read, so that the reads must happen. */
static volatile uint64_t sink;

static lfpool_t *create(size_t object_bytes, size_t capacity, uint32_t flags)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = object_bytes;
	config.capacity = capacity;
	config.flags = flags;
	return lfpool_create(&pool, &config) == LFPOOL_OK ? pool : must(NULL);
}

/* Nanoseconds since `since`, divided by `count`; then sets `since` to now. */
static double lap(uint64_t *since, size_t count)
{
	const uint64_t before = *since;

	*since = now_ns();
	return (double)(*since - before) / (double)count;
}

/* ---- Walks ---- */

#define SLOTS 1000000

/* An element of the array that is walked by hand. */
struct flagged {
	uint64_t value;
	bool active;
	char rest[48];
};

static bool read_word(void *sum, void *object)
{
	*(uint64_t *)sum += *(const uint64_t *)object;
	return true;
}

/* The visitor is called by pointer, as the pool does. */
static void by_hand(struct flagged *array, lfpool_visit_t volatile visit, uint64_t *sum)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (array[i].active && !visit(sum, &array[i]))
			return;
}

static void by_cursor(lfpool_t *pool, uint64_t *sum)
{
	lfpool_cursor_t cursor;
	const uint64_t *object;

	lfpool_cursor_open(&cursor, pool);
	while ((object = lfpool_cursor_next(&cursor)))
		*sum += *object;
}

void walk_run(const struct cell *cell)
{
	const unsigned one_in = cell->workload->times;
	lfpool_t *pool = create(sizeof(struct flagged), SLOTS, 0);
	struct flagged *array = must(calloc(SLOTS, sizeof(*array)));
	void **objects = must(calloc(SLOTS, sizeof(*objects)));
	struct random random = random_for(1, 0);
	uint64_t sum = 0, since;

	(void)lfpool_acquire_bulk(pool, objects, SLOTS);
	/* Brings the array into RAM. */
	memset(array, 1, SLOTS * sizeof(*array));
	for (size_t i = 0; i < SLOTS; i++) {
		memset(objects[i], 1, sizeof(*array));
		array[i].active = one_in && random_below(&random, one_in) == 0;
		if (!array[i].active)
			(void)lfpool_release(pool, objects[i]);
	}
	since = now_ns();
	(void)lfpool_for_each_active(pool, read_word, &sum);
	say_figure("for_each_ns", lap(&since, SLOTS));
	by_cursor(pool, &sum);
	say_figure("cursor_ns", lap(&since, SLOTS));
	by_hand(array, read_word, &sum);
	say_figure("by_hand_ns", lap(&since, SLOTS));
	sink = sum;
	free(objects);
	free(array);
	(void)lfpool_destroy(pool);
}

/* ---- Pages ---- */

static long faults(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

void pages_run(const struct cell *cell)
{
	const size_t count = cell->workload->count;
	void **objects = must(calloc(count, sizeof(*objects)));
	struct random random = random_for(2026, 0);
	uint64_t since = now_ns();
	lfpool_t *pool = create(cell->object_bytes, count, cell->workload->flags);
	long before = faults();

	say_figure("create_ns", lap(&since, count));
	for (size_t i = 0; i < count; i++) {
		objects[i] = must(lfpool_acquire(pool));
		*(uint64_t *)objects[i] = i;
	}
	say_figure("first_ns", lap(&since, count));
	say_figure("faults", (double)(faults() - before));

	uint32_t *order = order_make(count, &random);

	/* Each object, in this order, gets the address of the next. */
	for (size_t i = 0; i < count; i++)
		*(void **)objects[order[i]] = objects[order[(i + 1) % count]];

	void **at = objects[order[0]];

	since = now_ns();
	for (size_t i = 0; i < count; i++)
		at = *at;
	sink = (uintptr_t)at;
	say_figure("read_ns", lap(&since, count));
	free(order);
	free(objects);
	(void)lfpool_destroy(pool);
}

/* ---- The queue ---- */

static void keep(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

static void ask(lfpool_t *pool, void **object)
{
	if (lfpool_acquire_async(pool, keep, object, NULL) != LFPOOL_OK)
		must(NULL);
}

void queue_run(const struct cell *cell)
{
	const size_t turns = cell->workload->times;
	uint64_t *asked = must(calloc(turns, sizeof(*asked))), *served = must(calloc(turns, sizeof(*served)));
	lfpool_t *pool = create(cell->object_bytes, 1, 0);
	void *object = must(lfpool_acquire(pool));

	for (size_t i = 1; i < cell->workload->count; i++)
		ask(pool, &object);
	for (size_t i = 0; i < turns; i++) {
		const uint64_t begin = now_ns();

		ask(pool, &object);

		const uint64_t between = now_ns();

		(void)lfpool_release(pool, object);
		asked[i] = between - begin;
		served[i] = now_ns() - between;
	}
	say_figure("ask_ns", median(asked, turns));
	say_figure("serve_ns", median(served, turns));
	/* Calls the waiting continuations with NULL. */
	(void)lfpool_destroy(pool);
	free(asked);
	free(served);
}
