/* SPDX-License-Identifier: MIT */
/*
 * inline.h - inlines the fast paths of lfpool_acquire(), lfpool_release() and their cache forms, and
 *            lfpool_index_of() and lfpool_object_at().  C11 or C++11, gcc or clang.  Opt-in.
 *
 * Idea         A magazine is an array of free objects.  A cache pushes and pops on one magazine, `hot`, a deque after
 *              Chase and Lev (2005): its owner works at `bottom` with plain loads and stores, and any other thread (a
 *              thief) may take the object at `top` by CAS.  A pop must store bottom before it loads top.  The thief
 *              pays for that order: the owner has only a compiler barrier, and the thief calls membarrier(2), a full
 *              barrier in each running thread.  The array is a ring, but the fast path works only on a magazine that is
 *              at home: it has not wrapped around, so a position is an index.
 * Slow path    The library handles an empty or full magazine, the last object of one, objects with a handle, and
 *              magazines that are not at home.  In mutex and malloc mode, without membarrier, and with LFPOOL_ZERO or
 *              LFPOOL_CHECK_RACES every call takes the slow path, because `hot` then points to a special magazine that
 *              looks both empty and full.
 * Invariants   H1  objects in a magazine = bottom - top, as positions (signed, modulo 2^16); they are at the positions
 *                  top .. bottom - 1.
 *              H2  only the cache's user writes bottom and the entries at or above it; top only grows.
 *              H3  the fast path pops only if at least one object remains after the pop.  The library takes the last
 *                  object by CAS, in a race with thieves.
 *              H4  the upper 48 bits of bottom count the pushes (LFPOOL_PUSHED_), so two equal readings mean that no
 *                  object was pushed in between.
 *              H5  an entry is the address of an object.
 *              H8  the hot magazine is at home: its positions are LFPOOL_HOME_ .. limit, and the entry of position p is
 *                  word p of the magazine.
 *              H9  a granule is 2^grain consecutive addresses, and contains the start of at most one object.  The state
 *                  of an object is the word of the granule in which it starts.
 * Progress     The fast path is wait-free: no loop, no locked instruction, and stores only to the cache's magazine
 *              and the object's state.
 * Edges        GIVE (docs/memory-model.md): from each release store of bottom to the acquire load of a thief that reads
 *              it.
 *
 * Names that end in an underscore are internal.  Layouts change between versions, so compile with the header of the
 * library that you link.
 */
#ifndef LFPOOL_INLINE_H
#define LFPOOL_INLINE_H

#include "lfpool/handle.h"
#include "lfpool/lfpool.h"

/* C++ has no _Atomic, so there the words are plain, with the alignment that C gives its atomics (on i386 more than the
 * ABI requires). */
#ifdef __cplusplus
typedef uint8_t lfpool_atomic_uint8_t;
typedef uint32_t lfpool_atomic_uint32_t __attribute__((aligned(4)));
typedef uint64_t lfpool_atomic_uint64_t __attribute__((aligned(8)));
typedef uintptr_t lfpool_atomic_uintptr_t __attribute__((aligned(sizeof(uintptr_t))));
#define LFPOOL_ATOMIC_(type) lfpool_atomic_##type
#define LFPOOL_NUMBER_(type, value) static_cast<type>(value)
#define LFPOOL_POINTER_(type, value) reinterpret_cast<type>(value)
#define LFPOOL_ASSERT_ static_assert
#define LFPOOL_ALIGNOF_ alignof
#else
#define LFPOOL_ATOMIC_(type) _Atomic(type)
#define LFPOOL_NUMBER_(type, value) ((type)(value))
#define LFPOOL_POINTER_(type, value) ((type)(uintptr_t)(value)) /* -Wcast-qual */
#define LFPOOL_ASSERT_ _Static_assert
#define LFPOOL_ALIGNOF_ _Alignof
#endif

