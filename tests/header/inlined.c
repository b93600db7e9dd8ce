/* SPDX-License-Identifier: MIT */
/*
 * inlined.c - inline.h by itself, twice; its two names stand for the inlined hits.
 */
#include <lfpool/inline.h>
#include <lfpool/inline.h>

lfpool_status_t touch(lfpool_cache_t *cache);

lfpool_status_t touch(lfpool_cache_t *cache)
{
	char *object = lfpool_cache_acquire(cache);

	if (object)
		*object = 1;
	return lfpool_cache_release(cache, object);
}
