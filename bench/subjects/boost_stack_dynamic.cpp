/* SPDX-License-Identifier: MIT */
/*
 * boost_stack_dynamic.cpp - boost::lockfree::stack as a list of free objects: a pop acquires, a push releases.
 *
 * Idea         "The stack class provides a multi-writer/multi-reader stack, pushing and popping is lock-free [...] It
 *              uses a freelist for memory management" (Boost.Lockfree 1.74, class template stack). So each call does
 *              two compare-and-swaps: one on the stack, one on the freelist of its nodes.
 * Calls        bounded_push(), because only that is documented as "thread-safe and non-blocking". The constructor
 *              makes one node per object, so it never fails: an object's node is free again before pop() returns the
 *              object, so there are never more nodes in use than objects.
 * Bulk         bounded_push(begin, end) links the nodes first and pushes them with one compare-and-swap.  The only
 *              pop of several objects takes all.
 * Exact        The stack is linearisable, and an object is either in it or out: pop() returns false only when all
 *              objects are out.
 */
#include "../objects.h"

#include <boost/lockfree/stack.hpp>
#include <boost/version.hpp>

namespace
{
struct free_list {
	boost::lockfree::stack<void *> stack;
	struct objects objects;

	explicit free_list(const struct plan *plan) : stack(plan->capacity), objects(objects_make(plan))
	{
		for (size_t i = plan->capacity; i-- > 0;)
			(void)stack.bounded_push(objects_at(&objects, i));
	}

	~free_list() { objects_free(&objects); }
};
} // namespace

static inline void *acquire(void *hand)
{
	void *object;

	return static_cast<free_list *>(hand)->stack.pop(object) ? object : nullptr;
}

static inline void release(void *hand, void *object)
{
	(void)static_cast<free_list *>(hand)->stack.bounded_push(object);
}

#define SUBJECT_HAS_BULK

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	(void)static_cast<free_list *>(hand)->stack.bounded_push(objects, objects + count);
}

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	size_t got = 0;

	while (got < count && (objects[got] = acquire(hand)))
		got++;
	if (got < count)
		release_bulk(hand, objects, got);
	return got == count;
}

#include "../loops.h"

VERSION_IS(BOOST_LIB_VERSION)

extern "C" const struct subject subject_boost_stack_dynamic = {
	SUBJECT("boost-stack-dynamic", "lock-free",
		"boost::lockfree::stack<void *> of objects, its nodes allocated before", version,
		TRAIT_BOUNDED | TRAIT_POOL),
	NEW_FOR_ALL(free_list, SUBJECT_LOOPS),
};