/* The atomic operations.  In the library's own build src/base/atomics.h defines them. */
#ifndef LFPOOL_LOAD_RELAXED_
#if defined(__clang__) && !defined(__cplusplus)
#define LFPOOL_LOAD_RELAXED_(p) __c11_atomic_load((p), __ATOMIC_RELAXED)
#define LFPOOL_LOAD_ACQUIRE_(p) __c11_atomic_load((p), __ATOMIC_ACQUIRE)
#define LFPOOL_STORE_RELAXED_(p, v) __c11_atomic_store((p), (v), __ATOMIC_RELAXED)
#define LFPOOL_STORE_RELEASE_(p, v) __c11_atomic_store((p), (v), __ATOMIC_RELEASE)
#else
#define LFPOOL_LOAD_RELAXED_(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define LFPOOL_LOAD_ACQUIRE_(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define LFPOOL_STORE_RELAXED_(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define LFPOOL_STORE_RELEASE_(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#endif
/* The owner's half of the asymmetric fence: a barrier for the compiler alone. */
#define LFPOOL_LIGHT_BARRIER_() __asm__ __volatile__("" ::: "memory")
#endif

#define LFPOOL_LIKELY_(x) __builtin_expect(!!(x), 1)

/* gnu_inline: the compiler inlines the body but never emits it, so a call that is not inlined (-O0, -Os), and the
 * function's address, refer to the library.  With -O2 the functions are always_inline, because compilers overestimate
 * their size.  Helpers are not in the library, so they are always inlined.  The library and its tests define
 * LFPOOL_INLINE_KEEP_NAMES_, to keep the plain names for the library's functions. */
#ifdef LFPOOL_INLINE_KEEP_NAMES_
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define LFPOOL_HELPER_ __attribute__((always_inline)) LFPOOL_INLINE_
#else
#define LFPOOL_HELPER_ LFPOOL_INLINE_
#endif
#else
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define LFPOOL_INLINED_ extern inline __attribute__((gnu_inline, always_inline))
#else
#define LFPOOL_INLINED_ extern inline __attribute__((gnu_inline))
#endif
#define LFPOOL_HELPER_ extern inline __attribute__((gnu_inline, always_inline))
#endif

/* Test builds use narrower positions: src/base/widths.h. */
#ifndef LFPOOL_POSITION_BITS_
#define LFPOOL_POSITION_BITS_ 16
#endif

/* A push adds this to bottom: one position (low 16 bits) and one push (upper 48). */
#define LFPOOL_PUSHED_ ((UINT64_C(1) << LFPOOL_POSITION_BITS_) + 1)

/* The position in a `bottom` or a `top`; and how far the first of two words is ahead of the second, signed (H1). */
#if LFPOOL_POSITION_BITS_ == 16
#define LFPOOL_POSITION_(word) LFPOOL_NUMBER_(uint16_t, word)
#define LFPOOL_AHEAD_(word, other) \
	LFPOOL_NUMBER_(int16_t, LFPOOL_NUMBER_(uint16_t, word) - LFPOOL_NUMBER_(uint16_t, other))
#else
#define LFPOOL_POSITION_(word) (LFPOOL_NUMBER_(uint32_t, word) & ((UINT32_C(1) << LFPOOL_POSITION_BITS_) - 1))
#define LFPOOL_AHEAD_(word, other)                                                                              \
	(LFPOOL_NUMBER_(int32_t, LFPOOL_NUMBER_(uint32_t, (word) - (other)) << (32 - LFPOOL_POSITION_BITS_)) >> \
	 (32 - LFPOOL_POSITION_BITS_))
#endif

/*
 * The state of an object is a word: 0 while the object is free, its address while it is active.  A release compares
 * this word with its argument, so it refuses an interior pointer in the same granule.  A handle replaces the address by
 * LFPOOL_MARKED_, so the release of an object with a handle takes the slow path.
 */
#define LFPOOL_MARKED_ 1

/* The 32-bit demand word is this number of bytes before the states, so that word and states are on different cache
 * lines.  The word is not 0 while a call waits for objects or a shrink is pending. */
#define LFPOOL_WANTED_BEFORE_ 128

