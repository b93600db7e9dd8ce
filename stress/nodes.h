/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - shared by the scenarios of deferred release: nodes are read while other threads take them out.
 *
 * Idea         Objects of the pool are nodes in an array of pointers.  Some threads put nodes in, some find a node by
 *              its key and read it, some take a node out and retire it (lfpool/retire.h). Readers hold nothing; only
 *              their section protects them.  That is tested: from when a reader finds a node until the reader's
 *              section ends, no thread may acquire the node.  The node's mark (ledger.h) shows an acquire even before
 *              the new holder writes.  Nor may the node's bytes change until then, even if it is retired.  A regime
 *              provides sections and the way to wait for their end: scenario `retire` has a home-made regime, `rcu`
 *              uses liburcu, `epoch` ConcurrencyKit.
 * NULL         Right only if every object was in use, or retired and not yet free.  No sign shows when a retired
 *              object becomes free, but lfpool_drain() frees all objects retired before it.  So a thread drains before
 *              it has retired more than `backlog` objects, and the capacity, or the count of demand.h, has room for
 *              `backlog` objects per thread.  In rounds without a limit threads drain rarely, and NULL is not judged.
 * Orders       Nodes are plain memory, their marks relaxed atomics, pointers to them seq_cst (retire.c says why). The
 *              section, the scheme and the pool order a reader's last look before the next holder's first write.
 * ThreadSan    sees nothing of the order of liburcu and ConcurrencyKit.  So each section's end calls
 *              ordered_before(&sections), and a regime calls ordered_after(&sections) once it has waited for the
 *              sections (common/annotate.h).
 */
#ifndef STRESS_NODES_H
#define STRESS_NODES_H

#include "round.h"

/* The calling worker is `here`. */
struct regime {
	/* Before the pool is created: draws its options and sets config.scheme. */
	void (*open)(void);
	/* After the pool's end.  NULL = nothing to do. */
	void (*close)(void);
	/* A thread starts, and ends.  NULL = nothing to do. */
	void (*enter)(void), (*leave)(void);
	/* A section begins, and ends. */
	void (*begin)(void), (*end)(void);
	uint64_t linger_ns;   /* the longest stay of a lingering reader: at least about two grace periods */
	uint64_t nanoseconds; /* extra length of a round */
	bool any_may_retire;  /* a thread may also retire a node that another thread took out */
};

/* Drawn for the round. */
extern struct nodes {
	const struct regime *regime;
	uint32_t keys;    /* a node's key is 0 .. keys - 1 */
	uint32_t backlog; /* objects that a thread may retire before it drains; 0: no limit */
	uint32_t reads;   /* how many of 16 actions read */
	uint32_t linger;  /* one reader in this many lingers */
	bool raced;       /* threads use any_may_retire */
	bool waits;       /* acquire may wait */
} nodes;

extern const char sections;

/* Defines the scenario of a regime. */
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
