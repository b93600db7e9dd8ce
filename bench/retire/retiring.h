/* SPDX-License-Identifier: MIT */
/*
 * retiring.h - what is compared with deferred release (lfpool/retire.h), and what its loops work with.
 *
 * Idea         A table of pointers to nodes.  An update makes a node, exchanges it for the one that a random entry points
 *              to, and gives that up, which readers may still be looking at.  A reader looks at a few random entries
 *              within one section, and each node that it finds must be whole.  Workload `retire` has updates only, in
 *              `retire-read` each other thread reads.
 *              A subject of this folder is a `struct subject` with these loops, and none of the others:
 *
 *                  acquire    a node that no thread can see.
 *                  defer      it is not in the table any more: free when no thread can be reading it.
 *                  sections   as its scheme wants them.
 * The figures  ns_per_update   elapsed time x min(threads, CPUs) / updates, as in every other workload: what an
 *                              updating thread sees.  A worker that frees in the background is in it as far as it takes
 *                              processors away.
 *              settled_ns      the same, but until all that was deferred is free: a backlog that is only put off is paid.
 *              cpu_ns          processor time of the whole process until then, per update: the worker's is in it, and in
 *                              retire-read the readers'.
 *              waits           of the updates: the pool was empty, and the thread waited for what was deferred.
 *              sections        per update, in retire-read.
 * Steady state Threads warm up for WARM_UP_NS of team.c, some grace periods: else no object would ever be used again while
 *              the clock runs.  A pool has RETIRE_CAPACITY objects, of which a run touches as many as are in flight.
 */
#ifndef LFPOOL_BENCH_RETIRING_H
#define LFPOOL_BENCH_RETIRING_H

#include "../subject.h"

#define RETIRE_BYTES 64
#define RETIRE_TABLE 1024
#define RETIRE_CAPACITY ((size_t)1 << 22)

/* 64 bytes; in the middle there is room for what call_rcu() and ck_epoch_call() want in an object. */
struct node {
	uint64_t stamp;
	_Alignas(16) unsigned char room[40];
	uint64_t check; /* the complement of the stamp */
};
_Static_assert(sizeof(struct node) == RETIRE_BYTES, "one cache line");

/* What one thread has for the loops. */
struct retiring {
	void **table;     /* of all threads, RETIRE_TABLE pointers, atomic      */
	uint64_t stamp;   /* the last one; no other thread has such             */
	uint64_t updates; /* that it deferred a node in; atomic, written by it  */
	uint64_t waits, sections;
};

/* One call at a time: for tests, and for what is not under the clock. */
struct retiring_calls {
	void *(*acquire)(void *hand); /* NULL: a pool is empty                                       */
	void (*defer)(void *hand, void *node);
	void (*section_begin)(void *hand), (*section_end)(void *hand);
	/* A thread that waits for others, or sleeps, is offline.  It is when it has joined. */
	void (*go_online)(void *hand), (*go_offline)(void *hand);
	/* Blocks until all is free that was deferred: each thread calls it, offline; `first` is true for one of them. */
	void (*settle)(void *hand, bool first);
	/* Deferred and not yet free, of so many that were deferred since open().  A snapshot. */
	size_t (*in_flight)(void *shared, size_t deferred);
};

/* A relaxed atomic: a reader of an object that was not deferred, but released, may look on. */
static inline void node_write(struct node *node, uint64_t stamp)
{
	__atomic_store_n(&node->stamp, stamp, __ATOMIC_RELAXED);
	__atomic_store_n(&node->check, ~stamp, __ATOMIC_RELAXED);
}

static inline bool node_is_whole(const struct node *node)
{
	return __atomic_load_n(&node->stamp, __ATOMIC_RELAXED) == ~__atomic_load_n(&node->check, __ATOMIC_RELAXED);
}

/* Deferred minus freed.  A thread that defers adds to its count after the fact. */
static inline size_t retiring_rest(size_t deferred, size_t freed)
{
	return deferred > freed ? deferred - freed : 0;
}

/* ---- What subjects have in common ---- */

static inline void *node_malloc(void *hand)
{
	(void)hand;
	return malloc(RETIRE_BYTES);
}

/* malloc() has said NULL: there is nothing to wait for. */
static inline void *node_malloc_wait(void *hand)
{
	(void)hand;
	return must(NULL);
}

/* Of those that never have anything in flight. */
static inline void settle_nothing(void *hand, bool first)
{
	(void)hand;
	(void)first;
}

static inline size_t none_in_flight(void *shared, size_t deferred)
{
	(void)shared;
	(void)deferred;
	return 0;
}

/* ---- A run, see member.c ---- */

/* After a loop, or instead of one: blocks until all is free that was deferred.  Each thread of the team calls it. */
void retiring_settle(struct worker *worker);
/* Of all threads of the team: deferred and not yet free.  A snapshot. */
size_t retiring_in_flight(void);

#endif
