/* SPDX-License-Identifier: MIT */
/*
 * boost_stack.h - boost::lockfree::stack as a list of free objects: a pop acquires, a push releases.  Included by one
 * file for each kind of stack, which defines `stack_of_objects`.
 *
 * Idea         "The stack class provides a multi-writer/multi-reader stack, pushing and popping is lock-free [...]
 *              It uses a freelist for memory management" (Boost.Lockfree 1.74, class template stack).  So each call
 *              does two compare-and-swaps: one on the stack, one on the freelist of its nodes.
 * Calls        bounded_push(), because it alone is documented as "thread-safe and non-blocking"; push() of the
 *              dynamic stack may allocate a node.  With a node for each object made by the constructor ("allocate n
 *              nodes initially for the freelist") it never fails: an object's node is free again before pop() returns
 *              the object, so there are never more nodes in use than objects.
 * Exact        The stack is linearisable, and an object is either in it or out: pop() says false when all are out,
 *              only then.
 */
#ifndef LFPOOL_BENCH_BOOST_STACK_H
#define LFPOOL_BENCH_BOOST_STACK_H

#include "../objects.h"

#include <boost/version.hpp>

namespace
{
struct free_list {
	stack_of_objects stack;
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

VERSION_IS(BOOST_LIB_VERSION)

#define BOOST_STACK(its_name, its_what, its_most) \
	{.name = its_name,                        \
	 .group = "lock-free",                    \
	 .what = its_what,                        \
	 .version = version,                      \
	 .absent = nullptr,                       \
	 .traits = TRAIT_BOUNDED | TRAIT_POOL,    \
	 .most_objects = its_most,                \
	 NEW_FOR_ALL(free_list, SUBJECT_LOOPS)}

#endif
