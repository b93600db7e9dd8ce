/* SPDX-License-Identifier: MIT */
/*
 * handover.c - scenarios: the threads hand objects to each other through shared slots.
 *
 * Idea         Every place for an object is a node.  A table is an array of pointers to nodes, the shared slots are
 *              atomic pointers to nodes, and a swap exchanges two such pointers: one node goes in and one comes out,
 *              with an object or without.  So there are never more objects out than nodes, and a pool of that
 *              capacity may never return NULL. (Random tables and transfer slots, after the stress test of mimalloc.)
 * Orders       The exchange is acq_rel: it hands over the node's contents and the object.  A table has one user at a
 *              time.
 */
#include "round.h"

#include <sched.h>

static unsigned slots, tables, entries; /* slots of all groups; entries of each table */
static struct held *nodes;              /* slots + tables * entries                   */
static _Atomic(struct held *) *slot;
static struct held **table; /* all tables, consecutively */

static void open_tables(unsigned slot_count, unsigned table_count, unsigned entry_count)
{
	const size_t entry_total = (size_t)table_count * entry_count;
	struct held *node;

	slots = slot_count;
	tables = table_count;
	entries = entry_count;
	nodes = node = round_memory(slots + entry_total, sizeof(*nodes));
	slot = round_memory(slots, sizeof(*slot));
	table = round_memory(entry_total, sizeof(*table));
	for (unsigned i = 0; i < slots; i++)
		atomic_init(&slot[i], node++);
	for (size_t i = 0; i < entry_total; i++)
		table[i] = node++;
	round_capacity(slots + entry_total);
}

static void drop(struct worker *worker, struct held *node)
{
	if (node->object)
		worker_release(worker, node);
}

static void empty_table(unsigned index, struct worker *worker)
{
	for (size_t i = 0; i < entries; i++)
		drop(worker, table[(size_t)index * entries + i]);
}

/* The keeper releases the objects in tables and slots. */
static void close_tables(void)
{
	for (size_t i = 0; i < slots + (size_t)tables * entries; i++)
		drop(here, &nodes[i]);
	free(table);
	free(slot);
	free(nodes);
}

static struct held **any_entry(unsigned index, struct worker *worker)
{
	return &table[(size_t)index * entries + draw(worker, entries)];
}

/* Swaps with one of the `count` slots from `first` on. */
static void swap_entry(struct worker *worker, struct held **entry, unsigned first, unsigned count)
{
	/* acq_rel: gives the node and its object away, and receives another. */
	*entry = atomic_exchange_explicit(&slot[first + draw(worker, count)], *entry, memory_order_acq_rel);
	if ((*entry)->object)
		worker_take_over(worker, *entry);
}

/* ---- tables: random actions on random entries ---- */

/* Acquires or releases, swaps, or checks. */
static void step(unsigned index, struct worker *worker)
{
	struct held **entry = any_entry(index, worker);

	switch (draw(worker, 4)) {
	case 0: swap_entry(worker, entry, 0, slots); break;
	case 1: worker_rescan(*entry, (*entry)->object != NULL); break;
	default:
		if ((*entry)->object)
			worker_release(worker, *entry);
		else
			(void)worker_acquire(worker, *entry);
	}
}

static void tables_plan(void)
{
	open_tables(1 + random_below(&current.random, 64), current.threads, 1 + random_below(&current.random, 128));
}

static void tables_step(struct worker *worker)
{
	step(worker->index, worker);
}

/* Half of the threads end with a table full of objects. */
static void tables_leave(struct worker *worker)
{
	if (chance(worker, 2))
		empty_table(worker->index, worker);
}

SCENARIO(tables, "tables",
	 "each thread has a table of objects and swaps entries with other threads through shared slots",
	 .plan = tables_plan, .step = tables_step, .leave = tables_leave, .finish = close_tables);

/* ---- churn: short-lived children of the workers, two of each alive at a time, do a few such steps ---- */

#define CHILDREN 2

/* These structs outlive their threads, so that no token is used twice. */
static struct worker children[CHILDREN * THREADS_MAX];
static unsigned started[THREADS_MAX], joined[THREADS_MAX]; /* children of each worker */

