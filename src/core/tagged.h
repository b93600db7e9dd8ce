/* SPDX-License-Identifier: MIT */
/*
 * tagged.h - the tagged word: a magazine's number and a counter, in 64 bits.
 *
 * Idea         What Treiber's stack (1986) needs against ABA, and what a collect needs to know that nothing moved, is
 *              the same thing: a word {tag:40, number:24} whose tag advances with every change.  The depot's heads
 *              and the three words of a cache are such words.
 * Invariants   S1  every change of a tagged word advances its tag by one; so, read as integers, tagged words only
 *                  grow.
 * Wrap         S1 fails to protect only if exactly k * 2^40 changes of one word fall between a thread's load and its
 *              CAS: 2.4 hours of being descheduled at the 125 million changes a second that one thread can
 *              make if it does nothing else (test step.wrap), and each of them moves a whole magazine.
 *              LFPOOL_TAG_BITS (widths.h) cuts the tag, for the test builds that show this failure (verify/step).
 */
#ifndef LFPOOL_TAGGED_H
#define LFPOOL_TAGGED_H

#include "base/atomics.h"
#include "base/base.h"
#include "base/widths.h"

#define TAGGED_NUMBER_BITS 24
_Static_assert(LFPOOL_TAG_BITS >= 1 && LFPOOL_TAG_BITS <= 64 - TAGGED_NUMBER_BITS, "tag and number share a word");
#define TAGGED_NUMBER_MAX ((UINT32_C(1) << TAGGED_NUMBER_BITS) - 1)

typedef _Atomic(uint64_t) tagged_word;

/* The magazine number in a tagged word; 0 = none. */
static inline uint32_t tagged_number(uint64_t word)
{
	return (uint32_t)word & TAGGED_NUMBER_MAX;
}

/* The word that follows `word` and names `number` (S1). */
static inline uint64_t tagged_next(uint64_t word, uint32_t number)
{
	uint64_t tag = ((word >> TAGGED_NUMBER_BITS) + 1) & LOW_BITS(LFPOOL_TAG_BITS);

	return tag << TAGGED_NUMBER_BITS | number;
}

/* For a word that nobody else writes at this time. */
static inline void tagged_set(tagged_word *word, uint32_t number)
{
	/* relaxed: our own last store.  release, edge SHOW: a thread that sees the magazine here, or sees it gone,
	 * sees what came before. */
	store_release(word, tagged_next(load_relaxed(word), number));
}

#endif
