/* SPDX-License-Identifier: MIT */
/*
 * inline.h - lfpool_cache_acquire(), lfpool_cache_release(), lfpool_acquire() and lfpool_release() with their hits
 *            inlined.  C11 or C++11, gcc or clang.  Opt-in.
 *
 * Idea         A cache works on one magazine at a time, `hot`: a Chase-Lev deque of free objects (Chase and Lev 2005).
 *              Its owner pushes and pops at `bottom` with plain loads and stores; anybody may take from `top` by CAS.
 *              The order that the pop needs between its store of bottom and its load of top is paid by the thief: the
 *              owner has a compiler barrier here, the thief calls membarrier(2), which puts a full barrier into every
 *              running thread.  A deque is a ring, but a hit works only on one that is at home: then no object lies
 *              behind the end of the ring, and a position is an index.  What is not a plain hit fails the two tests
 *              below and goes to the library: an empty or full magazine, the last object, the release of an object with a handle, a magazine that is not at home,
 *              another backend, no membarrier, LFPOOL_ZERO, LFPOOL_CHECK_RACES (their caches keep a `hot` that is both
 *              empty and full).
 * Invariants   H1  objects in a magazine = bottom - top, as positions (signed, modulo 2^16); they lie at the positions
 *                  top .. bottom - 1.
 *              H2  only the cache's user writes bottom and the entries at or above it; top only grows.
 *              H3  a hit pops only if at least one object remains: the last one is raced for by CAS, in the library.
 *              H4  the upper 48 bits of bottom count the pushes (LFPOOL_PUSHED), so two equal readings mean "nothing
 *                  came back".
 *              H5  an entry is the address of an object.  Object s, from 1, lies at zero + s * stride.
 *              H8  the hot magazine is at home: its positions are LFPOOL_HOME .. limit, and the entry of a position is
 *                  the word of the magazine with that number.
 * Progress     Hits are wait-free: no loop, no locked instruction, no shared store but the cache's own.
 * Edges        GIVE (docs/memory-model.md): each release-store of bottom, read by a thief's acquire.
 *
 * Everything here except the five macros at the end is internal: read it, do not use it.  Layouts change
 * between versions; compile with the header of the library you link.
 */
#ifndef LFPOOL_INLINE_H
#define LFPOOL_INLINE_H

#include "lfpool/lfpool.h"

/* Where the languages differ.  C++ has no _Atomic: there the same words, as aligned as those of C, which is more than the
 * processor's ABI asks of them on i386. */
#ifdef __cplusplus
typedef uint8_t lfpool_atomic_uint8_t;
typedef uint32_t lfpool_atomic_uint32_t __attribute__((aligned(4)));
typedef uint64_t lfpool_atomic_uint64_t __attribute__((aligned(8)));
typedef uintptr_t lfpool_atomic_uintptr_t __attribute__((aligned(sizeof(uintptr_t))));
#define LFPOOL_ATOMIC(type) lfpool_atomic_##type
#define LFPOOL_NUMBER(type, value) static_cast<type>(value)
#define LFPOOL_POINTER(type, value) reinterpret_cast<type>(value)
#define LFPOOL_ASSERT static_assert
#define LFPOOL_ALIGNOF alignof
#else
#define LFPOOL_ATOMIC(type) _Atomic(type)
#define LFPOOL_NUMBER(type, value) ((type)(value))
#define LFPOOL_POINTER(type, value) ((type)(value))
#define LFPOOL_ASSERT _Static_assert
#define LFPOOL_ALIGNOF _Alignof
#endif

/* The verbs.  The library's own build brings them from src/base/atomics.h, its single seam. */
#ifndef LFPOOL_LOAD_RELAXED
#if defined(__clang__) && !defined(__cplusplus)
#define LFPOOL_LOAD_RELAXED(p) __c11_atomic_load((p), __ATOMIC_RELAXED)
#define LFPOOL_LOAD_ACQUIRE(p) __c11_atomic_load((p), __ATOMIC_ACQUIRE)
#define LFPOOL_STORE_RELAXED(p, v) __c11_atomic_store((p), (v), __ATOMIC_RELAXED)
#define LFPOOL_STORE_RELEASE(p, v) __c11_atomic_store((p), (v), __ATOMIC_RELEASE)
#else
#define LFPOOL_LOAD_RELAXED(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define LFPOOL_LOAD_ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define LFPOOL_STORE_RELAXED(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define LFPOOL_STORE_RELEASE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#endif
/* The owner's half of the asymmetric fence: only the compiler is held back. */
#define LFPOOL_LIGHT_BARRIER() __asm__ __volatile__("" ::: "memory")
#endif

