/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - hooks that track each object: create, then activate and deactivate alternately, then destroy.
 *
 * Idea         A table of atomics, by address, so that any thread finds its object and a fork cannot leave it locked.
 *              If two calls have an object at once, or a step is skipped or repeated, the state is wrong.
 */
#include "row.h"

#define PLACES (1u << 15)

enum { RAW, BUILT, ACTIVE, BUSY };

static struct {
	_Atomic(uintptr_t) address;
	_Atomic(int) state;
} place[PLACES];
static _Atomic(size_t) built;
static _Atomic(unsigned) asked;
static _Atomic(bool) may_refuse;
static bool builds;

static _Atomic(int) *state_of(const void *object)
{
	for (size_t i = (uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> 49, n = 0; n < PLACES;
	     n++, i = (i + 1) % PLACES) {
		uintptr_t found = atomic_load(&place[i].address);

		if (found == (uintptr_t)object ||
		    (!found && (atomic_compare_exchange_strong(&place[i].address, &found, (uintptr_t)object) ||
				found == (uintptr_t)object)))
			return &place[i].state;
	}
	abort();
}

static void change(const void *object, int from, int to)
{
	int state = from;

	REQUIRE(atomic_compare_exchange_strong(state_of(object), &state, BUSY));
	atomic_store(state_of(object), to);
}

static bool refuse(struct model *m, unsigned each)
{
	if (!atomic_load(&may_refuse) || atomic_fetch_add(&asked, 1) % each)
		return false;
	atomic_fetch_add(&m->refused, 1);
	return true;
}

static bool create(void *context, void *object)
{
	if (refuse(context, 5))
		return false;
	change(object, RAW, BUILT);
	atomic_fetch_add(&built, 1);
	return true;
}

/* Without create, the first use builds an object. */
static bool activate(void *context, void *object)
{
	if (refuse(context, 7))
		return false;
	if (!builds && atomic_load(state_of(object)) == RAW)
		change(object, RAW, ACTIVE);
	else
		change(object, BUILT, ACTIVE);
	return true;
}

static bool deactivate(void *context, void *object)
{
	(void)context;
	change(object, ACTIVE, BUILT);
	/* Not counted as a refusal: the release succeeds. */
	return !atomic_load(&may_refuse) || atomic_fetch_add(&asked, 1) % 3;
}

static void destroy(void *context, void *object)
{
	(void)context;
	change(object, BUILT, RAW);
	atomic_fetch_sub(&built, 1);
}

void hooks_choose(lfpool_hooks_t *hooks, unsigned which)
{
	builds = which != HOOKS_ACTIVATE;
	if (which == HOOKS_NONE)
		return;
	if (which != HOOKS_BUILD) {
		hooks->activate = activate;
		hooks->deactivate = deactivate;
	}
	if (builds) {
		hooks->create = create;
		hooks->destroy = destroy;
	}
}

void hooks_refuse(bool refuse_now)
{
	atomic_store(&may_refuse, refuse_now);
}

void hooks_forget(const void *object)
{
	if (atomic_exchange(state_of(object), RAW) != RAW && builds)
		atomic_fetch_sub(&built, 1);
}

void hooks_require_gone(void)
{
	REQUIRE(atomic_load(&built) == 0);
}