struct lfpool_magazine {
	LFPOOL_ATOMIC_(uint64_t) top;      /* position of the oldest object; CAS by any thread, only grows   */
	LFPOOL_ATOMIC_(uint64_t) bottom;   /* position after the newest object; written by the owner, H1, H4 */
	LFPOOL_ATOMIC_(uint64_t) next;     /* stack link: {depth from here down:32, number of the next:32}   */
	LFPOOL_ATOMIC_(uint32_t) number;   /* number of this magazine, from 1; 0 until it is first used      */
#ifndef __cplusplus                        /* C++ has no flexible array */
	LFPOOL_ATOMIC_(uintptr_t) entry[]; /* ring of objects; 0: this entry's object, not used yet (H7)     */
#endif
};

LFPOOL_ASSERT_(offsetof(struct lfpool_magazine, top) == 0 && offsetof(struct lfpool_magazine, bottom) == 8 &&
		       offsetof(struct lfpool_magazine, next) == 16 && offsetof(struct lfpool_magazine, number) == 24 &&
		       sizeof(struct lfpool_magazine) == 32 && LFPOOL_ALIGNOF_(struct lfpool_magazine) == 8,
	       "a magazine is the same in C and in C++");

#ifndef __cplusplus
/* The first position is the number of the word entry[0] in the magazine. */
#define LFPOOL_HOME_ (offsetof(struct lfpool_magazine, entry) / sizeof(uintptr_t))
LFPOOL_ASSERT_(offsetof(struct lfpool_magazine, entry) % sizeof(uintptr_t) == 0, "the words of a magazine");
#endif

/* The part of a cache that the fast path reads: one cache line, written by its user alone. */
struct lfpool_cache_t {
	struct lfpool_magazine *hot;      /* the magazine that the fast path works on                    */
	LFPOOL_ATOMIC_(uintptr_t) *state; /* one word per granule, from `first`                          */
	uintptr_t state_base;             /* the address that the state of granule 0 would have          */
	uintptr_t first;                  /* the granule of the first object                             */
	uintptr_t granules;               /* number of granules from the first object's to the last's    */
	uintptr_t limit;                  /* position after the last entry of a magazine at home         */
	uint8_t grain;                    /* log2 of the bytes of a granule                              */
};
LFPOOL_ASSERT_(sizeof(struct lfpool_cache_t) <= 64, "a hit touches one line of it");

LFPOOL_C_BEGIN_
/* The slow paths.
 *
 * acquire: if `object` is NULL, it completes the pop that the fast path began.  The lowered bottom hides the last
 * object from other threads.  The call must take that object before it restores bottom: otherwise a thief could take
 * the object, and a third thread, which looked while the object was hidden, would have found the pool empty although an
 * object was free.  If `object` is not NULL, it is popped already, but its state is not 0.
 *
 * release: if `object` is NULL, the released object is pushed already, and there is demand; returns LFPOOL_OK. */
LFPOOL_API void *lfpool_cache_acquire_slow_(lfpool_cache_t *cache, void *object);
LFPOOL_API lfpool_status_t lfpool_cache_release_slow_(lfpool_cache_t *cache, void *object);
LFPOOL_API lfpool_status_t lfpool_cache_release_if_owned_slow_(lfpool_cache_t *cache, void *object);
LFPOOL_C_END_

/* The state of an object of this pool (H9).  Computed with integers, because no array begins at state_base. */
LFPOOL_HELPER_ LFPOOL_ATOMIC_(uintptr_t) *lfpool_state_at_(const struct lfpool_cache_t *cache, const void *object)
{
	const uintptr_t granule = LFPOOL_POINTER_(uintptr_t, object) >> cache->grain;

	return LFPOOL_POINTER_(LFPOOL_ATOMIC_(uintptr_t) *, cache->state_base + granule * sizeof(uintptr_t));
}

/* The index in cache->state for the granule of an address; cache->granules or more if the pool has no such granule. */
LFPOOL_HELPER_ uintptr_t lfpool_granule_of_(const struct lfpool_cache_t *cache, const void *address)
{
	return (LFPOOL_POINTER_(uintptr_t, address) >> cache->grain) - cache->first;
}