#define LFPOOL_LIKELY(x) __builtin_expect(!!(x), 1)

/* Test builds have fewer bits: src/base/widths.h. */
#ifndef LFPOOL_POSITION_BITS
#define LFPOOL_POSITION_BITS 16
#endif

/* What a push adds to bottom: one position (low 16 bits) and one push (upper 48). */
#define LFPOOL_PUSHED ((UINT64_C(1) << LFPOOL_POSITION_BITS) + 1)

/* The position in a `bottom` or a `top`; and how far one is ahead of the other (H1). */
#if LFPOOL_POSITION_BITS == 16
#define LFPOOL_POSITION(word) LFPOOL_NUMBER(uint16_t, word)
#define LFPOOL_AHEAD(word, other) LFPOOL_NUMBER(int16_t, LFPOOL_NUMBER(uint16_t, word) - LFPOOL_NUMBER(uint16_t, other))
#else
#define LFPOOL_POSITION(word) (LFPOOL_NUMBER(uint32_t, word) & ((UINT32_C(1) << LFPOOL_POSITION_BITS) - 1))
#define LFPOOL_AHEAD(word, other)                                                                            \
	(LFPOOL_NUMBER(int32_t, LFPOOL_NUMBER(uint32_t, (word) - (other)) << (32 - LFPOOL_POSITION_BITS)) >> \
	 (32 - LFPOOL_POSITION_BITS))
#endif

/* A slot's state, a byte: 0 while its object is free.  A handle marks it; such an object's release is the library's. */
#define LFPOOL_ACTIVE 1
#define LFPOOL_MARKED 3

/* So many bytes before the states, on lines with slot 0's, which never changes, lies a word of 32 bits: not 0 while a call waits
 * for objects, or a shrink is owed some. */
#define LFPOOL_WANTED_BEFORE 127

struct lfpool_magazine {
	LFPOOL_ATOMIC(uint64_t) top;      /* position of the oldest object; CAS by anybody, only grows      */
	LFPOOL_ATOMIC(uint64_t) bottom;   /* position after the newest object; the owner's, see H1 and H4   */
	LFPOOL_ATOMIC(uint64_t) next;     /* depot link: {from here down:32, number of the one below:32}    */
	LFPOOL_ATOMIC(uint32_t) number;   /* of this magazine, from 1; 0 until it is first used             */
#ifndef __cplusplus                       /* has no flexible array */
	LFPOOL_ATOMIC(uintptr_t) entry[]; /* ring of objects; 0 = the one that belongs here by birth        */
#endif
};

LFPOOL_ASSERT(offsetof(struct lfpool_magazine, top) == 0 && offsetof(struct lfpool_magazine, bottom) == 8 &&
		      offsetof(struct lfpool_magazine, next) == 16 && offsetof(struct lfpool_magazine, number) == 24 &&
		      sizeof(struct lfpool_magazine) == 32 && LFPOOL_ALIGNOF(struct lfpool_magazine) == 8,
	      "a magazine is the same in C and in C++");

#ifndef __cplusplus
/* Where the positions begin: entry[0] is that word of the magazine. */
#define LFPOOL_HOME (offsetof(struct lfpool_magazine, entry) / sizeof(uintptr_t))
LFPOOL_ASSERT(offsetof(struct lfpool_magazine, entry) % sizeof(uintptr_t) == 0, "the words of a magazine");
#endif

/* The part of a cache that hits touch: one cache line, written by its user alone. */
struct lfpool_cache {
	struct lfpool_magazine *hot;   /* the magazine hits work on                                   */
	LFPOOL_ATOMIC(uint8_t) *state; /* per slot; behind the word of demand                      */
	uintptr_t zero;                /* address of the imaginary slot 0                             */
	uint64_t inverse;              /* see lfpool_slot_of()                                        */
	uint64_t slots;                /* there are addresses for so many                             */
	uint32_t stride;               /* bytes from slot to slot                                     */
	uint32_t limit;                /* position after the last place of a magazine at home         */
	uint8_t shift;                 /* trailing zero bits of the stride                            */
};
LFPOOL_ASSERT(sizeof(struct lfpool_cache) <= 64, "a hit touches one line of it");

