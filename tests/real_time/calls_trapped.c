/* SPDX-License-Identifier: MIT */
/* calls_trapped.c - calls that the trap must catch: one for each trap, and for each reason in the table that one
 * thread can produce. */
#include "armed.h"

#include "lfpool/debug.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/set.h"
#include "lfpool/wait.h"

static void *objects[5];

static lfpool_t *small_pool(size_t growth_step)
{
	return POOL_OF(4096, 4, .growth_step = growth_step, .max_capacity = 4 + 1000 * growth_step);
}

static void first(void)
{
	lfpool_t *pool = small_pool(0);

	arm();
	(void)lfpool_acquire(pool);
}

static void steal(void)
{
	lfpool_t *pool = small_pool(0);
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	REQUIRE(lfpool_cache_acquire_bulk(cache, objects, 4) == 4);
	REQUIRE(lfpool_acquire(pool) == NULL && lfpool_cache_release(cache, objects[0]) == LFPOOL_OK);
	arm();
	MUST(lfpool_acquire(pool));
}

static void grow(void)
{
	lfpool_t *pool = small_pool(1);
	void *object;

	REQUIRE(acquire_all(pool, objects, 4) == 4);
	arm();
	while ((object = lfpool_acquire(pool)))
		;
}

static void wait_for_it(void)
{
	lfpool_t *pool = small_pool(0);

	REQUIRE(acquire_all(pool, objects, 4) == 4);
	arm();
	MUST(!lfpool_acquire_wait(pool, 0));
	(void)!lfpool_acquire_wait(pool, 1000000);
}

static void owe(void)
{
	lfpool_t *pool = small_pool(0);

	REQUIRE(acquire_all(pool, objects, 4) == 4);
	arm();
	(void)lfpool_shrink(pool, 1);
}

static void remove_pages(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_t *pool;
	void *object;

	config.object_size = 1 << 16;
	config.capacity = 4;
	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK && (object = lfpool_acquire(pool)));
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
	arm();
	(void)lfpool_shrink(pool, 4);
}

static void *wait_in_a_thread(void *pool)
{
	(void)lfpool_acquire_wait(pool, -1);
	return NULL;
}

static void wake(void)
{
	lfpool_t *pool = small_pool(0);
	lfpool_stats_t stats;
	pthread_t thread;

	REQUIRE(acquire_all(pool, objects, 4) == 4);
	thread_start(&thread, wait_in_a_thread, pool);
	while (lfpool_stats(pool, &stats) != LFPOOL_OK || !stats.waiting)
		;
	arm();
	(void)lfpool_release(pool, objects[0]);
}

static void make_class(void)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	lfpool_set_t *set = NULL;

	REQUIRE(lfpool_set_create(&set, &config) == LFPOOL_OK);
	arm();
	(void)lfpool_set_acquire(set, 100);
}

static void check(void)
{
	lfpool_t *pool = small_pool(0);

	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	arm();
	(void)lfpool_check(pool, NULL);
}

static void dump_with_owners(void)
{
	static char text[8192];
	lfpool_t *pool = POOL_OF(40, 4, .debug = "owner");

	REQUIRE(lfpool_acquire(pool));
	arm();
	(void)lfpool_dump(pool, LFPOOL_TEXT, text, sizeof(text));
}

static void ask_for_a_number(void)
{
	arm();
	(void)syscall(SYS_getppid);
}

static void use_the_heap(void)
{
	/* In a form that no compiler can remove. */
	void *volatile memory = malloc(100);

	arm();
	free(memory);
}

static void lock(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	arm();
	(void)pthread_mutex_lock(&mutex);
}

const struct group groups_of_traps[] = {
	{"a system call", ask_for_a_number, .trapped = "kernel"},
	{"the heap", use_the_heap, .trapped = "free"},
	{"a lock", lock, .trapped = "pthread_mutex_lock"},
	{"first", first, .trapped = "realloc"},
	{"steal", steal, .trapped = "kernel"},
	{"grow", grow, .trapped = "kernel"},
	{"wait: a call", wait_for_it, .trapped = "kernel"},
	{"wait: a shrink", owe, .trapped = "kernel"},
	{"pages", remove_pages, .trapped = "kernel"},
	{"wake", wake, .trapped = "kernel"},
	{"class", make_class, .trapped = "pthread_mutex_lock"},
	{"owner", dump_with_owners, .trapped = "kernel"},
	{"lfpool_check", check, .trapped = "posix_memalign"},
	{0},
};
