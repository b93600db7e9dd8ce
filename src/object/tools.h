/* SPDX-License-Identifier: MIT */
/*
 * tools.h - reports to AddressSanitizer, LeakSanitizer and Valgrind's memcheck which objects are free, and to
 * ThreadSanitizer that an object passes from its releaser to its next holder.
 *
 * Idea         Without these reports a tool sees a pool as one accessible mapping.  With them it reports an access to a
 *              free object at the line of the access, like a use after free.  The library detects the tools at run
 *              time, without a special build: sanitizers by weak symbols, which are NULL unless the program was linked
 *              with them, and memcheck by a request that only Valgrind answers.
 * Invariants   TO1 an object, and the guard bytes of its slot, are accessible only while the object is active or a call
 *                  moves it.  Exception: beyond the first SHUT_FIRST_BYTES of a pool, objects are also accessible
 *                  before their first use, so that creating a huge pool stays cheap.
 *              TO2 active objects are roots when LeakSanitizer searches for leaks.
 *              TO3 ThreadSanitizer is informed that a release happens before the next acquire of the object.  If the
 *                  library itself is built with ThreadSanitizer, the tool sees the library's own edges, and the library
 *                  reports nothing.
 * Progress     Each call may take locks inside the tool.
 */
#ifndef LFPOOL_TOOLS_H
#define LFPOOL_TOOLS_H

#include "base/atomics.h"
#include "base/base.h"

/* The objects of a pool.  The object of slot n is at zero + n * stride, for n from 1 to `slots`.  The `front` bytes
 * before an object belong to its slot. */
struct object_range {
	uintptr_t zero;
	size_t stride, front;
	uint64_t slots;
};

static inline void *range_object(const struct object_range *range, uint32_t slot)
{
	return (void *)(range->zero + slot * range->stride);
}

#define SHUT_FIRST_BYTES ((size_t)256 << 20)

struct tools {
	bool asan, lsan, memcheck, tsan;
	struct object_range range; /* from tools_attach() on    */
	_Atomic(uint64_t) rooted;  /* slots 1 to this are roots */
};

/* Finds the tools that watch this process.  False: no tool does. */
bool tools_find(struct tools *tools_out);

/* Called when all objects in `range` are free.  `defined`: after an acquire, the program may read the object's old
 * contents. */
void tools_attach(struct tools *t, const struct object_range *range, bool defined);
/* Called before the pool is unmapped.  Slots 1 .. used were handed out.  Makes all memory accessible again. */
void tools_detach(struct tools *t, size_t used);

/* tools_open() makes these bytes accessible and their contents defined; tools_shut() makes them inaccessible. */
void tools_open(const struct tools *t, void *memory, size_t bytes);
void tools_shut(const struct tools *t, void *memory, size_t bytes);

/* tools_acquired(): the object is acquired, and the caller has made it accessible.  tools_released(): the object is
 * released, and the call makes it inaccessible. */
void tools_acquired(struct tools *t, uint32_t slot, void *object, size_t bytes);
void tools_released(struct tools *t, void *object, size_t bytes);

#endif
