/* SPDX-License-Identifier: MIT */
/*
 * objects.c - operations that do something about an object: hooks, handles, walks, debug modes.  As operations.c.
 *
 * Idea         What a look-up or a walk must answer is certain whenever it is stopped: the objects that the victim's
 *              caller holds are active all the while, so a walk visits each of them once, and no object twice.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "lfpool/inline.h"
#include "hooks.h"
#include "prepare.h"
#include "stepper.h"

#define PLACES 4 /* of the quarantine */
#define PARTS 3  /* of a divided walk */

/* ---- Preparations ---- */

static void prepare_refused(struct scene *s)
{
	(void)hooks_refuse_me(false);
	prepare_fresh(s);
}

/* Objects in the thread's own cache, which is attached. */
static void prepare_held(struct scene *s)
{
	take(s, NULL, 5);
	s->handle = lfpool_handle_of(s->pool, s->held[0]);
}

static void prepare_by_handle(struct scene *s)
{
	take(s, NULL, 3);
	hand_over(s, 1);
	s->handle = lfpool_handle_of(s->pool, s->given[0]);
}

static void prepare_release_all(struct scene *s)
{
	take(s, NULL, 5);
	hand_over(s, 5);
}

static void prepare_release_bulk(struct scene *s)
{
	take(s, NULL, 8);
	hand_over(s, 6);
}

/* The quarantine is full: what is released drives another one out. */
static void prepare_into_quarantine(struct scene *s)
{
	take(s, s->mine, PLACES + 2);
	give(s, s->mine, PLACES);
	hand_over(s, 1);
}

/* Nothing is free but what is in quarantine. */
static void prepare_out_of_quarantine(struct scene *s)
{
	take(s, s->other, lfpool_capacity(s->pool));
	give(s, s->other, PLACES - 1);
	s->wanted = 1;
}

/* An object without a handle. */
static void prepare_unmarked(struct scene *s)
{
	take(s, NULL, 5);
}

/* Objects to be released of which there are handles. */
static void prepare_marked(struct scene *s)
{
	prepare_release_hit(s);
	s->handle = lfpool_handle_of(s->pool, s->given[0]);
}

static void prepare_bulk_marked(struct scene *s)
{
	prepare_release_bulk(s);
	for (size_t i = 0; i < s->given_count; i += 2)
		s->handle = lfpool_handle_of(s->pool, s->given[i]);
}

/* ---- Operations ---- */

static void acquire_refused(struct scene *s)
{
	(void)hooks_refuse_me(true);
	acquire_through_cache(s);
	(void)hooks_refuse_me(false);
}

static void release_bulk_through_cache(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release_bulk(s->pool, s->given, s->given_count);
	STEP_END();
}

static void resolve(struct scene *s)
{
	STEP_BEGIN();
	s->found[0] = lfpool_resolve(s->pool, s->handle);
	STEP_END();
	if (s->found[0] != s->held[0])
		s->wrong = "the handle of an active object leads elsewhere";
}

static void handle_of(struct scene *s)
{
	lfpool_handle_t handle;

	STEP_BEGIN();
	handle = lfpool_handle_of(s->pool, s->held[0]);
	STEP_END();
	if (s->handle && handle != s->handle)
		s->wrong = "an active object has got another handle";
	if (lfpool_resolve(s->pool, handle) != s->held[0])
		s->wrong = "the handle of an active object leads elsewhere";
}

static void release_marked(struct scene *s)
{
	release_inlined(s);
	if (lfpool_resolve(s->pool, s->handle))
		s->wrong = "the handle of a released object names one";
}

static void release_bulk_marked(struct scene *s)
{
	release_bulk_through_cache(s);
	if (lfpool_resolve(s->pool, s->handle))
		s->wrong = "the handle of a released object names one";
}

static void release_handle(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release_handle(s->pool, s->handle) == LFPOOL_OK;
	STEP_END();
}

static void release_all(struct scene *s)
{
	STEP_BEGIN();
	s->released = lfpool_release_all(s->pool);
	STEP_END();
}

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
			s->wrong = "a walk has missed an object that was active all the while";
	for (size_t i = 0; i < s->found_count; i++)
		if (times_found(s, s->found[i]) > 1)
			s->wrong = "a walk has visited an object twice";
}

static bool visit(void *context, void *object)
{
	struct scene *s = context;

	s->found[s->found_count++] = object;
	return s->found_count < OBJECTS_MAX;
}

static void for_each(struct scene *s)
{
	STEP_BEGIN();
	(void)lfpool_for_each_active(s->pool, visit, s);
	STEP_END();
	check_walk(s);
}

static __attribute__((noinline)) void walk(struct scene *s, lfpool_cursor_t *cursor)
{
	void *object;

	while ((object = lfpool_cursor_next(cursor)))
		(void)visit(s, object);
}

static void step_cursor(struct scene *s)
{
	lfpool_cursor_t cursor;

	STEP_BEGIN();
	lfpool_cursor_open(&cursor, s->pool);
	walk(s, &cursor);
	STEP_END();
	check_walk(s);
}

