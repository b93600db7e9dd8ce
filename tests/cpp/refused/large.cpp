/* SPDX-License-Identifier: MIT */
/* large.cpp - an object that no pool holds. */
#include <lfpool/set.hpp>

struct large {
	char bytes[(1 << 30) + 1];
};
lfpool_status_t open(lfpool::pool<large> &pool);
lfpool_status_t open(lfpool::pool<large> &pool)
{
	return pool.create(1);
}