/* The entry at the position in `bottom`; the magazine is at home (H8). */
LFPOOL_HELPER_ LFPOOL_ATOMIC_(uintptr_t) *lfpool_entry_at_(struct lfpool_magazine *magazine, uint64_t bottom)
{
	void *entry = LFPOOL_POINTER_(char *, magazine) + LFPOOL_POSITION_(bottom) * sizeof(uintptr_t);

	return LFPOOL_POINTER_(LFPOOL_ATOMIC_(uintptr_t) *, entry);
}

LFPOOL_HELPER_ void *lfpool_cache_acquire_inline_(lfpool_cache_t *cache)
{
	struct lfpool_magazine *magazine = cache->hot;
	/* relaxed: our own last store (H2). */
	uint64_t bottom = LFPOOL_LOAD_RELAXED_(&magazine->bottom) - 1;
	LFPOOL_ATOMIC_(uintptr_t) *state;
	void *object;

	/* release, edge GIVE: a thief that reads this value also sees every earlier push. */
	LFPOOL_STORE_RELEASE_(&magazine->bottom, bottom);
	LFPOOL_LIGHT_BARRIER_();
	/* relaxed: a stale top is too low, which is harmless: a thief that has moved top further has seen our bottom
	 * (docs/memory-model.md). */
	if (!LFPOOL_LIKELY_(LFPOOL_AHEAD_(LFPOOL_LOAD_RELAXED_(&magazine->top), bottom) < 0))
		return lfpool_cache_acquire_slow_(cache, LFPOOL_NULL_);
	/* relaxed: we stored the entry ourselves, or it was there when we acquired the magazine. */
	object = LFPOOL_POINTER_(void *, LFPOOL_LOAD_RELAXED_(lfpool_entry_at_(magazine, bottom)));

	if (!object)
		__builtin_unreachable();
	state = lfpool_state_at_(cache, object);
	/* relaxed, both: only this thread has the object now. */
	if (!LFPOOL_LIKELY_(!LFPOOL_LOAD_RELAXED_(state)))
		return lfpool_cache_acquire_slow_(cache, object);
	LFPOOL_STORE_RELAXED_(state, LFPOOL_POINTER_(uintptr_t, object));
	return object;
}

/* Pushes onto the hot magazine; false when it is full. */
LFPOOL_HELPER_ bool lfpool_push_(const struct lfpool_cache_t *cache, void *object, LFPOOL_ATOMIC_(uintptr_t) *state)
{
	struct lfpool_magazine *magazine = cache->hot;
	/* relaxed: our own last store (H2). */
	uint64_t bottom = LFPOOL_LOAD_RELAXED_(&magazine->bottom);

	/* top is not read: positions in a magazine at home do not wrap (H8), so below `limit` the entry at bottom is
	 * unused. */
	if (!LFPOOL_LIKELY_(LFPOOL_NUMBER_(uintptr_t, LFPOOL_POSITION_(bottom)) != cache->limit))
		return false;
	/* relaxed, both: published by the store of bottom. */
	LFPOOL_STORE_RELAXED_(state, 0);
	LFPOOL_STORE_RELAXED_(lfpool_entry_at_(magazine, bottom), LFPOOL_POINTER_(uintptr_t, object));
	/* release, edge GIVE: the thread that takes the object sees the entry, the state and all writes to the
	 * object. */
	LFPOOL_STORE_RELEASE_(&magazine->bottom, bottom + LFPOOL_PUSHED_);
	return true;
}

/* The address of the demand word. */
LFPOOL_HELPER_ LFPOOL_ATOMIC_(uint32_t) *lfpool_wanted_at_(LFPOOL_ATOMIC_(uintptr_t) *states)
{
	void *demand = LFPOOL_POINTER_(char *, states) - LFPOOL_WANTED_BEFORE_;

	return LFPOOL_POINTER_(LFPOOL_ATOMIC_(uint32_t) *, demand);
}

