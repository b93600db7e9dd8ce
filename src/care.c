/* SPDX-License-Identifier: MIT */
/*
 * care.c - runs the hooks of a pool; see care.h.
 */
#include "care.h"

#include "arena.h"
#include "os.h"

struct care {
	size_t mapped_bytes;
	lfpool_hooks_t hooks;
	bool hooks_each_call;
	bool build_all;            /* LFPOOL_CREATE_ALL                                             */
	_Atomic(uint8_t) built[];  /* per slot, from 0; the slot's holder's.  Untouched if all are  */
};

/* ---- Life ---- */

bool care_open(struct care **care_out, const lfpool_config_t *config)
{
	const lfpool_hooks_t *hooks = &config->hooks;
	size_t bytes;

	*care_out = NULL;
	if (!hooks->create && !hooks->activate && !hooks->deactivate && !hooks->destroy)
		return true;
	if (__builtin_add_overflow(sizeof(struct care) + 1, config->capacity, &bytes))
		return false;

	struct care *care = os_map(bytes);

	if (!care)
		return false;
	care->mapped_bytes = bytes;
	care->hooks = *hooks;
	care->build_all = config->flags & LFPOOL_CREATE_ALL;
	care->hooks_each_call = hooks->activate || hooks->deactivate || !care->build_all;
	*care_out = care;
	return true;
}

void care_close(struct care *care)
{
	if (care)
		os_unmap(care, care->mapped_bytes);
}

bool care_each_call(const struct care *care)
{
	return care && care->hooks_each_call;
}

/* ---- The hooks, one by one ---- */

static bool build(struct care *care, uint32_t slot, void *object)
{
	if (care->hooks.create && !care->hooks.create(care->hooks.context, object))
		return false;
	if (slot)
		/* relaxed, here and below: the word travels with the slot, as its state word does (arena.h). */
		store_relaxed(&care->built[slot], 1);
	return true;
}

static void unbuild(struct care *care, uint32_t slot, void *object)
{
	if (slot)
		store_relaxed(&care->built[slot], 0);
	if (care->hooks.destroy)
		care->hooks.destroy(care->hooks.context, object);
}

static bool deactivate(struct care *care, void *object)
{
	return !care->hooks.deactivate || care->hooks.deactivate(care->hooks.context, object);
}

/* ---- All objects ---- */

bool care_build_all(struct care *care, const struct arena *arena)
{
	if (!care || !care->build_all)
		return true;
	for (uint32_t slot = 1; slot <= arena->face.slots; slot++) {
		if (build(care, slot, arena_object(arena, slot)))
			continue;
		while (--slot)
			unbuild(care, slot, arena_object(arena, slot));
		return false;
	}
	return true;
}

void care_destroy_all(struct care *care, const struct arena *arena, size_t used)
{
	if (!care)
		return;
	if (care->build_all)
		used = (size_t)arena->face.slots;
	for (uint32_t slot = 1; slot <= used; slot++) {
		void *object = arena_object(arena, slot);

		if (!load_relaxed(&care->built[slot]))
			continue;
		/* Without state words nobody knows which are active. */
		if (arena->face.state && arena_is_active(arena, slot))
			(void)deactivate(care, object);
		unbuild(care, slot, object);
	}
}

/* ---- One object ---- */

bool care_begin(struct care *care, uint32_t slot, void *object)
{
	if ((slot == SLOT_NONE || !load_relaxed(&care->built[slot])) && !build(care, slot, object))
		return false;
	if (!care->hooks.activate || care->hooks.activate(care->hooks.context, object))
		return true;
	if (slot == SLOT_NONE)
		unbuild(care, slot, object);
	return false;
}

void care_end(struct care *care, uint32_t slot, void *object)
{
	if (!deactivate(care, object) || slot == SLOT_NONE)
		unbuild(care, slot, object);
}
