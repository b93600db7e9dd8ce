/* SPDX-License-Identifier: MIT */
/*
 * place.h - a word that names a record of three numbers, all of them replaced by one CAS.
 *
 * Idea         A CAS changes 64 bits, and a priority alone has so many.  So it stands in a record, which is never
 *              changed while the word names it: a call that wants to change it fills a spare record, and swaps it in by a CAS
 *              of the word. Each place has two records of its own on the line of its word: the one that is named, and
 *              one to fill. If two threads fill one at once, the second takes its own from a pool of this library.
 *                 A reader reads word, record, and word again: if that is the same, so was the record (the word never
 *              comes back: S1 in tagged.h, F1 in tournament.h).
 * Invariants   PL1 a record's `used` is set while the word names it, or while one thread fills it; only that one
 *              fills it.
 *              PL2 in the pool there is a record for each place, and for each call under way, up to CALLS_MAX (or _BACKED).
 * Progress     wait-free; what the pool does is lock-free.  Only more calls at once than that would wait.
 * Edges        RECORD: who fills a record, and swaps it in -> who reads it through the word.
 *              REUSE: who swapped it out -> who fills it again -> who reads what he fills in, and then finds that the
 *              word has changed.
 */
#ifndef LFPOOL_PLACE_H
#define LFPOOL_PLACE_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"

#define OWN_RECORDS 2
#define CALLS_MAX 65536
#define CALLS_MAX_BACKED 256 /* if all of them take memory from the start */

struct record {
	_Atomic(uint64_t) key;
	_Atomic(uint64_t) stamp; /* how many objects were acquired before this one; unique */
	_Atomic(uint64_t) name;  /* in a node's: slot and version, see tournament.h        */
};

struct place {
	_Alignas(64) _Atomic(uint64_t) word;
	_Atomic(uint32_t) used[OWN_RECORDS];
	struct record own[OWN_RECORDS];
};
_Static_assert(sizeof(struct place) == 64, "a place is a cache line");

/* Records by number: 1 .. OWN_RECORDS are a place's own, those above lie in the pool; 0 is none. */
struct spares {
	lfpool_t *pool;
	uintptr_t zero; /* address of the record of the pool that would come before its first */
	size_t stride;  /* bytes from each to the next */
};

static inline struct record *place_record(const struct spares *s, const struct place *p, uint32_t number)
{
	if (likely(number <= OWN_RECORDS))
		return (struct record *)(uintptr_t)&p->own[number - 1];
	return (struct record *)(s->zero + (number - OWN_RECORDS) * s->stride);
}

/* Of the pool. */
uint32_t spare_take(const struct spares *s);
void spare_give(const struct spares *s, uint32_t number);

/* A record to be filled, by the caller alone. */
static inline uint32_t place_take(const struct spares *s, struct place *p)
{
	for (uint32_t i = 0; i < OWN_RECORDS; i++) {
		uint32_t unused = 0;

		/* relaxed: a guess.  acquire, edge REUSE: the change that put the record out of use. */
		if (!load_relaxed(&p->used[i]) && cas_acquire(&p->used[i], &unused, 1))
			return i + 1;
	}
	return spare_take(s);
}

/* A record that the word does not name any more, or never did; 0 is fine. */
static inline void place_give(const struct spares *s, struct place *p, uint32_t number)
{
	if (number > OWN_RECORDS)
		spare_give(s, number);
	else if (number)
		/* release, edge REUSE: the change that put it out of use. */
		store_release(&p->used[number - 1], 0);
}

#endif
