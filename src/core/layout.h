/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where the parts of an arena's range lie, in a mapping and in a buffer: arithmetic, and no memory.
 */
#ifndef LFPOOL_LAYOUT_H
#define LFPOOL_LAYOUT_H

#include "core/arena.h"

/* The parts of the range, in bytes. */
struct layout {
	size_t stride, front;
	size_t states, generations; /* where they begin; the generations on a page of their own    */
	size_t gone;                /* where the bytes of the pages begin, after them                          */
	size_t touched;             /* all before those                                                        */
	size_t opened;              /* and those                                                               */
	size_t before;              /* and pages without access, one at least                                  */
	size_t objects;             /* in whole pages                                                          */
	size_t mapped;              /* all of it, with a page without access behind the objects                */
};

/* Bytes from object to object, for so many that are used: the rule of config.h; `plain` as LFPOOL_PLAIN_STRIDE. */
size_t layout_stride(size_t bytes, size_t alignment, bool plain);

/* What lfpool_slot_of() multiplies with; the stride is at least 2. */
uint64_t layout_inverse(uint64_t stride);
/* Bytes from the first page of the objects that slots 1 .. count take, in whole pages. */
size_t layout_slots_bytes(size_t stride, size_t front, size_t count);
/* What it takes to align objects, more than a buffer is. */
size_t layout_slack(const struct arena_plan *plan);

/* False when there is no such number of bytes. */
bool lay_out(struct layout *l, const struct arena_plan *plan);
/* The same in a buffer: no pages, nothing is given back, and all of it is `mapped`. */
bool lay_out_in_buffer(struct layout *l, const struct arena_plan *plan);

#endif
