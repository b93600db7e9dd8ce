/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - runs the hooks of a pool, and its debug modes around them; see lifecycle.h.
 */
#include "object/lifecycle.h"

#include "core/arena.h"
#include "object/aside.h"
#include "object/debugging.h"
#include "os/os.h"

#include <string.h>

struct lifecycle {
	size_t mapped_bytes; /* of this struct; 0: in a buffer                                */
	lfpool_hooks_t hooks;
	struct debug *debug; /* NULL: no debug modes and no tools                             */
	size_t zero_bytes;   /* the bytes of each object to set to 0, for LFPOOL_ZERO; or 0   */
	bool each_call;
	bool build_all;           /* LFPOOL_CREATE_ALL                                             */
	uint32_t aside_at;        /* the offset of the struct aside; 0: there is no hooks.activate  */
	_Atomic(uint8_t) built[]; /* by slot, from slot 0 on (K2); written by the slot's holder     */
};

/* Embedded builds have no debug modes.  has_debug() is a macro, so that it is a constant there for every compiler. */
#define has_debug(lifecycle) (!EMBEDDED && (lifecycle)->debug)

/* ---- Life ---- */

static bool hooks_have_life(const lfpool_hooks_t *hooks)
{
	return hooks->create || hooks->validate || hooks->activate || hooks->deactivate || hooks->destroy;
}

/* The number of bytes before the struct aside, which only a pool with hooks.activate has.  SIZE_MAX: the number
 * overflows. */
static size_t head_bytes(const lfpool_config_t *config)
{
	size_t bytes;

	if (__builtin_add_overflow(sizeof(struct lifecycle) + 1 + _Alignof(uint64_t), config->max_capacity, &bytes))
		return SIZE_MAX;
	return bytes / _Alignof(uint64_t) * _Alignof(uint64_t);
}

struct aside *lifecycle_aside(const struct lifecycle *lifecycle)
{
	if (!lifecycle || !lifecycle->aside_at)
		return NULL;
	return (struct aside *)(void *)((char *)(uintptr_t)lifecycle + lifecycle->aside_at);
}

static bool all_bytes(const lfpool_config_t *config, size_t *bytes_out)
{
	size_t tickets;

	if (!config->hooks.activate)
		return !__builtin_add_overflow(sizeof(struct lifecycle) + 1, config->max_capacity, bytes_out);
	return !__builtin_mul_overflow(config->max_capacity + 1, sizeof(uint64_t), &tickets) &&
	       !__builtin_add_overflow(tickets, sizeof(struct aside), &tickets) &&
	       !__builtin_add_overflow(head_bytes(config), tickets, bytes_out);
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
	if (hooks->activate) {
		lifecycle->aside_at = (uint32_t)head_bytes(config);
		lifecycle_aside(lifecycle)->slots = (uint32_t)config->max_capacity;
	}
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

	struct lifecycle *lifecycle = all_bytes(config, &bytes) ? os_map(bytes) : NULL;

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
	size_t bytes;

	if (!hooks_have_life(&config->hooks) || !all_bytes(config, &bytes))
		return 0;
	return round_up(bytes, CACHE_LINE_PAIR);
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
		/* relaxed, here and below: only the slot's holder uses the byte, like the slot's state (arena.h). */
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

static bool deactivate_object(struct lifecycle *lifecycle, void *object)
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

/* For a built object: runs hooks.deactivate if the object is active, and then hooks.destroy. */
static void lifecycle_destroy(struct lifecycle *lifecycle, uint32_t slot, void *object, bool active)
{
	if (!load_relaxed(&lifecycle->built[slot]))
		return;
	if (active)
		(void)deactivate_object(lifecycle, object);
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
	if (!deactivate_object(lifecycle, object) || slot == SLOT_NONE)
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
