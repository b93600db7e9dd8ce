/* SPDX-License-Identifier: MIT */
/*
 * swap.c - tables of held objects whose owners swap entries through shared slots.
 */
#include "swap.h"

struct swap *swap_create(unsigned slots, unsigned tables, unsigned entries)
{
	struct swap *swap = round_memory(1, sizeof(*swap));
	struct held *node;

	swap->slots = slots;
	swap->tables = tables;
	swap->entries = entries;
	swap->nodes = node = round_memory(swap_nodes(swap), sizeof(*swap->nodes));
	swap->slot = round_memory(slots, sizeof(*swap->slot));
	swap->entry = round_memory((size_t)tables * entries, sizeof(struct held *));
	for (unsigned i = 0; i < slots; i++)
		atomic_init(&swap->slot[i], node++);
	for (size_t i = 0; i < (size_t)tables * entries; i++)
		swap->entry[i] = node++;
	return swap;
}

void swap_step(struct swap *swap, unsigned table, struct worker *worker)
{
	struct random *random = &worker->random;
	struct held **entry = &swap->entry[(size_t)table * swap->entries + random_below(random, swap->entries)];

	switch (random_below(random, 4)) {
	case 0:
		/* acq_rel: gives the node and its object away, and receives another. */
		*entry = atomic_exchange_explicit(&swap->slot[random_below(random, swap->slots)], *entry,
						  memory_order_acq_rel);
		if ((*entry)->object)
			worker_take_over(worker, *entry);
		break;
	case 1:
		worker_rescan(worker, *entry, (*entry)->object != NULL);
		break;
	default:
		if ((*entry)->object)
			worker_release(worker, *entry);
		else
			(void)worker_acquire(worker, *entry);
	}
}

static void release_node(struct worker *worker, struct held *node)
{
	if (node->object)
		worker_release(worker, node);
}

void swap_empty(struct swap *swap, unsigned table, struct worker *worker)
{
	for (size_t i = 0; i < swap->entries; i++)
		release_node(worker, swap->entry[(size_t)table * swap->entries + i]);
}

void swap_destroy(struct swap *swap, struct worker *worker)
{
	for (size_t i = 0; i < swap_nodes(swap); i++)
		release_node(worker, &swap->nodes[i]);
	free(swap->entry);
	free(swap->slot);
	free(swap->nodes);
	free(swap);
}
