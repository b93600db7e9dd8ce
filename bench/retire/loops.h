/* SPDX-License-Identifier: MIT */
/*
 * loops.h - the loops over a table whose nodes are deferred; a template, as workloads.h.  Each file of this folder that is
 * a subject defines
 *
 *     static inline void *acquire(void *hand);                                    NULL: none now
 *     static void *acquire_wait(void *hand);                                      the same, but waits; offline meanwhile
 *     static inline void defer(void *hand, void *node);
 *     static inline void section_begin(void *hand), section_end(void *hand);
 *     static void settle(void *hand, bool first);
 *     static size_t in_flight(void *shared, size_t deferred);                     retiring.h says what these do
 *
 * and, if its scheme must be told when a thread reads nothing, HAS_QUIESCENT_STATES and
 *
 *     static inline void quiesce(void *hand);                                     after each update, and each section
 *     static inline void go_online(void *hand), go_offline(void *hand);
 *
 * and, if an update takes so long that the others' number of them would take minutes, UPDATES_DIVISOR; if it defers nothing,
 * RELEASES_AT_ONCE; then includes this file, and names RETIRING_LOOPS in its `struct subject`.
 */
#ifndef LFPOOL_BENCH_RETIRING_LOOPS_H
#define LFPOOL_BENCH_RETIRING_LOOPS_H

#include "retiring.h"

#ifndef UPDATES_DIVISOR
#define UPDATES_DIVISOR 1
#endif
#ifdef RELEASES_AT_ONCE
#define MUST_BE_WHOLE false
#else
#define MUST_BE_WHOLE true
#endif

#ifndef HAS_QUIESCENT_STATES
/* A thread in no section delays no other. */
static inline void quiesce(void *hand)
{
	(void)hand;
}

static inline void go_online(void *hand)
{
	(void)hand;
}

static inline void go_offline(void *hand)
{
	(void)hand;
}

#endif

/* Entries that a section looks at. */
#define READS 4

/* In the order of `struct loops`. */
#define RETIRING_LOOPS                                                            \
	{NULL, NULL, NULL, NULL,       NULL,     NULL,     NULL,      NULL, NULL, \
	 NULL, NULL, NULL, run_retire, run_read, run_fill, run_drain, NULL, &retiring_calls}

static const struct retiring_calls retiring_calls = {acquire,   defer,      section_begin, section_end,
						     go_online, go_offline, settle,        in_flight};

static inline struct node *node_make(struct worker *worker)
{
	struct retiring *own = worker->retiring;
	struct node *node = (struct node *)acquire(worker->hand);

	if (__builtin_expect(!node, 0)) {
		own->waits++;
		node = (struct node *)acquire_wait(worker->hand);
	}
	node_write(node, ++own->stamp);
	return node;
}

/* relaxed, both: written by this thread alone, and others only count. */
static inline void count_updates(struct retiring *own, size_t updates)
{
	__atomic_store_n(&own->updates, __atomic_load_n(&own->updates, __ATOMIC_RELAXED) + updates, __ATOMIC_RELAXED);
}

static size_t run_retire(struct worker *worker, size_t updates)
{
	void *hand = worker->hand;
	void **table = worker->retiring->table;

	updates = (updates + UPDATES_DIVISOR - 1) / UPDATES_DIVISOR;
	go_online(hand);
	for (size_t i = 0; i < updates; i++) {
		void **entry = &table[random_below(&worker->random, RETIRE_TABLE)];

		/* As rcu_xchg_pointer(), a full barrier. */
		defer(hand, __atomic_exchange_n(entry, node_make(worker), __ATOMIC_SEQ_CST));
		quiesce(hand);
	}
	go_offline(hand);
	count_updates(worker->retiring, updates);
	return updates;
}

/* No updates: the result is 0. */
static size_t run_read(struct worker *worker, size_t sections)
{
	void *hand = worker->hand;
	void **table = worker->retiring->table;
	size_t broken = 0;

	go_online(hand);
	for (size_t i = 0; i < sections; i++) {
		const struct node *found[READS];

		section_begin(hand);
		for (int r = 0; r < READS; r++)
			/* acquire: what the node was published with. */
			found[r] = (const struct node *)__atomic_load_n(&table[random_below(&worker->random, RETIRE_TABLE)],
									__ATOMIC_ACQUIRE);
		for (int r = 0; r < READS; r++)
			broken += !node_is_whole(found[r]);
		section_end(hand);
		quiesce(hand);
	}
	go_offline(hand);
	worker->retiring->sections += sections;
	if (MUST_BE_WHOLE && broken)
		give_up(worker->subject->name, "a node was used again while a thread read it");
	return 0;
}

/* `entries` of the table get their first node. */
static size_t run_fill(struct worker *worker, size_t entries)
{
	go_online(worker->hand);
	for (size_t i = 0; i < entries; i++)
		/* release: the node. */
		__atomic_store_n(&worker->retiring->table[i], node_make(worker), __ATOMIC_RELEASE);
	go_offline(worker->hand);
	return entries;
}

/* And give their last one up. */
static size_t run_drain(struct worker *worker, size_t entries)
{
	go_online(worker->hand);
	for (size_t i = 0; i < entries; i++) {
		defer(worker->hand, __atomic_exchange_n(&worker->retiring->table[i], NULL, __ATOMIC_SEQ_CST));
		quiesce(worker->hand);
	}
	go_offline(worker->hand);
	count_updates(worker->retiring, entries);
	return entries;
}

#endif
