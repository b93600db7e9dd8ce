/* SPDX-License-Identifier: MIT */
/*
 * configure.h - what a caller's config says, checked and complete.
 */
#ifndef LFPOOL_CONFIGURE_H
#define LFPOOL_CONFIGURE_H

#include "base/base.h"
#include "core/arena.h"
#include "base/words.h"

/* Of every kind of pool.  The stride of such objects, with the bytes that debug modes put beside them, fits in 32 bits.
 * */
#define OBJECT_SIZE_MAX ((size_t)1 << 30)
#define OBJECT_ALIGNMENT_MAX ((size_t)1 << 30)
#define RETIRED_SLOTS_MAX (UINT32_C(1) << 30) /* of a pool with a scheme */

/* Copies a config that may be older or newer than the library, its missing fields 0; false: a field is set that the
 * library does not know. */
bool config_copy(lfpool_config_t *config_out, const lfpool_config_t *given);
/* Checks `given`, completes it with defaults and the environment, and copies it.  *empty_out: it shall begin with no
 * object, and says 1; empty_out NULL: it must not. */
lfpool_status_t config_import(lfpool_config_t *config_out, struct debug_modes *modes_out, const lfpool_config_t *given,
			      bool *empty_out);
/* The same for a pool in a buffer: without the environment, and what enters the kernel is refused. */
lfpool_status_t config_import_for_buffer(lfpool_config_t *config_out, struct debug_modes *modes_out,
					 const lfpool_config_t *given);

/* What these share; caches: config.buffer_caches may be so many. */
struct config_words {
	const char *backend, *debug; /* the environment's; NULL or empty: it says nothing */
};
lfpool_status_t config_import_with(lfpool_config_t *config_out, struct debug_modes *modes_out,
				   const lfpool_config_t *given, const struct config_words *words, bool *empty_out,
				   size_t caches);

/* What a complete config says of the arena. */
struct arena_plan config_arena_plan(const lfpool_config_t *config, const struct window *window);

/* A pool was made on which the environment has no effect: says so on stderr, once, if the environment asks for one. */
void config_tell_ignored(const char *name, const char *why);

/* The backend's word. */
const char *backend_name(lfpool_backend_t backend);

#endif
