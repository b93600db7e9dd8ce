/* SPDX-License-Identifier: MIT */
/*
 * evict_operations.c - the operations on an evicting pool that are stopped at every instruction.
 *
 * Idea         What an operation has changed it notes behind STEP_END; and what it has answered must fit what the others
 *              have done while it stood: an object whose handle it finds stale was evicted.
 */
#include "evict.h"
#include "stepper.h"

/* ---- Operations ---- */

static void wrong_unless(struct evict_scene *s, bool right, const char *wrong)
{
	if (!right)
		s->wrong = wrong;
}

/* It may say that the handle is stale if the object was evicted, or was none from the beginning. */
static void check_stale(struct evict_scene *s, bool stale)
{
	const struct item *mine = s->mine;

	wrong_unless(s, !stale || mine->evicted || mine->state == RELEASED,
		     "a handle is said to be stale, and no thread evicted the object");
}

static void acquire(struct evict_scene *s)
{
	lfpool_handle_t handle;
	void *object = STEP(lfpool_priority_acquire(s->pool, s->priority, owner_of(s->priority), &handle));

	wrong_unless(s, !object == !handle, "an object without a handle, or the other way round");
	if (object)
		s->got = item_note(&s->items, object, handle, s->priority);
}

static void publish(struct evict_scene *s)
{
	const lfpool_status_t status = STEP(lfpool_priority_publish(s->pool, s->mine->handle));

	wrong_unless(s, (status == LFPOOL_OK) == s->mine->uncertain, "a publish is refused, or a stale handle is not");
	if (status != LFPOOL_OK)
		return;
	s->mine->state = ACTIVE;
}

static void update(struct evict_scene *s)
{
	const lfpool_status_t status = STEP(lfpool_priority_update(s->pool, s->mine->handle, s->priority));

	check_stale(s, status != LFPOOL_OK);
	if (status == LFPOOL_OK)
		s->mine->priority = s->priority;
}

static void pin(struct evict_scene *s)
{
	const void *object = STEP(lfpool_priority_pin(s->pool, s->mine->handle));

	if (object) {
		s->mine->pins++;
		wrong_unless(s, object == s->mine->object && object_is_marked(object, s->mine->handle),
			     "what was pinned is another's object");
		wrong_unless(s, !s->mine->evicted, "an object was evicted that is pinned");
	}
	check_stale(s, !object);
}

static void unpin(struct evict_scene *s)
{
	const unsigned pins = s->mine->pins;
	const lfpool_status_t status = STEP(lfpool_priority_unpin(s->pool, s->mine->handle));

	if (pins && status == LFPOOL_OK)
		s->mine->pins--;
	wrong_unless(s, !pins || status == LFPOOL_OK, "an unpin is refused");
	if (!pins && s->mine->state == ACTIVE && status == LFPOOL_E_NOT_PINNED)
		return;
	wrong_unless(s, pins || status == LFPOOL_E_STALE, "an unpin too many is not refused for what it is");
	check_stale(s, status == LFPOOL_E_STALE);
}

static void release(struct evict_scene *s)
{
	const lfpool_status_t status = STEP(lfpool_priority_release(s->pool, s->mine->handle));

	check_stale(s, status != LFPOOL_OK);
	wrong_unless(s, status != LFPOOL_OK || !s->mine->evicted, "an object was evicted, and released");
	if (status == LFPOOL_OK)
		s->mine->state = RELEASED;
}

static void release_min(struct evict_scene *s)
{
	const size_t before = s->evicted.count;
	const size_t count = STEP(lfpool_priority_release_min(s->pool, 2));

	wrong_unless(s, count == s->evicted.count - before, "it has released more than it says, or less");
}

static void peek_min(struct evict_scene *s)
{
	uint64_t priority;

	s->peeked = STEP(lfpool_priority_peek_min(s->pool, &priority));
	s->has_peeked = true;
}

static void is_active(struct evict_scene *s)
{
	const bool active = STEP(lfpool_priority_is_active(s->pool, s->mine->handle));

	check_stale(s, !active);
}

