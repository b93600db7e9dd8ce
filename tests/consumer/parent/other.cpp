/* SPDX-License-Identifier: MIT */
/* other.cpp - the parent project in C++; returns the number of active objects while it holds one. */
#include "lfpool/lfpool.h"

extern "C" int other(lfpool_t *pool);

int other(lfpool_t *pool)
{
	void *object = lfpool_acquire(pool);
	long before = (long)lfpool_active_count(pool);

	if (!object || before != 2 || lfpool_release(pool, object) != LFPOOL_OK)
		return -1;
	return (int)lfpool_active_count(pool);
}
