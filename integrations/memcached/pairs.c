/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - what an object from memcached's cache costs, through its own interface, with no server around it.
 *
 * Compiled once against memcached's own cache and once against ours:  cc -IDIRECTORY pairs.c DIRECTORY/cache.o
 *
 *     pairs WORKLOAD THREADS OBJECTS      prints ns of processor time for each object, allocated, written to and freed
 *
 * own       Each thread allocates from a cache of its own and frees, with what takes no lock: memcached's read buffers.
 * shared    All threads on one cache, with what may be called from all: what memcached's cache is there for.
 * handed    One thread allocates, another frees (THREADS / 2 such pairs, each with a cache): memcached's new connections.
 */
#include <cache.h> /* not the one beside this file, but that of the cache that is measured */

#include "harness.h"
#include "ring.h"

#include <string.h>

#define MOST_THREADS 64
#define OBJECT_SIZE 64
#define AT_ONCE 8 /* objects a thread holds */

static struct worker {
	pthread_t thread;
	cache_t *cache;
	struct ring ring; /* handed: from this one to the next */
} workers[MOST_THREADS];

static unsigned long each; /* objects of each thread */

/* Holds what was allocated, so that it is written to. */
static void *use(void *object)
{
	if (!object)
		exit(3);
	*(volatile char *)object = 1;
	return object;
}

/* A loop over these two, compiled for each. */
#define HOLDS(name, allocate, give)                                     \
	static void *name(void *argument)                               \
	{                                                               \
		struct worker *worker = argument;                       \
		void *held[AT_ONCE];                                    \
                                                                        \
		for (unsigned long n = 0; n < each; n += AT_ONCE) {     \
			for (int i = 0; i < AT_ONCE; i++)               \
				held[i] = use(allocate(worker->cache)); \
			for (int i = 0; i < AT_ONCE; i++)               \
				give(worker->cache, held[i]);           \
		}                                                       \
		return NULL;                                            \
	}

HOLDS(own, do_cache_alloc, do_cache_free)
HOLDS(shared, cache_alloc, cache_free)

static void *handed(void *argument)
{
	struct worker *worker = argument;
	const bool frees = (worker - workers) % 2;
	unsigned spins = 0;

	for (unsigned long n = 0; n < each; n++) {
		void *object = frees ? NULL : use(cache_alloc(worker->cache));

		while (frees ? !(object = ring_try_pop(&worker[-1].ring)) : !ring_try_push(&worker->ring, object))
			ring_pause(&spins);
		if (frees)
			cache_free(worker->cache, object);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*run)(void *) = argc != 4                    ? NULL
			       : !strcmp(argv[1], "own")    ? own
			       : !strcmp(argv[1], "shared") ? shared
			       : !strcmp(argv[1], "handed") ? handed
							    : NULL;
	unsigned long threads = 0, objects = 0;
	size_t count;

	if (!run || !parse_numbers(argv[2], 1, MOST_THREADS, &threads, 1, &count) || (run == handed && threads % 2) ||
	    !parse_numbers(argv[3], 1000, 1000000000, &objects, 1, &count)) {
		fprintf(stderr, "usage: pairs own|shared|handed THREADS OBJECTS   (handed: an even number of threads)\n");
		return 2;
	}
	/* Two hands for each that is handed on. */
	each = (run == handed ? 2 : 1) * objects / threads;
	for (unsigned long i = 0; i < threads; i++) {
		const bool new = run == own || i == 0 || (run == handed && i % 2 == 0);

		workers[i].cache = new ? cache_create("pairs", OBJECT_SIZE, sizeof(char *)) : workers[i - 1].cache;
		if (!workers[i].cache)
			return 3;
	}
	for (unsigned long i = 0; i < threads; i++)
		thread_start(&workers[i].thread, run, &workers[i]);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	printf("%.1f\n", (double)processor_ns() / (double)objects);
	return 0;
}
