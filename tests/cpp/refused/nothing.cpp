/* SPDX-License-Identifier: MIT */
/* nothing.cpp - the control: nothing here is refused. */
#include <lfpool/set.hpp>

struct later;
lfpool::pool<later> *pool;
lfpool::unique_ptr<later> *pointer;