LFPOOL_C_BEGIN_
/* Misses, oddities and refusals.  acquire_slow ends the pop that the hit began: bottom is lowered, and the last
 * object, if there is one, is hidden from the thieves until we have it.  Were it shown again before we race for it,
 * others could have answered NULL meanwhile because of an object that we do not get.  acquire_odd: the object is ours
 * already, but its state is not that of a free one. */
LFPOOL_API void *lfpool_cache_acquire_slow(lfpool_cache_t *cache);
LFPOOL_API void *lfpool_cache_acquire_odd(lfpool_cache_t *cache, void *object);
LFPOOL_API lfpool_status_t lfpool_cache_release_slow(lfpool_cache_t *cache, void *object);
/* After a release: there is demand.  Returns LFPOOL_OK. */
LFPOOL_API lfpool_status_t lfpool_cache_serve(lfpool_cache_t *cache);
LFPOOL_C_END_

/*
 * Slot numbers.  lfpool_slot_at(): of an object of this pool.  lfpool_slot_of(): of any address, exactly: something outside
 * 1 .. slots when it is not the start of an object (docs/design.md, "The arena").
 */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 lfpool_product;

/* inverse: 2^64 / stride, rounded up.  The upper half of the product is the quotient, and the lower half is below the inverse
 * exactly when nothing is left over (Lemire, Kaser, Kurz 2019). */
static inline lfpool_product lfpool_quotient(const struct lfpool_cache *cache, const void *object)
{
	return LFPOOL_NUMBER(lfpool_product, LFPOOL_POINTER(uintptr_t, object) - cache->zero) * cache->inverse;
}

static inline uint64_t lfpool_slot_at(const struct lfpool_cache *cache, const void *object)
{
	return LFPOOL_NUMBER(uint64_t, lfpool_quotient(cache, object) >> 64);
}

static inline uint64_t lfpool_slot_of(const struct lfpool_cache *cache, const void *object)
{
	const lfpool_product quotient = lfpool_quotient(cache, object);

	return LFPOOL_LIKELY(LFPOOL_NUMBER(uint64_t, quotient) < cache->inverse) ? LFPOOL_NUMBER(uint64_t, quotient >> 64) : 0;
}
#else
/* inverse: of the odd part of the stride, modulo 2^64.  Only multiples of the stride have a small product, rotated. */
static inline uint64_t lfpool_slot_of(const struct lfpool_cache *cache, const void *object)
{
	uint64_t product = LFPOOL_NUMBER(uint64_t, LFPOOL_POINTER(uintptr_t, object) - cache->zero) * cache->inverse;

	return product >> cache->shift | product << (-LFPOOL_NUMBER(unsigned, cache->shift) & 63);
}

static inline uint64_t lfpool_slot_at(const struct lfpool_cache *cache, const void *object)
{
	return lfpool_slot_of(cache, object);
}
#endif

/* The entry of a position of a magazine that is at home (H8). */
static inline LFPOOL_ATOMIC(uintptr_t) *lfpool_entry_at(struct lfpool_magazine *magazine, uint64_t bottom)
{
	void *entry = LFPOOL_POINTER(char *, magazine) + LFPOOL_POSITION(bottom) * sizeof(uintptr_t);

	return LFPOOL_POINTER(LFPOOL_ATOMIC(uintptr_t) *, entry);
}

static inline void *lfpool_cache_acquire_inline(lfpool_cache_t *cache)
{
	struct lfpool_magazine *magazine = cache->hot;
	LFPOOL_ATOMIC(uint8_t) *states = cache->state;
	/* relaxed: our own last store (H2). */
	uint64_t bottom = LFPOOL_LOAD_RELAXED(&magazine->bottom) - 1;

	/* release, edge GIVE: a thief that reads this value still sees every earlier push. */
	LFPOOL_STORE_RELEASE(&magazine->bottom, bottom);
	LFPOOL_LIGHT_BARRIER();
	/* relaxed: a stale top is below the real one; a thief that moved it further has seen our bottom, see
	 * docs/memory-model.md. */
	if (!LFPOOL_LIKELY(LFPOOL_AHEAD(LFPOOL_LOAD_RELAXED(&magazine->top), bottom) < 0))
		return lfpool_cache_acquire_slow(cache);
	/* relaxed: our own push, or one that came with the magazine. */
	void *object = LFPOOL_POINTER(void *, LFPOOL_LOAD_RELAXED(lfpool_entry_at(magazine, bottom)));

	LFPOOL_ATOMIC(uint8_t) *state = &states[lfpool_slot_at(cache, object)];

	/* relaxed, both: the slot is ours alone from here on. */
	if (!LFPOOL_LIKELY(!LFPOOL_LOAD_RELAXED(state)))
		return lfpool_cache_acquire_odd(cache, object);
	LFPOOL_STORE_RELAXED(state, LFPOOL_ACTIVE);
	if (!object)
		__builtin_unreachable();
	return object;
}

