/* SPDX-License-Identifier: MIT */
/* test: threads once native */
/*
 * test_headroom.c - what docs/audio.md promises a thread that must not enter the kernel: with its cache made before, and
 * headroom for what all caches can hold, its acquires and releases make no system call, whatever others do meanwhile.
 *
 * Idea         The thread shuts the kernel off (no_kernel.h): a system call is the end of the process, by SIGSYS.
 */
#include "../support/no_kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static uint64_t seed;

enum { OTHERS = 3, SHARE = 20, CACHE = 64, ROUNDS = 100000 };

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *cache; /* the real-time thread's */
	_Atomic(bool) done;
};

struct other {
	struct scene *scene;
	unsigned index;
};

/* Holds at most SHARE objects, and often so many, or none. */
struct juggler {
	struct random random;
	void *held[SHARE];
	size_t count;
};

static size_t next_count(struct juggler *j)
{
	const uint32_t drawn = random_below(&j->random, 3 * SHARE);

	return drawn < SHARE ? drawn : drawn % 2 * SHARE;
}

static void *be_other(void *argument)
{
	const struct other *other = argument;
	struct scene *scene = other->scene;
	struct juggler j = {.random = random_for(seed, other->index)};

	while (!atomic_load(&scene->done)) {
		const size_t count = next_count(&j);

		while (j.count < count)
			REQUIRE(j.held[j.count++] = lfpool_acquire(scene->pool));
		while (j.count > count)
			REQUIRE(lfpool_release(scene->pool, j.held[--j.count]) == LFPOOL_OK);
	}
	return NULL;
}

static void *be_realtime(void *argument)
{
	struct scene *scene = argument;
	struct juggler j = {.random = random_for(seed, OTHERS)};

	/* What it touches of its stack, too, is there before. */
	memset(j.held, 0xff, sizeof(j.held));
	shut_filter();
	for (int round = 0; round < ROUNDS; round++) {
		const size_t count = next_count(&j);

		while (j.count < count)
			MUST(j.held[j.count++] = lfpool_cache_acquire(scene->cache));
		while (j.count > count)
			MUST(lfpool_cache_release(scene->cache, j.held[--j.count]) == LFPOOL_OK);
	}
	atomic_store(&scene->done, true);
	end_thread(0);
}

/* In a child: others and the real-time thread, in a pool of so many objects. */
static _Noreturn void perform(size_t capacity)
{
	static struct scene scene;
	static struct other others[OTHERS];
	pthread_t thread;

	scene.pool = POOL_OF(64, capacity, .cache_capacity = CACHE, .flags = LFPOOL_PREFAULT);
	REQUIRE(scene.cache = lfpool_cache_create(scene.pool));
	for (unsigned i = 0; i < OTHERS; i++) {
		others[i] = (struct other){&scene, i};
		thread_start(&thread, be_other, &others[i]);
	}
	thread_start(&thread, be_realtime, &scene);
	while (!atomic_load(&scene.done))
		sched_yield();
	_exit(0);
}

static void with_room_for_all(void)
{
	perform((OTHERS + 1) * (SHARE + CACHE));
}

/* (That a steal is noticed: tests/real_time.) */
TEST(with_headroom_no_system_call)
{
	seed = test_seed("with_headroom_no_system_call");
	assert_int_equal(run_in_process(with_room_for_all), 0);
}

RUN_TESTS()
