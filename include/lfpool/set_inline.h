/* SPDX-License-Identifier: MIT */
/*
 * set_inline.h - inlines the fast paths of lfpool_set_acquire(), lfpool_set_release() and
 *                lfpool_set_release_if_owned(), on x86-64 with ELF, except in the embedded build.  Elsewhere they are
 *                the library's functions.  C11 or C++11, gcc or clang.  Opt-in.
 *
 * Idea         A set begins with two tables of its pools.  One is indexed by a small size, counted in units of the
 *              set's alignment, and the other by the window of an address.  For each pool a table has the pool's id,
 *              and the offset of the pool's entry in a thread's table (lfpool/inline.h).  That entry has the thread's
 *              cache, and the call continues with the fast path of the cache.  So a release checks its argument as a
 *              release to a pool does, and debug modes switch off the fast path as in a pool.
 * Slow path    The library handles larger sizes, size 0, a thread's first call on a pool, pools without an entry in a
 *              thread's table, addresses in no window, and all acquires with config.larger.
 * Invariants   Y3  the tables of small sizes have the pool of m + 1 units at index m, once it is made.  With
 *                  config.larger they stay empty.
 *              Y4  an id in a table of the set is 0 until the pool is made, and then the pool's id, until
 *                  lfpool_set_destroy().  In a thread's table no entry has the id 0, and the entry with a pool's id is
 *                  at the pool's offset.  So a call that reads a new id and an old offset, or the reverse, finds no
 *                  cache.
 * Progress     The fast path is wait-free: no loop, no locked instruction, and no stores except for the fast path of
 *              the cache.
 *
 * For internal names and changing layouts see lfpool/inline.h.
 */
#ifndef LFPOOL_SET_INLINE_H
#define LFPOOL_SET_INLINE_H

#include "lfpool/inline.h"
#include "lfpool/set.h"

/* A small size has at most this number of units. */
#define LFPOOL_SET_UNITS_ 64
/* The most classes that a set can have: up to 1 GiB, with the alignment 1 and 16 steps. */
#define LFPOOL_SET_CLASSES_ 432

/* The beginning of every set.  The tables are arrays of words, because the processor indexes such arrays without an
 * additional instruction. */
struct lfpool_set_head_ {
	/* Fixed at creation. */
	uintptr_t base;          /* the address of window 0                                   */
	uintptr_t windows;       /* number of windows, one per class; 0: objects are anywhere */
	uint8_t window_shift;    /* log2 of the bytes of a window                             */
	uint8_t alignment_shift; /* log2 of the bytes of a unit                               */
	/* Y3, Y4.  _at: the offset of the pool's entry, in bytes. */
	LFPOOL_ATOMIC_(uint64_t) small_id[LFPOOL_SET_UNITS_];
	LFPOOL_ATOMIC_(uintptr_t) small_at[LFPOOL_SET_UNITS_];
	LFPOOL_ATOMIC_(uint64_t) class_id[LFPOOL_SET_CLASSES_];
	LFPOOL_ATOMIC_(uintptr_t) class_at[LFPOOL_SET_CLASSES_];
};

LFPOOL_C_BEGIN_
/* The slow paths. */
LFPOOL_API void *lfpool_set_acquire_slow_(lfpool_set_t *set, size_t size);
LFPOOL_API lfpool_status_t lfpool_set_release_slow_(lfpool_set_t *set, void *object, bool if_owned);
LFPOOL_C_END_

