/* SPDX-License-Identifier: MIT */
/*
 * swap.h - tables of held objects whose owners swap entries through shared slots.
 *
 * Idea         Every place for an object is a node.  A table is an array of pointers to nodes, the shared slots are
 *              atomic pointers to nodes, and a swap exchanges the two pointers: with an object or without, one node
 *              goes in, one comes out.  So there are never more objects out than there are nodes, and a pool of that
 *              capacity may never answer NULL. (Random tables and transfer slots, after the stress test of mimalloc.)
 * Orders       The exchange is acq_rel: it hands over the node's contents and the object.  A table has one user at a
 *              time.
 */
#ifndef STRESS_SWAP_H
#define STRESS_SWAP_H

#include "round.h"

struct swap {
	unsigned slots, tables, entries; /* entries of each table                  */
	struct held *nodes;              /* slots + tables * entries               */
	_Atomic(struct held *) *slot;
	struct held **entry;             /* table by table                         */
};

/* How many objects can be out at most. */
static inline size_t swap_nodes(const struct swap *swap)
{
	return swap->slots + (size_t)swap->tables * swap->entries;
}

struct swap *swap_create(unsigned slots, unsigned tables, unsigned entries);

/* One random action on one random entry of the table: acquire or release, swap, or look. */
void swap_step(struct swap *swap, unsigned table, struct worker *worker);

/* Releases what the table holds. */
void swap_empty(struct swap *swap, unsigned table, struct worker *worker);

/* Releases everything, also from the slots, and frees the memory. */
void swap_destroy(struct swap *swap, struct worker *worker);

#endif
