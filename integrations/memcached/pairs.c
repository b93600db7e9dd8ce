/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - what an object from memcached's cache costs, through its own interface, with no server around it.
 *
 * Compiled once against memcached's own cache and once against ours:  cc -IDIRECTORY pairs.c DIRECTORY/cache.o
 *
 *     pairs WORKLOAD THREADS MILLISECONDS      prints ns of processor time for each object, allocated, written to and freed
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

struct worker {
	pthread_t thread;
	cache_t *cache;
	struct ring *ring; /* handed: from one to the next */
	bool frees;        /* handed: this is the next     */
	uint64_t objects;
};

static int stop;
static pthread_barrier_t start;

static bool running(void)
{
	/* relaxed: it is only a sign to end. */
	return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* Holds what was allocated, so that it is written to. */
static void *use(void *object)
{
	if (!object) {
		fprintf(stderr, "pairs: no object\n");
		exit(3);
	}
	*(volatile char *)object = 1;
	return object;
}

static void *own(void *argument)
{
	struct worker *worker = argument;
	void *held[AT_ONCE];

	pthread_barrier_wait(&start);
	for (; running(); worker->objects += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			held[i] = use(do_cache_alloc(worker->cache));
		for (int i = 0; i < AT_ONCE; i++)
			do_cache_free(worker->cache, held[i]);
	}
	return NULL;
}

static void *shared(void *argument)
{
	struct worker *worker = argument;
	void *held[AT_ONCE];

	pthread_barrier_wait(&start);
	for (; running(); worker->objects += AT_ONCE) {
		for (int i = 0; i < AT_ONCE; i++)
			held[i] = use(cache_alloc(worker->cache));
		for (int i = 0; i < AT_ONCE; i++)
			cache_free(worker->cache, held[i]);
	}
	return NULL;
}

static void *handed(void *argument)
{
	struct worker *worker = argument;
	unsigned spins = 0;

	pthread_barrier_wait(&start);
	while (running()) {
		if (worker->frees) {
			void *object = ring_try_pop(worker->ring);

			if (object) {
				cache_free(worker->cache, object);
				worker->objects++;
			} else {
				ring_pause(&spins);
			}
		} else {
			void *object = use(cache_alloc(worker->cache));

			while (running() && !ring_try_push(worker->ring, object))
				ring_pause(&spins);
		}
	}
	return NULL;
}

/* Of all threads so far. */
static double processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static cache_t *new_cache(void)
{
	cache_t *cache = cache_create("pairs", OBJECT_SIZE, sizeof(char *));

	if (!cache)
		exit(3);
	return cache;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST_THREADS];
	void *(*run)(void *) = NULL;
	unsigned long threads = 0, milliseconds = 0;
	uint64_t objects = 0;
	size_t count;

	if (argc == 4)
		run = !strcmp(argv[1], "own")      ? own
		      : !strcmp(argv[1], "shared") ? shared
		      : !strcmp(argv[1], "handed") ? handed
						   : NULL;
	if (!run || !parse_numbers(argv[2], 1, MOST_THREADS, &threads, 1, &count) || (run == handed && threads % 2) ||
	    !parse_numbers(argv[3], 1, 60000, &milliseconds, 1, &count)) {
		fprintf(stderr, "usage: pairs own|shared|handed THREADS MILLISECONDS   (handed: an even number of threads)\n");
		return 2;
	}
	pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
	for (unsigned long i = 0; i < threads; i++) {
		const bool new = run == own || i == 0 || (run == handed && i % 2 == 0);

		workers[i].cache = new ? new_cache() : workers[i - 1].cache;
		workers[i].frees = i % 2;
		if (run == handed)
			workers[i].ring = i % 2 ? workers[i - 1].ring : aligned_alloc(RING_LINE, sizeof(struct ring));
		if (run == handed && !workers[i].ring)
			return 3;
		if (run == handed && i % 2 == 0)
			memset(workers[i].ring, 0, sizeof(struct ring));
		thread_start(&workers[i].thread, run, &workers[i]);
	}
	pthread_barrier_wait(&start);
	nanosleep(&(struct timespec){(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000}, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		objects += workers[i].objects;
	}
	printf("%.1f\n", processor_ns() / (double)objects);
	return 0;
}
