/* SPDX-License-Identifier: MIT */
/* array_pointer.cpp - a pointer to an array. */
#include <lfpool/set.hpp>

lfpool::unique_ptr<int[]> pointer;
