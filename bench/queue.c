/* SPDX-License-Identifier: MIT */
/*
 * queue.c - lfpool-bench-queue: what it costs to ask, and to serve, while so many wait.
 *
 * Idea         A pool of one object, which is out.  That many continuations wait; then, in turns, one more is handed in, and
 *              the object is released: the oldest gets it.  So the queue stays as long as it is, and everyone in it has been
 *              behind all of it.  One thread; medians of each call by itself, with a look at the clock.
 * Usage        lfpool-bench-queue [TURNS]
 */
#include "subject.h"

#include <lfpool/lfpool.h>

#define TURNS_MAX 1000000
static const uint32_t lengths[] = {1, 8, 100, 1000, 16000};

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median(uint64_t *ns, size_t count)
{
	qsort(ns, count, sizeof(*ns), by_size);
	return (double)ns[count / 2];
}

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

static void figures_of(uint32_t length, size_t turns)
{
	uint64_t *asked = must(calloc(turns, sizeof(*asked))), *served = must(calloc(turns, sizeof(*served)));
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.object_size = 64;
	config.capacity = 1;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		must(NULL);

	void *object = must(lfpool_acquire(pool));

	for (uint32_t i = 1; i < length; i++)
		ask(pool, &object);
	for (size_t i = 0; i < turns; i++) {
		const uint64_t begin = now_ns();

		ask(pool, &object);

		const uint64_t between = now_ns();

		(void)lfpool_release(pool, object);
		asked[i] = between - begin;
		served[i] = now_ns() - between;
	}
	printf("%7u %10.0f %10.0f\n", length, median(asked, turns), median(served, turns));
	/* Those that wait are called with NULL. */
	(void)lfpool_destroy(pool);
	free(asked);
	free(served);
}

int main(int argc, char **argv)
{
	unsigned long turns = 10001;
	size_t numbers;

	if (argc > 2 || (argc == 2 && !parse_numbers(argv[1], 1, TURNS_MAX, &turns, 1, &numbers))) {
		fputs("usage: lfpool-bench-queue [TURNS]\n", stderr);
		return 2;
	}
	printf("waiting     ask ns   serve ns\n");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		figures_of(lengths[i], turns);
	return 0;
}
