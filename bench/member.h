/* SPDX-License-Identifier: MIT */
/*
 * member.h - a team and its members: what threads share, what each is given before a run, and what it gives back.
 *
 * Idea         A worker (subject.h) is what the loops see; a member is the worker with what only the runner needs.  No two
 *              members share a cache line, and neither do their arrays.
 * Order        member_make, member_begin, the loop, member_end, member_unmake.  All have begun before anyone starts the loop;
 *              all have come to the end before anyone does what follows.
 */
#ifndef LFPOOL_BENCH_MEMBER_H
#define LFPOOL_BENCH_MEMBER_H

#include "team.h"

#include <sched.h>

struct member {
	_Alignas(128) struct worker worker;
	size_t pairs;       /* of which this member saw the release */
	size_t asked, done; /* chunks                               */
	uint64_t start_ns, end_ns;
	cpu_set_t affinity; /* as it was                            */
	bool pinned;
	uint32_t *order;
};

/* One run at a time. */
struct team {
	/* Not written while the clock runs. */
	const struct cell *cell;
	void *shared;
	unsigned threads;
	unsigned at_once; /* threads that can run at the same time */
	struct ring *rings[THREADS_MAX];
	unsigned ring_count;
	struct rest *rest;              /* exhausted: the caches that rest */
	void **nodes;                   /* retire: the table; its entries are atomic */
	uint64_t cpu_ns[2], settled_ns; /* retire: processor time at the start, and when all was free; and when that was */

	_Alignas(128) void **table;    /* larson's extra one, in the mailbox; atomic  */
	_Alignas(128) size_t finished; /* jobs; atomic                                */
	_Alignas(128) uint64_t clock;  /* evict: operations of all, and more; atomic  */
	_Alignas(128) bool over;       /* a thread has done all chunks; atomic        */
	struct member members[THREADS_MAX];
};
extern struct team team;

/* By one thread, before the members are made: opens the subject. */
void team_make(const struct cell *cell, unsigned threads);
/* And when all are unmade. */
void team_unmake(void);

/* Pins the calling thread, if there are enough CPUs, lets it join, and gives it what its loop needs. */
void member_make(struct member *member, unsigned index);
/* Objects that are out before the loop, and pages that should be there. */
void member_begin(struct member *member);
/* Does it only read, as long as the others do something? */
bool member_reads(const struct member *member);
/* What it runs. */
loop_fn *member_loop(const struct member *member);
/* Releases what is out after the loop. */
void member_end(struct member *member);
void member_unmake(struct member *member);

#endif
