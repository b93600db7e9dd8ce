/* SPDX-License-Identifier: MIT */
/*
 * low_water.h - the minimum of a count since the last reset.
 *
 * Idea         The count is a word that changes only by compare-and-swap.  A call that lowers it afterwards records the
 *              new value in the mark, if that is a new minimum.  A reset opens the mark for any value, then stores the
 *              count unchanged (by CAS), records the value that it found there, and closes the mark.  That value
 *              includes all changes before the CAS.  A call that changes the count later sees, by the edge of the
 *              count's word, that the mark is open.  If another reset begins meanwhile, that one closes the mark.
 *              While the mark is open, also after a reset that was never finished, the minimum reads as 0.
 * Progress     Lock-free: a retry means that another thread lowered the note, or began a reset.
 */
#ifndef LFPOOL_LOW_WATER_H
#define LFPOOL_LOW_WATER_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"

/* A mark: {resets:31, resetting:1, least:32}; open while resetting.  Zeroed: closed, with the minimum 0. */
typedef _Atomic(uint64_t) low_water_word;

#define LOW_WATER_RESETTING (UINT64_C(1) << 32)
#define LOW_WATER_RESETS (LOW_WATER_RESETTING << 1)
#define LOW_WATER_MASK (LOW_BITS(LOW_WATER_RESETS_BITS) * LOW_WATER_RESETS | (LOW_WATER_RESETS - 1))

static inline void low_water_note(low_water_word *mark, uint32_t value)
{
	uint64_t now = tally_read(mark);

	while (unlikely(value < (uint32_t)now) && !tally_cas(mark, &now, (now & ~(uint64_t)UINT32_MAX) | value))
		;
}

static inline uint32_t low_water_least(const low_water_word *mark)
{
	const uint64_t now = tally_read(mark);

	return now & LOW_WATER_RESETTING ? 0 : (uint32_t)now;
}

/* Returns the argument for low_water_close(). */
static inline uint64_t low_water_open(low_water_word *mark)
{
	uint64_t now = tally_read(mark), open;

	do
		open = ((now | LOW_WATER_RESETTING | UINT32_MAX) + LOW_WATER_RESETS) & LOW_WATER_MASK;
	while (!tally_cas(mark, &now, open));
	return open;
}

static inline void low_water_close(low_water_word *mark, uint64_t open)
{
	uint64_t now = tally_read(mark);

	while (now >> 32 == open >> 32 && !tally_cas(mark, &now, now & ~LOW_WATER_RESETTING))
		;
}

#endif