static void churn_plan(void)
{
	const unsigned count = current.threads * CHILDREN;

	open_tables(1 + random_below(&current.random, 16), count, 1 + random_below(&current.random, 16));
	for (unsigned i = 0; i < count; i++)
		worker_init(&children[i], current.threads + 1 + i);
	for (unsigned i = 0; i < current.threads; i++)
		started[i] = joined[i] = 0;
}

/* Ends with objects held, which its successor or, through the slots, another child releases; and with objects in its
 * cache, which the pool must find. */
static void *child_main(void *argument)
{
	struct worker *child = argument;
	const unsigned index = (unsigned)(child - children);

	worker_enter(child);
	for (uint32_t steps = 1 + draw(child, 64); steps > 0; steps--)
		step(index, child);
	if (chance(child, 4))
		empty_table(index, child);
	worker_drop_cache(child);
	worker_step(NULL);
	return NULL;
}

/* The next child of this worker, and its oldest unjoined one. */
static struct worker *child_of(const struct worker *worker, const unsigned *count)
{
	return &children[worker->index * CHILDREN + count[worker->index] % CHILDREN];
}

static void join_one(struct worker *worker)
{
	(void)pthread_join(child_of(worker, joined)->thread, NULL);
	joined[worker->index]++;
}

static void churn_step(struct worker *worker)
{
	/* Joins the predecessor, whose table the new child inherits. */
	if (started[worker->index] - joined[worker->index] == CHILDREN)
		join_one(worker);
	thread_start(&child_of(worker, started)->thread, child_main, child_of(worker, started));
	started[worker->index]++;
}

static void churn_leave(struct worker *worker)
{
	while (joined[worker->index] < started[worker->index])
		join_one(worker);
}

SCENARIO(churn, "churn",
	 "short-lived threads; others release or find the objects that they held or cached at their end",
	 .plan = churn_plan, .step = churn_step, .leave = churn_leave, .finish = close_tables);

/* ---- handoff: producers acquire, consumers release ---- */

/* All objects move to the consumers' caches, so the producers depend on the objects that the pool brings back. */

#define KEEP 8

static unsigned group_size, group_slots; /* threads that hand objects to each other, and the slots between them */
static bool first_produces;              /* the first of them produces, the others consume; or vice versa        */

static void open_groups(unsigned size, bool first)
{
	group_size = size;
	group_slots = 2u << random_below(&current.random, 9);
	first_produces = first;
	open_tables((current.threads + size - 1) / size * group_slots, current.threads, KEEP);
}

static void one_to_one_plan(void)
{
	open_groups(2, true);
}

static void one_to_many_plan(void)
{
	open_groups(current.threads, true);
}

static void many_to_one_plan(void)
{
	open_groups(current.threads, false);
}

static void handoff_step(struct worker *worker)
{
	const unsigned group = worker->index / group_size;
	const bool first = worker->index % group_size == 0;
	/* Without a partner the thread produces and consumes. */
	const bool alone = first && worker->index + 1 == current.threads;
	const bool produces = alone || first == first_produces, consumes = alone || !produces;
	struct held **entry = any_entry(worker->index, worker);
	const bool full = (*entry)->object;

	if (full && consumes)
		worker_release(worker, *entry);
	else if (!full && produces)
		(void)worker_acquire(worker, *entry);
	if (chance(worker, 64))
		worker_rescan(*entry, (*entry)->object != NULL);
	swap_entry(worker, entry, group * group_slots, group_slots);
	/* Its slot was full, or empty: the other side needs a processor. */
	if (((*entry)->object != NULL) == !consumes)
		(void)sched_yield();
}

static void handoff_leave(struct worker *worker)
{
	empty_table(worker->index, worker);
}

#define HANDOFF(id, name, description, its_plan)                                                        \
	SCENARIO(id, name, description, .plan = its_plan, .step = handoff_step, .leave = handoff_leave, \
		 .finish = close_tables)

HANDOFF(handoff_1_1, "handoff-1-1", "pairs of threads: one acquires, the other releases, through slots",
	one_to_one_plan);
HANDOFF(handoff_1_n, "handoff-1-n", "one thread acquires, all others release", one_to_many_plan);
HANDOFF(handoff_n_1, "handoff-n-1", "all threads but one acquire, one releases", many_to_one_plan);
