/* SPDX-License-Identifier: MIT */
/* test: threads once native */
/*
 * test_headroom.c - what docs/audio.md promises a thread that must not enter the kernel: with its cache made before, and
 * headroom for what all caches can hold, its acquires and releases make no system call, whatever others do meanwhile.
 *
 * Idea         The thread shuts the kernel off (no_kernel.h): a system call is the end of the process, by SIGSYS.  Each case
 *              is a process of its own.
 */
#include "../support/no_kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { OTHERS = 3, SHARE = 20, CACHE = 64, ROUNDS = 100000 };

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *cache; /* the real-time thread's */
	uint64_t seed;
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
	struct juggler j = {.random = random_for(scene->seed, other->index)};

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
	struct juggler j = {.random = random_for(scene->seed, OTHERS)};

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
static _Noreturn void perform(uint64_t seed, size_t capacity)
{
	static struct scene scene;
	static struct other others[OTHERS];
	lfpool_config_t config = config_of(64, capacity);
	pthread_t thread;

	config.cache_capacity = CACHE;
	config.flags = LFPOOL_PREFAULT;
	scene.seed = seed;
	REQUIRE(lfpool_create(&scene.pool, &config) == LFPOOL_OK);
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

/* In a child: all but one of the objects lie in another cache, also in the magazine that it works on. */
static _Noreturn void rob_them(void)
{
	lfpool_config_t config = config_of(64, SHARE);
	void *held[SHARE];
	lfpool_cache_t *others, *mine;

	config.cache_capacity = 2 * SHARE;

	lfpool_t *pool = pool_with(&config);

	REQUIRE((others = lfpool_cache_create(pool)) && (mine = lfpool_cache_create(pool)));
	REQUIRE(lfpool_cache_acquire_bulk(others, held, SHARE) == SHARE);
	REQUIRE(lfpool_cache_release_bulk(others, held, SHARE) == SHARE);
	shut_filter();
	for (int i = 0; i < SHARE; i++)
		MUST(lfpool_cache_acquire(mine));
	end_thread(0);
}

/* The signal that ended the child, or 0. */
static int ended_by(pid_t child)
{
	int status = 0;

	REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	REQUIRE(WEXITSTATUS(status) == 0);
	return 0;
}

TEST(with_headroom_no_system_call)
{
	const uint64_t seed = test_seed("with_headroom_no_system_call");
	const pid_t child = fork();

	if (child == 0)
		perform(seed, (OTHERS + 1) * (SHARE + CACHE));
	assert_int_equal(ended_by(child), 0);
}

/* And it would have been noticed: the last objects of another cache cost a membarrier. */
TEST(a_steal_is_one)
{
	const pid_t child = fork();

	if (child == 0)
		rob_them();
	assert_int_equal(ended_by(child), SIGSYS);
}

RUN_TESTS()
