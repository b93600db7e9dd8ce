/* SPDX-License-Identifier: MIT */
/*
 * tbb_scalable.cpp - scalable_malloc() and scalable_free() of oneTBB: a general allocator with a heap for each
 * thread.
 *
 * Idea         The C interface to its scalable allocator, which any program can call; its header names the two as the
 *              "malloc" and the "free" analogue.  Only libtbbmalloc is linked, which leaves malloc() of the process
 *              alone; replacing that is what libtbbmalloc_proxy is for.
 */
#include "../subject.h"

#include <tbb/scalable_allocator.h>
#include <tbb/version.h>

static inline void *acquire(void *hand)
{
	return scalable_malloc(static_cast<const struct plan *>(hand)->object_bytes);
}

static inline void release(void *hand, void *object)
{
	(void)hand;
	scalable_free(object);
}

#include "../loops.h"

VERSION_IS(TBB_VERSION_STRING)

extern "C" const struct subject subject_tbb_scalable = {
	SUBJECT("tbb-scalable", "allocator", "scalable_malloc() and scalable_free() of oneTBB", version, 0),
	SHARED_BY_ALL(open_plan, std::free, SUBJECT_LOOPS),
};
