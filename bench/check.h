/* SPDX-License-Identifier: MIT */
/*
 * check.h - does a subject do what a pool must?  What is measured of one that does not is worth nothing.
 */
#ifndef LFPOOL_BENCH_CHECK_H
#define LFPOOL_BENCH_CHECK_H

#include "subject.h"

#define CHECK_OPTION "--check"
#define CHECK_BYTES 64

/* Two threads, each with half of a pool of objects of 64 bytes, then with the other's half: ends the program if two objects
 * overlap, if one changes while it is held, or if a bounded pool has another number of objects than asked for. */
void check_subject(const struct subject *subject);

#endif
