/* SPDX-License-Identifier: MIT */
/*
 * pmr.cpp - std::pmr::synchronized_pool_resource, the thread-safe pool of the C++ standard library.
 *
 * Idea         "May be accessed from multiple threads without external synchronization and may have thread-specific
 *              pools to reduce synchronization costs" (ISO C++ 20, [mem.res.pool.overview]).  Over
 *              new_delete_resource(), called through memory_resource, as a container or a polymorphic_allocator calls
 *              it.
 * Options      largest_required_pool_block is the one size that is asked for, so that it is pooled and nothing larger
 *              is; max_blocks_per_chunk stays 0, the library's own choice.
 */
#include "../subject.h"

#include <memory>
#include <memory_resource>
#include <new>

namespace
{
struct resource {
	size_t object_bytes, alignment;
	std::pmr::synchronized_pool_resource pool;

	explicit resource(const struct plan *plan)
		: object_bytes(plan->object_bytes), alignment(object_bytes < 64 ? object_bytes : 64),
		  pool({.max_blocks_per_chunk = 0, .largest_required_pool_block = object_bytes}, std::pmr::new_delete_resource())
	{
	}
};
} // namespace

static inline void *acquire(void *hand)
{
	resource *own = static_cast<resource *>(hand);

	try {
		return static_cast<std::pmr::memory_resource &>(own->pool).allocate(own->object_bytes, own->alignment);
	} catch (const std::bad_alloc &) {
		return nullptr;
	}
}

static inline void release(void *hand, void *object)
{
	resource *own = static_cast<resource *>(hand);

	static_cast<std::pmr::memory_resource &>(own->pool).deallocate(object, own->object_bytes, own->alignment);
}

#include "../workloads.h"

/* A thread's pools end with the thread, by a destructor of thread-specific data that uses the resource, and the threads of a
 * row end after its close.  So a resource lives until the next is closed; in `memory`, until the process ends. */
static void close_resource(void *shared)
{
	static std::unique_ptr<resource> last;

	last.reset(static_cast<resource *>(shared));
}

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(text) #text

static const char *version(void)
{
#if defined(_GLIBCXX_RELEASE)
	return "libstdc++ " TEXT_OF(_GLIBCXX_RELEASE) " of " TEXT_OF(__GLIBCXX__);
#elif defined(_LIBCPP_VERSION)
	return "libc++ " TEXT_OF(_LIBCPP_VERSION);
#else
	return "of an unknown C++ library";
#endif
}

extern "C" const struct subject subject_pmr = {
	.name = "pmr",
	.group = "allocator",
	.what = "std::pmr::synchronized_pool_resource over new_delete_resource()",
	.version = version,
	.absent = nullptr,
	.traits = 0,
	.most_objects = 0,
	SHARED_BY_ALL(open_new<resource>, close_resource, SUBJECT_LOOPS),
};
