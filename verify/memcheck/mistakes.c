/* SPDX-License-Identifier: MIT */
/*
 * mistakes.c - a program that misuses an object in one way.
 *
 *     lfpool-mistakes none|overrun|leak|leak_at_exit|uninitialised|late_write|late_read|behind_active|behind_free
 *     lfpool-mistakes retired_read|behind_retired|reclaimed_read
 *
 * behind_: a heap block that only such an object points to when the program ends.  Some are not mistakes: reuse maps
 * new memory where the objects were; a retired object may be read, and the block that it points to is lost when it is
 * reclaimed.
 *
 * With LFPOOL_BACKEND=malloc each object is a separate block, which a checker sees.  Other pools report free objects
 * to the checker, but with LFPOOL_DEBUG=no-tools a pool is just one mapping.
 */
#include "lfpool/lfpool.h"
#include "lfpool/retire.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char *mistake;

static bool planted(const char *name)
{
	return strcmp(mistake, name) == 0;
}

/* In a new thread, so that no copy stays in a register, or on a stack that is searched. */
static void *hide_block(void *object)
{
	memcpy(object, &(void *){malloc(100)}, sizeof(void *));
	return NULL;
}

static bool retires(void)
{
	return planted("retired_read") || planted("reclaimed_read") || planted("behind_retired");
}

static bool grace_period_over;

static bool is_over(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	(void)batch;
	return grace_period_over;
}

/* Instead of a release. */
static void retire(lfpool_t *pool, volatile char *object)
{
	(void)lfpool_retire(pool, (void *)object);
	grace_period_over = planted("reclaimed_read");
	(void)lfpool_retire_poll(pool);
	if (!planted("behind_retired") && object[3] == 0)
		puts("zero still");
}

int main(int argc, char **argv)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	/* A search for leaks at the end finds it. */
	static lfpool_t *pool;
	pthread_t thread;

	mistake = argc == 2 ? argv[1] : "";
	config.object_size = 48; /* a multiple of the alignment: no gap between two objects */
	config.capacity = 10;
	if (retires())
		config.scheme.ready = is_over;
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return 2;

	volatile char *object = lfpool_acquire(pool), *lost = lfpool_acquire(pool);

	if (!object || !lost)
		return 2;
	if (!planted("uninitialised"))
		memset((void *)object, 0, config.object_size);
	if (planted("overrun"))
		/* Past the lower one: the next object is active as well. */
		(object < lost ? object : lost)[config.object_size] = 1;
	if (strncmp(mistake, "behind_", 7) == 0 &&
	    (pthread_create(&thread, NULL, hide_block, (void *)object) || pthread_join(thread, NULL)))
		return 2;
	/* A decision depends on its bytes. */
	if (object[7] == 0)
		puts("zero");
	if (!planted("leak") && !planted("leak_at_exit"))
		(void)lfpool_release(pool, (void *)lost);
	lost = NULL;
	if (retires())
		retire(pool, object);
	else if (!planted("behind_active"))
		(void)lfpool_release(pool, (void *)object);
	if (planted("late_write"))
		object[3] = 1;
	if (planted("late_read") && object[3] == 0)
		puts("zero still");

	const uintptr_t page = (uintptr_t)object & ~(uintptr_t)4095;

	object = NULL;
	grace_period_over = !planted("behind_retired");
	if (!planted("leak_at_exit") && strncmp(mistake, "behind_", 7) != 0)
		printf("%s: %zu objects never released\n", mistake, lfpool_destroy(pool));
	if (planted("reuse")) {
		void *memory = mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (memory == MAP_FAILED)
			return 2;
		memset(memory, 1, 4096);
	}
	return 0;
}
