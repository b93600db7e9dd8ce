/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - hooks that notice when one is called out of turn; see scene.h.
 */

#include <stdatomic.h>
#include <string.h>

#include "scene.h"

enum life { RAW = 0, BUILT = 0x62, ACTIVE = 0x61 }; /* fresh memory is zero */

static _Atomic(bool) faulty;
static _Thread_local bool refused;

static void step_of_life(void *object, uint64_t from, uint64_t to)
{
	char *last = (char *)object + OBJECT_BYTES - sizeof(uint64_t);
	uint64_t life;

	memcpy(&life, last, sizeof(life));
	if (life != from)
		/* relaxed: read when the others have given the turn back. */
		atomic_store_explicit(&faulty, true, memory_order_relaxed);
	memcpy(last, &to, sizeof(to));
}

static bool on_create(void *context, void *object)
{
	(void)context;
	step_of_life(object, RAW, BUILT);
	return true;
}

static bool on_activate(void *context, void *object)
{
	(void)context;
	step_of_life(object, BUILT, ACTIVE);
	return true;
}

static bool on_activate_perhaps(void *context, void *object)
{
	return !refused && on_activate(context, object);
}

static bool on_deactivate(void *context, void *object)
{
	(void)context;
	step_of_life(object, ACTIVE, BUILT);
	return true;
}

static bool on_deactivate_never(void *context, void *object)
{
	return !on_deactivate(context, object);
}

static void on_destroy(void *context, void *object)
{
	(void)context;
	step_of_life(object, BUILT, RAW);
}

const lfpool_hooks_t hooks_all = {
	.create = on_create, .activate = on_activate, .deactivate = on_deactivate, .destroy = on_destroy};
const lfpool_hooks_t hooks_refusing = {
	.create = on_create, .activate = on_activate, .deactivate = on_deactivate_never, .destroy = on_destroy};
const lfpool_hooks_t hooks_reluctant = {
	.create = on_create, .activate = on_activate_perhaps, .deactivate = on_deactivate, .destroy = on_destroy};
const lfpool_hooks_t hooks_building = {.create = on_create, .destroy = on_destroy};

bool hooks_refuse_me(bool refuse)
{
	const bool before = refused;

	refused = refuse;
	return before;
}

bool hooks_wrong(void)
{
	/* relaxed: see above. */
	return atomic_exchange_explicit(&faulty, false, memory_order_relaxed);
}