static void look(struct evict_scene *s)
{
	const void *object = STEP(lfpool_priority_look(s->pool, s->mine->handle));

	check_stale(s, !object);
	wrong_unless(s, !object || object == s->mine->object, "another's object");
}

static void get(struct evict_scene *s)
{
	uint64_t priority = s->mine->priority;
	const bool found = STEP(lfpool_priority_get(s->pool, s->mine->handle, &priority));

	check_stale(s, !found);
	wrong_unless(s, priority == s->mine->priority, "another's priority");
}

static bool see(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct evict_scene *s = context;
	struct item *item = item_of(&s->items, handle);

	(void)priority;
	wrong_unless(s, object_is_marked(object, handle), "what was visited is another's object");
	if (item)
		item->visited++;
	return true;
}

static void for_each(struct evict_scene *s)
{
	(void)STEP(lfpool_priority_for_each(s->pool, see, s));
	for (size_t i = 0; i < s->items.count; i++) {
		const struct item *item = &s->items.of[i];

		wrong_unless(s, item->visited <= 1, "an object was visited twice");
		wrong_unless(s, item->visited || item->evicted || item->state != ACTIVE,
			     "an object that was active was not visited");
	}
}

/* ---- The table ---- */

#define TWO_LEVELS SLOTS_MAX
#define ONE_SLOT 1
#define SIX_SLOTS 6

#define CLIMBS (MOVES_NODE | MOVES_ROOT)

