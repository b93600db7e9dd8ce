/* SPDX-License-Identifier: MIT */
/*
 * boost_stack_fixed.cpp - boost::lockfree::stack with all its nodes in an array, see boost_stack.h.
 *
 * Limit        "If the data structure is configured as fixed-sized, the internal nodes are stored inside an array and
 *              they are addressed by array indexing.  This limits the possible size of the stack to the number of
 *              elements that can be addressed by the index type (usually 2**16-2)" (Boost.Lockfree 1.74, class
 *              template stack).
 * Bulk         None: bounded_push(begin, end) does not compile for a fixed-sized stack in 1.74, and there is no pop
 *              of several.
 */
#include <boost/lockfree/stack.hpp>

typedef boost::lockfree::stack<void *, boost::lockfree::fixed_sized<true>> stack_of_objects;

#include "boost_stack.h"

#include "../workloads.h"

extern "C" const struct subject subject_boost_stack_fixed = BOOST_STACK(
	"boost-stack-fixed", "boost::lockfree::stack<void *, fixed_sized<true>> of objects; 65534 at most", 65534);
