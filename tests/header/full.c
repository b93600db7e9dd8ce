/* SPDX-License-Identifier: MIT */
/*
 * full.c - resize.h and wait.h by themselves, and before lfpool.h, in C and in C++: each brings the other; every
 * declaration can be used.
 */
#include <lfpool/resize.h>
#include <lfpool/wait.h>
#include <lfpool/lfpool.h>

#ifdef __cplusplus
extern "C" {
#endif
size_t resize_and_wait(lfpool_t *pool, lfpool_cache_t *cache);
#ifdef __cplusplus
}
#endif

static void then(void *context, lfpool_t *pool, void *object)
{
	*(size_t *)context += lfpool_release(pool, object) == LFPOOL_OK;
}

size_t resize_and_wait(lfpool_t *pool, lfpool_cache_t *cache)
{
	lfpool_continuation_t later = then;
	lfpool_ticket_t ticket;
	size_t sum = lfpool_grow(pool, 10) + lfpool_reserve(pool, 100) + lfpool_shrink(pool, 20);

	sum += lfpool_shrink_owed(pool) + lfpool_shrink_cancel(pool) + lfpool_max_capacity(pool);
	sum += lfpool_limit(pool, 50) == LFPOOL_E_CONFIG_MAX_CAPACITY;
	sum += lfpool_trim(pool, 10, 4096);
	sum += lfpool_release(pool, lfpool_acquire_wait(pool, 1000)) == LFPOOL_OK;
	sum += lfpool_cache_release(cache, lfpool_cache_acquire_wait(cache, -1)) == LFPOOL_OK;
	if (lfpool_acquire_async(pool, later, &sum, &ticket) == LFPOOL_OK)
		sum += lfpool_cancel(pool, ticket);
	return sum;
}
