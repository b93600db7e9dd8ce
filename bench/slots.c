/* SPDX-License-Identifier: MIT */
/*
 * slots.c - the workloads "walk-ACTIVE" and "pages-KIND": what lfpool's memory is like for a program that goes through it.
 *
 * Walk         A million slots of 64 bytes of which none, one in ten (drawn) or all are active.  In ns for each slot:
 *                  for_each_ns, cursor_ns     lfpool_for_each_active(), and a cursor; a word of each object is read
 *                  by_hand_ns                 the same over an array of structs with a flag in each
 * Pages        A pool of many objects, or of 256 large ones, with the flags that say on what pages it lies.  In ns for each object:
 *                  create_ns
 *                  first_ns, faults           acquire and write a word of each; the page faults of all
 *                  read_ns                    words in random order, each read depending on the last, so that each waits for
 *                                             memory and for the TLB
 */
#include "single.h"

#include <lfpool/lfpool.h>

#include <string.h>
#include <sys/resource.h>

/* What was read goes here, so that it must be. */
static volatile uint64_t sink;

/* For one subject, since it is not about subjects. */
static bool is_ours(const struct subject *subject)
{
	return strcmp(subject->name, "lfpool-library") == 0;
}

static lfpool_t *create(size_t object_bytes, size_t capacity, uint32_t flags)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = object_bytes;
	config.capacity = capacity;
	config.flags = flags;
	return lfpool_create(&pool, &config) == LFPOOL_OK ? pool : must(NULL);
}

/* Nanoseconds since then for each of `count`; from now on `since` is now. */
static double lap(uint64_t *since, size_t count)
{
	const uint64_t before = *since;

	*since = now_ns();
	return (double)(*since - before) / (double)count;
}

/* ---- Walks ---- */

#define SLOTS 1000000

/* By hand. */
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

/* The visitor by pointer, as the pool calls it. */
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

bool walk_fits(const struct single *single, const struct subject *subject, size_t object_bytes)
{
	(void)single;
	return is_ours(subject) && object_bytes == 64;
}

void walk_run(gbench_state_t *state, const struct cell *cell)
{
	const unsigned one_in = cell->single->times;
	lfpool_t *pool = create(sizeof(struct flagged), SLOTS, 0);
	struct flagged *array = must(calloc(SLOTS, sizeof(*array)));
	void **objects = must(calloc(SLOTS, sizeof(*objects)));
	struct random random = random_for(1, 0);
	uint64_t sum = 0, since;

	(void)lfpool_acquire_bulk(pool, objects, SLOTS);
	/* All of it is in RAM. */
	memset(array, 1, SLOTS * sizeof(*array));
	for (size_t i = 0; i < SLOTS; i++) {
		memset(objects[i], 1, sizeof(*array));
		array[i].active = one_in && random_below(&random, one_in) == 0;
		if (!array[i].active)
			(void)lfpool_release(pool, objects[i]);
	}
	since = now_ns();
	(void)lfpool_for_each_active(pool, read_word, &sum);
	gbench_counter(state, "for_each_ns", lap(&since, SLOTS));
	by_cursor(pool, &sum);
	gbench_counter(state, "cursor_ns", lap(&since, SLOTS));
	by_hand(array, read_word, &sum);
	gbench_counter(state, "by_hand_ns", lap(&since, SLOTS));
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

bool pages_fits(const struct single *single, const struct subject *subject, size_t object_bytes)
{
	(void)single;
	return is_ours(subject) && (object_bytes == 64 || object_bytes == 4096);
}

void pages_run(gbench_state_t *state, const struct cell *cell)
{
	const size_t count = cell->object_bytes == 64 ? cell->single->capacity : 256;
	void **objects = must(calloc(count, sizeof(*objects)));
	struct random random = random_for(2026, 0);
	uint64_t since = now_ns();
	lfpool_t *pool = create(cell->object_bytes, count, cell->single->flags);
	long before = faults();

	gbench_counter(state, "create_ns", lap(&since, count));
	for (size_t i = 0; i < count; i++) {
		objects[i] = must(lfpool_acquire(pool));
		*(uint64_t *)objects[i] = i;
	}
	gbench_counter(state, "first_ns", lap(&since, count));
	gbench_counter(state, "faults", (double)(faults() - before));
	shuffle(objects, count, &random);
	/* Each object, in this order, holds the address of the next. */
	for (size_t i = 0; i < count; i++)
		*(void **)objects[i] = objects[(i + 1) % count];

	void **at = objects[0];

	since = now_ns();
	for (size_t i = 0; i < count; i++)
		at = *at;
	sink = (uintptr_t)at;
	gbench_counter(state, "read_ns", lap(&since, count));
	free(objects);
	(void)lfpool_destroy(pool);
}
