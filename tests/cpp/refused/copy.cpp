/* SPDX-License-Identifier: MIT */
/* copy.cpp - a copy of a pool. */
#include <lfpool/set.hpp>

lfpool::pool<int> first;
lfpool::pool<int> second(first);
