/* SPDX-License-Identifier: MIT */
/* inlined.c - inline.h and set_inline.h, twice, in C and in C++; the public names are the inlined hits. */
#include <lfpool/inline.h>
#include <lfpool/inline.h>
#include <lfpool/set_inline.h>
#include <lfpool/set_inline.h>

lfpool_status_t touch(lfpool_cache_t *cache);
lfpool_status_t touch_pool(lfpool_t *pool);

lfpool_status_t touch(lfpool_cache_t *cache)
{
	void *object = lfpool_cache_acquire(cache);

	return lfpool_cache_release(cache, object);
}

lfpool_status_t touch_pool(lfpool_t *pool)
{
	void *object = lfpool_acquire(pool);

	return lfpool_release(pool, object);
}

lfpool_status_t touch_set(lfpool_set_t *set);

lfpool_status_t touch_set(lfpool_set_t *set)
{
	void *object = lfpool_set_acquire(set, 100);

	return lfpool_set_release(set, object);
}
