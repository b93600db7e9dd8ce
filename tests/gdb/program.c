/* SPDX-License-Identifier: MIT */
/* program.c - has pools of every kind in use by several threads, prints the expected lines of scripts/lfpool-gdb.py,
 * computed by the library, and stops in at_rest(), where test_gdb compares them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lfpool/debug.h"
#include "lfpool/handle.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"

enum { THREADS = 3, HANDLES = 40, POOLS = 6, PROBES = 16, SHIPS = 0, PLAIN = 1, MUTEX = 2, HEAP = 3, SITES = 4 };

static const struct {
	const char *name, *debug;
	size_t object_size, capacity, max_capacity;
	lfpool_backend_t backend;
} kinds[POOLS] = {
	{"ships", "owner", 48, 100, 10000, LFPOOL_BACKEND_LOCKFREE},
	{"plain", NULL, 16, 5003, 5003, LFPOOL_BACKEND_LOCKFREE},
	{"by_mutex", NULL, 100, 300, 300, LFPOOL_BACKEND_MUTEX},
	{"by_malloc", NULL, 64, 1000, 1000, LFPOOL_BACKEND_MALLOC},
	{"call sites", "backtrace=1/1", 200, 9, 12, LFPOOL_BACKEND_LOCKFREE},
	{"never used", NULL, 1000, 7, 9, LFPOOL_BACKEND_LOCKFREE},
};
static lfpool_t *pools[POOLS];
static pthread_barrier_t used, over;

/* Of test_gdb's expressions. */
char *probes[PROBES];
lfpool_t *by_address;

void at_rest(void);
void *spawn(lfpool_t *pool);

