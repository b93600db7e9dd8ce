/* SPDX-License-Identifier: MIT */
/*
 * walk.c - lfpool-bench-walk: what a walk costs for each slot, and what a handle costs.
 *
 * Idea         A million slots of which none, one in ten (drawn) or all are active; walked by lfpool_for_each_active(),
 *              by a cursor, and, beside them, what is written by hand: an array of structs with a flag in each.  The
 *              visitor counts, or reads a word of the object.  Then handles: of objects in random order.  The least
 *              of several rounds is printed: the rest is disturbance.  One thread.
 * Usage        lfpool-bench-walk [SLOTS [ROUNDS]]
 */
#include "subject.h"

#include <lfpool/lfpool.h>

#include <string.h>

#define OBJECT_BYTES 64
#define SLOTS_MAX 100000000

static size_t slots = 1000000, rounds = 15;
/* What was read goes here, so that it must be. */
static volatile uint64_t sink;

/* By hand. */
struct flagged {
	uint64_t value;
	bool active;
	char rest[OBJECT_BYTES - 2 * sizeof(uint64_t)];
};

/* ---- What walks ---- */

struct walked {
	lfpool_t *pool;
	struct flagged *array;
	uint64_t sum;
};

static bool count(void *context, void *object)
{
	struct walked *walked = context;

	(void)object;
	walked->sum++;
	return true;
}

static bool read_word(void *context, void *object)
{
	struct walked *walked = context;

	walked->sum += *(const uint64_t *)object;
	return true;
}

static void pool_counted(struct walked *walked)
{
	(void)lfpool_for_each_active(walked->pool, count, walked);
}

static void pool_read(struct walked *walked)
{
	(void)lfpool_for_each_active(walked->pool, read_word, walked);
}

static void cursor_read(struct walked *walked)
{
	const uint64_t *object;
	lfpool_cursor_t cursor;

	lfpool_cursor_open(&cursor, walked->pool);
	while ((object = lfpool_cursor_next(&cursor)))
		walked->sum += *object;
}

/* The visitor by pointer, as the pool calls it. */
static void array_each(struct walked *walked, lfpool_visit_t visit)
{
	for (size_t i = 0; i < slots; i++)
		if (walked->array[i].active && !visit(walked, &walked->array[i]))
			return;
}

static void array_counted(struct walked *walked)
{
	lfpool_visit_t volatile visit = count;

	array_each(walked, visit);
}

static void array_read(struct walked *walked)
{
	lfpool_visit_t volatile visit = read_word;

	array_each(walked, visit);
}

static const struct {
	const char *name;
	void (*walk)(struct walked *walked);
} walks[] = {
	{"lfpool_for_each_active, counted", pool_counted},  {"lfpool_for_each_active, read", pool_read},
	{"lfpool_cursor_next, read", cursor_read},          {"array of structs with a flag, counted", array_counted},
	{"array of structs with a flag, read", array_read},
};
#define WALKS (sizeof(walks) / sizeof(walks[0]))

/* ---- Figures ---- */

static double least_ns(void (*walk)(struct walked *walked), struct walked *walked)
{
	uint64_t least = UINT64_MAX;

	for (size_t round = 0; round < rounds; round++) {
		const uint64_t start = now_ns();

		walked->sum = 0;
		walk(walked);
		sink = walked->sum;
		const uint64_t took = now_ns() - start;

		least = took < least ? took : least;
	}
	return (double)least;
}

static void **all_objects(lfpool_t *pool)
{
	void **objects = must(calloc(slots, sizeof(*objects)));

	if (lfpool_acquire_bulk(pool, objects, slots) != slots)
		exit(3);
	/* The objects are in memory, as the array is. */
	for (size_t i = 0; i < slots; i++)
		memset(objects[i], 1, OBJECT_BYTES);
	return objects;
}

/* Leaves one of `of` objects active, drawn; 0: none, 1: all. */
static void thin_out(struct walked *walked, void **objects, uint32_t of)
{
	struct random random = random_for(1, 0);

	for (size_t i = 0; i < slots; i++) {
		const bool active = of && random_below(&random, of) == 0;

		walked->array[i].active = active;
		if (!active && lfpool_release(walked->pool, objects[i]) != LFPOOL_OK)
			exit(3);
	}
}

