/* SPDX-License-Identifier: MIT */
/*
 * heap_set.h - the addresses of a malloc pool's objects, so that a pointer can be asked about without looking behind it.
 *
 * Idea         A table of words, twice as many as there may be objects.  An address stands at one of the PROBES places
 *              from its hash on.  A place that was used once is never 0 again (GONE), so a search that meets a 0 is over.
 *              An address that finds no room there is only counted: while there are such, the answer to "not found"
 *              comes from the pool's cells, all of them.
 * Concurrency  An address is added after malloc() and before it is anybody's, and leaves before free(): so the same address
 *              is never added by one thread while another still removes it.
 * Progress     Wait-free: PROBES places.
 */
#ifndef LFPOOL_HEAP_SET_H
#define LFPOOL_HEAP_SET_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_set {
	size_t mask, mapped_bytes;
	_Atomic(uint64_t) beside; /* addresses that found no room */
	_Atomic(uint32_t) *slot;  /* of the address in each place */
	_Atomic(uintptr_t) place[];
};

/* Room for so many addresses; NULL: the system refuses. */
struct heap_set *heap_set_open(size_t addresses);
void heap_set_close(struct heap_set *set);

void heap_set_add(struct heap_set *set, const void *object, uint32_t slot);
void heap_set_remove(struct heap_set *set, const void *object);

enum heap_set_answer { HEAP_SET_NO, HEAP_SET_YES, HEAP_SET_MAYBE };
/* YES: *slot_out is what it was added with. */
enum heap_set_answer heap_set_find(const struct heap_set *set, const void *object, uint32_t *slot_out);

#endif
