/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - runs the hooks of a pool, and its debug modes around them; see lifecycle.h.
 */
#include "object/lifecycle.h"

#include "core/arena.h"
#include "object/debugging.h"
#include "os/backing.h"
#include "os/os.h"

#include <string.h>

struct lifecycle {
	size_t mapped_bytes; /* 0: in a buffer                                                */
	lfpool_hooks_t hooks;
	struct debug *debug; /* NULL: nothing to do                                           */
	size_t zero_bytes;   /* LFPOOL_ZERO: of each object; else 0                           */
	bool each_call;
	bool build_all;           /* LFPOOL_CREATE_ALL                                             */
	_Atomic(uint8_t) built[]; /* per slot, from 0; the slot's holder's.  Untouched if all are  */
};

/* A macro: in an embedded build, which has no debug modes, it is a constant for every compiler. */
#define has_debug(lifecycle) (!EMBEDDED && (lifecycle)->debug)

/* ---- Life ---- */

bool hooks_have_life(const lfpool_hooks_t *hooks)
{
	return hooks->create || hooks->validate || hooks->activate || hooks->deactivate || hooks->destroy;
}

static void fill_in(struct lifecycle *lifecycle, const lfpool_config_t *config, struct debug *debug)
{
	const lfpool_hooks_t *hooks = &config->hooks;

	lifecycle->hooks = *hooks;
	lifecycle->debug = debug;
	lifecycle->zero_bytes = config->flags & LFPOOL_ZERO ? config->object_size : 0;
	lifecycle->build_all = (config->flags & LFPOOL_CREATE_ALL) && hooks->create;
	lifecycle->each_call = debug || hooks->validate || hooks->activate || hooks->deactivate ||
			       (hooks_have_life(hooks) && !lifecycle->build_all);
}

#if !EMBEDDED
bool lifecycle_open(struct lifecycle **lifecycle_out, const lfpool_config_t *config, const struct debug_modes *modes)
{
	struct debug *debug;
	size_t bytes;

	*lifecycle_out = NULL;
	if (!debug_open(&debug, config, modes))
		return false;
	if (!hooks_have_life(&config->hooks) && !debug)
		return true;

	struct lifecycle *lifecycle = __builtin_add_overflow(sizeof(struct lifecycle) + 1, config->max_capacity, &bytes)
					      ? NULL
					      : os_map(bytes);

	if (!lifecycle) {
		debug_close(debug);
		return false;
	}
	lifecycle->mapped_bytes = bytes;
	fill_in(lifecycle, config, debug);
	*lifecycle_out = lifecycle;
	return true;
}
#endif

size_t lifecycle_buffer_bytes(const lfpool_config_t *config)
{
	if (!hooks_have_life(&config->hooks))
		return 0;
	return round_up(sizeof(struct lifecycle) + 1 + config->max_capacity, CACHE_LINE_PAIR);
}

struct lifecycle *lifecycle_open_in(void *buffer, const lfpool_config_t *config)
{
	struct lifecycle *lifecycle = buffer;

	if (!hooks_have_life(&config->hooks))
		return NULL;
	memset(buffer, 0, lifecycle_buffer_bytes(config));
	fill_in(lifecycle, config, NULL);
	return lifecycle;
}

void lifecycle_close(struct lifecycle *lifecycle)
{
	if (EMBEDDED || !lifecycle)
		return;
	debug_close(lifecycle->debug);
	if (lifecycle->mapped_bytes)
		os_unmap(lifecycle, lifecycle->mapped_bytes);
}

lfpool_status_t lifecycle_back(const struct lifecycle *lifecycle, uint32_t flags)
{
	if (EMBEDDED || !lifecycle || !lifecycle->mapped_bytes)
		return LFPOOL_OK;
	return backing_give(flags, (void *)(uintptr_t)lifecycle, lifecycle->mapped_bytes);
}

bool lifecycle_each_call(const struct lifecycle *lifecycle)
{
	return lifecycle && lifecycle->each_call;
}

struct debug *lifecycle_debug(const struct lifecycle *lifecycle)
{
	return lifecycle ? lifecycle->debug : NULL;
}

/* ---- The hooks, one by one ---- */

static bool build(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	if (lifecycle->hooks.create && !lifecycle->hooks.create(lifecycle->hooks.context, object))
		return false;
	if (slot)
		/* relaxed, here and below: the word travels with the slot, as its state does (arena.h). */
		store_relaxed(&lifecycle->built[slot], 1);
	return true;
}

