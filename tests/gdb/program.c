/* SPDX-License-Identifier: MIT */
/* program.c - has pools of every backend in use by several threads, prints their lfpool_stats(), and stops in
 * at_rest(), where test_gdb looks for the same numbers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lfpool/debug.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"

enum { THREADS = 3, HANDLES = 40, POOLS = 4 };

static const struct {
	const char *name, *debug;
	size_t object_size, capacity, max_capacity;
	lfpool_backend_t backend;
} kinds[POOLS] = {
	{"ships", "owner", 48, 100, 10000, LFPOOL_BACKEND_LOCKFREE},
	{"plain", NULL, 16, 5000, 5000, LFPOOL_BACKEND_LOCKFREE},
	{"by_mutex", NULL, 100, 300, 300, LFPOOL_BACKEND_MUTEX},
	{"by_malloc", NULL, 64, 1000, 1000, LFPOOL_BACKEND_MALLOC},
};
static lfpool_t *pools[POOLS];
static pthread_barrier_t used, over;
/* Used by test_gdb's expressions. */
char *held, *released, *in_heap;

void at_rest(void);

__attribute__((noinline)) void at_rest(void)
{
	__asm__ volatile("" ::: "memory");
}

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static void *worker(void *number)
{
	for (int i = 0; i < POOLS; i++) {
		void *objects[30];

		for (int n = 0; n < 30; n++) {
			objects[n] = must(lfpool_acquire(pools[i]));
			lfpool_label(pools[i], objects[n], number ? NULL : "first worker");
		}
		for (int n = 0; n < 20; n++)
			(void)lfpool_release(pools[i], objects[n]);
	}
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&over);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < POOLS; i++) {
		lfpool_config_t config = LFPOOL_CONFIG_INIT;

		config.name = kinds[i].name;
		config.debug = kinds[i].debug;
		config.object_size = kinds[i].object_size;
		config.capacity = kinds[i].capacity;
		config.max_capacity = kinds[i].max_capacity;
		config.growth_step = kinds[i].max_capacity - kinds[i].capacity;
		config.backend = kinds[i].backend;
		config.cache_capacity = 16;
		if (lfpool_create(&pools[i], &config) != LFPOOL_OK)
			abort();
	}
	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&over, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, i ? &threads[i] : NULL);
	/* More caches than a lot has, some of them with more than their first magazine. */
	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < HANDLES; n++) {
			lfpool_cache_t *cache = must(lfpool_cache_create(pools[i]));
			void *objects[100];

			for (int k = 0; k < 10 + 2 * n; k++)
				objects[k] = must(lfpool_cache_acquire(cache));
			for (int k = 0; k < 9 + 2 * n; k++)
				(void)lfpool_cache_release(cache, objects[k]);
			lfpool_label(pools[i], objects[9 + 2 * n], "handles");
			if (n == HANDLES - 1) {
				held = objects[9 + 2 * n];
				released = objects[8 + 2 * n];
			}
		}
	}
	in_heap = must(lfpool_acquire(pools[3]));
	pthread_barrier_wait(&used);
	for (int i = 0; i < POOLS; i++) {
		lfpool_stats_t stats;

		if (lfpool_stats(pools[i], &stats) != LFPOOL_OK)
			abort();
		printf("%s %zu %zu %zu %zu\n", kinds[i].name, kinds[i].object_size, stats.capacity, stats.active,
		       stats.cached);
	}
	fflush(stdout);
	at_rest();
	pthread_barrier_wait(&over);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
