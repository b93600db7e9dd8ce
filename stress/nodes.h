/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - what the scenarios of deferred release have in common: nodes that are read while others take them out.
 *
 * Idea         Objects of the pool are nodes in an array of pointers: some threads put nodes in, some look for one by
 *              its key and read it, some take one out and retire it (lfpool/retire.h).  Readers hold nothing.  All that
 *              protects them is their section, and that is what is tested: from the moment when a reader finds a node
 *              until it ends its section no thread may acquire it.  The node's mark tells that (ledger.h), also if the
 *              next holder has not written to it yet; and the node has to be what it was, byte by byte, also after it
 *              was retired.  What differs, a section and what waits for its end, is a regime: `retire` has a home-made
 *              one, `rcu` that of liburcu, `epoch` ConcurrencyKit's.
 * NULL         Right only if every object was in use, or retired and not free yet.  Nothing tells when that ends, but
 *              after lfpool_drain() what was retired before it is free.  So a thread drains when it has retired so
 *              many, and capacity, or the count of demand.h, allows for as many more.  In other rounds no thread waits
 *              for anything, and NULL is not judged.
 * Orders       Nodes are plain memory, their marks relaxed atomics, pointers to them seq_cst (retire.c says why).  What
 *              orders a reader's last look before the next holder's first write is the section, the scheme, and the
 *              pool.
 * ThreadSan    sees nothing of what liburcu and ConcurrencyKit order.  It is told at one place, `sections`, of the end
 *              of each (common/annotate.h); and there, by the regime, that what follows comes after those that have
 *              ended.
 */
#ifndef STRESS_NODES_H
#define STRESS_NODES_H

#include "round.h"

/* The calling worker is `here`. */
struct regime {
	/* Before the pool is created: draws what it wants and sets config.scheme. */
	void (*open)(void);
	/* The pool is gone.  NULL = nothing to do. */
	void (*close)(void);
	/* A thread comes, and goes.  NULL = nothing to do. */
	void (*enter)(void), (*leave)(void);
	/* A section begins, and ends. */
	void (*begin)(void), (*end)(void);
	/* lfpool_retire() by another name; or NULL. */
	lfpool_status_t (*retire)(void *object);
	uint64_t linger_ns;   /* at least about two grace periods                              */
	uint64_t nanoseconds; /* that a round lasts longer                                     */
	bool any_may_retire;  /* a thread that finds it taken out by another may retire it as well */
};

/* A round's. */
extern struct nodes {
	const struct regime *regime;
	uint32_t keys;    /* 0 .. keys - 1                                                */
	uint32_t backlog; /* objects that a thread may retire before it drains; 0: any    */
	uint32_t reads;   /* of 16 actions                                                */
	uint32_t linger;  /* once in so many reads a reader takes its time                */
	bool raced;       /* any_may_retire                                               */
	bool waits;       /* acquire may wait                                             */
} nodes;

extern const char sections;

/* A scenario of a regime. */
#define NODES_SCENARIO(id, its_name, its_description, its_regime)                                           \
	SCENARIO(id, its_name, its_description, .unlogged = true, .plan = nodes_plan, .enter = nodes_enter, \
		 .step = nodes_step, .leave = nodes_leave, .finish = nodes_finish, .close = nodes_close,    \
		 .regime = its_regime)
void nodes_plan(void);
void nodes_enter(struct worker *worker);
void nodes_step(struct worker *worker);
void nodes_leave(struct worker *worker);
void nodes_finish(void);
void nodes_close(void);

#endif
