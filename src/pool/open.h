/* SPDX-License-Identifier: MIT */
/*
 * open.h - checks a caller's config, and opens a pool's memory.
 */
#ifndef LFPOOL_OPEN_H
#define LFPOOL_OPEN_H

#include "core/arena.h"
#include "base/words.h"

struct lifecycle;

/* ---- A config, checked and completed: configure.c ---- */

/* These limits make the stride, with the bytes that debug modes add, fit in 32 bits. */
#define OBJECT_SIZE_MAX ((size_t)1 << 30)
#define OBJECT_ALIGNMENT_MAX ((size_t)1 << 30)

/* Copies a config that may be older or newer than the library.  Missing fields become 0.  False: an unknown field is
 * set. */
bool config_copy(lfpool_config_t *config_out, const lfpool_config_t *given);
/* Copies `given`, checks the copy, and completes it with defaults and the environment.  *empty_out becomes true for a
 * permitted capacity of 0: the copy then has capacity 1, and the caller must remove that one object.  With empty_out
 * NULL, capacity 0 is refused. */
lfpool_status_t config_import(lfpool_config_t *config_out, struct debug_modes *modes_out, const lfpool_config_t *given,
			      bool *empty_out);
/* The same for a pool in a buffer.  This function ignores the environment, and refuses features that enter the
 * kernel. */
lfpool_status_t config_import_for_buffer(lfpool_config_t *config_out, struct debug_modes *modes_out,
					 const lfpool_config_t *given);

/* The plan of the arena for a complete config. */
struct arena_plan config_arena_plan(const lfpool_config_t *config, const struct window *window);

/* If the environment has settings for pools, prints on stderr that this pool ignores them.  Prints once per process. */
void config_tell_ignored(const char *name, const char *why);

const char *backend_name(lfpool_backend_t backend);

/* ---- The pool's memory: open.c ---- */

/* Opens the memory of a pool whose objects are in `window`, and initialises the pool's core and mode flags.  The config
 * is valid and complete.  NULL: the system refuses memory. */
lfpool_t *pool_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window);
/* Frees the pool's memory; returns the number of slots that were not free. */
size_t pool_close(lfpool_t *pool);
/* The bytes of a buffer for a pool with this config, without the bytes of its lifecycle; 0 on overflow. */
size_t pool_buffer_bytes(const lfpool_config_t *config);

/* The size in bytes of the bits that lfpool_check() needs: one bit for each slot, and `others` bits for magazines.
 * check_others() computes `others`. */
static inline size_t check_slot_bytes(size_t slots)
{
	return slots / 8 + 1;
}

static inline size_t check_bytes(size_t slots, size_t others)
{
	return round_up(check_slot_bytes(slots) + others / 8 + 1, _Alignof(max_align_t));
}

size_t check_others(size_t magazines, size_t caches);

#endif
