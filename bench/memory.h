/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the workload "memory": how much memory a million objects take, and how much of it is given back.
 *
 * Idea         Thread A acquires a million objects and writes to each; then thread B, which is alive all the time, releases
 *              them all, the newest first; then both end.  Resident memory is looked at in between.
 * The figures  Growth of the resident memory since before the pool was opened, in bytes per object:
 *                  resident_bytes_per_object_acquired   a million are in use, the objects themselves included
 *                  bytes_per_object                     the same figure under its short name
 *                  overhead_bytes_per_object            the same without the objects: what the pool keeps beside them
 *                  resident_bytes_per_object_released   none is in use; B, whose caches may be full, is alive
 *                  resident_bytes_per_object_finished   A and B have ended
 *                  resident_bytes_per_object_closed     the pool is closed
 * What counts  Each row is measured in a process of its own, this program started again: what an allocator has kept from
 *              earlier rows, the next pool would get for free.  Our own array, the code and the threads' stacks are there
 *              before the first look: 64 objects have gone the same way through a pool of their own.
 */
#ifndef LFPOOL_BENCH_MEMORY_H
#define LFPOOL_BENCH_MEMORY_H

#include "team.h"

#define MEMORY_NAME "memory"
#define MEMORY_WHAT "a million objects acquired by one thread, released by another; the resident memory in between"
#define MEMORY_OBJECTS 1000000

/* Where 256 bytes are the most: a million of 4096 do not fit everywhere. */
bool memory_fits(const struct subject *subject, size_t object_bytes);
/* Registers the row of the cell, whose workload does not matter. */
void memory_register(struct cell *cell);
/* What the process of a row does: it writes its figures to `file`. */
#define MEMORY_OPTION "--memory"
void memory_play(const struct subject *subject, size_t object_bytes, FILE *file);

#endif
