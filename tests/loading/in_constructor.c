/* SPDX-License-Identifier: MIT */
/*
 * in_constructor.c - a plug-in that makes its pools while it is loaded: a thread of its constructor makes the first,
 * the constructor the second.
 *
 * Idea         A thread that loads a library holds the loader's lock.  The first pool asks the loader something,
 *              which waits for that lock until the constructor returns.  So the thread stops inside lfpool_create(),
 *              which must not keep the constructor from making another pool.  The system reports that the thread
 *              sleeps.  (Or the thread has finished: then this loader has no such lock.)
 */
#include "lfpool/lfpool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long number; /* the thread's number in the system */
static atomic_bool done;

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
	atomic_store(&number, gettid());
	make_and_use();
	atomic_store(&done, true);
	return nothing;
}

static bool sleeps_or_is_through(void)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	if (atomic_load(&done))
		return true;
	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", atomic_load(&number));
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	(void)fclose(file);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static pthread_t first;

__attribute__((constructor)) static void load(void)
{
	if (pthread_create(&first, NULL, make_first, NULL))
		abort();
	while (!sleeps_or_is_through())
		(void)sched_yield();
	make_and_use();
}

/* Called once it is loaded.  (Found by its name.) */
LFPOOL_API void join_first(void);
LFPOOL_API void join_first(void)
{
	if (pthread_join(first, NULL))
		abort();
}