static void figures_of_walks(lfpool_t *(*open)(void))
{
	static const uint32_t densities[] = {0, 10, 1};
	double ns[3][WALKS];

	for (size_t d = 0; d < 3; d++) {
		struct walked walked = {.pool = open(), .array = must(calloc(slots, sizeof(struct flagged)))};
		void **objects = all_objects(walked.pool);

		memset(walked.array, 1, slots * sizeof(struct flagged));
		thin_out(&walked, objects, densities[d]);
		for (size_t w = 0; w < WALKS; w++)
			ns[d][w] = least_ns(walks[w].walk, &walked);
		free(objects);
		free(walked.array);
		(void)lfpool_destroy(walked.pool);
	}
	printf("ms per million slots, %zu slots of %d bytes, active:   none   1 in 10       all\n", slots, OBJECT_BYTES);
	for (size_t w = 0; w < WALKS; w++)
		printf("%-50s %10.3f %9.3f %9.3f\n", walks[w].name, ns[0][w] / (double)slots, ns[1][w] / (double)slots,
		       ns[2][w] / (double)slots);
}

/* Each object once, in random order: of many, where memory decides, and of few. */
static void figures_of_handles(lfpool_t *pool, void **objects, lfpool_handle_t *handles, size_t number)
{
	struct random random = random_for(2, 0);
	uint64_t least[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, start[5];

	shuffle(objects, number, &random);
	for (size_t round = 0; round < rounds; round++) {
		uint64_t sum = 0;

		start[0] = now_ns();
		for (size_t i = 0; i < number; i++)
			handles[i] = lfpool_handle_of(pool, objects[i]);
		start[1] = now_ns();
		for (size_t i = 0; i < number; i++)
			sum += (uintptr_t)lfpool_resolve(pool, handles[i]);
		start[2] = now_ns();
		for (size_t i = 0; i < number; i++)
			sum += lfpool_index_of(pool, objects[i]);
		start[3] = now_ns();
		for (size_t i = 0; i < number; i++)
			sum += lfpool_of(objects[i]) == pool;
		start[4] = now_ns();
		sink = sum;
		for (int f = 0; f < 4; f++)
			least[f] = start[f + 1] - start[f] < least[f] ? start[f + 1] - start[f] : least[f];
	}
	printf("ns per call, %8zu objects in random order: handle_of %5.1f  resolve %5.1f  index_of %5.1f  of %5.1f\n", number,
	       (double)least[0] / (double)number, (double)least[1] / (double)number, (double)least[2] / (double)number,
	       (double)least[3] / (double)number);
}

static lfpool_t *open_pool(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = OBJECT_BYTES;
	config.capacity = slots;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		must(NULL);
	return pool;
}

/* A pool from an address, among pools in random order. */
static double ns_among(size_t pools)
{
	enum { LOOKS = 20000 };
	struct random random = random_for(3, 0);
	lfpool_t **pool = must(calloc(pools, sizeof(lfpool_t *)));
	void **object = must(calloc(pools, sizeof(void *)));
	uint64_t least = UINT64_MAX, sum = 0;

	for (size_t i = 0; i < pools; i++) {
		lfpool_config_t config = LFPOOL_CONFIG_INIT;

		config.object_size = OBJECT_BYTES;
		config.capacity = 16;
		if (lfpool_create(&pool[i], &config) != LFPOOL_OK)
			must(NULL);
		object[i] = must(lfpool_acquire(pool[i]));
	}
	for (size_t round = 0; round < rounds; round++) {
		const uint64_t start = now_ns();

		for (int i = 0; i < LOOKS; i++)
			sum += (uintptr_t)lfpool_of(object[random_below(&random, (uint32_t)pools)]);
		const uint64_t took = now_ns() - start;

		least = took < least ? took : least;
	}
	sink = sum;
	for (size_t i = 0; i < pools; i++) {
		if (lfpool_release_self(object[i]) != LFPOOL_OK || lfpool_destroy(pool[i]) != 0)
			exit(3);
	}
	free(object);
	free(pool);
	return (double)least / LOOKS;
}

int main(int argc, char **argv)
{
	unsigned long number;
	size_t numbers;

	if (argc > 3 || (argc > 1 && !parse_numbers(argv[1], 1, SLOTS_MAX, &number, 1, &numbers))) {
		fputs("usage: lfpool-bench-walk [SLOTS [ROUNDS]]\n", stderr);
		return 2;
	}
	if (argc > 1)
		slots = number;
	if (argc > 2 && parse_numbers(argv[2], 1, 1000000, &number, 1, &numbers))
		rounds = number;
	figures_of_walks(open_pool);

	lfpool_t *pool = open_pool();
	void **objects = all_objects(pool);
	lfpool_handle_t *handles = must(calloc(slots, sizeof(*handles)));

	figures_of_handles(pool, objects, handles, slots < 1000 ? slots : 1000);
	figures_of_handles(pool, objects, handles, slots);
	free(handles);
	free(objects);
	(void)lfpool_destroy(pool);
	printf("ns per call, lfpool_of among 1 / 8 / 64 / 512 pools in random order, the drawing included: "
	       "%.1f %.1f %.1f %.1f\n",
	       ns_among(1), ns_among(8), ns_among(64), ns_among(512));
	return 0;
}
