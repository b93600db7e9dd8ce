/* SPDX-License-Identifier: MIT */
/*
 * epoch.c - scenario: the nodes are in a structure of ConcurrencyKit, and its epochs stand between taking out and reuse
 * (lfpool/epoch.h).
 *
 * A round draws the structure: a stack (ck_stack) that every thread pushes to and pops from with single-word CAS, so that
 * only the deferral keeps it from ABA; or a hash set (ck_hs), written under a lock and read without.
 *
 * ThreadSan    What ConcurrencyKit orders is told as rcu_shim.h does it: a reader's section before what happens after the
 *              scheme has said that a batch is ready.  The scheme under test is called as it is, from one that tells
 *              that; so under ThreadSanitizer objects are retired by lfpool_retire(), since lfpool_release_epoch()
 *              insists on the scheme itself.
 */
#include "nodes.h"

#include "common/annotate.h"
#include "ck_calls.h"
#include "scenario.h"

#include "lfpool/epoch.h"

#include <ck_hs.h>
#include <string.h>

/* A map that ck_hs has outgrown: readers may be in it. */
struct outgrown {
	struct outgrown *next;
	void *memory;
};

static struct {
	ck_epoch_t epoch;
	lfpool_epoch_t *gate;
	lfpool_scheme_t scheme; /* of the gate               */
	ck_epoch_record_t *records;
	bool stacked;
	ck_stack_t stack;
	_Atomic(uint32_t) count; /* on it, or about to be     */
	ck_hs_t set;
	pthread_mutex_t writing; /* to the set                */
} epoch;

/* The place of all releases by readers. */
static const char sections;

/* Under `writing`; in a test program one list is enough for all sets. */
static struct outgrown *outgrown;

/* ---- The scheme ---- */

static void on_begin(void *context, lfpool_batch_t *batch)
{
	(void)context;
	epoch.scheme.begin(epoch.scheme.context, batch);
}

static bool on_ready(void *context, const lfpool_batch_t *batch)
{
	(void)context;
	if (!epoch.scheme.ready(epoch.scheme.context, batch))
		return false;
	ordered_after(&sections);
	return true;
}

/* ---- The set ---- */

static void *map_allocate(size_t bytes)
{
	return malloc(bytes);
}

static void map_free(void *memory, size_t bytes, bool defer)
{
	struct outgrown *later;

	(void)bytes;
	if (!defer) {
		free(memory);
		return;
	}
	later = round_memory(1, sizeof(*later));
	later->memory = memory;
	later->next = outgrown;
	outgrown = later;
}

static struct ck_malloc maps = {.malloc = map_allocate, .free = map_free};

/* A node that the structure has handed us: it orders its insertion before that. */
static const struct node *seen(const void *node)
{
	ordered_after(node);
	return node;
}

static unsigned long hash_of(const void *node, unsigned long seed)
{
	return (unsigned long)((seen(node)->key ^ seed) * UINT64_C(0x9e3779b97f4a7c15) >> 7);
}

static bool equal(const void *a, const void *b)
{
	return seen(a)->key == seen(b)->key;
}

static unsigned long hash_in(const struct node *node)
{
	return CK_HS_HASH(&epoch.set, hash_of, node);
}

/* ---- The regime ---- */

static void epoch_open(void)
{
	const unsigned mode = CK_HS_MODE_SPMC | CK_HS_MODE_OBJECT | (random_below(&current.random, 2) ? CK_HS_MODE_DELETE : 0);

	memset(&epoch, 0, sizeof(epoch));
	ck_epoch_init(&epoch.epoch);
	epoch.records = round_memory(current.threads + 1, sizeof(*epoch.records));
	epoch.stacked = random_below(&current.random, 2);
	pthread_mutex_init(&epoch.writing, NULL);
	if (lfpool_epoch_create(&epoch.gate, &epoch.epoch) != LFPOOL_OK ||
	    (!epoch.stacked && !ck_hs_init(&epoch.set, mode, hash_of, equal, &maps, nodes.keys, random_next(&current.random))))
		say_no_memory("epochs");
	epoch.scheme = lfpool_epoch_scheme(epoch.gate);
	current.config.scheme = ANNOTATED ? (lfpool_scheme_t){.context = &epoch, .begin = on_begin, .ready = on_ready}
					  : epoch.scheme;
	round_remark(", %s", epoch.stacked ? "stack" : "set");
}

