/* SPDX-License-Identifier: MIT */
/* unused.cpp - a status of create() that nobody looks at. */
#include <lfpool/set.hpp>

void open(lfpool::pool<int> &pool);
void open(lfpool::pool<int> &pool)
{
	pool.create(1);
}
