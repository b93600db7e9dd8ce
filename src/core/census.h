/* SPDX-License-Identifier: MIT */
/*
 * census.h - how many slots are in each place of the core, and the counts of its caches: snapshots.
 */
#ifndef LFPOOL_CENSUS_H
#define LFPOOL_CENSUS_H

#include "core/cache.h"

/* Slots of the chunks that were used. */
size_t census_carved(const struct core *core);
/* Free slots that were never used, or are cold. */
size_t census_untouched(const struct core *core);
/* Free slots in all magazines in use; *pushes: all pushes on magazines so far. */
size_t census_in_magazines(const struct core *core, uint64_t *pushes);
/* Slots that were ever handed out are among 1 .. this. */
size_t census_used(const struct core *core);
/* Fill in stats that are zero except for the capacity: first the places of free slots and all counts, then the
 * number of active slots and the high-water mark. */
void census_lists(const struct core *core, lfpool_stats_t *stats_out);
void census_states(const struct core *core, lfpool_stats_t *stats_out);
/* The high-water mark begins anew. */
void census_reset_high_water(struct core *core);

#endif