static void unbuild(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	if (slot)
		store_relaxed(&lifecycle->built[slot], 0);
	if (lifecycle->hooks.destroy)
		lifecycle->hooks.destroy(lifecycle->hooks.context, object);
}

static bool deactivate(struct lifecycle *lifecycle, void *object)
{
	return !lifecycle->hooks.deactivate || lifecycle->hooks.deactivate(lifecycle->hooks.context, object);
}

/* ---- All objects ---- */

bool lifecycle_build_all(struct lifecycle *lifecycle, const struct arena *arena, size_t capacity)
{
	if (!lifecycle || !lifecycle->build_all)
		return true;
	for (uint32_t slot = 1; slot <= capacity; slot++) {
		if (build(lifecycle, slot, arena_object(arena, slot)))
			continue;
		while (--slot)
			unbuild(lifecycle, slot, arena_object(arena, slot));
		return false;
	}
	return true;
}

void lifecycle_destroy(struct lifecycle *lifecycle, uint32_t slot, void *object, bool active)
{
	if (!load_relaxed(&lifecycle->built[slot]))
		return;
	if (active)
		(void)deactivate(lifecycle, object);
	unbuild(lifecycle, slot, object);
}

void lifecycle_destroy_all(struct lifecycle *lifecycle, const struct arena *arena, size_t initial, size_t used)
{
	if (!lifecycle)
		return;
	if (lifecycle->build_all && used < initial)
		used = initial;
	for (uint32_t slot = 1; slot <= used; slot++)
		lifecycle_destroy(lifecycle, slot, arena_object(arena, slot), arena_is_active(arena, slot));
}

/* ---- One object ---- */

static enum begun begin_hooks(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	const lfpool_hooks_t *hooks = &lifecycle->hooks;
	bool built = slot != SLOT_NONE && load_relaxed(&lifecycle->built[slot]);
	const bool good = !built || !hooks->validate || hooks->validate(hooks->context, object);

	if (!good) {
		unbuild(lifecycle, slot, object);
		built = false;
	}
	if (!built && !build(lifecycle, slot, object))
		return good ? BEGIN_REFUSED : BEGIN_DISCARDED;
	if (!hooks->activate || hooks->activate(hooks->context, object))
		return BEGIN_OK;
	if (slot == SLOT_NONE)
		unbuild(lifecycle, slot, object);
	return BEGIN_REFUSED;
}

enum begun lifecycle_begin(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	enum begun begun;

	if (has_debug(lifecycle))
		debug_slot_open(lifecycle->debug, slot, object);
	if (lifecycle->zero_bytes)
		memset(object, 0, lifecycle->zero_bytes);
	begun = begin_hooks(lifecycle, slot, object);
	if (!has_debug(lifecycle))
		return begun;
	if (begun == BEGIN_OK)
		debug_slot_begun(lifecycle->debug, slot);
	else
		debug_slot_refused(lifecycle->debug, slot, object);
	if (begun == BEGIN_DISCARDED)
		debug_slot_cool(lifecycle->debug, slot, object);
	return begun;
}

uint32_t lifecycle_end(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	if (has_debug(lifecycle))
		debug_slot_ending(lifecycle->debug, slot, object);
	if (!deactivate(lifecycle, object) || slot == SLOT_NONE)
		unbuild(lifecycle, slot, object);
	return has_debug(lifecycle) ? debug_slot_end(lifecycle->debug, slot, object) : slot;
}

void lifecycle_cool(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	if (!lifecycle)
		return;
	if (has_debug(lifecycle))
		debug_slot_cool(lifecycle->debug, slot, object);
	if (!lifecycle_is_built(lifecycle, slot))
		return;
	if (has_debug(lifecycle))
		debug_slot_lend(lifecycle->debug, object, true);
	unbuild(lifecycle, slot, object);
	if (has_debug(lifecycle))
		debug_slot_lend(lifecycle->debug, object, false);
}

bool lifecycle_builds_all(const struct lifecycle *lifecycle)
{
	return lifecycle && lifecycle->build_all;
}

bool lifecycle_is_built(const struct lifecycle *lifecycle, uint32_t slot)
{
	return load_relaxed(&lifecycle->built[slot]);
}

bool lifecycle_build(struct lifecycle *lifecycle, uint32_t slot, void *object)
{
	return lifecycle_is_built(lifecycle, slot) || build(lifecycle, slot, object);
}
