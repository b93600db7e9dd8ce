/* SPDX-License-Identifier: MIT */
/* array.cpp - a pool of arrays. */
#include <lfpool/set.hpp>

lfpool::pool<int[4]> pool;
