/* SPDX-License-Identifier: MIT */
/*
 * heap.h - malloc mode: a slot contains a pointer, and its object is allocated when the slot is acquired.
 *
 * Addresses    A set of the objects' addresses leads from an address to a slot, without reading the memory at the
 *              address.  The set is a hash table with at least two entries for each possible object.  An address is in
 *              one of the PROBES entries that follow its hash.  A removed address leaves GONE in its entry, not 0, so a
 *              search can end at the first 0.  If all PROBES entries are taken, the address is only counted (`beside`).
 *              While that count is not 0, a search that finds neither the address nor a 0 continues with the pointers
 *              of all slots.
 * Concurrency  An address is added after malloc() and before the object has a holder, and removed before free().  So no
 *              thread adds an address while another thread still removes it.
 * Progress     Wait-free: a search of the set reads at most PROBES entries.
 */
#ifndef LFPOOL_HEAP_H
#define LFPOOL_HEAP_H

#include "base/atomics.h"
#include "base/base.h"

#include "lfpool/lfpool.h"

struct heap {
	size_t bytes, alignment;
	struct heap_set *set; /* the addresses of all objects */
};

/* NULL: the system refuses memory. */
struct heap *heap_open(const lfpool_config_t *config);
void heap_close(struct heap *heap);

/* Reads the label before an object (heap.c), which is the address of the object's slot.  NULL if the label cannot be
 * read.  For a foreign pointer the result can be any address. */
const void *heap_label(const void *object);
/* A new object for a taken slot; NULL when the system refuses memory. */
void *heap_object_new(lfpool_t *pool, uint32_t slot);
void heap_object_free(lfpool_t *pool, uint32_t slot, void *object);
/* The object of an active slot.  While the slot changes hands, the result may be NULL or a freed object. */
void *heap_object_at(const lfpool_t *pool, uint32_t slot);
/* The slot of an active object, and LFPOOL_OK; otherwise LFPOOL_E_FOREIGN and SLOT_NONE.  `object` may be any pointer:
 * the memory at it, or before it, is not read.  O(1) in most cases. */
lfpool_status_t heap_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out);

/* ---- The set of addresses ---- */

struct heap_set {
	size_t mask, mapped_bytes;
	_Atomic(uint64_t) beside; /* addresses without an entry            */
	_Atomic(uint32_t) *slot;  /* the slot of the address in each entry */
	_Atomic(uintptr_t) place[];
};

/* Opens a set with room for `addresses` addresses; NULL: the system refuses memory. */
struct heap_set *heap_set_open(size_t addresses);
void heap_set_close(struct heap_set *set);

void heap_set_add(struct heap_set *set, const void *object, uint32_t slot);
void heap_set_remove(struct heap_set *set, const void *object);

enum heap_set_answer { HEAP_SET_NO, HEAP_SET_YES, HEAP_SET_MAYBE };
/* YES: *slot_out is the slot with which the address was added.  MAYBE: the set may have the address without an
 * entry. */
enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out);

#endif
