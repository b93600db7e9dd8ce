/* SPDX-License-Identifier: MIT */
/*
 * evictions.c - operations of lfpool/evict.h, and pins.  Like operations.c.
 *
 * Idea         The ranked objects of a scene were acquired by priority and published: every thread may evict them.
 *              Whenever the others empty the pool they first release the ranked objects with lfpool_release_least(),
 *              in order.  Only the operation's object may be missing, or out of place.
 * At the end   Before the victim continues, in a full pool, the others acquire and publish all objects again.  Then
 *              the victim's evictions must be the least of these.
 */
#include "calls.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"

#include <string.h>

#define AGAIN 1000 /* the least priority of the objects that are published at the end */

/* ---- The ranked objects ---- */

static struct ranked *ranked_of(struct scene *s, lfpool_handle_t handle)
{
	for (size_t i = 0; i < s->ranked_count; i++)
		if (s->ranked[i].handle == handle)
			return &s->ranked[i];
	return NULL;
}

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct scene *s = context;
	struct ranked *r = ranked_of(s, handle);

	/* The object that the operation has acquired is not ranked. */
	wrong_if(s, r && r->object != object, "an evicted handle names another object");
	wrong_if(s, r && r->evicted, "an object was evicted twice");
	wrong_if(s, lfpool_resolve(s->pool, handle), "the handle of an evicted object resolves");
	if (r)
		r->evicted = true;
	if (s->evicted_count < OBJECTS_MAX)
		s->evicted[s->evicted_count++] = (struct ranked){handle, object, priority, true};
}

const lfpool_hooks_t *evictions_hooks(struct scene *s)
{
	static lfpool_hooks_t hooks;

	hooks = (lfpool_hooks_t){.context = s, .evict = on_evict};
	return &hooks;
}

static void publish(struct scene *s, uint64_t priority)
{
	struct ranked r = {.priority = priority};

	r.object = lfpool_acquire_evicting(s->pool, priority, &r.handle);
	if (!r.object)
		return;
	s->ranked[s->ranked_count++] = r;
	(void)lfpool_unpin(s->pool, r.handle);
}

const char *evictions_empty(struct scene *s)
{
	uint64_t last = 0;

	s->evicted_count = 0;
	(void)lfpool_release_least(s->pool, OBJECTS_MAX);
	for (size_t i = 0; i < s->evicted_count; i++) {
		const struct ranked *r = &s->evicted[i];

		/* The operation's object may be anywhere. */
		if (r->handle == s->handle || !ranked_of(s, r->handle))
			continue;
		if (r->priority < last)
			return "objects were not evicted in the right order";
		last = r->priority;
	}
	return s->wrong;
}

/* Acquires and publishes all objects. */
void evictions_refill(struct scene *s)
{
	size_t before;

	s->evicted_count = 0;
	do {
		before = s->ranked_count;
		if (before < OBJECTS_MAX && lfpool_available_count(s->pool))
			publish(s, AGAIN + s->ranked_count);
	} while (s->ranked_count > before);
	s->refilled = true;
}

const char *evictions_settle(struct scene *s)
{
	if (s->got_handle && s->got[0] && lfpool_unpin(s->pool, s->got_handle) != LFPOOL_OK)
		return "an unpin of the object that the operation pinned was refused";
	if (s->holds && (s->held_count--, lfpool_unpin(s->pool, s->handle)) != LFPOOL_OK)
		return "an unpin of a pinned object was refused";
	s->holds = false;
	s->got_handle = 0;
	s->got[0] = NULL;
	for (size_t i = 0; s->refilled && i < s->evicted_count; i++)
		for (size_t k = 0; k < s->ranked_count; k++)
			if (!s->ranked[k].evicted && s->ranked[k].priority >= AGAIN &&
			    s->ranked[k].priority < s->evicted[i].priority)
				return "after it continued, it evicted an object that is not the least";
	return NULL;
}

/* ---- Set-ups ---- */

bool evictions_arrange(struct scene *s, const char *word, size_t count)
{
	if (strcmp(word, "rank") == 0) {
		publish(s, count);
	} else if (strcmp(word, "fill") == 0) {
		for (size_t i = 0; i < count; i++)
			publish(s, 100 + 10 * (i * 7 % count));
	} else if (strcmp(word, "about") == 0) {
		s->handle = s->ranked[count].handle;
	} else if (strcmp(word, "to") == 0) {
		s->priority = count;
	} else if (strcmp(word, "pin") == 0) {
		s->given[s->given_count++] = lfpool_pin(s->pool, s->handle);
	} else if (strcmp(word, "hold") == 0) {
		s->held[s->held_count++] = lfpool_pin(s->pool, s->handle);
		s->holds = true;
	} else if (strcmp(word, "gone") == 0) {
		s->ranked[count].evicted = lfpool_release_handle(s->pool, s->ranked[count].handle) == LFPOOL_OK;
	} else {
		return false;
	}
	return true;
}

