/* SPDX-License-Identifier: MIT */
/*
 * snmalloc.cpp - snmalloc inlined: its headers, and an allocator for each thread.
 *
 * Which        The allocator at hand and the size class known: alloc(smallsizeclass_t), "callers can pre-compute the
 *              sizeclass", on a ScopedAllocator, as a user of lfpool/inline.h has a cache.  The other way,
 *              snmalloc::alloc(size), finds the thread's allocator and looks the size class up.
 * Compiler     clang++ -O3 where it is there: what its documentation asks for.  peers.cmake.
 * Inlined      always_inline: with a dozen loops in one file, clang would call the two.
 */
#include "../subject.h"

#include <snmalloc/snmalloc.h>

namespace
{
struct thread_own {
	snmalloc::ScopedAllocator<> allocator;
	snmalloc::smallsizeclass_t size_class;
};
}

__attribute__((always_inline)) static inline void *acquire(void *hand)
{
	thread_own *own = static_cast<thread_own *>(hand);

	return own->allocator->alloc(own->size_class);
}

__attribute__((always_inline)) static inline void release(void *hand, void *object)
{
	static_cast<thread_own *>(hand)->allocator->dealloc(object);
}

#include "../workloads.h"

static void *open_class(const struct plan *plan)
{
	return must(new (std::nothrow) snmalloc::smallsizeclass_t{snmalloc::size_to_sizeclass(plan->object_bytes)});
}

static void close_class(void *shared)
{
	delete static_cast<snmalloc::smallsizeclass_t *>(shared);
}

static void *join(void *shared)
{
	return must(new (std::nothrow) thread_own{{}, *static_cast<snmalloc::smallsizeclass_t *>(shared)});
}

static void leave(void *hand)
{
	delete static_cast<thread_own *>(hand);
}

static const char *version(void)
{
#if defined(__clang__)
	return "compiled by clang " __clang_version__;
#else
	return "compiled by gcc " __VERSION__;
#endif
}

extern "C" const struct subject subject_snmalloc = {
	.name = "snmalloc-inlined",
	.group = "allocator",
	.what = "snmalloc's headers, an allocator for each thread, the size class known",
	.version = version,
	.absent = nullptr,
	.traits = 0,
	.most_objects = 0,
	.open = open_class,
	.close = close_class,
	.join = join,
	.leave = leave,
	.counters = nullptr,
	.loops = SUBJECT_LOOPS,
};
