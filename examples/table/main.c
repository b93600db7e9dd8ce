/* SPDX-License-Identifier: MIT */
/*
 * main.c - threads that look up, put and remove keys in a hash table with nodes from a pool, all at once, for a while.
 *
 *     table [--seconds N] [--readers N] [--writers N] [--nodes N] [--seed N] [--no-deferral]
 *
 * Readers find a node and look at it for as long as they please, inside a read-side section of liburcu; writers put
 * and remove as fast as they can.  Start with table.h.
 *
 * --no-deferral releases each node at once, as if no thread could be reading it.  Then a reader soon sees a node become
 * another one under its eyes, says so, and the program ends.  (With several writers the table itself is torn, perhaps
 * before a reader looks: it needs the grace period too.  So there is one writer then, whatever --writers says.)
 *
 * Exit status  0: no node changed while it was read, and each is accounted for.  1: not so, or no pool, or no table.
 *              2: wrong usage.  3: no thread.
 */
#include "table.h"

#include "command_line.h"

#include <inttypes.h>
#include <sched.h>
#include <stddef.h>

#define THREADS_MAX 64

struct options {
	unsigned long seconds, readers, writers, nodes, seed;
	bool no_deferral;
};

struct counts {
	uint64_t found, absent, looks;            /* a reader's */
	uint64_t put, replaced, removed, no_node; /* a writer's */
};

struct town {
	struct options options;
	struct table table;
	uint64_t keys;
	_Atomic(bool) over;
};

struct visitor {
	struct town *town;
	pthread_t thread;
	struct random random;
	struct counts counts;
	size_t retired_at_most;
};

/* ---- Readers ----------------------------------------------------------------------------------------------- */

/* At once, and in the midst of everything: the table may be in no state to go on with. */
static _Noreturn void tell_changed(const struct node *node, uint64_t key, uint64_t stamp, uint64_t looks)
{
	printf("FAILED: a node changed while it was read: it was key %" PRIu64 ", stamp %" PRIu64 "; after %" PRIu64
	       " looks it is key %" PRIu64 ", stamp %" PRIu64 "\n",
	       key, stamp, looks, (uint64_t)node->key, (uint64_t)node->stamp);
	fflush(stdout);
	_Exit(1);
}

/* One key: found, and looked at again and again until the section ends. */
static void read_one(struct visitor *visitor)
{
	const uint64_t key = random_below(&visitor->random, (uint32_t)visitor->town->keys);

	rcu_read_lock();
	const struct node *node = table_find(&visitor->town->table, key);

	if (node) {
		/* relaxed: see table.c. */
		const uint64_t stamp = atomic_load_explicit(&node->stamp, memory_order_relaxed);
		const unsigned looks = 1 + random_below(&visitor->random, 200);

		for (unsigned i = 0; i < looks; i++)
			if (!node_is(node, key, stamp))
				tell_changed(node, key, stamp, i);
		/* Now and then another thread's turn, in the midst of a section. */
		if (looks == 100) {
			sched_yield();
			if (!node_is(node, key, stamp))
				tell_changed(node, key, stamp, looks);
		}
		visitor->counts.looks += looks;
	}
	rcu_read_unlock();
	visitor->counts.found += node != NULL;
	visitor->counts.absent += node == NULL;
}

static void *read_keys(void *argument)
{
	struct visitor *visitor = argument;

	rcu_register_thread();
	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&visitor->town->over, memory_order_relaxed))
		read_one(visitor);
	rcu_unregister_thread();
	return NULL;
}

/* ---- Writers ----------------------------------------------------------------------------------------------- */

static void note_retired(struct visitor *visitor)
{
	const size_t retired = lfpool_retired_count(visitor->town->table.pool);

	visitor->retired_at_most = retired > visitor->retired_at_most ? retired : visitor->retired_at_most;
}

static void write_one(struct visitor *visitor)
{
	struct table *table = &visitor->town->table;
	const uint64_t key = random_below(&visitor->random, (uint32_t)visitor->town->keys);

	if (random_below(&visitor->random, 4) == 0) {
		visitor->counts.removed += table_remove(table, key) == DONE;
		return;
	}
	switch (table_put(table, key)) {
	case DONE: visitor->counts.put++; break;
	case REPLACED:
		visitor->counts.put++;
		visitor->counts.replaced++;
		break;
	default:
		/* All wait for readers.  So does this writer, outside of any section, until there is one again. */
		visitor->counts.no_node++;
		note_retired(visitor);
		lfpool_release(table->pool, lfpool_acquire_wait(table->pool, 100000000));
	}
}

