/* SPDX-License-Identifier: MIT */
/*
 * single.h - workloads that are no loop under the clock of team.c: the memory that objects take, the making of a pool, what is
 * in flight.
 *
 * What counts  A row of these should have a process of its own, as bench/run gives it: what an allocator has kept from earlier
 *              rows, the next pool would get for free, and the greatest resident memory is that of the process.
 */
#ifndef LFPOOL_BENCH_SINGLE_H
#define LFPOOL_BENCH_SINGLE_H

#include "team.h"

struct single {
	const char *name;
	const char *what; /* in one line */
	bool (*fits)(const struct single *single, const struct subject *subject, size_t object_bytes);
	/* Runs once, for the context of a `struct cell`. */
	void (*run)(gbench_state_t *state, const struct cell *cell);
	int threads;     /* that the row is named for; they are started by `run` */
	size_t capacity; /* create, pages: objects                            */
	unsigned times;  /* create; walk: one in so many slots is active, 0: none */
	uint32_t flags;  /* pages                                             */
	size_t rate;     /* backlog: updates a second; 0: no limit            */
	bool stalls;     /* backlog: a thread reads, and does not come to an end */
	bool bounded;    /* backlog: a small pool, of those that have one     */
};

#define SINGLE_COUNT 17
extern const struct single singles[SINGLE_COUNT];

bool create_fits(const struct single *single, const struct subject *subject, size_t object_bytes);
void create_run(gbench_state_t *state, const struct cell *cell);
bool memory_fits(const struct single *single, const struct subject *subject, size_t object_bytes);
void memory_run(gbench_state_t *state, const struct cell *cell);
bool backlog_fits(const struct single *single, const struct subject *subject, size_t object_bytes);
void backlog_run(gbench_state_t *state, const struct cell *cell);
bool walk_fits(const struct single *single, const struct subject *subject, size_t object_bytes);
void walk_run(gbench_state_t *state, const struct cell *cell);
bool pages_fits(const struct single *single, const struct subject *subject, size_t object_bytes);
void pages_run(gbench_state_t *state, const struct cell *cell);

#endif
