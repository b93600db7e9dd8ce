/* SPDX-License-Identifier: MIT */
/* test_explicit_cache.c - a call on an explicit cache uses no other cache, because a signal handler with an explicit
 * cache may interrupt a call on the thread's.  The calls run on a thread that has no cache of the pool, and must not
 * get one. */
#include "../support/support.h"

#include "lfpool/resize.h"
#include "lfpool/wait.h"

enum { SIZE = 64, HELD = 6 };

static struct scene {
	lfpool_t *pool;
	lfpool_cache_t *cache; /* the calls' */
	lfpool_cache_t *other; /* of the objects in `held` */
	void *held[HELD];
	size_t count;
	unsigned continued;
} scene;

static void keep(void *context, lfpool_t *pool, void *object)
{
	(void)context, (void)pool;
	if (object)
		assert_int_equal(lfpool_cache_release(scene.other, object), LFPOOL_OK);
	scene.continued++;
}

static void hold_all(void)
{
	scene.count = lfpool_cache_acquire_bulk(scene.other, scene.held, HELD);
}

/* ---- States of a pool, in which a call has more to do ---- */

static void ready(void) {}

static void owes(void)
{
	hold_all();
	(void)lfpool_shrink(scene.pool, 3);
}

static void closed(void)
{
	hold_all();
	(void)lfpool_close(scene.pool, 0);
}

static void awaited(void)
{
	hold_all();
	for (int i = 0; i < 3; i++)
		assert_int_equal(lfpool_acquire_async(scene.pool, keep, NULL, NULL), LFPOOL_OK);
}

static void owes_and_awaited(void)
{
	awaited();
	(void)lfpool_shrink(scene.pool, 1);
}

static void closed_and_awaited(void)
{
	awaited();
	(void)lfpool_close(scene.pool, 0);
}

static bool refuse_some(void *context, void *object)
{
	(void)object;
	return ++*(unsigned *)context % 3 != 0;
}

static unsigned asked;

struct state {
	const char *name;
	void (*prepare)(void);
	lfpool_config_t config;
};

/* ---- The calls ---- */

static void *call_all(void *name)
{
	const uint32_t caches = stats_of(scene.pool).caches_in_use;
	void *object[HELD], *one;
	size_t count = 0;

#define STEP(call)                                                                             \
	do {                                                                                   \
		(void)(call);                                                                  \
		if (stats_of(scene.pool).caches_in_use != caches)                              \
			fail_msg("%s: %s gave the thread a cache", (const char *)name, #call); \
	} while (0)
	for (int round = 0; round < 4; round++) {
		STEP(one = lfpool_cache_acquire(scene.cache));
		if (one)
			STEP(lfpool_cache_release(scene.cache, one));
		STEP(count = lfpool_cache_acquire_bulk(scene.cache, object, 2));
		STEP(lfpool_cache_release_bulk(scene.cache, object, count));
		STEP(one = lfpool_cache_acquire_wait(scene.cache, 1000));
		if (one)
			STEP(lfpool_cache_release(scene.cache, one));
		if (lfpool_acquire_bulk_wait(scene.pool, scene.cache, object, 2, round % 2 * 1000) == LFPOOL_OK)
			STEP(lfpool_cache_release_bulk(scene.cache, object, 2));
		/* An object of another cache is released through this one. */
		if (scene.count)
			STEP(lfpool_cache_release(scene.cache, scene.held[--scene.count]));
		STEP(lfpool_cache_flush(scene.pool, scene.cache));
	}
#undef STEP
	return NULL;
}

static void try(const struct state *state)
{
	pthread_t thread;

	scene = (struct scene){.pool = pool_with(&state->config)};
	scene.cache = lfpool_cache_create(scene.pool);
	scene.other = lfpool_cache_create(scene.pool);
	state->prepare();
	REQUIRE(pthread_create(&thread, NULL, call_all, (void *)(uintptr_t)state->name) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
	if (state->prepare == awaited)
		assert_int_equal(scene.continued, 3);
	lfpool_cache_release_bulk(scene.other, scene.held, scene.count);
	lfpool_cache_destroy(scene.cache);
	lfpool_cache_destroy(scene.other);
	assert_int_equal(lfpool_destroy(scene.pool), 0);
}

TEST(calls_on_an_explicit_cache_use_no_other)
{
	const lfpool_hooks_t creates = {.create = refuse_some, .context = &asked},
			     activates = {.activate = refuse_some, .context = &asked};
	const lfpool_config_t fixed = config_of(SIZE, HELD),
			      growing = CONFIG_OF(SIZE, HELD, .max_capacity = 2 * HELD, .growth_step = 1);
	const struct state states[] = {
		{"objects are free", ready, fixed},
		{"all are in use", hold_all, fixed},
		{"it grows", hold_all, CONFIG_OF(SIZE, 1, .max_capacity = 4 * HELD, .growth_step = 1)},
		{"it grows, and objects are built", hold_all,
		 CONFIG_OF(SIZE, 1, .max_capacity = 4 * HELD, .growth_step = 2, .hooks = creates)},
		{"a shrink is pending", owes, growing},
		{"closed", closed, growing},
		{"continuations wait", awaited, fixed},
		{"continuations wait for what is owed", owes_and_awaited, fixed},
		{"closed, and continuations waited", closed_and_awaited, fixed},
		{"objects are refused", ready, CONFIG_OF(SIZE, HELD, .hooks = activates)},
		{"a quarantine", hold_all, CONFIG_OF(SIZE, HELD, .debug = "quarantine=2,poison")},
	};

	for (size_t i = 0; i < COUNT(states); i++)
		try(&states[i]);
}

RUN_TESTS()
