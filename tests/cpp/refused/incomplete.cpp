/* SPDX-License-Identifier: MIT */
/* incomplete.cpp - an object of an incomplete type is destroyed. */
#include <lfpool/set.hpp>

struct later;
void end(lfpool::unique_ptr<later> &pointer);
void end(lfpool::unique_ptr<later> &pointer)
{
	pointer.reset();
}
