/* SPDX-License-Identifier: MIT */
/*
 * create.h - the workloads "create-CAPACITY": what it costs to make a pool, and to take it down unused.
 *
 * Idea         open() and close() are timed one by one, in turns, 101 times for small pools and 5 times for very large ones:
 *              the name of the row says how often.  Objects of 64 bytes.  Subjects without a capacity, such as
 *              allocators, have nothing to make.
 * The figures  create_ns, destroy_ns      medians
 *              create_resident_bytes      the most that a pool has in RAM before anything is acquired
 */
#ifndef LFPOOL_BENCH_CREATE_H
#define LFPOOL_BENCH_CREATE_H

#include "team.h"

#define CREATE_BYTES 64
#define CREATE_COUNT 4

struct creation {
	const char *name;
	const char *what; /* in one line */
	size_t capacity;  /* objects     */
	unsigned times;
};
extern const struct creation creations[CREATE_COUNT];

bool create_fits(const struct creation *creation, const struct subject *subject);
void create_register(struct cell *cell);

#endif
