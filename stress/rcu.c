/* SPDX-License-Identifier: MIT */
/*
 * rcu.c - scenario: the nodes are in a lock-free hash table of liburcu, and a grace period of RCU stands between taking out
 * and reuse (lfpool/rcu.h).
 *
 * The table has few buckets or keys few hashes, so that chains are long, and readers go over nodes that are being taken out;
 * or it grows and shrinks meanwhile.  With QSBR a thread is in a section while it is online, and says between two actions
 * that it is in none; a reader that strays goes offline.
 */
#include "nodes.h"

#include "common/annotate.h"
#include "rcu_shim.h"
#include "scenario.h"

#include "lfpool/rcu.h"

#include <string.h>
#include <urcu/flavor.h>
#include <urcu/rculfhash.h>

extern const struct rcu_flavor_struct urcu_memb_flavor, urcu_mb_flavor, urcu_bp_flavor, urcu_qsbr_flavor, urcu_signal_flavor;

static struct {
	const struct rcu_flavor_struct *flavor;
	struct cds_lfht *table;
	uint64_t hashes; /* different ones                               */
	bool resized;    /* by a worker, and not by a thread of liburcu's */
} rcu;

static const struct rcu_flavor_struct *flavor_of(const char *name)
{
	static const struct {
		const char *name;
		const struct rcu_flavor_struct *flavor;
	} flavors[] = {
		{"memb", &urcu_memb_flavor}, {"mb", &urcu_mb_flavor},         {"bp", &urcu_bp_flavor},
		{"qsbr", &urcu_qsbr_flavor}, {"signal", &urcu_signal_flavor},
	};
	size_t i = 0;

	while (strcmp(name, flavors[i].name) != 0)
		i++;
	return rcu_shim(flavors[i].flavor);
}

static struct cds_lfht_node *link_of(struct node *node)
{
	return (struct cds_lfht_node *)(void *)node->link;
}

/* The table has handed us this node: it orders its insertion before that. */
static struct node *node_of(struct cds_lfht_node *link)
{
	ordered_after(link);
	return (struct node *)(void *)link;
}

static unsigned long hash_of(uint64_t key)
{
	return (unsigned long)(key % rcu.hashes * UINT64_C(0x9e3779b97f4a7c15));
}

static int matches(struct cds_lfht_node *link, const void *key)
{
	return node_of(link)->key == *(const uint64_t *)key;
}

static void rcu_open(void)
{
	static const unsigned long sizes[] = {1, 2, 16, 64};
	const unsigned long size = sizes[random_below(&current.random, 4)];
	/* liburcu's own thread frees what others have allocated, with an order in between that cannot be told to
	 * ThreadSanitizer. */
	const bool any = random_below(&current.random, 2), grows = any && !ANNOTATED;

	rcu.flavor = flavor_of(options.flavor);
	rcu.hashes = random_below(&current.random, 2) ? nodes.keys : 1 + random_below(&current.random, 4);
	rcu.table = cds_lfht_new_flavor(size, 1, any ? 0 : size, grows ? CDS_LFHT_AUTO_RESIZE : 0, rcu.flavor, NULL);
	rcu.resized = any && !grows;
	if (!rcu.table)
		say_no_memory("a table");
	current.config.scheme = lfpool_rcu_scheme(rcu.flavor);
	round_remark(", %s, %lu buckets%s", options.flavor, size, any ? " at first" : "");
}

static void rcu_empty(void)
{
	int status = cds_lfht_destroy(rcu.table, NULL);

	if (status)
		violation("the table is not empty: cds_lfht_destroy() says %d", status);
}

static void rcu_enter(struct actor *actor)
{
	(void)actor;
	rcu.flavor->register_thread();
}

static void rcu_leave(struct actor *actor)
{
	(void)actor;
	rcu.flavor->unregister_thread();
}

static void rcu_begin(struct actor *actor)
{
	(void)actor;
	rcu.flavor->read_lock();
}

static void rcu_end(struct actor *actor)
{
	(void)actor;
	rcu.flavor->read_unlock();
}

static void rcu_pause(struct actor *actor)
{
	rcu.flavor->read_quiescent_state();
	/* By one worker: the call takes a lock and then waits for a grace period, and with QSBR a thread that waits for the lock
	 * is in a section. */
	if (rcu.resized && actor->worker->index == 0 && worker_chance(actor->worker, 256))
		cds_lfht_resize(rcu.table, 1ul << random_below(&actor->worker->random, 7));
}

static void rcu_stray(struct actor *actor, bool away)
{
	(void)actor;
	if (away)
		rcu.flavor->thread_offline();
	else
		rcu.flavor->thread_online();
}

static bool rcu_insert(struct actor *actor, struct node *node)
{
	struct cds_lfht_node *link = link_of(node);

	(void)actor;
	cds_lfht_node_init(link);
	ordered_before(link);
	return cds_lfht_add_unique(rcu.table, hash_of(node->key), matches, &node->key, link) == link;
}

static struct node *rcu_find(struct actor *actor, uint64_t key)
{
	struct cds_lfht_node *link;
	struct cds_lfht_iter iterator;

	(void)actor;
	cds_lfht_lookup(rcu.table, hash_of(key), matches, &key, &iterator);
	link = cds_lfht_iter_get_node(&iterator);
	return link ? node_of(link) : NULL;
}

static struct node *rcu_take_out(struct actor *actor, uint64_t key, bool *ours_out)
{
	struct node *node = rcu_find(actor, key);

	*ours_out = node && cds_lfht_del(rcu.table, link_of(node)) == 0;
	return node;
}

static lfpool_status_t rcu_retire(struct actor *actor, void *object)
{
	(void)actor;
	return lfpool_release_rcu(current.pool, object);
}

static const struct regime regime_rcu = {
	.open = rcu_open,
	.empty = rcu_empty,
	.enter = rcu_enter,
	.leave = rcu_leave,
	.begin = rcu_begin,
	.end = rcu_end,
	.pause = rcu_pause,
	.stray = rcu_stray,
	.insert = rcu_insert,
	.find = rcu_find,
	.take_out = rcu_take_out,
	.retire = rcu_retire,
	/* call_rcu() gathers for 10 ms. */
	.linger_ns = 50000000,
	.nanoseconds = 100000000,
};

const struct scenario scenario_rcu = NODES_SCENARIO(
	"rcu", "nodes of a hash table of liburcu are read while others take them out and retire them (--flavor)", &regime_rcu);
