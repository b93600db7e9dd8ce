/* SPDX-License-Identifier: MIT */
/*
 * main.c - a hash table that is read without locks, liburcu's cds_lfht, with nodes from a pool.
 *
 *     table [--readers N] [--writers N] [--nodes N] ...                                      crowd.h has all of them
 *
 * Idea         A reader finds a node in a read-side section, and holds it until the section ends.  A thread that
 *              removes the node does not wait for that reader: it passes the node to lfpool_retire(), and the pool
 *              hands it out again after a grace period.
 *              Without the pool, call_rcu() would free each node, with a struct rcu_head in it.  Here a batch of
 *              nodes is one callback, a node contains only the table's data, and the pool limits the number of
 *              waiting nodes.
 * Stamps       A node gets a new stamp on each use.  So a reader can check that it still holds the node that it
 *              found.  Key, stamp and sum are written before the node is in the table, and never while a reader can
 *              see it: without --no-deferral they would not have to be atomic.
 */
#define URCU_API_MAP
#include <urcu/urcu-memb.h>

#include <urcu/rculfhash.h>

#include "crowd.h"
#include "lfpool/rcu.h"
#include "lfpool/wait.h"

#include <sched.h>

struct node {
	struct cds_lfht_node link; /* the first member: its address is the node's */
	_Atomic(uint64_t) key, stamp, sum;
};

static struct cds_lfht *table;
static lfpool_t *pool;
static _Atomic(uint64_t) stamps; /* stamps given so far */
static struct options options;

/* The threads' counts. */
enum { FOUND, ABSENT, LOOKS, PUT, REPLACED, REMOVED, NO_NODE };

/* ---- Nodes ------------------------------------------------------------------------------------------------- */

/* relaxed, all: the table orders the writes before an insertion before the reads after it. */
static void node_fill(struct node *node, uint64_t key, uint64_t stamp)
{
	cds_lfht_node_init(&node->link);
	atomic_store_explicit(&node->key, key, memory_order_relaxed);
	atomic_store_explicit(&node->stamp, stamp, memory_order_relaxed);
	atomic_store_explicit(&node->sum, 3 * key + stamp, memory_order_relaxed);
}

/* Ends the program if the node has changed since it had that stamp. */
static void require_same(const struct node *node, uint64_t key, uint64_t stamp)
{
	const uint64_t now = atomic_load_explicit(&node->stamp, memory_order_relaxed);

	if (now != stamp || atomic_load_explicit(&node->key, memory_order_relaxed) != key ||
	    atomic_load_explicit(&node->sum, memory_order_relaxed) != 3 * key + stamp)
		tell_changed("found by its key", stamp, now);
}

static struct node *node_of(struct cds_lfht_node *link)
{
	return (struct node *)(void *)link;
}

static int has_key(struct cds_lfht_node *link, const void *key)
{
	return atomic_load_explicit(&node_of(link)->key, memory_order_relaxed) == *(const uint64_t *)key;
}

/* No thread can find the node in the table any longer; readers may still hold it. */
static void node_retire(struct node *node)
{
	if (options.no_deferral)
		lfpool_release(pool, node);
	else
		lfpool_retire(pool, node);
}

/* ---- The table --------------------------------------------------------------------------------------------- */

static unsigned long hash_of(uint64_t key)
{
	return (unsigned long)(key * UINT64_C(0x9e3779b97f4a7c15) >> 16);
}

static bool table_open(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "table nodes";
	config.object_size = sizeof(struct node);
	config.object_alignment = _Alignof(struct node);
	config.capacity = options.nodes;
	config.scheme = lfpool_rcu_scheme(&rcu_flavor);
	if (lfpool_create(&pool, &config) != LFPOOL_OK)
		return false;
	table = cds_lfht_new_flavor(256, 256, 256, 0, &rcu_flavor, NULL);
	return table != NULL;
}

/* The node with that key, or NULL; the caller must be in a section. */
static struct node *table_find(uint64_t key)
{
	struct cds_lfht_iter found;

	cds_lfht_lookup(table, hash_of(key), has_key, &key, &found);
	return node_of(cds_lfht_iter_get_node(&found));
}

