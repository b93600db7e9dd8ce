/* SPDX-License-Identifier: MIT */
/*
 * care.c - runs the hooks of a pool, and its debug modes around them; see care.h.
 */
#include "care.h"

#include "arena.h"
#include "backing.h"
#include "debug.h"
#include "os.h"

#include <string.h>

struct care {
	size_t mapped_bytes;       /* 0: in a buffer                                                */
	lfpool_hooks_t hooks;
	struct debug *debug;       /* NULL: nothing to do                                           */
	size_t zero_bytes;         /* LFPOOL_ZERO: of each object; else 0                           */
	bool each_call;
	bool build_all;            /* LFPOOL_CREATE_ALL                                             */
	_Atomic(uint8_t) built[];  /* per slot, from 0; the slot's holder's.  Untouched if all are  */
};

/* ---- Life ---- */

static bool has_hooks(const lfpool_hooks_t *hooks)
{
	return hooks->create || hooks->activate || hooks->deactivate || hooks->destroy;
}

static void fill_in(struct care *care, const lfpool_config_t *config, struct debug *debug)
{
	const lfpool_hooks_t *hooks = &config->hooks;

	care->hooks = *hooks;
	care->debug = debug;
	care->zero_bytes = config->flags & LFPOOL_ZERO ? config->object_size : 0;
	care->build_all = (config->flags & LFPOOL_CREATE_ALL) && hooks->create;
	care->each_call = debug || hooks->activate || hooks->deactivate || (has_hooks(hooks) && !care->build_all);
}

bool care_open(struct care **care_out, const lfpool_config_t *config, const struct debug_modes *modes)
{
	struct debug *debug;
	size_t bytes;

	*care_out = NULL;
	if (!debug_open(&debug, config, modes))
		return false;
	if (!has_hooks(&config->hooks) && !debug)
		return true;

	struct care *care = __builtin_add_overflow(sizeof(struct care) + 1, config->max_capacity, &bytes) ? NULL :
													 os_map(bytes);

	if (!care) {
		debug_close(debug);
		return false;
	}
	care->mapped_bytes = bytes;
	fill_in(care, config, debug);
	*care_out = care;
	return true;
}

size_t care_buffer_bytes(const lfpool_config_t *config)
{
	if (!has_hooks(&config->hooks))
		return 0;
	return round_up(sizeof(struct care) + 1 + config->max_capacity, CACHE_LINE_PAIR);
}

struct care *care_open_in(void *buffer, const lfpool_config_t *config)
{
	struct care *care = buffer;

	if (!has_hooks(&config->hooks))
		return NULL;
	memset(buffer, 0, care_buffer_bytes(config));
	fill_in(care, config, NULL);
	return care;
}

void care_close(struct care *care)
{
	if (!care)
		return;
	debug_close(care->debug);
	if (care->mapped_bytes)
		os_unmap(care, care->mapped_bytes);
}

lfpool_status_t care_back(const struct care *care, uint32_t flags)
{
	if (!care || !care->mapped_bytes)
		return LFPOOL_OK;
	return backing_give(flags, (void *)(uintptr_t)care, care->mapped_bytes);
}

bool care_each_call(const struct care *care)
{
	return care && care->each_call;
}

void care_plan(const struct care *care, struct arena_plan *plan)
{
	if (care && care->debug)
		debug_plan(care->debug, plan);
}

void care_attach(struct care *care, struct lfpool_pool *pool)
{
	if (care && care->debug)
		debug_attach(care->debug, pool);
}

void care_detach(struct care *care, size_t used)
{
	if (care && care->debug)
		debug_detach(care->debug, used);
}

struct debug *care_debug(const struct care *care)
{
	return care ? care->debug : NULL;
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

bool care_build_all(struct care *care, const struct arena *arena, size_t capacity)
{
	if (!care || !care->build_all)
		return true;
	for (uint32_t slot = 1; slot <= capacity; slot++) {
		if (build(care, slot, arena_object(arena, slot)))
			continue;
		while (--slot)
			unbuild(care, slot, arena_object(arena, slot));
		return false;
	}
	return true;
}

void care_destroy_all(struct care *care, const struct arena *arena, size_t initial, size_t used)
{
	if (!care)
		return;
	if (care->build_all && used < initial)
		used = initial;
	for (uint32_t slot = 1; slot <= used; slot++) {
		void *object = arena_object(arena, slot);

		if (!load_relaxed(&care->built[slot]))
			continue;
		if (arena_is_active(arena, slot))
			(void)deactivate(care, object);
		unbuild(care, slot, object);
	}
}

/* ---- One object ---- */

static bool begin_hooks(struct care *care, uint32_t slot, void *object)
{
	if ((slot == SLOT_NONE || !load_relaxed(&care->built[slot])) && !build(care, slot, object))
		return false;
	if (!care->hooks.activate || care->hooks.activate(care->hooks.context, object))
		return true;
	if (slot == SLOT_NONE)
		unbuild(care, slot, object);
	return false;
}

bool care_begin(struct care *care, uint32_t slot, void *object)
{
	if (care->debug)
		debug_slot_open(care->debug, slot, object);
	if (care->zero_bytes)
		memset(object, 0, care->zero_bytes);
	if (!begin_hooks(care, slot, object)) {
		if (care->debug)
			debug_slot_refused(care->debug, slot, object);
		return false;
	}
	if (care->debug)
		debug_slot_begun(care->debug, slot);
	return true;
}

uint32_t care_end(struct care *care, uint32_t slot, void *object)
{
	if (care->debug)
		debug_slot_ending(care->debug, slot, object);
	if (!deactivate(care, object) || slot == SLOT_NONE)
		unbuild(care, slot, object);
	return care->debug ? debug_slot_end(care->debug, slot, object) : slot;
}

void care_cool(struct care *care, uint32_t slot, void *object)
{
	if (!care)
		return;
	if (care->debug)
		debug_slot_cool(care->debug, slot, object);
	if (!care_is_built(care, slot))
		return;
	if (care->debug)
		debug_slot_lend(care->debug, object, true);
	unbuild(care, slot, object);
	if (care->debug)
		debug_slot_lend(care->debug, object, false);
}

bool care_builds_all(const struct care *care)
{
	return care && care->build_all;
}

bool care_is_built(const struct care *care, uint32_t slot)
{
	return load_relaxed(&care->built[slot]);
}

bool care_build(struct care *care, uint32_t slot, void *object)
{
	return care_is_built(care, slot) || build(care, slot, object);
}

void care_show(struct care *care, uint32_t slot, void *object)
{
	if (care && care->debug)
		debug_slot_show(care->debug, slot, object);
}

/* ---- Quarantine ---- */

bool care_quarantines(const struct care *care)
{
	return care && care->debug && debug_quarantines(care->debug);
}

uint32_t care_take_back(struct care *care, uint64_t *versions_out)
{
	return debug_take_back(care->debug, versions_out);
}

size_t care_held_back(const struct care *care)
{
	return care && care->debug ? debug_held_back(care->debug) : 0;
}

uint32_t care_next_held_back(const struct care *care, uint32_t *place)
{
	return care && care->debug ? debug_next_held_back(care->debug, place) : SLOT_NONE;
}
