/* SPDX-License-Identifier: MIT */
/* holds.c - checks walks and resolves against the times at which objects were active.  See oracle.h. */
#include "oracle.h"

#include "verbs.h"

#include "lfpool/handle.h"
#include "lfpool/walk.h"

#include <string.h>

#define WALKS_MAX 8

struct walk {
	struct moment start, end;
	uint8_t visits[OBJECTS_MAX];
};

static struct notes {
	struct walk walk[WALKS_MAX];
	unsigned walks;
	const lfpool_t *pool;
	lfpool_handle_t handle;
	unsigned handle_hold; /* HOLDS_MAX: no handle yet */
	bool handle_from_start;
	struct moment handle_made;
	const void *handle_object;
} notes;

/* The marks of holds_activate(), by object number. */
static char activated[OBJECTS_MAX];

void holds_open(const lfpool_t *pool)
{
	notes = (struct notes){.pool = pool, .handle_hold = HOLDS_MAX};
	os_play_keep(&notes, sizeof(notes));
}

/* ---- Walks ---- */

static bool visit(void *context, void *object)
{
	struct walk *walk = context;
	const size_t number = lfpool_index_of(notes.pool, object);

	if (number >= OBJECTS_MAX) {
		engine_fail("a walk visits an address that is no object");
		return false;
	}
	if (walk->visits[number]++)
		engine_fail("a walk visits object %zu twice", number);
	explore_plain(&activated[number], false);
	return true;
}

static bool visit_slot(void *context, void *object, bool active)
{
	return active ? visit(context, object) : true;
}

void holds_walk(lfpool_t *pool, bool all_slots)
{
	struct walk walk = {.start = oracle_call()};

	if (all_slots)
		(void)lfpool_for_each_slot(pool, visit_slot, &walk);
	else
		(void)lfpool_for_each_active(pool, visit, &walk);
	walk.end = oracle_now();
	if (notes.walks == WALKS_MAX)
		engine_fail("the explorer's fault: too many walks");
	else
		notes.walk[notes.walks++] = walk;
}

static bool active_throughout(const struct hold *hold, const struct walk *walk)
{
	return (hold->from_start || moment_before(&hold->acquired, &walk->start)) &&
	       (!hold->releasing || (!hold->releasing_from_start && moment_before(&walk->end, &hold->releases)));
}

static bool active_at_times(const struct hold *hold, const struct walk *walk)
{
	return !(hold->released && moment_before(&hold->end, &walk->start)) &&
	       (hold->from_start || !moment_before(&walk->end, &hold->call));
}

static void check_walk(const struct walk *walk)
{
	bool may[OBJECTS_MAX] = {false};

	for (unsigned i = 0; i < oracle_holds(); i++) {
		const struct hold *hold = oracle_hold(i);

		if (hold->object == OBJECTS_MAX)
			continue;
		may[hold->object] |= active_at_times(hold, walk);
		if (active_throughout(hold, walk) && !walk->visits[hold->object])
			engine_fail("a walk misses object %u, which is active throughout the walk", hold->object);
	}
	for (unsigned i = 0; i < OBJECTS_MAX; i++)
		if (walk->visits[i] && !may[i])
			engine_fail("a walk visits object %u, which is not active at any moment of the walk", i);
}

void holds_check_walks(void)
{
	for (unsigned i = 0; i < notes.walks; i++)
		check_walk(&notes.walk[i]);
}

/* ---- Handles ---- */

void holds_take_handle(const void *object)
{
	const size_t number = lfpool_index_of(notes.pool, object);

	notes.handle = lfpool_handle_of(notes.pool, object);
	notes.handle_object = object;
	notes.handle_from_start = !engine_running();
	notes.handle_made = oracle_now();
	for (unsigned i = 0; i < oracle_holds(); i++)
		if (oracle_hold(i)->object == number)
			notes.handle_hold = i;
	if (lfpool_resolve(notes.pool, notes.handle) != object)
		engine_fail("the handle of an active object does not name it");
}

void holds_take_next_handle(void)
{
	/* The handle after one more acquire, see src/api/handle.c. */
	notes.handle += UINT64_C(1) << (64 - __builtin_clzll((unsigned long long)lfpool_capacity(notes.pool)));
	notes.handle_hold = HOLDS_MAX;
}

lfpool_handle_t holds_handle(void)
{
	return notes.handle;
}

void holds_resolve(void)
{
	struct moment call = oracle_call();
	/* A thread may take another handle during this call. */
	const struct hold *const hold = notes.handle_hold < HOLDS_MAX ? oracle_hold(notes.handle_hold) : NULL;
	const bool from_start = notes.handle_from_start;
	const struct moment made = notes.handle_made;
	const void *const expected = notes.handle_object, *object = lfpool_resolve(notes.pool, notes.handle);

	if (object && object != expected)
		engine_fail("a handle resolves to a different object");
	if (object)
		explore_plain(&activated[lfpool_index_of(notes.pool, object)], false);
	if (hold && object && hold->released && moment_before(&hold->end, &call))
		engine_fail("a handle resolves to an object that was released before");
	if (hold && !object && !hold->releasing && (from_start || moment_before(&made, &call)))
		engine_fail("the handle of an active object resolves to nothing");
}

bool holds_activate(void *context, void *object)
{
	(void)context;
	if (engine_running())
		explore_plain(&activated[lfpool_index_of(notes.pool, object)], true);
	return true;
}