static void *write_keys(void *argument)
{
	struct visitor *visitor = argument;

	rcu_register_thread();
	/* relaxed: a sign only. */
	for (unsigned i = 0; !atomic_load_explicit(&visitor->town->over, memory_order_relaxed); i++) {
		write_one(visitor);
		if (i % 256 == 0)
			note_retired(visitor);
	}
	rcu_unregister_thread();
	return NULL;
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

static struct counts sum_up(const struct visitor *visitors, size_t count, size_t *retired_at_most_out)
{
	struct counts sum = {0};

	for (size_t i = 0; i < count; i++) {
		const struct counts *c = &visitors[i].counts;

		sum.found += c->found;
		sum.absent += c->absent;
		sum.looks += c->looks;
		sum.put += c->put;
		sum.replaced += c->replaced;
		sum.removed += c->removed;
		sum.no_node += c->no_node;
		if (visitors[i].retired_at_most > *retired_at_most_out)
			*retired_at_most_out = visitors[i].retired_at_most;
	}
	return sum;
}

/* Every node that was put in was replaced, was removed, or is there. */
static bool settle(struct town *town, const struct visitor *visitors, size_t count)
{
	size_t retired_at_most = 0;
	const struct counts sum = sum_up(visitors, count, &retired_at_most);
	lfpool_t *pool = town->table.pool;

	printf("readers   %" PRIu64 " found, %" PRIu64 " absent; %" PRIu64 " looks at nodes, and none changed\n", sum.found,
	       sum.absent, sum.looks);
	rcu_register_thread();
	const size_t left = table_clear(&town->table);

	rcu_unregister_thread();
	bool ok = sum.put == sum.replaced + sum.removed + left;

	printf("writers   %" PRIu64 " put = %" PRIu64 " replaced + %" PRIu64 " removed + %zu left; %" PRIu64
	       " waited for a node\n",
	       sum.put, sum.replaced, sum.removed, left, sum.no_node);
	ok = lfpool_drain(pool) == LFPOOL_OK && lfpool_retired_count(pool) == 0 && ok;
	ok = lfpool_active_count(pool) == 0 && lfpool_misuse_count(pool) == 0 && !lfpool_check(pool, NULL) && ok;
	printf("pool      %zu nodes of %zu bytes = %zu KiB, whatever happens; at most %zu retired at once\n",
	       lfpool_capacity(pool), sizeof(struct node), lfpool_capacity(pool) * sizeof(struct node) / 1024, retired_at_most);
	return table_close(&town->table) == 0 && ok;
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	struct options options = {.seconds = 2, .readers = 2, .writers = 2, .nodes = 1000, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seconds", &options.seconds, 1, 3600),
					  OPTION_NUMBER("readers", &options.readers, 1, THREADS_MAX),
					  OPTION_NUMBER("writers", &options.writers, 1, THREADS_MAX),
					  OPTION_NUMBER("nodes", &options.nodes, 8, 100000000),
					  OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX),
					  OPTION_FLAG("no-deferral", &options.no_deferral),
					  OPTIONS_END};

	(void)command_line("table", rows, NULL, argc, argv);
	if (options.no_deferral)
		options.writers = 1;
	return options;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static struct town town;
	static struct visitor visitors[2 * THREADS_MAX];

	town.options = parse_options(argc, argv);
	const size_t readers = town.options.readers, count = readers + town.options.writers;

	/* A quarter of the nodes is in the table at most; the others are there to wait for readers. */
	town.keys = town.options.nodes / 4;
	if (!table_open(&town.table, town.options.nodes, !town.options.no_deferral))
		return 1;
	for (size_t i = 0; i < count; i++) {
		visitors[i].town = &town;
		visitors[i].random = random_for(town.options.seed, (unsigned)i);
		thread_start(&visitors[i].thread, i < readers ? read_keys : write_keys, &visitors[i]);
	}
	nanosleep(&(struct timespec){.tv_sec = (time_t)town.options.seconds}, NULL);
	/* relaxed: a sign only. */
	atomic_store_explicit(&town.over, true, memory_order_relaxed);
	for (size_t i = 0; i < count; i++)
		pthread_join(visitors[i].thread, NULL);
	const bool ok = settle(&town, visitors, count);

	puts(ok ? "every node is accounted for" : "FAILED: the accounts do not agree");
	return ok ? 0 : 1;
}
