/* SPDX-License-Identifier: MIT */
/* tsan_handoff.c - a program for ThreadSanitizer, with an uninstrumented library: threads write to objects that
 * others released, by every call that acquires and releases. */
#include "../../common/require.h"

#include "lfpool/handle.h"
#include "lfpool/lfpool.h"
#include "lfpool/wait.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, CAPACITY = 6, ROUNDS = 3000 };

struct thing {
	uint64_t written;
};

static lfpool_t *pool;

static void *work(void *argument)
{
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	const uint64_t self = (uint64_t)(uintptr_t)argument;

	REQUIRE(cache);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		struct thing *things[2], *thing = lfpool_acquire(pool);

		if (thing) {
			thing->written += self + i;
			REQUIRE(lfpool_release(pool, thing) == LFPOOL_OK);
		}
		thing = lfpool_cache_acquire(cache);
		if (thing) {
			thing->written = i;
			REQUIRE(lfpool_cache_release(cache, thing) == LFPOOL_OK);
		}

		const size_t count = lfpool_acquire_bulk(pool, (void **)things, 2);

		for (size_t k = 0; k < count; k++)
			things[k]->written ^= i;
		REQUIRE(lfpool_release_bulk(pool, (void *const *)things, count) == count);
		if ((thing = lfpool_acquire_wait(pool, -1))) {
			thing->written++;
			REQUIRE(lfpool_release_self(thing) == LFPOOL_OK);
		}
	}
	lfpool_cache_destroy(cache);
	return NULL;
}

int main(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	pthread_t threads[THREADS];

	config.object_size = sizeof(struct thing);
	config.capacity = CAPACITY;
	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	REQUIRE(lfpool_destroy(pool) == 0);
	return 0;
}
