/* SPDX-License-Identifier: MIT */
/*
 * heap.h - malloc mode: a slot is a cell with a pointer, and its object is allocated when the slot is acquired.
 *
 * Addresses    A set of the objects' addresses finds the slot of a pointer without reading its memory.  It is a table
 *              with at least two words for each possible object.  An address is in one of the PROBES places that follow
 *              its hash.  A used place is never 0 again (GONE), so a search ends at the first 0.  If all these places
 *              are taken, the address is only counted.  While such addresses exist, a search that finds nothing reads
 *              all cells of the pool.
 * Concurrency  An address is added after malloc() and before the object has a holder, and removed before free().  So no
 *              thread adds an address while another thread still removes it.
 * Progress     Wait-free: PROBES places.
 */
#ifndef LFPOOL_HEAP_H
#define LFPOOL_HEAP_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"

struct heap {
	size_t bytes, alignment;
	struct heap_set *set; /* their addresses */
};

/* NULL: the system refuses memory. */
struct heap *heap_open(const lfpool_config_t *config);
void heap_close(struct heap *heap);

/* The address of the cell in the label before an object (heap.c); NULL if it cannot be read.  For a foreign pointer the
 * result can be any address. */
const void *heap_label(const void *object);
/* A new object for a taken slot; NULL when the system refuses memory. */
void *heap_object_new(lfpool_t *pool, uint32_t slot);
void heap_object_free(lfpool_t *pool, uint32_t slot, void *object);
/* The object of an active slot; NULL or a freed one while the slot changes hands. */
void *heap_object_at(const lfpool_t *pool, uint32_t slot);
/* The slot of an active object, and LFPOOL_OK; otherwise LFPOOL_E_FOREIGN and SLOT_NONE.  Reads nothing at or before
 * the pointer, which may be any.  O(1) in most cases. */
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
/* YES: *slot_out is the slot it was added with. */
enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out);

#endif
