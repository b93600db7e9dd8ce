/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - a pool in a buffer (lfpool/buffer.h): the caller provides all memory of the pool.
 *
 * Idea         The buffer has these parts: [ lifecycle | pool | first lot of caches | magazines | bits | wanted |
 *              states | generations | objects ].  The arena's flag `in_buffer` switches off everything that enters the
 *              kernel: heavy fences, thread caches, further lots of caches, sleeping, the list of live pools, and lines
 *              on stderr.
 * Invariants   BF1 no function of a pool in a buffer makes a system call.
 */
#include "lfpool/buffer.h"

#include "api/api.h"
#include "core/magazine.h"
#include "object/lifecycle.h"
#include "pool/open.h"
#include "pool/pool.h"

_Static_assert(LFPOOL_BUFFER_ALIGNMENT == CACHE_LINE_PAIR,
	       "what the parts are aligned to, with LFPOOL_EMBEDDED and without");
_Static_assert(_Alignof(max_align_t) <= LFPOOL_BUFFER_ALIGN_(0), "the default alignment");
_Static_assert(sizeof(struct lfpool_magazine) <= LFPOOL_BUFFER_MAGAZINE_HEAD_, "before the slots of a magazine");
_Static_assert(EXTRA_PER_CACHE == LFPOOL_BUFFER_EXTRA_, "magazines of each cache");
_Static_assert(LOT_CACHES == LFPOOL_BUFFER_CACHES, "in the first lot");
_Static_assert(sizeof(struct cache) <= LFPOOL_BUFFER_CACHE_, "each cache");
/* The constants in LFPOOL_BUFFER_BYTES must be large enough for parts whose sizes are rounded up. */
_Static_assert(POOL_OF_SHARDS(1) + 7 * CACHE_LINE_PAIR <= LFPOOL_BUFFER_POOL_,
	       "LFPOOL_BUFFER_BYTES has room for the rest");

/* The bytes of a pool with a valid config; 0 if the number overflows. */
static size_t bytes_for(const lfpool_config_t *config)
{
	const size_t bytes = pool_buffer_bytes(config);
	size_t sum;

	return !bytes || __builtin_add_overflow(lifecycle_buffer_bytes(config), bytes, &sum) ? 0 : sum;
}

size_t pool_bytes_in_buffer(const lfpool_config_t *given)
{
	lfpool_config_t config;
	struct debug_modes modes;

	return config_import_for_buffer(&config, &modes, given) == LFPOOL_OK ? bytes_for(&config) : 0;
}

lfpool_status_t pool_create_in_buffer(lfpool_t **pool_out, const lfpool_config_t *given)
{
	lfpool_config_t config;
	struct debug_modes modes;

	*pool_out = NULL;

	const lfpool_status_t status = config_import_for_buffer(&config, &modes, given);

	if (status != LFPOOL_OK)
		return status;

	const size_t bytes = bytes_for(&config), lifecycle_bytes = lifecycle_buffer_bytes(&config);

	char *const buffer = config.memory;

	if (!buffer || (uintptr_t)buffer % LFPOOL_BUFFER_ALIGNMENT || !bytes || config.memory_bytes < bytes)
		return LFPOOL_E_BUFFER;

	const struct window rest = {.at = buffer + lifecycle_bytes, .bytes = bytes - lifecycle_bytes, .whole = true};

	const lfpool_status_t opened = pool_open_as(pool_out, &config, &modes, lifecycle_open_in(buffer, &config),
						    &rest);

#if !EMBEDDED
	if (opened == LFPOOL_OK)
		config_tell_ignored((*pool_out)->name, "in a buffer");
#endif
	return opened;
}

#ifdef LFPOOL_EMBEDDED
lfpool_status_t lfpool_create(lfpool_t **pool_out, const lfpool_config_t *config)
{
	if (pool_out)
		*pool_out = NULL;
	return pool_out && config ? pool_create_in_buffer(pool_out, config) : LFPOOL_E_ARGUMENT;
}

size_t lfpool_memory_bytes(const lfpool_config_t *config)
{
	return config ? pool_bytes_in_buffer(config) : 0;
}
#endif