/* ---- Operations ---- */

/* The operation's object is gone only if it was evicted. */
static void check_stale(struct scene *s, bool stale)
{
	const struct ranked *r = ranked_of(s, s->handle);

	wrong_if(s, stale && r && !r->evicted, "a call reports a stale handle, but no thread evicted the object");
}

static void acquire_evicting(struct scene *s)
{
	s->got[0] = STEP(lfpool_acquire_evicting(s->pool, s->priority, &s->got_handle));
	wrong_if(s, !s->got[0] != !s->got_handle, "an object without a handle, or a handle without an object");
}

static void pin(struct scene *s)
{
	s->got[0] = STEP(lfpool_pin(s->pool, s->handle));
	s->got_handle = s->got[0] ? s->handle : 0;
	check_stale(s, !s->got[0]);
}

OPERATION(unpin, s->released = STEP(lfpool_unpin(s->pool, s->handle)) == LFPOOL_OK)

static void unpin_last(struct scene *s)
{
	(void)lfpool_release_handle(s->pool, s->handle);
	unpin(s);
}

static void release_pinned(struct scene *s)
{
	const lfpool_status_t status = STEP(lfpool_release_handle(s->pool, s->handle));

	wrong_if(s, status != LFPOOL_OK, "the release of a pinned object was refused");
	wrong_if(s, lfpool_pin(s->pool, s->handle) || lfpool_resolve(s->pool, s->handle),
		 "the handle of a released object resolves");
	s->released = lfpool_unpin(s->pool, s->handle) == LFPOOL_OK;
}

static void set_priority(struct scene *s)
{
	const bool refused = STEP(lfpool_set_priority(s->pool, s->handle, s->priority)) != LFPOOL_OK;

	check_stale(s, refused);
}

static void get_priority(struct scene *s)
{
	uint64_t priority = 0;

	check_stale(s, !STEP(lfpool_get_priority(s->pool, s->handle, &priority)));
}

OPERATION(least, s->found[0] = (void *)(uintptr_t)STEP(lfpool_least(s->pool, NULL)))
OPERATION(release_least, (void)STEP(lfpool_release_least(s->pool, 2)))

/* ---- The table ---- */

#define EVICTING POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, EVICTS)
/* Two blocks of 64 in the order. */
#define TWO_BLOCKS POOL(68, 2 * EACH, 0, NULL, NULL, EVICTS)

/* "fill 8" has priorities 100 170 160 150 140 130 120 110, "fill 68" has 100 170 240 ... */
const struct operation evict_operations[] = {
	{"acquire evicting, a free object", EVICTING, "fill 7 to 500 want 1", acquire_evicting, MOVES_TOP, 1},
	{"acquire evicting, evicts", EVICTING, "fill 8 to 500 want 1", acquire_evicting, MOVES_QUEUE, 1},
	{"acquire evicting, the least is pinned", EVICTING, "fill 8 about 0 hold to 500 want 1", acquire_evicting,
	 MOVES_QUEUE, 1},
	{"acquire evicting, refused", EVICTING, "fill 8 to 1 want 1", acquire_evicting, MOVES_QUEUE, 0},
	{"acquire evicting, two blocks", TWO_BLOCKS, "fill 68 to 1500 want 1", acquire_evicting, MOVES_QUEUE, 1},
	{"pin", EVICTING, "fill 8 about 0 want 1", pin, 0, 1},
	{"pin, stale", EVICTING, "fill 8 about 0 gone 0 want 1", pin, 0, 0},
	{"unpin, the least", EVICTING, "fill 8 about 0 pin", unpin, 0, 1},
	{"unpin, a new least of two blocks", TWO_BLOCKS, "fill 68 about 66 pin", unpin, 0, 1},
	{"unpin, released meanwhile", EVICTING, "fill 8 about 0 pin", unpin_last, 0, 1},
	{"release, pinned", EVICTING, "fill 8 about 0 pin", release_pinned, 0, 1},
	{"set priority, raised", EVICTING, "fill 8 about 0 to 500", set_priority, 0, 1},
	{"set priority, lowered", EVICTING, "fill 8 about 3 to 1", set_priority, 0, 1},
	{"set priority, lowered, two blocks", TWO_BLOCKS, "fill 68 about 66 to 1", set_priority, 0, 1},
	{"get priority", EVICTING, "fill 8 about 3", get_priority, 0, 0},
	{"least", EVICTING, "fill 8", least, 0, 0},
	{"release least of 2", EVICTING, "fill 8", release_least, 0, 1},
	{.name = NULL},
};
