/* SPDX-License-Identifier: MIT */
/* busy.c - threads that are in the middle of calls whenever at_rest() stops the process: mostly in slow paths, births
 * of caches, growth and trims, and in the life of pools.  test_gdb looks at the pools then. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lfpool/debug.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"

enum { THREADS = 6, STOPS = 25, ROUNDS_BETWEEN = 300, KEPT = 5, BURST = 20 };

static lfpool_t *fixed, *growing, *in_malloc;
static pthread_barrier_t kept;
static atomic_ulong rounds;
static atomic_bool over;

void at_rest(void);

__attribute__((noinline)) void at_rest(void)
{
	__asm__ volatile("" ::: "memory");
}

static lfpool_t *pool_new(const char *name, size_t capacity, size_t max_capacity, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.name = name;
	config.object_size = 48;
	config.capacity = capacity;
	config.max_capacity = max_capacity;
	config.growth_step = max_capacity - capacity;
	config.cache_capacity = 4;
	config.backend = backend;
	config.debug = max_capacity > capacity ? "owner" : NULL;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		abort();
	return pool;
}

static void keep(lfpool_t *pool, size_t count)
{
	while (count--) {
		void *object = lfpool_acquire(pool);

		if (!object)
			abort();
		lfpool_label(pool, object, "kept");
	}
}

/* Bursts are larger than a cache, and all bursts together than a pool: so thieves are at work too. */
static void use(lfpool_t *pool, lfpool_cache_t *cache, unsigned *random)
{
	void *objects[BURST];
	size_t count = 0, most;

	*random = *random * 1103515245 + 12345;
	most = 1 + (*random >> 16) % BURST;
	while (count < most && (objects[count] = cache ? lfpool_cache_acquire(cache) : lfpool_acquire(pool)))
		count++;
	(void)lfpool_release_bulk(pool, objects, count);
}

static void use_new_pool(void)
{
	lfpool_t *pool = pool_new("short life", 10, 10, LFPOOL_BACKEND_LOCKFREE);

	(void)lfpool_release(pool, lfpool_acquire(pool));
	(void)lfpool_destroy(pool);
}

static void *worker(void *argument)
{
	unsigned random = (unsigned)(uintptr_t)argument;

	keep(fixed, KEPT);
	keep(growing, KEPT);
	pthread_barrier_wait(&kept);
	while (!atomic_load(&over)) {
		lfpool_cache_t *cache = random >> 16 & 1 ? lfpool_cache_create(fixed) : NULL;

		for (int i = 0; i < 4; i++) {
			use(fixed, cache, &random);
			use(growing, NULL, &random);
			use(in_malloc, NULL, &random);
		}
		lfpool_cache_destroy(cache);
		if (random >> 17 & 1)
			(void)lfpool_trim(growing, 0, 4096);
		if (random >> 18 & 1)
			use_new_pool();
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	fixed = pool_new("fixed", 100, 100, LFPOOL_BACKEND_LOCKFREE);
	growing = pool_new("growing", 50, 150, LFPOOL_BACKEND_LOCKFREE);
	in_malloc = pool_new("in_malloc", 70, 70, LFPOOL_BACKEND_MALLOC);
	pthread_barrier_init(&kept, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)(i + 1)))
			abort();
	pthread_barrier_wait(&kept);
	for (unsigned long stop = 1; stop <= STOPS; stop++) {
		while (atomic_load(&rounds) < stop * ROUNDS_BETWEEN)
			;
		at_rest();
	}
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
