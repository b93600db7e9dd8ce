/* SPDX-License-Identifier: MIT */
/*
 * nodes.h - what the scenarios of deferred release have in common: nodes that are read while others take them out.
 *
 * Idea         Objects of the pool are the nodes of a shared structure: some threads put nodes in, some look for one by its
 *              key and read it, some take one out and retire it (lfpool/retire.h).  Readers hold nothing.  All that protects
 *              them is their section, and that is what is tested: from the moment when a reader finds a node until it ends
 *              its section no thread may acquire it.  The node's mark tells that (ledger.h), also if the next holder has not
 *              written to it yet; and the node has to be what it was, byte by byte, also after it was retired.
 *              What differs, the structure and what ends a section, is a regime: `retire` has a home-made one, `rcu` that of
 *              liburcu, `epoch` ConcurrencyKit's.
 * NULL         Right only if every object was in use, or retired and not free yet.  Nothing tells when that ends, but after
 *              lfpool_drain() what was retired before it is free.  So a thread drains when it has retired so many, and
 *              capacity, or the count of demand.h, allows for as many more.  In other rounds no thread waits for anything,
 *              and NULL is not judged.
 * Orders       Nodes are plain memory, their marks relaxed atomics.  What orders a reader's last look before the next
 *              holder's first write is the section, the scheme, and the pool.
 */
#ifndef STRESS_NODES_H
#define STRESS_NODES_H

#include "round.h"

/* At the start of an object; the rest is stamped. */
struct node {
	_Alignas(16) unsigned char link[16]; /* the structure's, whatever it needs */
	struct held held;                    /* for the thread that takes it out   */
	uint64_t key;
};

/* What a thread has. */
struct actor {
	struct worker *worker;
	void *own;        /* the regime's                              */
	bool inside;      /* a section                                 */
	uint32_t retired; /* objects, since it drained last            */
	size_t taken_out; /* nodes                                     */
	size_t retires;   /* that succeeded                            */
};

struct regime {
	/* Before the pool is created: draws what it wants and sets config.scheme. */
	void (*open)(void);
	/* The structure is empty, if all went well; the pool lives. */
	void (*empty)(void);
	/* The pool is gone.  NULL = nothing to do. */
	void (*close)(void);
	/* A thread comes, and goes. */
	void (*enter)(struct actor *actor);
	void (*leave)(struct actor *actor);
	/* A section. */
	void (*begin)(struct actor *actor);
	void (*end)(struct actor *actor);
	/* Outside of sections, from time to time.  NULL = nothing to do. */
	void (*pause)(struct actor *actor);
	/* A reader is about to read outside of sections on purpose, and has done so.  NULL = nothing to do. */
	void (*stray)(struct actor *actor, bool away);
	/* All in a section.  insert: false: there is one with its key, or no room.  find: NULL: none.  take_out: the node,
	 * if it was there; and whether we took it out, or another thread did meanwhile. */
	bool (*insert)(struct actor *actor, struct node *node);
	struct node *(*find)(struct actor *actor, uint64_t key);
	struct node *(*take_out)(struct actor *actor, uint64_t key, bool *ours_out);
	/* lfpool_retire(), or by another name. */
	lfpool_status_t (*retire)(struct actor *actor, void *object);
	uint64_t linger_ns;   /* at least about two grace periods                              */
	uint64_t nanoseconds; /* that a round lasts longer                                     */
	bool any_may_retire;  /* a thread that finds it taken out by another may retire it as well */
};

/* A round's. */

extern struct nodes {
	const struct regime *regime;
	uint32_t keys;        /* 0 .. keys - 1                                                */
	uint32_t backlog;     /* objects that a thread may retire before it drains; 0: any    */
	uint32_t reads;       /* of 16 actions                                                */
	uint32_t linger;      /* once in so many reads a reader takes its time                */
	bool raced;           /* any_may_retire                                               */
	bool waits;           /* acquire may wait                                             */
	struct actor *actors; /* one for each thread, and the keeper's                        */
} nodes;

/* A scenario of a regime. */
#define NODES_SCENARIO(its_name, its_description, its_regime) \
	{.name = its_name,                                    \
	 .description = its_description,                      \
	 .unlogged = true,                                    \
	 .plan = nodes_plan,                                  \
	 .work = nodes_work,                                  \
	 .finish = nodes_finish,                              \
	 .close = nodes_close,                                \
	 .regime = its_regime}
void nodes_plan(void);
void nodes_work(struct worker *worker);
void nodes_finish(void);
void nodes_close(void);

#endif
