/* SPDX-License-Identifier: MIT */
/*
 * open.h - a pool's memory: opened, divided, closed.
 */
#ifndef LFPOOL_OPEN_H
#define LFPOOL_OPEN_H

#include "core/arena.h"

struct lifecycle;

/* Opens the memory, the core and the mode flags of a pool with its objects in `window`.  The config is validated and
 * complete.  NULL: the system refuses memory. */
lfpool_t *pool_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window);
/* Frees it; returns the number of slots that were not free. */
size_t pool_close(lfpool_t *pool);
/* Bytes of a buffer for such a pool, without its lifecycle; 0: too many. */
size_t pool_buffer_bytes(const lfpool_config_t *config);

/* Bytes of the bits that lfpool_check() needs for slots and magazines. */
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
