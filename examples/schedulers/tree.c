/* SPDX-License-Identifier: MIT */
/*
 * tree.c - an unbalanced tree out of a hash, see tree.h.
 */
#include "tree.h"

/* The output function of SplitMix64 (Steele, Lea, Flood 2014): a bijection, each bit of the result depends on all. */
static uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void tree_root(const struct tree *tree, struct tree_node *root_out)
{
	root_out->state = mixed(tree->seed + UINT64_C(0x9e3779b97f4a7c15));
	root_out->depth = 0;
}

unsigned tree_children(const struct tree *tree, const struct tree_node *node)
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

void tree_child(const struct tree_node *node, unsigned i, struct tree_node *child_out)
{
	child_out->state = mixed(node->state + (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15));
	child_out->depth = node->depth + 1;
}

static uint64_t count_below(const struct tree *tree, const struct tree_node *node)
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

uint64_t tree_count(const struct tree *tree)
{
	struct tree_node root;

	tree_root(tree, &root);
	return count_below(tree, &root);
}