#ifdef LFPOOL_INLINES_POOLS_
/* Finds the thread's cache of the pool at this index; false: the thread's table has no entry for that pool. */
LFPOOL_HELPER_ bool lfpool_set_find_(const LFPOOL_ATOMIC_(uint64_t) *ids, const LFPOOL_ATOMIC_(uintptr_t) *offsets,
				     uintptr_t index, lfpool_cache_t **cache_out)
{
	const struct lfpool_entry_ *entry;
	uintptr_t distance, table;
	uint64_t id;

	/* relaxed, both: Y4; only this thread writes its table. */
	id = LFPOOL_LOAD_RELAXED_(&ids[index]);
	/* Makes each load compute its address.  Otherwise gcc would compute the address once for both loads, which
	 * takes two more instructions. */
	__asm__("" : "+r"(index));
	__asm__("movq lfpool_thread_@gottpoff(%%rip), %0" : "=r"(distance));
	__asm__ __volatile__("movq %%fs:16(%1), %0" : "=r"(table) : "r"(distance));
	entry = LFPOOL_POINTER_(const struct lfpool_entry_ *, table + LFPOOL_LOAD_RELAXED_(&offsets[index]));
	if (!LFPOOL_LIKELY_(entry->pool_id == id))
		return false;
	*cache_out = entry->cache;
	return true;
}

/* Size 0 wraps around to a number that is too large for a small size. */
LFPOOL_HELPER_ void *lfpool_set_acquire_inline_(lfpool_set_t *set, size_t size)
{
	const struct lfpool_set_head_ *head = LFPOOL_POINTER_(const struct lfpool_set_head_ *, set);
	const size_t m = (size - 1) >> head->alignment_shift;
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY_(m < LFPOOL_SET_UNITS_) &&
			       LFPOOL_LIKELY_(lfpool_set_find_(head->small_id, head->small_at, m, &cache))
		       ? lfpool_cache_acquire_inline_(cache)
		       : lfpool_set_acquire_slow_(set, size);
}

/* Finds the thread's cache of the pool in whose window the address is. */
LFPOOL_HELPER_ bool lfpool_set_find_at_(const lfpool_set_t *set, const void *address, lfpool_cache_t **cache_out)
{
	const struct lfpool_set_head_ *head = LFPOOL_POINTER_(const struct lfpool_set_head_ *, set);
	const uintptr_t window = (LFPOOL_POINTER_(uintptr_t, address) - head->base) >> head->window_shift;

	return LFPOOL_LIKELY_(window < head->windows) &&
	       LFPOOL_LIKELY_(lfpool_set_find_(head->class_id, head->class_at, window, cache_out));
}

LFPOOL_HELPER_ lfpool_status_t lfpool_set_release_inline_(lfpool_set_t *set, void *object)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY_(lfpool_set_find_at_(set, object, &cache)) ? lfpool_cache_release_inline_(cache, object)
									: lfpool_set_release_slow_(set, object, false);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_set_release_if_owned_inline_(lfpool_set_t *set, void *object)
{
	lfpool_cache_t *cache;

	return LFPOOL_LIKELY_(lfpool_set_find_at_(set, object, &cache))
		       ? lfpool_cache_release_if_owned_inline_(cache, object)
		       : lfpool_set_release_slow_(set, object, true);
}
#else
LFPOOL_HELPER_ void *lfpool_set_acquire_inline_(lfpool_set_t *set, size_t size)
{
	return lfpool_set_acquire(set, size);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_set_release_inline_(lfpool_set_t *set, void *object)
{
	return lfpool_set_release(set, object);
}

LFPOOL_HELPER_ lfpool_status_t lfpool_set_release_if_owned_inline_(lfpool_set_t *set, void *object)
{
	return lfpool_set_release_if_owned(set, object);
}
#endif

/* The fast paths under the plain names. */
#if defined(LFPOOL_INLINES_POOLS_) && !defined(LFPOOL_INLINE_KEEP_NAMES_)
LFPOOL_C_BEGIN_
LFPOOL_INLINED_ void *lfpool_set_acquire(lfpool_set_t *set, size_t size)
{
	return lfpool_set_acquire_inline_(set, size);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object)
{
	return lfpool_set_release_inline_(set, object);
}

LFPOOL_INLINED_ lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object)
{
	return lfpool_set_release_if_owned_inline_(set, object);
}
LFPOOL_C_END_
#endif

#endif
