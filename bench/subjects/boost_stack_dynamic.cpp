/* SPDX-License-Identifier: MIT */
/*
 * boost_stack_dynamic.cpp - boost::lockfree::stack whose nodes are allocated one by one, see boost_stack.h: as many
 * objects as there is memory for.
 *
 * Bulk         bounded_push(begin, end) links the nodes first and pushes them with one compare-and-swap: "pushes as
 *              many objects from the range [begin, end) as freelist node can be allocated", and there is one for
 *              each.  The freelist gives the nodes one by one, and so must we pop: there is no pop of several but
 *              all.
 */
#include <boost/lockfree/stack.hpp>

typedef boost::lockfree::stack<void *> stack_of_objects;

#include "boost_stack.h"

#define SUBJECT_HAS_BULK

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	(void)static_cast<free_list *>(hand)->stack.bounded_push(objects, objects + count);
}

static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		objects[i] = acquire(hand);
		if (!objects[i]) {
			for (; i > 0; i--)
				release(hand, objects[i - 1]);
			return false;
		}
	}
	return true;
}

#include "../workloads.h"

extern "C" const struct subject subject_boost_stack_dynamic = BOOST_STACK(
	"boost-stack-dynamic", "boost::lockfree::stack<void *> of objects, its nodes allocated before", 0);
