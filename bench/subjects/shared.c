/* SPDX-License-Identifier: MIT */
/* shared.c - lfpool_acquire(pool) and lfpool_release(pool, object) of the shared library, built as for a package;
 * called.c describes how it is called. */
#include "pool.h"

#include <dlfcn.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(X)                                                                                                   \
	X(lfpool_acquire) X(lfpool_release) X(lfpool_acquire_bulk) X(lfpool_release_bulk) X(lfpool_create) X(lfpool_destroy) \
	X(lfpool_stats_sized) X(lfpool_status_string)
/* clang-format on */

#define POINTER(name) __typeof__(&name) name;
static struct {
	FUNCTIONS(POINTER)
} library;

#define CALL(name) library.lfpool_##name
#include "calls.h"

#include "../loops.h"

#include "lfpool/report.h"

static const char *load(void)
{
	void *handle = dlopen(BENCH_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL), *address;

	if (!handle)
		return "the shared library cannot be loaded";
#define FIND(name)                                              \
	address = dlsym(handle, #name);                         \
	if (!address)                                           \
		return "the shared library has no " #name "()"; \
	memcpy(&library.name, &address, sizeof(address));
	FUNCTIONS(FIND)
	return NULL;
}

static void *open_shared(const struct plan *plan)
{
	const lfpool_config_t config = pool_config(plan, LFPOOL_BACKEND_LOCKFREE);
	lfpool_t *pool;
	lfpool_status_t status = library.lfpool_create(&pool, &config);

	if (status != LFPOOL_OK)
		give_up("lfpool-shared", library.lfpool_status_string(status));
	return pool;
}

static void close_shared(void *pool)
{
	lfpool_stats_t stats;

	if (library.lfpool_stats_sized((lfpool_t *)pool, &stats, sizeof(stats)) != LFPOOL_OK || stats.misuses ||
	    library.lfpool_destroy((lfpool_t *)pool))
		give_up("lfpool-shared", "releases were refused, or objects were not released");
}

const struct subject subject_shared = {
	.name = "lfpool-shared",
	.group = "lfpool",
	.what = "lfpool_acquire(pool) of the shared library",
	.absent = load,
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	SHARED_BY_ALL(open_shared, close_shared, SUBJECT_LOOPS),
};
