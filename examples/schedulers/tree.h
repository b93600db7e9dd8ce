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

/* The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection, each bit of the result depends on all. */
static inline uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline void tree_root(const struct tree *tree, struct tree_node *root_out)
{
	root_out->state = mixed(tree->seed + UINT64_C(0x9e3779b97f4a7c15));
	root_out->depth = 0;
}

/* How many children the node has.  Here the work is done: to be called once for each node. */
static inline unsigned tree_children(const struct tree *tree, const struct tree_node *node)
{
	uint64_t draw = mixed(~node->state);
	unsigned count = 0;

	for (uint32_t round = 0; round < tree->work; round++)
		draw = mixed(draw + round);
	/* In the last level nobody looks at it, which the compiler must not guess. */
	__asm__ __volatile__("" : "+r"(draw));
	if (node->depth >= tree->levels)
		return 0;
	if (node->depth == 0)
		return TREE_ROOT_CHILDREN;
	/* At least k children with a probability of 0.6 to the power of k: 1.5 in the mean. */
	for (uint64_t bound = UINT64_MAX / 5 * 3; draw < bound && count < TREE_CHILDREN_MAX; bound = bound / 5 * 3)
		count++;
	return count;
}

/* Child `i` of the node, 0 .. tree_children() - 1. */
static inline void tree_child(const struct tree_node *node, unsigned i, struct tree_node *child_out)
{
	child_out->state = mixed(node->state + (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15));
	child_out->depth = node->depth + 1;
}

static inline uint64_t count_below(const struct tree *tree, const struct tree_node *node)
{
	const unsigned children = tree_children(tree, node);
	uint64_t count = 1;

	for (unsigned i = 0; i < children; i++) {
		struct tree_node child;

		tree_child(node, i, &child);
		count += count_below(tree, &child);
	}
	return count;
}

/* All nodes, counted by one thread without jobs. */
static inline uint64_t tree_count(const struct tree *tree)
{
	struct tree_node root;

	tree_root(tree, &root);
	return count_below(tree, &root);
}

#endif
