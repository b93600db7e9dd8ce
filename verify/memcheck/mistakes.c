/* SPDX-License-Identifier: MIT */
/*
 * mistakes.c - a program that misuses an object in one way.
 *
 *     lfpool-mistakes none|overrun|leak|leak_at_exit|uninitialised|late_write|late_read|behind_active|behind_free
 *     lfpool-mistakes retired_read|behind_retired|reclaimed_read
 *
 * behind_: a block of the heap that only such an object leads to when the program ends.  And some that are none: reuse
 * maps memory of its own where the objects were; a retired object may be read, and what it leads to is lost when it is
 * reclaimed.
 *
 * With LFPOOL_BACKEND=malloc each object is a block of its own, so a checker sees it.  Elsewhere it sees it when it has
 * been told which objects are free, and not with LFPOOL_DEBUG=no-tools: the pool is then one mapping.
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

/* In a thread of its own, so that nothing of it stays in a register, or on a stack that is searched. */
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
	/* Found by a search for leaks at the end. */
	static lfpool_t *pool;
	pthread_t thread;

	mistake = argc == 2 ? argv[1] : "";
	config.object_size = 48; /* a multiple of the alignment: no byte is left over between two */
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
		/* Of the lower one: what follows is active as well. */
		(object < lost ? object : lost)[config.object_size] = 1;
	if (strncmp(mistake, "behind_", 7) == 0 &&
	    (pthread_create(&thread, NULL, hide_block, (void *)object) || pthread_join(thread, NULL)))
		return 2;
	/* Something depends on what is in there. */
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
