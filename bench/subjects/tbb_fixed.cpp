/* SPDX-License-Identifier: MIT */
/*
 * tbb_fixed.cpp - tbb::fixed_pool of oneTBB: its scalable allocator over a buffer of ours.
 *
 * Which        "A class for scalable memory allocation from a buffer of fixed size" (oneTBB reference, Scalable
 *              Memory Pools, fixed_pool).  The documentation shows this class; rml::pool_create_v1() and its like,
 *              which it calls, are only declared.  TBB_PREVIEW_MEMORY_POOL must be defined: it is a preview.
 * Buffer       The documentation does not say how much of the buffer the pool needs for itself.  It divides it into
 *              blocks of 16 KiB for one size each; 2021.8 gets three objects of 4096 bytes into one (5461 bytes each,
 *              the worst of our sizes), and a thread keeps some blocks.  We give it twice the objects and 1 MiB for
 *              each thread.
 * Not exact    So it holds more than `capacity` objects; and it may say NULL while a block of another thread has free
 *              ones.
 * Memcheck     free() looks for the header of a large object in front of each one that is aligned to 64 bytes, and
 *              finds what is in the buffer there: valgrind reports it as uninitialised, unless the buffer is zeroed
 *              before.
 */
#include "../subject.h"

#define TBB_PREVIEW_MEMORY_POOL 1
#include <tbb/memory_pool.h>
#include <tbb/version.h>

#include <memory>

namespace
{
struct buffered_pool {
	size_t object_bytes;
	/* The pool goes before its buffer. */
	std::unique_ptr<void, decltype(&std::free)> buffer;
	tbb::fixed_pool pool;

	explicit buffered_pool(const struct plan *plan)
		: object_bytes(plan->object_bytes), buffer(must(std::aligned_alloc(64, buffer_bytes(plan))), std::free),
		  pool(buffer.get(), buffer_bytes(plan))
	{
	}

	static size_t buffer_bytes(const struct plan *plan)
	{
		return 2 * plan->capacity * plan->object_bytes + (size_t{plan->threads} << 20);
	}
};
} // namespace

static inline void *acquire(void *hand)
{
	buffered_pool *own = static_cast<buffered_pool *>(hand);

	return own->pool.malloc(own->object_bytes);
}

static inline void release(void *hand, void *object)
{
	static_cast<buffered_pool *>(hand)->pool.free(object);
}

#include "../workloads.h"

VERSION_IS(TBB_VERSION_STRING)

extern "C" const struct subject subject_tbb_fixed = {
	.name = "tbb-fixed",
	.group = "allocator",
	.what = "tbb::fixed_pool: oneTBB's allocator over a buffer twice as large as the objects",
	.version = version,
	.absent = nullptr,
	.traits = TRAIT_POOL,
	.most_objects = 0,
	NEW_FOR_ALL(buffered_pool, SUBJECT_LOOPS),
};
