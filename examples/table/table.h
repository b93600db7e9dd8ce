/* SPDX-License-Identifier: MIT */
/*
 * table.h - a hash table that is read without locks: liburcu's cds_lfht, with nodes from a pool.
 *
 * Idea         A reader walks the table in a read-side section, and holds a node for as long as the section lasts.
 *              A thread that takes the node out meanwhile does not wait for that reader: it gives the node to
 *              lfpool_release_rcu(), and the pool hands it out again after a grace period.
 *
 *              Without the pool each node would be freed by call_rcu(), with a struct rcu_head in it.  Here a batch of
 *              nodes is one callback, a node has nothing in it but what the table needs, and nodes that wait are
 *              bounded by the pool.
 * Stamps       A node's stamp is another one each time the node is used.  So a reader can tell that what it holds is
 *              still what it found; readers look as long as they hold it.  Key, stamp and text are written before the
 *              node is in the table, and never while a reader can see it: they would need no atomics, if there were no
 *              --no-deferral.
 */
#ifndef EXAMPLE_TABLE_H
#define EXAMPLE_TABLE_H

#define URCU_API_MAP
#include <urcu/urcu-memb.h>

#include <urcu/rculfhash.h>

#include "lfpool/rcu.h"

#include <stdatomic.h>

struct node {
	struct cds_lfht_node link;
	_Atomic(uint64_t) key, stamp;
	_Atomic(uint64_t) text[4]; /* all of it is made of key and stamp */
};

struct table {
	struct cds_lfht *nodes;
	lfpool_t *pool;
	bool deferral;
	_Atomic(uint64_t) stamps; /* given so far */
};

enum outcome { DONE, REPLACED, ABSENT, NO_NODE };

/* False if there is no pool, or no table.  Nodes are released at once if not `deferral`: it is a mistake, and shows
 * what it leads to. */
bool table_open(struct table *table, size_t capacity, bool deferral);

/* The rest is for threads that are registered with liburcu.  DONE: it is in the table now; REPLACED: instead of
 * another; NO_NODE: all are in use, or wait for readers. */
enum outcome table_put(struct table *table, uint64_t key);
/* DONE: it was there; else ABSENT. */
enum outcome table_remove(struct table *table, uint64_t key);

/* The node with that key, or NULL; inside a section of the caller's. */
const struct node *table_find(const struct table *table, uint64_t key);
/* The same node as when it had that stamp? */
bool node_is(const struct node *node, uint64_t key, uint64_t stamp);

/* Takes out what is in it; returns how many that were. */
size_t table_clear(struct table *table);

/* Nodes still in use.  Not registered with liburcu, and alone. */
size_t table_close(struct table *table);

#endif
