/* SPDX-License-Identifier: MIT */
/*
 * heap.h - malloc mode: a slot is a cell with a pointer, and its object is allocated when the slot is acquired.
 */
#ifndef LFPOOL_HEAP_H
#define LFPOOL_HEAP_H

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

/* The address that the bytes before a heap's object say its cell has; of another pointer, anything. */
const void *heap_label(const void *object);
/* A new object for a slot that was taken; NULL when the system refuses memory. */
void *heap_object_new(lfpool_t *pool, uint32_t slot);
void heap_object_free(lfpool_t *pool, uint32_t slot, void *object);
/* The object of a slot that is active; NULL, or one that is gone, while the slot changes hands. */
void *heap_object_at(const lfpool_t *pool, uint32_t slot);
/* LFPOOL_OK and the slot of an object; reads the bytes before it, as heap_label(). */
lfpool_status_t heap_locate(const lfpool_t *pool, const void *object, uint32_t *slot_out);
/* The slot of an active object; SLOT_NONE for any other pointer.  Reads nothing at or before the pointer.  O(1) in
 * most cases (heap_set.h). */
uint32_t heap_find(const lfpool_t *pool, const void *pointer);

#endif
