/* SPDX-License-Identifier: MIT */
/*
 * heap.h - malloc mode: a slot is a cell with a pointer, and its object is allocated when the slot is acquired.
 *
 * Addresses    A set of the objects' addresses answers questions about a pointer without a look at its memory.  It is
 *              a table of words, twice as many as there may be objects.  An address is in one of the PROBES places that
 *              follow its hash.  A used place is never 0 again (GONE), so a search ends at the first 0.  An address
 *              that finds no room there is only counted.  While such addresses exist, a search that finds nothing looks
 *              at all cells of the pool.
 * Concurrency  An address is added after malloc() and before the object has a holder, and removed before free().  So
 *              the same address is never added by one thread while another thread still removes it.
 * Progress     Wait-free: PROBES places.
 */
#ifndef LFPOOL_HEAP_H
#define LFPOOL_HEAP_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"

/* Of the objects. */
struct heap {
	size_t bytes, alignment;
	struct heap_set *set; /* their addresses */
};

/* NULL: the system refuses memory. */
struct heap *heap_open(const lfpool_config_t *config);
void heap_close(struct heap *heap);

/* The address of the cell according to the bytes before an object; NULL if they cannot be read.  Any pointer: the
 * result is then anything. */
const void *heap_label(const void *object);
/* A new object for a slot that was taken; NULL when the system refuses memory. */
void *heap_object_new(lfpool_t *pool, uint32_t slot);
void heap_object_free(lfpool_t *pool, uint32_t slot, void *object);
/* The object of a slot that is active; NULL, or one that is gone, while the slot changes hands. */
void *heap_object_at(const lfpool_t *pool, uint32_t slot);
/* The slot of an active object, and LFPOOL_OK; else LFPOOL_E_FOREIGN and SLOT_NONE.  Any pointer: nothing at or
 * before it is read.  O(1) in most cases. */
lfpool_status_t heap_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out);

/* ---- The set of addresses ---- */

struct heap_set {
	size_t mask, mapped_bytes;
	_Atomic(uint64_t) beside; /* addresses without a place */
	_Atomic(uint32_t) *slot;  /* of the address in each place */
	_Atomic(uintptr_t) place[];
};

/* Room for `addresses` addresses; NULL: the system refuses memory. */
struct heap_set *heap_set_open(size_t addresses);
void heap_set_close(struct heap_set *set);

void heap_set_add(struct heap_set *set, const void *object, uint32_t slot);
void heap_set_remove(struct heap_set *set, const void *object);

enum heap_set_answer { HEAP_SET_NO, HEAP_SET_YES, HEAP_SET_MAYBE };
/* YES: *slot_out is the slot that it was added with. */
enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out);

#endif
