/* SPDX-License-Identifier: MIT */
/*
 * kinds.h - the kinds of pools for tests of resizing and waiting: every backend, every relevant flag, small and large
 * caches and none, hooks, debug modes.  (verify/pairs combines any two of these.)
 *
 * Idea         A test is written once and runs on each kind.  Rules that hold for every kind are asserted when the
 *              pool is closed: the invariants, no misuse, each hook as often as its counterpart.
 * Life         Hooks lead each object through free -> built -> active -> built ...; they write the state into the
 *              object's first word and abort the test at a wrong step.
 */
#ifndef LFPOOL_TESTS_KINDS_H
#define LFPOOL_TESTS_KINDS_H

#include "support.h"

#include <stdatomic.h>

enum { SIZE = 40 };
enum { LIFE_BUILT = 0x6275696c, LIFE_ACTIVE = 0x61637469, LIFE_ENDED = 0x656e6465 };

static const struct kind {
	const char *name;
	lfpool_backend_t backend;
	uint32_t flags;
	size_t cache_capacity;
	const char *debug;
	bool hooks;
} kinds[] = {
	{.name = "plain"},
	{.name = "check races", .flags = LFPOOL_CHECK_RACES},
	{.name = "zero", .flags = LFPOOL_ZERO},
	{.name = "prefault", .flags = LFPOOL_PREFAULT},
	{.name = "fenced", .flags = LFPOOL_FENCED},
	{.name = "no caches", .cache_capacity = LFPOOL_CACHE_NONE},
	{.name = "caches of 8192", .cache_capacity = 8192},
	{.name = "hooks", .hooks = true},
	{.name = "hooks, create all, prefault, caches of 2",
	 .hooks = true,
	 .flags = LFPOOL_CREATE_ALL | LFPOOL_PREFAULT,
	 .cache_capacity = 2},
	{.name = "check", .debug = "check"},
	{.name = "poison", .debug = "poison,check"},
	{.name = "quarantine", .debug = "quarantine=5,check"},
	{.name = "guard", .debug = "guard,check"},
	{.name = "owner", .debug = "owner,check"},
	{.name = "all modes", .debug = "poison,quarantine=3,guard,owner,check"},
	{.name = "all modes, hooks", .debug = "quarantine=3,guard,owner,check", .hooks = true},
	{.name = "mutex", .backend = LFPOOL_BACKEND_MUTEX},
	{.name = "mutex, hooks", .backend = LFPOOL_BACKEND_MUTEX, .hooks = true},
	{.name = "mutex, hooks, create all",
	 .backend = LFPOOL_BACKEND_MUTEX,
	 .hooks = true,
	 .flags = LFPOOL_CREATE_ALL},
	{.name = "mutex, all modes", .backend = LFPOOL_BACKEND_MUTEX, .debug = "poison,quarantine=5,guard,owner,check"},
	{.name = "malloc", .backend = LFPOOL_BACKEND_MALLOC},
	{.name = "malloc, check races, zero",
	 .backend = LFPOOL_BACKEND_MALLOC,
	 .flags = LFPOOL_CHECK_RACES | LFPOOL_ZERO},
	{.name = "malloc, hooks", .backend = LFPOOL_BACKEND_MALLOC, .hooks = true},
};

/* The variable LFPOOL_TEST_KIND selects one kind, to examine a failure. */
static inline void on_every_kind(void (*body)(const struct kind *))
{
	const char *only = getenv("LFPOOL_TEST_KIND");

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (only && strcmp(only, kinds[i].name) != 0)
			continue;
		fprintf(stderr, "    %s\n", kinds[i].name);
		body(&kinds[i]);
	}
}

