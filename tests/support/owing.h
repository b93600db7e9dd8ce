/* SPDX-License-Identifier: MIT */
/*
 * owing.h - what the tests of shrinking share.
 */
#ifndef LFPOOL_TESTS_OWING_H
#define LFPOOL_TESTS_OWING_H

#include "kinds.h"

/* As require_counts(), and so many objects are still to go. */
static inline void require_owes(const lfpool_t *pool, size_t capacity, size_t active, size_t owed)
{
	require_counts(pool, capacity, active);
	REQUIRE(lfpool_shrink_owed(pool) == owed);
}

#endif