/* Completes a release after its push: if there is demand, the library serves it. */
LFPOOL_HELPER_ lfpool_status_t lfpool_pushed_(lfpool_cache_t *cache, LFPOOL_ATOMIC_(uintptr_t) *states)
{
	/* A waiting call announces its demand, fences, and then looks for objects.  So it sees our push, or we see its
	 * demand. */
	LFPOOL_LIGHT_BARRIER_();
	/* relaxed: the barrier orders it, and the queue's own edges publish the queue's contents. */
	return LFPOOL_LIKELY_(!LFPOOL_LOAD_RELAXED_(lfpool_wanted_at_(states)))
		       ? LFPOOL_OK
		       : lfpool_cache_release_slow_(cache, LFPOOL_NULL_);
}

/* Is `object`, an address in this granule, an active object without a handle?  relaxed: the thread that acquired the
 * object wrote the state before it handed the object to us. */
LFPOOL_HELPER_ bool lfpool_is_active_at_(const struct lfpool_cache_t *cache, LFPOOL_ATOMIC_(uintptr_t) *states,
					 uintptr_t granule, const void *object)
{
	return LFPOOL_LIKELY_(granule < cache->granules) &&
	       LFPOOL_LIKELY_(LFPOOL_LOAD_RELAXED_(&states[granule]) == LFPOOL_POINTER_(uintptr_t, object));
}

/* The fast path of a release; false: `object` is not an active object, or the hot magazine is full. */
LFPOOL_HELPER_ bool lfpool_release_hit_(const struct lfpool_cache_t *cache, void *object,
					LFPOOL_ATOMIC_(uintptr_t) *states)
{
	const uintptr_t granule = lfpool_granule_of_(cache, object);

	return lfpool_is_active_at_(cache, states, granule, object) &&
	       LFPOOL_LIKELY_(lfpool_push_(cache, object, &states[granule]));
}

