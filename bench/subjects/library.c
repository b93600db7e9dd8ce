/* SPDX-License-Identifier: MIT */
/*
 * library.c - lfpool through a cache per thread, each call into the library.
 */
#include "pool.h"

#define CALL(name) lfpool_cache_##name
#include "calls.h"

#include "../workloads.h"

const struct subject subject_library = {
	.name = "lfpool-library",
	.what = "a cache for each thread, calls into the library",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	POOL_BY_CACHE(pool_open_usual),
};
