/* SPDX-License-Identifier: MIT */
/*
 * configure.h - checks a caller's config, and completes it.
 */
#ifndef LFPOOL_CONFIGURE_H
#define LFPOOL_CONFIGURE_H

#include "base/base.h"
#include "core/arena.h"
#include "base/words.h"

/* So small that the stride, with the bytes that debug modes add, fits in 32 bits. */
#define OBJECT_SIZE_MAX ((size_t)1 << 30)
#define OBJECT_ALIGNMENT_MAX ((size_t)1 << 30)
#define RETIRED_SLOTS_MAX (UINT32_C(1) << 30) /* of a pool with a scheme */

/* Copies a config that may be older or newer than the library.  Missing fields become 0.  False: an unknown field is
 * set. */
bool config_copy(lfpool_config_t *config_out, const lfpool_config_t *given);
/* Checks `given`, completes it with defaults and the environment, and copies it.  *empty_out: the config has capacity
 * 0, and the copy 1; the caller must remove that object.  empty_out NULL: capacity 0 is refused. */
lfpool_status_t config_import(lfpool_config_t *config_out, struct debug_modes *modes_out, const lfpool_config_t *given,
			      bool *empty_out);
/* The same for a pool in a buffer: without the environment; features that enter the kernel are refused. */
lfpool_status_t config_import_for_buffer(lfpool_config_t *config_out, struct debug_modes *modes_out,
					 const lfpool_config_t *given);

/* The part that both share; caches: the maximum of config.buffer_caches. */
struct config_words {
	const char *backend, *debug; /* the environment's; NULL or empty: not set */
};
lfpool_status_t config_import_with(lfpool_config_t *config_out, struct debug_modes *modes_out,
				   const lfpool_config_t *given, const struct config_words *words, bool *empty_out,
				   size_t caches);

/* The arena of a complete config. */
struct arena_plan config_arena_plan(const lfpool_config_t *config, const struct window *window);

/* If the environment has settings, prints on stderr, once per process, that a pool ignores them. */
void config_tell_ignored(const char *name, const char *why);

const char *backend_name(lfpool_backend_t backend);

#endif
