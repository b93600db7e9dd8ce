/* SPDX-License-Identifier: MIT */
/*
 * snmalloc.cpp - snmalloc inlined: its headers, and an allocator for each thread.  Compiled twice.
 *
 * Which        With the thread's allocator and the size class known: alloc(smallsizeclass_t), "callers can
 *              pre-compute the sizeclass", on a ScopedAllocator, like a cache with lfpool/inline.h.  With
 *              THREAD_FOUND: snmalloc::alloc(size), which finds the thread's allocator and looks the size class up.
 * Compiler     clang++ -O3 if available, as its documentation asks for: peers.cmake.
 * Inlined      always_inline: with a dozen loops in one file, clang would not inline acquire and release.
 */
#include "../subject.h"

#include <snmalloc/snmalloc.h>

namespace
{
struct thread_own {
	snmalloc::ScopedAllocator<> allocator;
	snmalloc::smallsizeclass_t size_class;
	size_t bytes;
};
} // namespace

__attribute__((always_inline)) static inline void *acquire(void *hand)
{
	thread_own *own = static_cast<thread_own *>(hand);

#if defined(THREAD_FOUND)
	return snmalloc::alloc(own->bytes);
#else
	return own->allocator->alloc(own->size_class);
#endif
}

__attribute__((always_inline)) static inline void release(void *hand, void *object)
{
#if defined(THREAD_FOUND)
	(void)hand;
	snmalloc::dealloc(object);
#else
	static_cast<thread_own *>(hand)->allocator->dealloc(object);
#endif
}

#include "../loops.h"

/* noexcept: out of memory ends the program. */
static void *join(void *shared) noexcept
{
	const size_t bytes = static_cast<const struct plan *>(shared)->object_bytes;

	return new thread_own{{}, snmalloc::size_to_sizeclass(bytes), bytes};
}

static void leave(void *hand)
{
	delete static_cast<thread_own *>(hand);
}

static const char *version(void)
{
#if defined(__clang__)
	return BENCH_SNMALLOC_COMMIT ", compiled by clang " __clang_version__;
#else
	return BENCH_SNMALLOC_COMMIT ", compiled by gcc " __VERSION__;
#endif
}

#if defined(THREAD_FOUND)
#define ID subject_snmalloc_thread
#define NAME "snmalloc-thread"
#define WHAT "snmalloc's headers: snmalloc::alloc(size) and snmalloc::dealloc(object)"
#else
#define ID subject_snmalloc
#define NAME "snmalloc-inlined"
#define WHAT "snmalloc's headers, an allocator for each thread, the size class known"
#endif

extern "C" const struct subject ID = {
	SUBJECT(NAME, "allocator", WHAT, version, 0),
	FOR_EACH_THREAD(open_plan, std::free, join, leave, SUBJECT_LOOPS),
};