static void epoch_empty(void)
{
	if (epoch.stacked ? calls_below_top(&epoch.stack, 0) != NULL : ck_hs_count(&epoch.set) != 0)
		violation("a node is left");
}

static void epoch_close(void)
{
	if (!epoch.stacked)
		ck_hs_destroy(&epoch.set);
	while (outgrown) {
		struct outgrown *next = outgrown->next;

		free(outgrown->memory);
		free(outgrown);
		outgrown = next;
	}
	lfpool_epoch_destroy(epoch.gate);
	pthread_mutex_destroy(&epoch.writing);
	free(epoch.records);
}

static void epoch_enter(struct actor *actor)
{
	actor->own = &epoch.records[actor->worker->index];
	ck_epoch_register(&epoch.epoch, actor->own, NULL);
}

static void epoch_leave(struct actor *actor)
{
	ck_epoch_unregister(actor->own);
}

static void epoch_begin(struct actor *actor)
{
	calls_begin(actor->own);
}

static void epoch_end(struct actor *actor)
{
	ordered_before(&sections);
	calls_end(actor->own);
}

static bool stack_insert(struct node *node)
{
	/* relaxed, here and below: no more than a limit. */
	if (atomic_fetch_add_explicit(&epoch.count, 1, memory_order_relaxed) >= nodes.keys) {
		atomic_fetch_sub_explicit(&epoch.count, 1, memory_order_relaxed);
		return false;
	}
	ordered_before(node);
	calls_push(&epoch.stack, (ck_stack_entry_t *)(void *)node->link);
	return true;
}

static struct node *stack_take_out(void)
{
	ck_stack_entry_t *entry = calls_pop(&epoch.stack);

	if (!entry)
		return NULL;
	atomic_fetch_sub_explicit(&epoch.count, 1, memory_order_relaxed);
	ordered_after(entry);
	return (struct node *)(void *)entry;
}

static bool epoch_insert(struct actor *actor, struct node *node)
{
	bool there;

	(void)actor;
	if (epoch.stacked)
		return stack_insert(node);
	pthread_mutex_lock(&epoch.writing);
	ordered_before(node);
	there = ck_hs_put(&epoch.set, hash_in(node), node);
	pthread_mutex_unlock(&epoch.writing);
	return there;
}

static struct node *epoch_find(struct actor *actor, uint64_t key)
{
	const struct node probe = {.key = key};

	(void)actor;
	struct node *node = epoch.stacked ? (void *)calls_below_top(&epoch.stack, (unsigned)key % 4)
					  : ck_hs_get(&epoch.set, hash_in(&probe), &probe);

	if (node)
		ordered_after(node);
	return node;
}

static struct node *epoch_take_out(struct actor *actor, uint64_t key, bool *ours_out)
{
	const struct node probe = {.key = key};
	struct node *node;

	(void)actor;
	*ours_out = true;
	if (epoch.stacked)
		return stack_take_out();
	pthread_mutex_lock(&epoch.writing);
	node = ck_hs_remove(&epoch.set, hash_in(&probe), &probe);
	pthread_mutex_unlock(&epoch.writing);
	return node;
}

static lfpool_status_t epoch_retire(struct actor *actor, void *object)
{
	lfpool_t *pool = current.pool;

	return ANNOTATED ? lfpool_retire(pool, object) : lfpool_release_epoch(pool, actor->own, object);
}

static const struct regime regime_epoch = {
	.open = epoch_open,
	.empty = epoch_empty,
	.close = epoch_close,
	.enter = epoch_enter,
	.leave = epoch_leave,
	.begin = epoch_begin,
	.end = epoch_end,
	.insert = epoch_insert,
	.find = epoch_find,
	.take_out = epoch_take_out,
	.retire = epoch_retire,
	.linger_ns = 4000000,
};

const struct scenario scenario_epoch = NODES_SCENARIO(
	"epoch", "nodes of a stack or a set of ConcurrencyKit are read while others take them out and retire them",
	&regime_epoch);