/* False: all nodes are in use, or wait for readers. */
static bool table_put(struct visitor *visitor, uint64_t key)
{
	struct node *node = lfpool_acquire(pool);

	if (!node)
		return false;
	/* relaxed: stamps only have to be unique. */
	node_fill(node, key, atomic_fetch_add_explicit(&stamps, 1, memory_order_relaxed));
	rcu_read_lock();
	struct cds_lfht_node *old = cds_lfht_add_replace(table, hash_of(key), has_key, &key, &node->link);

	if (old)
		node_retire(node_of(old));
	rcu_read_unlock();
	visitor->counts[PUT]++;
	visitor->counts[REPLACED] += old != NULL;
	return true;
}

static void table_remove(struct visitor *visitor, uint64_t key)
{
	rcu_read_lock();
	struct node *node = table_find(key);

	/* If several threads try to remove the node, one succeeds. */
	if (node && cds_lfht_del(table, &node->link) == 0) {
		node_retire(node);
		visitor->counts[REMOVED]++;
	}
	rcu_read_unlock();
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */

/* At most a quarter of the nodes is in the table; the others may wait for readers. */
static uint64_t random_key(struct visitor *visitor)
{
	return random_below(&visitor->random, (uint32_t)options.nodes / 4);
}

/* Finds the node of one key, and checks it repeatedly until the section ends. */
static void read_one(struct visitor *visitor)
{
	const uint64_t key = random_key(visitor);

	rcu_read_lock();
	const struct node *node = table_find(key);

	visitor->counts[node ? FOUND : ABSENT]++;
	if (node) {
		const uint64_t stamp = atomic_load_explicit(&node->stamp, memory_order_relaxed);
		const unsigned looks = 1 + random_below(&visitor->random, 200);

		for (unsigned i = 0; i < looks; i++) {
			/* Now and then lets another thread run, in the middle of a section. */
			if (looks == 100 && i == 50)
				sched_yield();
			require_same(node, key, stamp);
		}
		visitor->counts[LOOKS] += looks;
	}
	rcu_read_unlock();
}

static void *read_keys(void *visitor)
{
	rcu_register_thread();
	while (!is_over())
		read_one(visitor);
	rcu_unregister_thread();
	return NULL;
}

static void write_one(struct visitor *visitor)
{
	const uint64_t key = random_key(visitor);

	if (random_below(&visitor->random, 4) == 0) {
		table_remove(visitor, key);
	} else if (!table_put(visitor, key)) {
		/* The nodes wait for readers.  So does this writer, outside of any section, until a node is free. */
		visitor->counts[NO_NODE]++;
		note_retired(visitor, pool);
		lfpool_release(pool, lfpool_acquire_wait(pool, 100000000));
	}
}

static void *write_keys(void *visitor)
{
	rcu_register_thread();
	for (unsigned i = 0; !is_over(); i++) {
		write_one(visitor);
		if (i % 256 == 0)
			note_retired(visitor, pool);
	}
	rcu_unregister_thread();
	return NULL;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

/* Removes the nodes in the table.  Then every inserted node must have been replaced or removed. */
static bool settle(struct visitor *sum)
{
	const uint64_t removed = sum->counts[REMOVED];

	printf("readers   %" PRIu64 " found, %" PRIu64 " absent; %" PRIu64 " looks at nodes, and none changed\n",
	       sum->counts[FOUND], sum->counts[ABSENT], sum->counts[LOOKS]);
	rcu_register_thread();
	for (uint64_t key = 0; key < options.nodes / 4; key++)
		table_remove(sum, key);
	rcu_unregister_thread();
	printf("writers   %" PRIu64 " put = %" PRIu64 " replaced + %" PRIu64 " removed + %" PRIu64 " left; %" PRIu64
	       " waited for a node\n",
	       sum->counts[PUT], sum->counts[REPLACED], removed, sum->counts[REMOVED] - removed, sum->counts[NO_NODE]);

	const bool ok = sum->counts[PUT] == sum->counts[REPLACED] + sum->counts[REMOVED];

	cds_lfht_destroy(table, NULL);
	return settle_pool(pool, sizeof(struct node), sum->retired_at_most) && ok;
}

int main(int argc, char **argv)
{
	options = parse_options("table", argc, argv);
	/* Without the grace period several writers could destroy the table itself, before a reader notices. */
	if (options.no_deferral)
		options.writers = 1;
	if (!table_open()) {
		fputs("table: no table\n", stderr);
		return 1;
	}

	struct visitor sum = crowd_run(&options, read_keys, write_keys);
	const bool ok = settle(&sum);

	puts(ok ? "every node is accounted for" : "FAILED: the accounts do not agree");
	return ok ? 0 : 1;
}
