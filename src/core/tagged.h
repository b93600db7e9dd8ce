/* SPDX-License-Identifier: MIT */
/*
 * tagged.h - the tagged word: a magazine's number and a counter, in 64 bits.
 *
 * Idea         Treiber's stack (1986) needs protection against ABA, and a collect (steal.c) must detect whether
 *              anything moved.  Both use a word {tag:40, number:24} whose tag advances with every change.  The heads of
 *              stacks and a cache's `current_word` and `in_transit` are tagged words.
 * Invariants   S1  every change of a tagged word advances its tag by one.  So tagged words, read as integers, only
 *                  grow.
 * Wrap         S1 does not protect a CAS if exactly k * 2^40 changes of the word fall between a thread's load and its
 *              CAS.  A thread that only changes the word makes 125 million changes a second (test step.wrap), so 2^40
 *              changes take 2.4 hours.  Test builds with a short tag (LFPOOL_TAG_BITS) show this failure (verify/step).
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

/* The magazine number in a tagged word; 0: no magazine. */
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

/* Changes a word that no other thread writes now. */
static inline void tagged_set(tagged_word *word, uint32_t number)
{
	/* relaxed: our own last store.  release, edge SHOW: a thread that sees the magazine here, or finds it gone,
	 * also sees our earlier stores. */
	store_release(word, tagged_next(load_relaxed(word), number));
}

#endif
