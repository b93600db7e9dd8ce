/* SPDX-License-Identifier: MIT */
/*
 * typed.c - lfpool through a cache per thread, lfpool/inline.h and lfpool/typed.h: a type of 64 bytes that the compiler
 * knows.
 */
#include "pool.h"

#include "lfpool/inline.h"
#include "lfpool/typed.h"

struct item {
	_Alignas(64) unsigned char bytes[64];
};

LFPOOL_DEFINE(item, struct item);

static inline void *acquire(void *hand)
{
	return item_cache_acquire((item_cache_t){(lfpool_cache_t *)hand});
}

static inline void release(void *hand, void *object)
{
	(void)item_cache_release((item_cache_t){(lfpool_cache_t *)hand}, (struct item *)object);
}

#include "../loops.h"

static void *open_typed(const struct plan *plan)
{
	const lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);
	item_pool_t pool;

	if (item_pool_create(&pool, &config) != LFPOOL_OK)
		give_up("lfpool-typed", "no pool");
	return pool.untyped;
}

const struct subject subject_typed = {
	SUBJECT("lfpool-typed", "lfpool",
		"a cache for each thread, lfpool/inline.h and lfpool/typed.h, objects of 64 bytes", NULL,
		POOL_TRAITS | TRAIT_64_BYTES),
	POOL_BY_CACHE(open_typed),
};
