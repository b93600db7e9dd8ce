/* SPDX-License-Identifier: MIT */
/*
 * in_constructor.c - a plug-in that makes its pools while it is loaded: a thread of its constructor's the first, the
 * constructor the second.
 *
 * Idea         A thread that loads a library holds the loader's lock, and what the first pool asks the loader waits for it: until the
 *              constructor returns.  So the thread stands inside lfpool_create(), which must not keep the constructor from
 *              making another pool.
 */
#include "lfpool/lfpool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool begun;

static void make_and_use(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;
	void *object;

	config.object_size = 64;
	config.capacity = 10;
	if (lfpool_create(&pool, &config) != LFPOOL_OK || !(object = lfpool_acquire(pool)) ||
	    lfpool_release(pool, object) != LFPOOL_OK || lfpool_destroy(pool) != 0)
		abort();
}

static void *make_first(void *nothing)
{
	atomic_store(&begun, true);
	make_and_use();
	return nothing;
}

static pthread_t first;

__attribute__((constructor)) static void load(void)
{
	if (pthread_create(&first, NULL, make_first, NULL))
		abort();
	while (!atomic_load(&begun))
		(void)sched_yield();
	make_and_use();
}

/* Once it is loaded.  (Found by its name.) */
LFPOOL_API void join_first(void);
LFPOOL_API void join_first(void)
{
	if (pthread_join(first, NULL))
		abort();
}