LFPOOL_HELPER_ lfpool_status_t lfpool_cache_release_inline_(lfpool_cache_t *cache, void *object)
{
	LFPOOL_ATOMIC_(uintptr_t) *states = cache->state;

	return lfpool_release_hit_(cache, object, states) ? lfpool_pushed_(cache, states)
							  : lfpool_cache_release_slow_(cache, object);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_cache_release_if_owned_inline_(lfpool_cache_t *cache, void *object)
{
	LFPOOL_ATOMIC_(uintptr_t) *states = cache->state;

	return lfpool_release_hit_(cache, object, states) ? lfpool_pushed_(cache, states)
							  : lfpool_cache_release_if_owned_slow_(cache, object);
}

/*
 * lfpool_acquire() and lfpool_release(), inlined on x86-64 with ELF, except in the embedded build (docs/embedded.md).
 * Elsewhere they are the library's functions.
 *
 * Idea         A thread remembers the pool that it used last, and its cache of that pool.  For another pool it looks up
 *              the cache in its table, and remembers that pool instead.  The library handles a thread's first call on a
 *              pool, and pools without an entry in the table.
 * Pools        A pool begins with its id, which is never used twice, so a destroyed pool never matches.  The next word
 *              is the offset of the pool's entry in a thread's table, which is the same for all threads.  Only the
 *              first 64 pools have entries.  A later pool has the offset of one of these entries, but another id, so it
 *              never matches.
 * Exit         A thread forgets its pool and its table before it gives its caches back.
 * Signals      A handler may make these calls only for a pool without thread caches (docs/signals.md).  The id of such
 *              a pool is 0 here, which never matches, so the handler writes none of the thread's words.  So an
 *              interrupted call always reads an id and a cache that belong together.
 * Fibers       A fiber may continue in another thread between two calls.  So each call reads the thread's words again,
 *              by asm, relative to the thread pointer (fs).  The compiler may keep only the words' distance from that
 *              pointer: all threads have the same distance.
 */
struct lfpool_entry_ {
	uint64_t pool_id;      /* 1: no pool; never 0                */
	lfpool_cache_t *cache; /* the thread's cache of the pool     */
};

/* One per thread. */
struct lfpool_thread_ {
	struct lfpool_entry_ last;
	struct lfpool_entry_ *table; /* has an entry at each pool's offset */
};

/* The beginning of every pool. */
struct lfpool_head_ {
	uint64_t id;         /* 0: threads have no caches of this pool                        */
	uintptr_t in_tables; /* the offset of the pool's entry in a thread's table, in bytes  */
	uintptr_t first;     /* the address of the first object                               */
	uint64_t inverse;    /* inverse of the odd part of the stride, modulo 2^64            */
	uint32_t slots;      /* objects to which the pool can grow; 0 in malloc mode          */
	uint32_t stride;     /* bytes from object to object: an odd number shifted by `shift` */
	uint8_t shift;
};

LFPOOL_ASSERT_(sizeof(uintptr_t) != 8 ||
		       (offsetof(struct lfpool_thread_, table) == 16 && offsetof(struct lfpool_entry_, cache) == 8),
	       "lfpool_find_() reads them");

LFPOOL_C_BEGIN_
#if defined(__ELF__) && !defined(LFPOOL_EMBEDDED)
LFPOOL_API extern __thread struct lfpool_thread_ lfpool_thread_;
#endif
/* The slow paths, mostly for a pool that lfpool_find_() does not find.  They enter the pool into the thread's table,
 * unless the pool's id is 0 here. */
LFPOOL_API void *lfpool_acquire_slow_(lfpool_t *pool);
LFPOOL_API lfpool_status_t lfpool_release_slow_(lfpool_t *pool, void *object, bool if_owned);
LFPOOL_C_END_

#if defined(__x86_64__) && defined(__LP64__) && defined(__ELF__) && !defined(LFPOOL_EMBEDDED)
#define LFPOOL_INLINES_POOLS_
/* Finds the thread's cache of this pool; false: neither the thread's last pool nor its table has it. */
LFPOOL_HELPER_ bool lfpool_find_(const lfpool_t *pool, lfpool_cache_t **cache_out)
{
	const struct lfpool_head_ *head = LFPOOL_POINTER_(const struct lfpool_head_ *, pool);
	const struct lfpool_entry_ *entry;
	uintptr_t distance, table;
	lfpool_cache_t *cache;
	uint64_t last;

	__asm__("movq lfpool_thread_@gottpoff(%%rip), %0" : "=r"(distance));
	__asm__ __volatile__("movq %%fs:(%1), %0" : "=r"(last) : "r"(distance));
	if (LFPOOL_LIKELY_(last == head->id)) {
		__asm__ __volatile__("movq %%fs:8(%1), %0" : "=&r"(cache) : "r"(distance));
		*cache_out = cache;
		return true;
	}
	/* Makes the compiler load the id again: keeping it in a register would cost the path above an instruction. */
	__asm__("" : "+r"(head));
	__asm__ __volatile__("movq %%fs:16(%1), %0" : "=r"(table) : "r"(distance));
	entry = LFPOOL_POINTER_(const struct lfpool_entry_ *, table + head->in_tables);
	last = head->id;
	if (!LFPOOL_LIKELY_(entry->pool_id == last))
		return false;
	cache = entry->cache;
	__asm__ __volatile__("movq %0, %%fs:(%1)" : : "r"(last), "r"(distance));
	__asm__ __volatile__("movq %0, %%fs:8(%1)" : : "r"(cache), "r"(distance));
	*cache_out = cache;
	return true;
}

LFPOOL_HELPER_ void *lfpool_acquire_inline_(lfpool_t *pool)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY_(lfpool_find_(pool, &cache)) ? lfpool_cache_acquire_inline_(cache)
							  : lfpool_acquire_slow_(pool);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_release_inline_(lfpool_t *pool, void *object)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY_(lfpool_find_(pool, &cache)) ? lfpool_cache_release_inline_(cache, object)
							  : lfpool_release_slow_(pool, object, false);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_release_if_owned_inline_(lfpool_t *pool, void *object)
{
	lfpool_cache_t *cache;

	if (LFPOOL_LIKELY_(lfpool_find_(pool, &cache))) {
		LFPOOL_ATOMIC_(uintptr_t) *states = cache->state;

		if (lfpool_release_hit_(cache, object, states))
			return lfpool_pushed_(cache, states);
	}
	return lfpool_release_slow_(pool, object, true);
}
#else
LFPOOL_HELPER_ bool lfpool_find_(const lfpool_t *pool, lfpool_cache_t **cache_out)
{
	(void)pool, (void)cache_out;
	return false;
}

LFPOOL_HELPER_ void *lfpool_acquire_inline_(lfpool_t *pool)
{
	return lfpool_acquire(pool);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_release_inline_(lfpool_t *pool, void *object)
{
	return lfpool_release(pool, object);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_release_if_owned_inline_(lfpool_t *pool, void *object)
{
	return lfpool_release_if_owned(pool, object);
}
#endif

/*
 * From an object to its index and back (lfpool/handle.h).
 *
 * The distance from the first object is index * stride.  Multiplied by the inverse of the odd part of the stride, it is
 * index << shift.  A rotation moves these bits down, and the bits of any other distance up, beyond every index
 * (Hacker's Delight, 2nd edition, 2012, 10-17).  The slow paths handle all other pointers, and malloc mode.
 */
LFPOOL_C_BEGIN_
LFPOOL_API size_t lfpool_index_of_slow_(const lfpool_t *pool, const void *object);
LFPOOL_API void *lfpool_object_at_slow_(const lfpool_t *pool, size_t index);
LFPOOL_C_END_

LFPOOL_HELPER_ size_t lfpool_index_of_inline_(const lfpool_t *pool, const void *object)
{
	const struct lfpool_head_ *head = LFPOOL_POINTER_(const struct lfpool_head_ *, pool);
	const uint64_t product = (LFPOOL_POINTER_(uintptr_t, object) - head->first) * head->inverse;
	const uint64_t index = product >> head->shift | product << ((64 - head->shift) & 63);

	return LFPOOL_LIKELY_(index < head->slots) ? LFPOOL_NUMBER_(size_t, index)
						   : lfpool_index_of_slow_(pool, object);
}

LFPOOL_HELPER_ void *lfpool_object_at_inline_(const lfpool_t *pool, size_t index)
{
	const struct lfpool_head_ *head = LFPOOL_POINTER_(const struct lfpool_head_ *, pool);

	return LFPOOL_LIKELY_(index < head->slots) ? LFPOOL_POINTER_(void *, head->first + index * head->stride)
						   : lfpool_object_at_slow_(pool, index);
}

/* The fast paths under the plain names. */
#ifndef LFPOOL_INLINE_KEEP_NAMES_
LFPOOL_C_BEGIN_
LFPOOL_INLINED_ void *lfpool_cache_acquire(lfpool_cache_t *cache)
{
	return lfpool_cache_acquire_inline_(cache);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_cache_release(lfpool_cache_t *cache, void *object)
{
	return lfpool_cache_release_inline_(cache, object);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_cache_release_if_owned(lfpool_cache_t *cache, void *object)
{
	return lfpool_cache_release_if_owned_inline_(cache, object);
}

LFPOOL_INLINED_ size_t lfpool_index_of(const lfpool_t *pool, const void *object)
{
	return lfpool_index_of_inline_(pool, object);
}

LFPOOL_INLINED_ void *lfpool_object_at(const lfpool_t *pool, size_t index)
{
	return lfpool_object_at_inline_(pool, index);
}

#ifdef LFPOOL_INLINES_POOLS_
LFPOOL_INLINED_ void *lfpool_acquire(lfpool_t *pool)
{
	return lfpool_acquire_inline_(pool);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_release(lfpool_t *pool, void *object)
{
	return lfpool_release_inline_(pool, object);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_release_if_owned(lfpool_t *pool, void *object)
{
	return lfpool_release_if_owned_inline_(pool, object);
}
#endif
LFPOOL_C_END_
#endif

#endif