/* KIND_TEST(name) { ... }: a test whose body is run on each kind, as `kind`. */
#define KIND_TEST(name)                                 \
	static void name##_on(const struct kind *kind); \
	TEST(name)                                      \
	{                                               \
		on_every_kind(name##_on);               \
	}                                               \
	static void name##_on(const struct kind *kind)

/* ---- A pool of a kind, with its hooks' records ---- */

struct stage {
	const struct kind *kind;
	lfpool_t *pool;
	atomic_size_t created, activated, deactivated, destroyed, findings;
	atomic_size_t activate_refuses; /* number of the next activates that refuse */
};

/* True: uses up one refusal.  False: none is left. */
static inline bool stage_refuses(atomic_size_t *count)
{
	size_t left = atomic_load(count);

	while (left)
		if (atomic_compare_exchange_weak(count, &left, left - 1))
			return true;
	return false;
}

static inline bool stage_create(void *context, void *object)
{
	struct stage *s = context;
	unsigned *life = object;

	if (s->kind->backend != LFPOOL_BACKEND_MALLOC)
		REQUIRE(*life == 0 || *life == LIFE_ENDED);
	*life = LIFE_BUILT;
	s->created++;
	return true;
}

static inline bool stage_activate(void *context, void *object)
{
	struct stage *s = context;
	unsigned *life = object;

	REQUIRE(*life == LIFE_BUILT);
	if (stage_refuses(&s->activate_refuses))
		return false;
	*life = LIFE_ACTIVE;
	s->activated++;
	return true;
}

static inline bool stage_deactivate(void *context, void *object)
{
	struct stage *s = context;
	unsigned *life = object;

	REQUIRE(*life == LIFE_ACTIVE);
	*life = LIFE_BUILT;
	s->deactivated++;
	return true;
}

static inline void stage_destroy(void *context, void *object)
{
	struct stage *s = context;
	unsigned *life = object;

	REQUIRE(*life == LIFE_BUILT);
	*life = LIFE_ENDED;
	s->destroyed++;
}

static inline void stage_misuse(void *context, const lfpool_misuse_t *misuse)
{
	struct stage *s = context;

	if (misuse->status == LFPOOL_E_STILL_ACTIVE)
		return;
	fprintf(stderr, "misuse: %s: %s\n", lfpool_status_string(misuse->status), misuse->detail);
	s->findings++;
}

static inline lfpool_config_t stage_config(struct stage *s, const struct kind *kind, size_t capacity,
					   size_t max_capacity)
{
	lfpool_config_t config = config_of(SIZE, capacity);

	memset(s, 0, sizeof(*s));
	s->kind = kind;
	config.max_capacity = max_capacity;
	config.backend = kind->backend;
	config.flags = kind->flags;
	config.cache_capacity = kind->cache_capacity;
	config.debug = kind->debug;
	config.hooks.context = s;
	config.hooks.misuse = stage_misuse;
	if (kind->hooks) {
		config.hooks.create = stage_create;
		config.hooks.activate = stage_activate;
		config.hooks.deactivate = stage_deactivate;
		config.hooks.destroy = stage_destroy;
	}
	return config;
}

static inline void stage_open_growing(struct stage *s, const struct kind *kind, size_t capacity, size_t max_capacity,
				      size_t step)
{
	lfpool_config_t config = stage_config(s, kind, capacity, max_capacity);

	config.growth_step = step;
	s->pool = pool_with(&config);
}

static inline void stage_open(struct stage *s, const struct kind *kind, size_t capacity, size_t max_capacity)
{
	stage_open_growing(s, kind, capacity, max_capacity, 0);
}

/* Checks the rules for every kind, and destroys the pool, of which `active` objects are active. */
static inline void stage_end(struct stage *s, size_t active)
{
	require_intact(s->pool);
	REQUIRE(lfpool_quick_stats(s->pool).misuses == 0);
	REQUIRE(lfpool_destroy(s->pool) == active);
	REQUIRE(s->created == s->destroyed);
	REQUIRE(s->activated == s->deactivated);
	REQUIRE(s->findings == 0);
}

/* As stage_end(), with no object active; also checks that every object can be acquired. */
static inline void stage_close(struct stage *s)
{
	REQUIRE(lfpool_limit(s->pool, 0) == LFPOOL_OK);
	require_whole(s->pool, SIZE);
	stage_end(s, 0);
}

/* ---- Counts ---- */

/* The pool has `capacity` objects, `active` of them in use, and every count agrees.  No call may be in progress. */
static inline void require_counts(const lfpool_t *pool, size_t capacity, size_t active)
{
	lfpool_stats_t stats;

	require_intact(pool);
	REQUIRE(lfpool_capacity(pool) == capacity);
	REQUIRE(lfpool_active_count(pool) == active);
	REQUIRE(lfpool_available_count(pool) == capacity - active);
	REQUIRE(lfpool_stats(pool, &stats) == LFPOOL_OK);
	REQUIRE(stats.capacity == capacity);
	REQUIRE(stats.active == active);
	REQUIRE(stats.unaccounted == 0);
	REQUIRE(stats.active + stats.cached + stats.shared + stats.untouched == capacity);
}

#endif
