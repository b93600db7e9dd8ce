/* SPDX-License-Identifier: MIT */
/*
 * library.c - lfpool through a cache per thread, each call into the library.
 */
#include "pool.h"

#define CALL(name) lfpool_cache_##name
#include "calls.h"

#include "../loops.h"

const struct subject subject_library = {
	SUBJECT("lfpool-library", "lfpool", "a cache for each thread, calls into the library", NULL, POOL_TRAITS),
	POOL_BY_CACHE(pool_open_usual),
};