static void split_cursor(struct scene *s)
{
	lfpool_cursor_t parts[PARTS];

	STEP_BEGIN();
	lfpool_cursor_split(parts, PARTS, s->pool);
	STEP_END();
	for (size_t i = 0; i < PARTS; i++)
		walk(s, &parts[i]);
	check_walk(s);
}

static void copy_active(struct scene *s)
{
	STEP_BEGIN();
	s->found_count = lfpool_copy_active(s->pool, s->found, OBJECTS_MAX);
	STEP_END();
	check_walk(s);
}

/* ---- The table ---- */

#define HOOKED(hooks) POOL(4 * EACH, 2 * EACH, 0, &(hooks), NULL, SPECIAL_NOTHING)
#define BUILT_FIRST POOL(4 * EACH, 2 * EACH, LFPOOL_CREATE_ALL, &hooks_building, NULL, SPECIAL_NOTHING)
#define DEBUGGED(debug) POOL(4 * EACH, 2 * EACH, 0, NULL, debug, SPECIAL_NOTHING)
#define ALL(hooks) POOL(4 * EACH, 2 * EACH, LFPOOL_CHECK_RACES, hooks, NULL, RELEASES_ALL)
#define WATCHED DEBUGGED("poison,guard,check,no-tools")
#define QUARANTINED POOL(2 * EACH, 2 * EACH, 0, NULL, "quarantine=4,no-tools", SPECIAL_NOTHING)
/* The clock is the kernel's, and reading it may take one instruction more than the last time. */
#define OWNED POOL(4 * EACH, 2 * EACH, 0, NULL, "owner,no-tools", IN_PROGRAM)

const struct operation object_operations[] = {
	{"acquire, hooks", HOOKED(hooks_all), prepare_hit, acquire_through_cache, 0, 1},
	{"acquire, hooks, first use", HOOKED(hooks_all), prepare_fresh, acquire_through_cache,
		  CHANGED | MOVES_CARVED, 1},
	{"acquire, activate refuses", HOOKED(hooks_reluctant), prepare_refused, acquire_refused,
		  CHANGED | MOVES_CARVED, 1},
	{"acquire bulk of 6, hooks", HOOKED(hooks_all), prepare_bulk_acquire, acquire_bulk,
		  MOVES_CURRENT | MOVES_CARVED | MOVES_EMPTY | MOVES_TOP, 1},
	{"release, hooks", HOOKED(hooks_all), prepare_release_hit, release_through_cache, 0, 1},
	{"release, deactivate refuses", HOOKED(hooks_refusing), prepare_release_hit, release_through_cache, 0, 1},
	{"release bulk of 6, hooks", HOOKED(hooks_all), prepare_release_bulk, release_bulk_through_cache, CHANGED, 1},
	{"acquire hit, built before", BUILT_FIRST, prepare_hit, acquire_inlined, 0, 1},
	{"release hit, built before", BUILT_FIRST, prepare_release_hit, release_inlined, 0, 1},
	{"handle of, the first", USUAL, prepare_unmarked, handle_of, 0, 0},
	{"handle of", USUAL, prepare_held, handle_of, 0, 0},
	{"resolve", USUAL, prepare_held, resolve, 0, 0},
	{"release handle", USUAL, prepare_by_handle, release_handle, 0, 1},
	{"release handle, hooks", HOOKED(hooks_all), prepare_by_handle, release_handle, 0, 1},
	{"release all", ALL(NULL), prepare_release_all, release_all, CHANGED, 1},
	{"release all, hooks", ALL(&hooks_all), prepare_release_all, release_all, CHANGED, 1},
	{"walk, for each active", USUAL, prepare_held, for_each, 0, 0},
	{"walk, cursor", USUAL, prepare_held, step_cursor, 0, 0},
	{"walk, divided", USUAL, prepare_held, split_cursor, 0, 0},
	{"walk, copy active", USUAL, prepare_held, copy_active, 0, 0},
	{"acquire, poison and guard", WATCHED, prepare_hit, acquire_through_cache, 0, 1},
	{"release, poison and guard", WATCHED, prepare_release_hit, release_through_cache, 0, 1},
	{"acquire, owner", OWNED, prepare_hit, acquire_through_cache, 0, 1},
	{"release, owner", OWNED, prepare_release_hit, release_through_cache, 0, 1},
	{"acquire, out of quarantine", QUARANTINED, prepare_out_of_quarantine, acquire_through_cache, 0, 1},
	{"acquire, quarantine exhausted", QUARANTINED, prepare_exhausted, acquire_through_cache, 0, 0},
	{"release, into quarantine", QUARANTINED, prepare_into_quarantine, release_through_cache, 0, 1},
	{"release, with a handle", USUAL, prepare_marked, release_marked, 0, 1},
	{"release bulk of 6, with handles", USUAL, prepare_bulk_marked, release_bulk_marked, CHANGED, 1},
};
const size_t object_operation_count = sizeof(object_operations) / sizeof(*object_operations);
