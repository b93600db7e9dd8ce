/* SPDX-License-Identifier: MIT */
/*
 * tools.h - tells AddressSanitizer, LeakSanitizer and Valgrind's memcheck which objects are free, and ThreadSanitizer that an
 * object goes from its releaser to its next holder.
 *
 * Idea         To such a tool a pool is one mapping, all of it accessible.  Told which objects are free it reports an
 *              access to one at the offending line, as it does for malloc.  Both are found at run time: the sanitizers
 *              by weak symbols, which are NULL unless the program was linked with them; memcheck by a request that
 *              nothing else answers.  So this needs no build of its own, and costs nothing without the tools.
 * Invariants   TO1 an object, and the bytes beside it that belong to its slot, are accessible while it is active or in
 *                  the hands of a call; else not.  Except never-used objects beyond the first SHUT_FIRST_BYTES of a
 *                  pool, so that creating a huge one stays cheap.
 *              TO2 active objects are roots for the search for leaks.
 *              TO3 what came before a release comes, for ThreadSanitizer, before the next acquire of the object: it sees
 *                  that of itself only where the library is built for it (and then is not told).
 * Progress     Each call may take locks of the tool's.
 */
#ifndef LFPOOL_TOOLS_H
#define LFPOOL_TOOLS_H

#include "base/atomics.h"
#include "base/base.h"

/* Where objects lie: that of slot n, of 1 .. slots, at zero + n * stride, and `front` bytes before it are its slot's too. */
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
	_Atomic(uint64_t) rooted;  /* slots 1 .. this are roots */
};

/* Which of them watch this process?  False: none. */
bool tools_find(struct tools *tools_out);

/* The pool's objects lie there, and are free.  `defined`: what is in a free object may be read after the next acquire. */
void tools_attach(struct tools *t, const struct object_range *range, bool defined);
/* Before it is unmapped: slots 1 .. used were handed out.  All memory is accessible again. */
void tools_detach(struct tools *t, size_t used);

/* These bytes may be used, and hold what they hold; they may not. */
void tools_open(const struct tools *t, void *memory, size_t bytes);
void tools_shut(const struct tools *t, void *memory, size_t bytes);

/* An object, which is open, is acquired, and released; afterwards it is shut. */
void tools_acquired(struct tools *t, uint32_t slot, void *object, size_t bytes);
void tools_released(struct tools *t, void *object, size_t bytes);

#endif
