/* SPDX-License-Identifier: MIT */
/*
 * objects.c - operations on an object: hooks, handles, walks, debug modes.  Like operations.c.
 *
 * Idea         The answer of a look-up or a walk is certain wherever it is stopped: the objects of the victim's
 *              caller are active throughout, so a walk visits each of them once, and no object twice.
 */
#include "calls.h"

#include "lfpool/handle.h"
#include "lfpool/walk.h"

/* ---- Operations ---- */

static void resolve(struct scene *s)
{
	s->found[0] = STEP(lfpool_resolve(s->pool, s->handle));
	wrong_if(s, s->found[0] != s->held[0], "the handle of an active object resolves to another address");
}

static void handle_of(struct scene *s)
{
	const lfpool_handle_t handle = STEP(lfpool_handle_of(s->pool, s->held[0]));

	wrong_if(s, s->handle && handle != s->handle, "an active object has another handle");
	wrong_if(s, lfpool_resolve(s->pool, handle) != s->held[0],
		 "the handle of an active object resolves to another address");
}

static void release_marked(struct scene *s)
{
	release_inlined(s);
	wrong_if(s, lfpool_resolve(s->pool, s->handle), "the handle of a released object resolves");
}

OPERATION(release_handle, s->released = STEP(lfpool_release_handle(s->pool, s->handle)) == LFPOOL_OK)
OPERATION(release_all, s->released = STEP(lfpool_release_all(s->pool)))

/* ---- Walks ---- */

static size_t times_found(const struct scene *s, const void *object)
{
	size_t times = 0;

	for (size_t i = 0; i < s->found_count; i++)
		times += s->found[i] == object;
	return times;
}

static void check_walk(struct scene *s)
{
	for (size_t i = 0; i < s->held_count; i++)
		if (times_found(s, s->held[i]) == 0)
			s->wrong = "a walk missed an object that was active throughout";
	for (size_t i = 0; i < s->found_count; i++)
		if (times_found(s, s->found[i]) > 1)
			s->wrong = "a walk visited an object twice";
}

static bool visit(void *context, void *object)
{
	struct scene *s = context;

	s->found[s->found_count++] = object;
	return s->found_count < OBJECTS_MAX;
}

static void for_each(struct scene *s)
{
	(void)STEP(lfpool_for_each_active(s->pool, visit, s));
	check_walk(s);
}

/* ---- The table ---- */

#define HOOKED(hooks) POOL(4 * EACH, 2 * EACH, 0, &(hooks), NULL, SPECIAL_NOTHING)
#define BUILT_FIRST POOL(4 * EACH, 2 * EACH, LFPOOL_CREATE_ALL, &hooks_building, NULL, SPECIAL_NOTHING)
#define WATCHED POOL(4 * EACH, 2 * EACH, 0, NULL, "poison,guard,check,no-tools", SPECIAL_NOTHING)
#define ALL(hooks) POOL(4 * EACH, 2 * EACH, LFPOOL_CHECK_RACES, hooks, NULL, RELEASES_ALL)
#define QUARANTINED POOL(2 * EACH, 2 * EACH, 0, NULL, "quarantine=4,check,no-tools", SPECIAL_NOTHING)

const struct operation object_operations[] = {
	{"acquire hit, built before", BUILT_FIRST, "mine +2 want 1", acquire_inlined, 0, 1},
	{"release hit, built before", BUILT_FIRST, "mine +2 older", release_inlined, 0, 1},
	{"handle of, the first", USUAL, "own +5", handle_of, 0, 0},
	{"handle of", USUAL, "own +5 handle", handle_of, 0, 0},
	{"resolve", USUAL, "own +5 handle", resolve, 0, 0},
	{"release handle", USUAL, "own +3 hand 1 handle", release_handle, 0, 1},
	{"release all", ALL(NULL), "own +5 hand 5", release_all, CHANGED, 1},
	{"release all, hooks", ALL(&hooks_all), "own +5 hand 5", release_all, CHANGED, 1},
	{"acquire, hooks", HOOKED(hooks_all), "mine +4 -2 want 1", acquire_through_cache, 0, 1},
	{"acquire, hooks, first use", HOOKED(hooks_all), "want 1", acquire_through_cache, MOVES_COLD, 1},
	{"acquire bulk of 6, hooks", HOOKED(hooks_all), "own +2 want 6", acquire_bulk, MOVES_COLD, 1},
	{"release, hooks", HOOKED(hooks_all), "mine +2 older", release_through_cache, 0, 1},
	{"release, deactivate refuses", HOOKED(hooks_refusing), "mine +2 older", release_through_cache, MOVES_COLD, 1},
	{"release bulk of 6, hooks", HOOKED(hooks_all), "own +8 hand 6", release_bulk, CHANGED, 1},
	{"release handle, hooks", HOOKED(hooks_all), "own +3 hand 1 handle", release_handle, 0, 1},
	{"acquire, poison and guard", WATCHED, "mine +2 want 1", acquire_through_cache, 0, 1},
	{"release, poison and guard", WATCHED, "mine +2 older", release_through_cache, 0, 1},
	{"walk, for each active", USUAL, "own +5 handle", for_each, 0, 0},
	/* only quarantined objects are free, and the quarantine is full: a release drives one out */
	{"acquire, out of quarantine", QUARANTINED, "other all -3 want 1", acquire_through_cache, 0, 1},
	{"acquire, quarantine exhausted", QUARANTINED, "other all want 1", acquire_through_cache, 0, 0},
	{"release, into quarantine", QUARANTINED, "mine +6 -4 hand 1", release_through_cache, 0, 1},
	{"release, with a handle", USUAL, "mine +2 older handle", release_marked, 0, 1},
	{.name = NULL},
};
