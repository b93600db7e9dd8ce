/* SPDX-License-Identifier: MIT */
/*
 * table.c - see table.h.
 */
#include "table.h"

#include <stdio.h>

static unsigned long hash_of(uint64_t key)
{
	return (unsigned long)(key * UINT64_C(0x9e3779b97f4a7c15) >> 16);
}

/* The node that a link is the first member of. */
static struct node *node_of(struct cds_lfht_node *link)
{
	return (struct node *)(void *)link;
}

/* ---- Nodes ---- */

/* relaxed, all of it: the table orders what is written before a node is in it before what is read of it. */
static uint64_t word_of(uint64_t key, uint64_t stamp, unsigned i)
{
	return (key ^ stamp << 20) * (2 * i + 3);
}

static void node_fill(struct node *node, uint64_t key, uint64_t stamp)
{
	cds_lfht_node_init(&node->link);
	atomic_store_explicit(&node->key, key, memory_order_relaxed);
	atomic_store_explicit(&node->stamp, stamp, memory_order_relaxed);
	for (unsigned i = 0; i < 4; i++)
		atomic_store_explicit(&node->text[i], word_of(key, stamp, i), memory_order_relaxed);
}

bool node_is(const struct node *node, uint64_t key, uint64_t stamp)
{
	bool same = atomic_load_explicit(&node->key, memory_order_relaxed) == key &&
		    atomic_load_explicit(&node->stamp, memory_order_relaxed) == stamp;

	for (unsigned i = 0; i < 4; i++)
		same &= atomic_load_explicit(&node->text[i], memory_order_relaxed) == word_of(key, stamp, i);
	return same;
}

static int has_key(struct cds_lfht_node *link, const void *key)
{
	return atomic_load_explicit(&node_of(link)->key, memory_order_relaxed) == *(const uint64_t *)key;
}

/* No thread finds it in the table any more; readers may still have it. */
static void node_retire(struct table *table, struct node *node)
{
	if (table->deferral)
		lfpool_release_rcu(table->pool, node);
	else
		lfpool_release(table->pool, node);
}

/* ---- The table ---- */

bool table_open(struct table *table, size_t capacity, bool deferral)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "table nodes";
	config.object_size = sizeof(struct node);
	config.object_alignment = _Alignof(struct node);
	config.capacity = capacity;
	config.scheme = lfpool_rcu_scheme(&rcu_flavor);
	*table = (struct table){.deferral = deferral};
	const lfpool_status_t status = lfpool_create(&table->pool, &config);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "table: no pool: %s\n", lfpool_status_string(status));
		return false;
	}
	table->nodes = cds_lfht_new_flavor(256, 256, 256, 0, &rcu_flavor, NULL);
	if (!table->nodes)
		fputs("table: no table\n", stderr);
	return table->nodes != NULL;
}

const struct node *table_find(const struct table *table, uint64_t key)
{
	struct cds_lfht_iter found;

	cds_lfht_lookup(table->nodes, hash_of(key), has_key, &key, &found);
	return (const struct node *)(void *)cds_lfht_iter_get_node(&found);
}

enum outcome table_put(struct table *table, uint64_t key)
{
	struct node *node = lfpool_acquire(table->pool);

	if (!node)
		return NO_NODE;
	/* relaxed: only that no two are the same. */
	node_fill(node, key, atomic_fetch_add_explicit(&table->stamps, 1, memory_order_relaxed));
	rcu_read_lock();
	struct cds_lfht_node *old = cds_lfht_add_replace(table->nodes, hash_of(key), has_key, &key, &node->link);

	if (old)
		node_retire(table, node_of(old));
	rcu_read_unlock();
	return old ? REPLACED : DONE;
}

enum outcome table_remove(struct table *table, uint64_t key)
{
	struct cds_lfht_iter found;
	enum outcome outcome = ABSENT;

	rcu_read_lock();
	cds_lfht_lookup(table->nodes, hash_of(key), has_key, &key, &found);
	struct cds_lfht_node *link = cds_lfht_iter_get_node(&found);

	/* Of several that try, one takes it out. */
	if (link && cds_lfht_del(table->nodes, link) == 0) {
		node_retire(table, node_of(link));
		outcome = DONE;
	}
	rcu_read_unlock();
	return outcome;
}

size_t table_clear(struct table *table)
{
	struct cds_lfht_iter at;
	size_t count = 0;

	rcu_read_lock();
	cds_lfht_first(table->nodes, &at);
	for (struct cds_lfht_node *link; (link = cds_lfht_iter_get_node(&at)) != NULL;) {
		if (cds_lfht_del(table->nodes, link) == 0) {
			node_retire(table, node_of(link));
			count++;
		}
		/* From the node that was just taken out: it is there as long as this section. */
		cds_lfht_next(table->nodes, &at);
	}
	rcu_read_unlock();
	return count;
}

size_t table_close(struct table *table)
{
	cds_lfht_destroy(table->nodes, NULL);
	/* Waits for the nodes that are retired. */
	return lfpool_destroy(table->pool);
}
