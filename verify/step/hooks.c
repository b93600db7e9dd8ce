/* SPDX-License-Identifier: MIT */
/* hooks.c - hooks that notice a call in the wrong order; see scene.h. */
#include <stdatomic.h>
#include <string.h>

#include "scene.h"

enum life { RAW = 0, BUILT = 0x62, ACTIVE = 0x61 }; /* fresh memory is zero */

static _Atomic(bool) faulty;

static bool step_of_life(void *object, uint64_t from, uint64_t to)
{
	char *last = (char *)object + OBJECT_BYTES - sizeof(uint64_t);
	uint64_t life;

	memcpy(&life, last, sizeof(life));
	if (life != from)
		/* relaxed: read after the others have returned the turn. */
		atomic_store_explicit(&faulty, true, memory_order_relaxed);
	memcpy(last, &to, sizeof(to));
	return true;
}

static bool on_create(void *context, void *object)
{
	return step_of_life(object, RAW, BUILT) || context;
}

static bool on_activate(void *context, void *object)
{
	return step_of_life(object, BUILT, ACTIVE) || context;
}

static bool on_deactivate(void *context, void *object)
{
	return step_of_life(object, ACTIVE, BUILT) || context;
}

static bool on_deactivate_never(void *context, void *object)
{
	return !on_deactivate(context, object);
}

static void on_destroy(void *context, void *object)
{
	(void)(step_of_life(object, BUILT, RAW) || context);
}

const lfpool_hooks_t hooks_all = {
	.create = on_create, .activate = on_activate, .deactivate = on_deactivate, .destroy = on_destroy};
const lfpool_hooks_t hooks_refusing = {
	.create = on_create, .activate = on_activate, .deactivate = on_deactivate_never, .destroy = on_destroy};
const lfpool_hooks_t hooks_building = {.create = on_create, .destroy = on_destroy};

bool hooks_wrong(void)
{
	/* relaxed: see above. */
	return atomic_exchange_explicit(&faulty, false, memory_order_relaxed);
}