/* Pushes on the hot magazine; false when it is full. */
static inline bool lfpool_push(const struct lfpool_cache *cache, void *object, LFPOOL_ATOMIC(uint8_t) *state)
{
	struct lfpool_magazine *magazine = cache->hot;
	/* relaxed: our own last store (H2). */
	uint64_t bottom = LFPOOL_LOAD_RELAXED(&magazine->bottom);

	/* No look at top: at home a place is used once, until the magazine is empty and its owner begins anew (H8). */
	if (!LFPOOL_LIKELY(LFPOOL_POSITION(bottom) != cache->limit))
		return false;
	/* relaxed, both: published by the store of bottom. */
	LFPOOL_STORE_RELAXED(state, 0);
	LFPOOL_STORE_RELAXED(lfpool_entry_at(magazine, bottom), LFPOOL_POINTER(uintptr_t, object));
	/* release, edge GIVE: the entry, the state and all that was written to the object go to the thread that
	 * takes the slot. */
	LFPOOL_STORE_RELEASE(&magazine->bottom, bottom + LFPOOL_PUSHED);
	return true;
}

/* The word of demand. */
static inline LFPOOL_ATOMIC(uint32_t) *lfpool_wanted_at(LFPOOL_ATOMIC(uint8_t) *states)
{
	void *demand = LFPOOL_POINTER(char *, states) - LFPOOL_WANTED_BEFORE;

	return LFPOOL_POINTER(LFPOOL_ATOMIC(uint32_t) *, demand);
}

/* After a push. */
static inline lfpool_status_t lfpool_pushed(lfpool_cache_t *cache, LFPOOL_ATOMIC(uint8_t) *states)
{
	/* A call that waits has made its demand known, then fenced, then looked: it has seen our push, or we see its
	 * demand. */
	LFPOOL_LIGHT_BARRIER();
	/* relaxed: see above; what is in the queue comes with the queue's own edges. */
	return LFPOOL_LIKELY(!LFPOOL_LOAD_RELAXED(lfpool_wanted_at(states))) ? LFPOOL_OK : lfpool_cache_serve(cache);
}

/* Is it in use, and without a handle?  relaxed: written by the thread that acquired the object and then handed it to us.  Slot 0
 * never is. */
static inline bool lfpool_is_active_at(const struct lfpool_cache *cache, LFPOOL_ATOMIC(uint8_t) *states, uint64_t slot)
{
	return LFPOOL_LIKELY(slot <= cache->slots) && LFPOOL_LIKELY(LFPOOL_LOAD_RELAXED(&states[slot]) == LFPOOL_ACTIVE);
}

/* Pushes an active object of the pool's; false: it is none, or there is no room on the hot magazine. */
static inline bool lfpool_release_hit(const struct lfpool_cache *cache, void *object, LFPOOL_ATOMIC(uint8_t) *states)
{
	uint64_t slot = lfpool_slot_of(cache, object);

	return lfpool_is_active_at(cache, states, slot) && LFPOOL_LIKELY(lfpool_push(cache, object, &states[slot]));
}

static inline lfpool_status_t lfpool_cache_release_inline(lfpool_cache_t *cache, void *object)
{
	LFPOOL_ATOMIC(uint8_t) *states = cache->state;

	return lfpool_release_hit(cache, object, states) ? lfpool_pushed(cache, states)
							 : lfpool_cache_release_slow(cache, object);
}

