/* SPDX-License-Identifier: MIT */
/*
 * magazines.h - all magazines of a pool, by number.
 *
 * Idea         Magazine numbers 1 .. chunks are born full: magazine n holds the slots of the n-th chunk.  Then come the
 *              spares, born empty: room for the objects by which the pool may grow.  They lie in
 *              one array, in the pool's own mapping, and are used in order, so an untouched pool costs nothing.  Each
 *              cache that is born brings EXTRA_PER_CACHE more, born empty, numbered after these; they come in
 *              lots that double (lot k: LOT_CACHES * 2^k caches), so that a number finds its address without a search
 *              and no magazine ever moves.
 * Invariants   G1  a magazine's address never changes and is mapped as long as the pool lives.
 *              G2  there are at least chunks + spares + EXTRA_PER_CACHE * (born caches) magazines, and a cache holds at
 *                  most three, four while it is born; the chunks and spares have room for all objects that there may ever be.  So a release always finds room: docs/design.md, "Release never fails".
 * Progress     Wait-free.
 */
#ifndef LFPOOL_MAGAZINES_H
#define LFPOOL_MAGAZINES_H

#include "core/magazine.h"
#include "core/tagged.h"

#define EXTRA_PER_CACHE 4
#define LOT_CACHES 16
#define LOT_COUNT 9
#define CACHES_MAX (LOT_CACHES * ((1 << LOT_COUNT) - 1))

struct magazines {
	char *chunk_base; /* magazine 1                                    */
	size_t bytes;     /* from magazine to magazine                     */
	uint32_t slots;   /* per magazine, a power of two                  */
	uint32_t chunks;  /* magazines that are born full                  */
	uint32_t spares;  /* the next ones, born empty                     */
	uintptr_t zero;   /* object s lies at zero + s * stride             */
	size_t stride;
	_Atomic(char *) extra_lot[LOT_COUNT]; /* lot k: EXTRA_PER_CACHE * LOT_CACHES * 2^k     */
};

/* Which lot the index-th thing (from 0) lies in when lot k has `first << k` of them. */
static inline unsigned lot_of(uint32_t index, uint32_t first, uint32_t *place_out)
{
	unsigned lot = 31u - (unsigned)__builtin_clz(index / first + 1);

	*place_out = index - first * ((1u << lot) - 1);
	return lot;
}

static inline struct lfpool_magazine *magazines_at(const struct magazines *ms, uint32_t number)
{
	if (likely(number <= ms->chunks + ms->spares))
		return (struct lfpool_magazine *)(void *)(ms->chunk_base + (size_t)(number - 1) * ms->bytes);

	uint32_t place;
	unsigned lot = lot_of(number - ms->chunks - ms->spares - 1, EXTRA_PER_CACHE * LOT_CACHES, &place);

	/* relaxed: the number came through an edge that begins after the lot was mapped. */
	char *magazines = load_relaxed(&ms->extra_lot[lot]);

	plain_read(magazines);
	return (struct lfpool_magazine *)(void *)(magazines + (size_t)place * ms->bytes);
}

/* The number of extra magazine `which` (0 .. EXTRA_PER_CACHE - 1) of cache `cache` (from 0). */
static inline uint32_t magazines_extra_number(const struct magazines *ms, uint32_t cache, uint32_t which)
{
	return ms->chunks + ms->spares + 1 + cache * EXTRA_PER_CACHE + which;
}

/* The object that belongs to a place of a magazine by birth (H7).  Extras never show a 0: an address past every object is
 * harmless. */
static inline uintptr_t magazines_born(const struct magazines *ms, uint32_t number, uint32_t place)
{
	return ms->zero + ((uintptr_t)(number - 1) * ms->slots + 1 + place) * ms->stride;
}

static inline int magazines_count(const struct magazines *ms, uint32_t number)
{
	return magazine_count_now(magazines_at(ms, number), ms->slots);
}

/* For statistics: with every bit that there is, also where a test's collect has fewer (PUSHES_BITS). */
static inline uint64_t magazines_pushes(const struct magazines *ms, uint32_t number)
{
	/* acquire, edge GIVE: a thread that has seen a push finds the object free, or acquired anew. */
	return load_acquire(&magazines_at(ms, number)->bottom) >> LFPOOL_POSITION_BITS;
}

#endif
