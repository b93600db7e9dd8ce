/* SPDX-License-Identifier: MIT */
/*
 * stats.h - parts of lfpool_stats(), for the backends and checks.
 */
#ifndef LFPOOL_STATS_H
#define LFPOOL_STATS_H

#include "core/cache.h"

#include "lfpool/report.h"

/* Adds the slots 1 .. used, by their states: active. */
void stats_of_slots(const struct arena *arena, size_t used, lfpool_stats_t *stats_out);
/* The lock-free backend's: see struct backend. */
void lockfree_stats(const lfpool_t *pool, lfpool_stats_t *stats_out);
/* Free slots in all magazines in use; slots of the chunks that were used; free objects that were never used, or are cold.
 * Snapshots.  *pushes: what was ever pushed on magazines. */
size_t stats_in_magazines(const struct core *core, uint64_t *pushes);
size_t stats_from_chunks(const struct core *core);
size_t stats_untouched(const struct core *core);

#endif