/*
 * lfpool_acquire() and lfpool_release(), inlined: on x86-64 with ELF, and not in the embedded build
 * (docs/embedded.md).  Elsewhere they are the library's functions.
 *
 * Idea         A thread remembers the last pool that it used through these calls, and its cache of that pool.  A call for
 *              another pool goes to the library, which remembers that one instead.
 * Pools        A pool begins with its id, which is never used twice: what is remembered of a destroyed pool never matches.
 * Exit         The thread forgets its pool before its caches are given back.
 * Signals      A handler may make these calls only for a pool whose threads have no caches (docs/signals.md).  Its id is 0 here,
 *              which never matches, and nothing is remembered of it.  So no handler changes one word between the reads of the two.
 * Fibers       A fiber may go on in another thread between two calls.  So each call reads both words anew, by an asm that
 *              names the thread pointer's register.  The compiler may keep the distance from there: it is the same in all
 *              threads.
 */
struct lfpool_last {
	uint64_t pool_id;      /* 1: none; never 0      */
	lfpool_cache_t *cache; /* the thread's, of this pool */
};

LFPOOL_C_BEGIN_
#if defined(__ELF__) && !defined(LFPOOL_EMBEDDED)
LFPOOL_API extern __thread struct lfpool_last lfpool_last;
#endif
/* lfpool_acquire() and lfpool_release() when another pool was the last; they remember this one. */
LFPOOL_API void *lfpool_acquire_slow(lfpool_t *pool);
LFPOOL_API lfpool_status_t lfpool_release_slow(lfpool_t *pool, void *object);
LFPOOL_C_END_

#if defined(__x86_64__) && defined(__LP64__) && defined(__ELF__) && !defined(LFPOOL_EMBEDDED)
/* Was this pool the thread's last?  Then *cache_out is its cache. */
static inline bool lfpool_is_last(const lfpool_t *pool, lfpool_cache_t **cache_out)
{
	uintptr_t distance;
	uint64_t last;

	__asm__("movq lfpool_last@gottpoff(%%rip), %0" : "=r"(distance));
	__asm__ __volatile__("movq %%fs:(%1), %0" : "=r"(last) : "r"(distance));
	if (!LFPOOL_LIKELY(last == *LFPOOL_POINTER(const uint64_t *, pool)))
		return false;
	__asm__ __volatile__("movq %%fs:8(%1), %0" : "=r"(*cache_out) : "r"(distance));
	return true;
}

static inline void *lfpool_acquire_inline(lfpool_t *pool)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY(lfpool_is_last(pool, &cache)) ? lfpool_cache_acquire_inline(cache) : lfpool_acquire_slow(pool);
}

static inline lfpool_status_t lfpool_release_inline(lfpool_t *pool, void *object)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY(lfpool_is_last(pool, &cache)) ? lfpool_cache_release_inline(cache, object)
							   : lfpool_release_slow(pool, object);
}

static inline lfpool_status_t lfpool_release_if_owned_inline(lfpool_t *pool, void *object)
{
	lfpool_cache_t *cache;

	if (LFPOOL_LIKELY(lfpool_is_last(pool, &cache))) {
		LFPOOL_ATOMIC(uint8_t) *states = cache->state;

		if (lfpool_release_hit(cache, object, states))
			return lfpool_pushed(cache, states);
	}
	return lfpool_release_if_owned(pool, object);
}
#else
static inline bool lfpool_is_last(const lfpool_t *pool, lfpool_cache_t **cache_out)
{
	(void)pool, (void)cache_out;
	return false;
}

static inline void *lfpool_acquire_inline(lfpool_t *pool)
{
	return lfpool_acquire(pool);
}

static inline lfpool_status_t lfpool_release_inline(lfpool_t *pool, void *object)
{
	return lfpool_release(pool, object);
}

static inline lfpool_status_t lfpool_release_if_owned_inline(lfpool_t *pool, void *object)
{
	return lfpool_release_if_owned(pool, object);
}
#endif

/* With LFPOOL_INLINE_KEEP_NAMES defined before, the plain names go on meaning the library's functions. */
#ifndef LFPOOL_INLINE_KEEP_NAMES
#define lfpool_cache_acquire(cache) lfpool_cache_acquire_inline(cache)
#define lfpool_cache_release(cache, object) lfpool_cache_release_inline(cache, object)
#define lfpool_acquire(pool) lfpool_acquire_inline(pool)
#define lfpool_release(pool, object) lfpool_release_inline(pool, object)
#define lfpool_release_if_owned(pool, object) lfpool_release_if_owned_inline(pool, object)
#endif

#endif
