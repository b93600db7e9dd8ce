/* SPDX-License-Identifier: MIT */
/*
 * graph.h - a small job system, for the workload "jobs": trees of jobs that fan out over all workers and join again.
 *
 * Idea         An inner job makes two children: one for the worker's own stack, one for its neighbour's inbox.  The
 *              worker that finishes the last child of a job finishes the job and releases its record.  So about half
 *              of all records are released by a different worker from the one that acquired them (0.50 with two
 *              workers, 0.70 with four). The shape is fixed, so that every subject does the same work: no stealing,
 *              whose luck would decide.
 * Invariants   G1  a worker has one tree in progress, so TREE_JOBS x workers is room enough for any stack.
 *              G2  no worker starts its trees of round r + 1 before all workers have finished those of round r.
 * Progress     No worker waits for room: a job that does not fit into the inbox stays on its maker's stack.  Every job
 *              is on a stack or in an inbox whose owner executes jobs until all trees of the round are finished.  Jobs
 *              that a faster neighbour sends later belong to the next round, which all workers run.
 */
#ifndef LFPOOL_BENCH_GRAPH_H
#define LFPOOL_BENCH_GRAPH_H

#include "ring.h"

#include <stdint.h>

#define TREE_DEPTH 7
#define TREE_JOBS ((1 << (TREE_DEPTH + 1)) - 1)

/* The record: 16 bytes, the smallest object size measured. */
struct job {
	struct job *parent;
	uint32_t pending; /* children not yet finished; atomic          */
	uint32_t depth;   /* levels below this job; TREE_ROOT: no record */
};

#define TREE_ROOT UINT32_MAX

/* A worker's graph. */
struct graph {
	struct job root;     /* parent of the current tree; pending is 0 when the tree is finished */
	struct ring *inbox;  /* from the previous worker                                              */
	struct ring *outbox; /* to the next worker; or NULL */
	size_t *finished;    /* number of times that workers finished their trees; shared, atomic */
	size_t rounds;       /* number of times that this worker finished its trees */
	size_t stacked;      /* jobs on this worker's stack */
	struct job **stack;  /* room for one tree per worker */
};

#endif
