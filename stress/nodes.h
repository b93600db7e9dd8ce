/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - shared by the scenarios of deferred release: nodes are read while other threads take them out.
 *
 * Idea         Objects of the pool are nodes in an array of pointers.  Some threads put nodes in, some read one that
 *              they found by its key, some take one out and retire it (lfpool/retire.h). Readers hold nothing; only
 *              their section protects them.  That is tested: from when a reader finds a node until it ends its
 *              section, no thread may acquire the node.  The node's mark (ledger.h) shows this even before the next
 *              holder writes to it.  And its bytes must not change, even after it was retired.  Sections, and the way
 *              to wait for their end, are a regime: `retire` has a home-made one, `rcu` uses liburcu, `epoch`
 *              ConcurrencyKit.
 * NULL         Right only if every object was in use, or retired and not free yet.  There is no sign of when that
 *              ends, but lfpool_drain() frees everything retired before it.  So a thread drains once it has retired
 *              `backlog` objects, and the capacity, or the count of demand.h, has room for that many per thread.  In
 *              other rounds no thread waits for anything, and NULL is not judged.
 * Orders       Nodes are plain memory, their marks relaxed atomics, pointers to them seq_cst (retire.c says why). The
 *              section, the scheme and the pool order a reader's last look before the next holder's first write.
 * ThreadSan    sees nothing of the order of liburcu and ConcurrencyKit.  `sections` reports the end of each section
 *              to it (common/annotate.h), and there the regime reports that its next steps come after the ended
 *              sections.
 */
#ifndef STRESS_NODES_H
#define STRESS_NODES_H

#include "round.h"

/* The calling worker is `here`. */
struct regime {
	/* Before the pool is created: draws its options and sets config.scheme. */
	void (*open)(void);
	/* The pool is gone.  NULL = nothing to do. */
	void (*close)(void);
	/* A thread starts, and ends.  NULL = nothing to do. */
	void (*enter)(void), (*leave)(void);
	/* A section begins, and ends. */
	void (*begin)(void), (*end)(void);
	uint64_t linger_ns;   /* at least about two grace periods                              */
	uint64_t nanoseconds; /* extra length of a round */
	bool any_may_retire;  /* a thread may also retire a node that another took out */
};

/* Drawn for the round. */
extern struct nodes {
	const struct regime *regime;
	uint32_t keys;    /* 0 .. keys - 1                                                */
	uint32_t backlog; /* objects that a thread may retire before it drains; 0: no limit */
	uint32_t reads;   /* of 16 actions */
	uint32_t linger;  /* one reader in this many lingers */
	bool raced;       /* any_may_retire                                               */
	bool waits;       /* acquire may wait */
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
