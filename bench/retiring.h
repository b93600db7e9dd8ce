/* SPDX-License-Identifier: MIT */
/*
 * retiring.h - the loops over a table whose nodes are deferred (lfpool/retire.h); a template in C, like loops.h.
 * Each file in subjects/ that defers defines
 *
 *     static inline void *acquire(void *hand);                                    NULL: no free node now
 *     static void *acquire_wait(void *hand);                                      the same, but waits
 *     static inline void defer(void *hand, void *node);                           free when no thread can be reading it
 *     static inline void section_begin(void *hand), section_end(void *hand);      as its scheme needs them
 *     static void settle(void *hand, bool first);                                 see workload.h
 *     static size_t in_flight(void *shared, size_t deferred);
 *
 * and, if it defers nothing, RELEASES_AT_ONCE; then includes this file and names RETIRING_LOOPS in its `struct
 * subject`.
 *
 * Idea         A table of pointers to nodes.  An update makes a node, exchanges it for the node of a random entry,
 *              and gives up the old node, which readers may still see.  A reader looks at a few random entries within
 *              one section, and each node that it finds must be whole.  In `retire` all threads update; in
 *              `retire-read` every second thread reads.
 * The figures   ns_per_update   elapsed time x min(threads, CPUs) / updates, as in every other workload: the cost for
 *                               an updating thread.  A background worker counts only as far as it takes processors
 *                               away.
 *               settled_ns      the same, but until all deferred nodes are free, so a postponed backlog is paid too
 *               cpu_ns          processor time of the whole process in settled_ns, per update; includes the background
 *                               worker, and in retire-read the readers
 *               waits           waits for deferred nodes while the pool was empty, per update
 *               sections        in retire-read: sections per update
 */
#ifndef LFPOOL_BENCH_RETIRING_H
#define LFPOOL_BENCH_RETIRING_H

#include "workload.h"

#ifdef RELEASES_AT_ONCE
#define MUST_BE_WHOLE false
#else
#define MUST_BE_WHOLE true
#endif

_Static_assert(sizeof(struct node) == RETIRE_BYTES, "one cache line");

/* Entries that a section reads. */
#define READS 4

#define RETIRING_LOOPS \
	{.retire = run_retire, .read = run_read, .fill = run_fill, .drain = run_drain, .retiring = &retiring_calls}

static const struct retiring_calls retiring_calls = {section_begin, section_end, settle, in_flight};

static inline struct node *node_make(struct worker *worker)
{
	struct node *node = (struct node *)acquire(worker->hand);

	if (__builtin_expect(!node, 0)) {
		worker->waits++;
		node = (struct node *)acquire_wait(worker->hand);
	}
	/* A relaxed atomic: if the node was released instead of deferred, a reader may still see it. */
	__atomic_store_n(&node->stamp, ++worker->stamp, __ATOMIC_RELAXED);
	__atomic_store_n(&node->check, ~worker->stamp, __ATOMIC_RELAXED);
	return node;
}

/* relaxed, both: one writer, and the readers only count. */
static inline void count_updates(struct worker *worker, size_t updates)
{
	__atomic_store_n(&worker->updates, __atomic_load_n(&worker->updates, __ATOMIC_RELAXED) + updates,
			 __ATOMIC_RELAXED);
}

static size_t run_retire(struct worker *worker, size_t updates)
{
	for (size_t i = 0; i < updates; i++) {
		void **entry = &worker->table[random_below(&worker->random, RETIRE_TABLE)];

		/* A full barrier, like rcu_xchg_pointer(). */
		defer(worker->hand, __atomic_exchange_n(entry, node_make(worker), __ATOMIC_SEQ_CST));
	}
	count_updates(worker, updates);
	return updates;
}

/* Makes no updates, so the result is 0. */
static size_t run_read(struct worker *worker, size_t sections)
{
	size_t broken = 0;

	for (size_t i = 0; i < sections; i++) {
		const struct node *found[READS];

		section_begin(worker->hand);
		for (int r = 0; r < READS; r++) {
			void *const *entry = &worker->table[random_below(&worker->random, RETIRE_TABLE)];

			/* acquire: the node's contents at its publication. */
			found[r] = (const struct node *)__atomic_load_n(entry, __ATOMIC_ACQUIRE);
		}
		for (int r = 0; r < READS; r++)
			broken += !node_is_whole(found[r]);
		section_end(worker->hand);
	}
	worker->sections += sections;
	if (MUST_BE_WHOLE && broken)
		give_up(worker->subject->name, "a node was used again while a thread read it");
	return 0;
}

/* Gives `entries` of the table their first node. */
static size_t run_fill(struct worker *worker, size_t entries)
{
	for (size_t i = 0; i < entries; i++)
		/* release: the node. */
		__atomic_store_n(&worker->table[i], node_make(worker), __ATOMIC_RELEASE);
	return entries;
}

/* Gives up the last node of each of the `entries`. */
static size_t run_drain(struct worker *worker, size_t entries)
{
	for (size_t i = 0; i < entries; i++)
		defer(worker->hand, __atomic_exchange_n(&worker->table[i], NULL, __ATOMIC_SEQ_CST));
	count_updates(worker, entries);
	return entries;
}

#endif
