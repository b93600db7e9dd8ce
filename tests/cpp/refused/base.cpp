/* SPDX-License-Identifier: MIT */
/* base.cpp - an owner of a base class, whose address is another. */
#include <lfpool/set.hpp>

struct base {
	int number;
};
struct derived : base {};
lfpool::unique_ptr<derived> one;
lfpool::unique_ptr<base> other(static_cast<lfpool::unique_ptr<derived> &&>(one));
