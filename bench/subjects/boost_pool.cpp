/* SPDX-License-Identifier: MIT */
/*
 * boost_pool.cpp - boost::pool under a std::mutex: a list of free chunks that grows by blocks.
 *
 * Which        boost::pool, not boost::object_pool: the latter keeps its list ordered, and its free() is documented
 *              as O(N). malloc() and free() of pool, not ordered_malloc() and ordered_free(): "the most efficient way
 *              to use a pool" for single chunks (Boost.Pool 1.74, class template pool).
 * Lock         A pool object is not synchronised.  Where Boost shares one between threads (class template
 *              singleton_pool) it holds a mutex around each call, and so do we.
 * Growth       As by default: 32 chunks, then twice as many each time.  A UserAllocator, which is how one says where
 *              blocks come from, aligns them to 64 bytes: chunks are multiples of their size away from the block's
 *              start.  Not by aligned_alloc(): from run to run, glibc 2.36 did not find again what it had split off,
 *              and the process grew by 2 MB each time.
 */
#include "../subject.h"

#include <boost/pool/pool.hpp>
#include <boost/version.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace
{
struct aligned_blocks {
	typedef std::size_t size_type;
	typedef std::ptrdiff_t difference_type;

	static char *malloc(size_type bytes)
	{
		char *memory = static_cast<char *>(std::malloc(bytes + 64));

		if (!memory)
			return nullptr;

		/* 16 to 64 bytes in, since malloc() aligns to 16; in front of it, what free() needs. */
		char *block = memory + 64 - reinterpret_cast<std::uintptr_t>(memory) % 64;

		std::memcpy(block - sizeof(memory), &memory, sizeof(memory));
		return block;
	}

	static void free(char *block)
	{
		char *memory;

		std::memcpy(&memory, block - sizeof(memory), sizeof(memory));
		std::free(memory);
	}
};

struct locked_pool {
	std::mutex mutex;
	boost::pool<aligned_blocks> chunks;

	explicit locked_pool(const struct plan *plan) : chunks(plan->object_bytes) {}
};
} // namespace

static inline void *acquire(void *hand)
{
	locked_pool *pool = static_cast<locked_pool *>(hand);
	std::lock_guard<std::mutex> lock(pool->mutex);

	return pool->chunks.malloc();
}

static inline void release(void *hand, void *object)
{
	locked_pool *pool = static_cast<locked_pool *>(hand);
	std::lock_guard<std::mutex> lock(pool->mutex);

	pool->chunks.free(object);
}

#include "../workloads.h"

VERSION_IS(BOOST_LIB_VERSION)

extern "C" const struct subject subject_boost_pool_mutex = {
	.name = "boost-pool-mutex",
	.group = "allocator",
	.what = "boost::pool under a std::mutex; it grows",
	.version = version,
	.absent = nullptr,
	.traits = 0,
	.most_objects = 0,
	NEW_FOR_ALL(locked_pool, SUBJECT_LOOPS),
};
