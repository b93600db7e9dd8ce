/* SPDX-License-Identifier: MIT */
/* constant.cpp - a pool of constants. */
#include <lfpool/set.hpp>

lfpool::pool<const int> pool;