const struct evict_operation evict_operations[] = {
	{"acquire, a free slot", TWO_LEVELS, "fill drop 3 to 500", acquire, MOVES_STATE | MOVES_FREE, 1},
	{"acquire, a fresh slot", TWO_LEVELS, "fill 17 to 500", acquire, MOVES_STATE | MOVES_FREE, 1},
	{"acquire, evicts", TWO_LEVELS, "fill least change 500", acquire, MOVES_STATE, 1},
	{"acquire, evicts one of several alike", TWO_LEVELS, "alike least change 500", acquire, MOVES_STATE, 1},
	{"acquire, evicts, repairs the tree", TWO_LEVELS, "fill new 500 least change 500", acquire, MOVES_STATE | CLIMBS, 1},
	{"acquire, evicts, one slot", ONE_SLOT, "fill least change 500", acquire, MOVES_STATE, 1},
	{"acquire, refused an equal", TWO_LEVELS, "alike least", acquire, 0, 0},
	{"acquire, refused: it is lower", TWO_LEVELS, "fill to 1", acquire, 0, 0},
	{"acquire, refused: all are pinned", TWO_LEVELS, "fill pins item 0 to 500", acquire, 0, 0},
	{"publish, climbs to the root", TWO_LEVELS, "fill 17 new 1 change", publish, MOVES_STATE | CLIMBS, 1},
	{"publish, climbs to its node", TWO_LEVELS, "fill 17 new 165 change", publish, MOVES_STATE | MOVES_NODE, 1},
	{"publish, climbs nowhere", TWO_LEVELS, "fill 17 new 500 change", publish, MOVES_STATE, 1},
	{"publish, the only one", TWO_LEVELS, "new 500 change", publish, MOVES_STATE | CLIMBS, 1},
	{"publish, one slot", ONE_SLOT, "new 500 change", publish, MOVES_STATE | MOVES_ROOT, 1},
	{"publish, stale", TWO_LEVELS, "fill drop 3 add 500 item 3 to 1", publish, 0, 0},
	{"update, the least goes up", TWO_LEVELS, "fill least change 500", update, MOVES_STATE | CLIMBS, 0},
	{"update, the least goes down", TWO_LEVELS, "fill least change 1", update, MOVES_STATE | CLIMBS, 0},
	{"update, becomes the least", TWO_LEVELS, "fill item 17 change 1", update, MOVES_STATE | CLIMBS, 0},
	{"update, climbs nowhere", TWO_LEVELS, "fill item 3 change 500", update, MOVES_STATE, 0},
	{"update, among several alike", SIX_SLOTS, "alike least change 110", update, MOVES_STATE | MOVES_ROOT, 0},
	{"update, the only one goes up", TWO_LEVELS, "fill pins item 16 change 500 unpin", update, MOVES_STATE | CLIMBS, 0},
	{"update, the only one goes down", TWO_LEVELS, "fill pins item 16 change 1 unpin", update, MOVES_STATE | CLIMBS, 0},
	{"update, one slot", ONE_SLOT, "fill least change 500", update, MOVES_STATE | MOVES_ROOT, 0},
	{"update, of a pinned one", TWO_LEVELS, "fill item 15 to 500 pin", update, MOVES_STATE, 0},
	{"update, the same priority", TWO_LEVELS, "fill least", update, 0, 0},
	{"update, stale", TWO_LEVELS, "fill drop 3 add 500 item 3 to 1", update, 0, 0},
	{"pin, the least", TWO_LEVELS, "fill least change", pin, MOVES_STATE | CLIMBS, 1},
	{"pin, another", TWO_LEVELS, "fill item 17 change", pin, MOVES_STATE, 1},
	{"pin, one slot", ONE_SLOT, "fill least change", pin, MOVES_STATE | MOVES_ROOT, 1},
	{"pin, a second time", TWO_LEVELS, "fill item 15 to 500 pin", pin, MOVES_STATE, 0},
	{"pin, stale", TWO_LEVELS, "fill drop 3 add 500 item 3 to 1", pin, 0, 0},
	{"unpin, becomes the least", TWO_LEVELS, "fill least change pin", unpin, MOVES_STATE | CLIMBS, 1},
	{"unpin, climbs nowhere", TWO_LEVELS, "fill item 17 change pin", unpin, MOVES_STATE, 1},
	{"unpin, one slot", ONE_SLOT, "fill least change pin", unpin, MOVES_STATE | MOVES_ROOT, 1},
	{"unpin, not the last", TWO_LEVELS, "fill item 15 to 500 pin 2", unpin, MOVES_STATE, 0},
	{"unpin, the last of a released one", TWO_LEVELS, "fill least change pin drop 15", unpin, MOVES_STATE | MOVES_FREE, 1},
	{"unpin, not pinned", TWO_LEVELS, "fill least", unpin, 0, 0},
	{"unpin, stale", TWO_LEVELS, "fill drop 3 add 500 item 3 to 1", unpin, 0, 0},
	{"release, the least", TWO_LEVELS, "fill least change", release, MOVES_STATE | CLIMBS | MOVES_FREE, 1},
	{"release, another", TWO_LEVELS, "fill item 17 change", release, MOVES_STATE | MOVES_FREE, 1},
	{"release, one slot", ONE_SLOT, "fill least change", release, MOVES_STATE | MOVES_ROOT | MOVES_FREE, 1},
	{"release, new", TWO_LEVELS, "fill 17 new 1 change", release, MOVES_STATE | MOVES_FREE, 1},
	{"release, pinned", TWO_LEVELS, "fill item 15 to 500 pin", release, MOVES_STATE, 0},
	{"release, stale", TWO_LEVELS, "fill drop 3 add 500 item 3 to 1", release, 0, 0},
	{"release the least two", TWO_LEVELS, "fill least change doubt 10", release_min, MOVES_STATE | CLIMBS | MOVES_FREE, 1},
	{"release the least two, all are pinned", TWO_LEVELS, "fill pins item 0 to 500", release_min, 0, 0},
	{"see the least", TWO_LEVELS, "fill least", peek_min, 0, 0},
	{"see the least, repairs the tree", TWO_LEVELS, "fill new 500 least change 500", peek_min, CLIMBS, 0},
	{"is active", TWO_LEVELS, "fill least", is_active, 0, 0},
	{"look", TWO_LEVELS, "fill least", look, 0, 0},
	{"get", TWO_LEVELS, "fill least", get, 0, 0},
	{"walk", TWO_LEVELS, "fill 3 item 1 pin nobody doubt 0 doubt 2", for_each, MOVES_STATE | CLIMBS, 1},
};
const size_t evict_operation_count = sizeof(evict_operations) / sizeof(*evict_operations);