__attribute__((noinline)) void at_rest(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void *spawn(lfpool_t *pool)
{
	void *object = lfpool_acquire(pool);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return object;
}

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static void hear(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
}

static void *worker(void *number)
{
	for (int i = SHIPS; i <= HEAP; i++) {
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

static lfpool_t *pool_new(int i)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;

	config.name = kinds[i].name;
	config.debug = kinds[i].debug;
	config.object_size = kinds[i].object_size;
	config.capacity = kinds[i].capacity;
	config.max_capacity = kinds[i].max_capacity;
	config.growth_step = kinds[i].max_capacity - kinds[i].capacity;
	config.backend = kinds[i].backend;
	config.cache_capacity = 16;
	config.depot_shards = 3;
	config.hooks.misuse = hear;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		abort();
	return pool;
}

/* More caches than a lot has, some of them with more than their first magazine; two are given up. */
static void use_handles(lfpool_t *pool, void **held_out, void **free_out)
{
	lfpool_cache_t *caches[HANDLES];
	void *objects[100];

	for (int n = 0; n < HANDLES; n++) {
		const int most = 10 + 2 * n;

		caches[n] = must(lfpool_cache_create(pool));
		for (int k = 0; k < most; k++)
			objects[k] = must(lfpool_cache_acquire(caches[n]));
		for (int k = 0; k < most - 1; k++)
			(void)lfpool_cache_release(caches[n], objects[k]);
		lfpool_label(pool, objects[most - 1], "handles");
		*held_out = objects[most - 1];
		/* It stays there: the pool has grown by now, and so no other cache is robbed. */
		if (n == HANDLES / 2)
			*free_out = objects[most - 2];
	}
	lfpool_cache_destroy(caches[HANDLES - 1]);
	lfpool_cache_destroy(caches[HANDLES - 2]);
}

/* The line that the script prints for probes[i], which it sets to an address at `offset` in the object. */
static void probe(int i, int kind, char *object, size_t offset, const char *state)
{
	char more[32] = "";

	probes[i] = object + offset;
	if (offset)
		(void)snprintf(more, sizeof(more), " + %zu", offset);
	printf("object 0x%jx: pool \"%s\", object 0x%jx%s, index %zu, %s\n", (uintmax_t)(uintptr_t)probes[i],
	       kinds[kind].name, (uintmax_t)(uintptr_t)object, more, lfpool_index_of(pools[kind], object), state);
}

/* And for addresses in no object, and in no pool. */
static void probe_nothing(int i, char *address)
{
	probes[i] = address;
	printf("object no pool has this name, and no pool an object at this address\n");
}

static __attribute__((noinline)) void probe_all(void)
{
	void *held[POOLS], *free_object[POOLS];
	char by_me[64];
	int at = 0;

	for (int i = SHIPS; i <= PLAIN; i++)
		use_handles(pools[i], &held[i], &free_object[i]);
	probe(at++, SHIPS, held[SHIPS], 0, "held by \"handles\"");
	probe(at++, SHIPS, held[SHIPS], 47, "held by \"handles\"");
	probe(at++, SHIPS, free_object[SHIPS], 0, "free");
	probe(at++, SHIPS, lfpool_object_at(pools[SHIPS], 9999), 1, "never used");
	probe(at++, PLAIN, held[PLAIN], 5, "held by unknown");
	probe(at++, PLAIN, free_object[PLAIN], 0, "free");
	probe(at++, PLAIN, lfpool_object_at(pools[PLAIN], 5002), 0, "never used");
	probe_nothing(at++, (char *)lfpool_object_at(pools[PLAIN], 5002) + 64);
	probe_nothing(at++, (char *)lfpool_object_at(pools[PLAIN], 0) - 1);
	/* A handle changes the state of an object. */
	held[MUTEX] = must(lfpool_acquire(pools[MUTEX]));
	if (!lfpool_handle_of(pools[MUTEX], held[MUTEX]))
		abort();
	probe(at++, MUTEX, held[MUTEX], 99, "held by unknown");
	probe(at++, MUTEX, lfpool_object_at(pools[MUTEX], 299), 0, "never used");
	probe(at++, HEAP, must(lfpool_acquire(pools[HEAP])), 0, "held by unknown");
	probe(at++, HEAP, must(lfpool_acquire(pools[HEAP])), 63, "held by unknown");
	(void)snprintf(by_me, sizeof(by_me), "held by thread %ld", syscall(SYS_gettid));
	probe(at++, SHIPS, must(lfpool_acquire(pools[SHIPS])), 0, by_me);
	/* Its last chunk is short. */
	for (size_t i = 0; i < kinds[SITES].capacity; i++)
		(void)must(spawn(pools[SITES]));
	probe(at++, SITES, lfpool_object_at(pools[SITES], 10), 0, "never used");
	probe_nothing(at++, (char *)1);
}

/* The table of pools. */
static void print_stats(void)
{
	static const char *const backends[] = {"lockfree", "mutex", "malloc"};

	for (int i = 0; i < POOLS; i++) {
		lfpool_stats_t stats;

		if (lfpool_stats(pools[i], &stats) != LFPOOL_OK)
			abort();
		printf("pool 0x%jx %s %s %zu %zu %zu %zu %ju\n", (uintmax_t)(uintptr_t)pools[i], kinds[i].name,
		       backends[stats.backend], kinds[i].object_size, stats.capacity, stats.active, stats.cached,
		       (uintmax_t)stats.misuses);
		printf("caches %s %u %u\n", kinds[i].name, (unsigned)stats.caches, (unsigned)stats.caches_in_use);
	}
}

int main(void)
{
	pthread_t threads[THREADS];
	/* Its place among the live pools is vacant later. */
	lfpool_t *gone = pool_new(PLAIN);

	for (int i = 0; i < POOLS; i++)
		pools[i] = pool_new(i);
	(void)lfpool_destroy(gone);
	by_address = pools[PLAIN];
	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&over, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, i ? &threads[i] : NULL);
	/* The threads have their caches, so none of them claims a cache that use_handles() gives up. */
	pthread_barrier_wait(&used);
	probe_all();
	for (int i = 0; i < 3; i++)
		(void)lfpool_release(pools[PLAIN], &pools[PLAIN]);
	print_stats();
	fflush(stdout);
	at_rest();
	pthread_barrier_wait(&over);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
