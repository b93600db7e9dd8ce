/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the work that every scheduler of this folder is given: a tree that is not known before it is searched.
 *
 * Idea         The unbalanced tree search (UTS) of Olivier, Huan, Liu, Prins, Dinan, Sadayappan and Tseng (LCPC 2006).  A node
 *              is a number.  How many children it has, and which, is in a hash of it: so the tree needs no memory, is the
 *              same for every run of a seed, and what is below a node cannot be guessed but only searched.  The root has
 *              TREE_ROOT_CHILDREN children, every other node a geometrically distributed number with a mean of 1.5, and
 *              those of the last level none.  One child of the root may have nothing below it and its neighbour ten
 *              times the average: no division of the tree made in advance is fair, which is what schedulers are for.
 *              A job per node, and one function that counts without jobs: that is the truth.
 * Work         Finding out how many children a node has takes tree->work rounds of the hash more than it must.  They
 *              decide the number: a scheduler that leaves them out is found out.  (So another `work` is another tree.)
 */
#ifndef EXAMPLE_SCHEDULERS_TREE_H
#define EXAMPLE_SCHEDULERS_TREE_H

#include <stdint.h>

#define TREE_ROOT_CHILDREN 64
/* No node has more. */
#define TREE_CHILDREN_MAX 64
/* Below the root: 23 make one or two million nodes, 8 some three thousand; each level more, half as many again. */
#define TREE_LEVELS 23
#define TREE_LEVELS_SMALL 8

struct tree {
	uint64_t seed;
	uint32_t levels; /* below the root: the depth of the deepest node there can be */
	uint32_t work;   /* rounds of the hash for each node                           */
};

struct tree_node {
	uint64_t state;
	uint32_t depth; /* the root's is 0 */
};

void tree_root(const struct tree *tree, struct tree_node *root_out);

/* How many children the node has.  Here the work is done: to be called once for each node. */
unsigned tree_children(const struct tree *tree, const struct tree_node *node);

/* Child `i` of the node, 0 .. tree_children() - 1. */
void tree_child(const struct tree_node *node, unsigned i, struct tree_node *child_out);

/* All nodes, counted by one thread without jobs. */
uint64_t tree_count(const struct tree *tree);

#endif
