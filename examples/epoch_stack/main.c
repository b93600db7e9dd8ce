/* SPDX-License-Identifier: MIT */
/*
 * main.c - a lock-free stack of nodes from a pool: ConcurrencyKit's ck_stack, in sections of a ck_epoch.
 *
 *     epoch_stack [--readers N] [--writers N] [--nodes N] ...                                crowd.h has all of them
 *
 * Idea         The top of the stack is one pointer, without a tag.  A pop reads the top's link, and then replaces the
 *              top by it, if the top is unchanged.  That is wrong if the node was popped, reused, and pushed again in
 *              between: it is the top again, but with another link.  (The ABA problem.) Nor may a walk down the stack
 *              meet a reused node.  In a section of an epoch neither can happen: a popped node is retired
 *              (lfpool_retire()), and becomes free only after every section that may know the node has ended.
 * Stamps       A node gets a new stamp on each use.  So a thread that holds a node can check that it has not changed.
 *              Each pushed stamp is popped once.
 */
#include <ck_epoch.h>
#include <ck_stack.h>

#include "crowd.h"
#include "lfpool/epoch.h"

#include <sched.h>

#define DEPTH 16

struct node {
	ck_stack_entry_t link; /* the first member: its address is the node's */
	_Atomic(uint64_t) stamp, sum;
};

static ck_stack_t stack;
static ck_epoch_t epoch;
static ck_epoch_record_t records[THREADS_MAX]; /* one for each thread */
static lfpool_scheme_t scheme;
static lfpool_t *pool;
static struct options options;

/* The threads' counts. */
enum { WALKS, MET, PUSHED, POPPED, EMPTY, FULL, STAMPS_PUSHED, STAMPS_POPPED };

/* ---- Nodes ------------------------------------------------------------------------------------------------- */

/* relaxed, all: the stack orders the writes before a push before the reads after it.  Without --no-deferral the fields
 * would not have to be atomic. */
static uint64_t stamp_of(const struct node *node)
{
	return atomic_load_explicit(&node->stamp, memory_order_relaxed);
}

static void require_same(const struct node *node, uint64_t stamp, const char *where)
{
	if (stamp_of(node) != stamp || atomic_load_explicit(&node->sum, memory_order_relaxed) != 3 * stamp)
		tell_changed(where, stamp, stamp_of(node));
}

/* ---- The stack --------------------------------------------------------------------------------------------- */

static bool stack_open(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	ck_stack_init(&stack);
	ck_epoch_init(&epoch);
	if (lfpool_epoch_create(&scheme, &epoch) != LFPOOL_OK)
		return false;
	config.name = "stack nodes";
	config.object_size = sizeof(struct node);
	config.object_alignment = _Alignof(struct node);
	config.capacity = options.nodes;
	config.scheme = scheme;
	return lfpool_create(&pool, &config) == LFPOOL_OK;
}

/* False: all nodes are in use, or wait for sections to end. */
static bool push(uint64_t stamp)
{
	struct node *node = lfpool_acquire(pool);

	if (!node)
		return false;
	atomic_store_explicit(&node->stamp, stamp, memory_order_relaxed);
	atomic_store_explicit(&node->sum, 3 * stamp, memory_order_relaxed);
	ck_stack_push_upmc(&stack, &node->link);
	return true;
}

/* Returns the stamp of the top node; false: the stack is empty. */
static bool pop(ck_epoch_record_t *record, uint64_t *stamp_out)
{
	ck_epoch_begin(record, NULL);
	struct node *node = (struct node *)(void *)ck_stack_pop_upmc(&stack);

	if (node) {
		*stamp_out = stamp_of(node);
		require_same(node, *stamp_out, "just popped");
		if (options.no_deferral)
			lfpool_release(pool, node);
		else
			lfpool_retire(pool, node);
	}
	(void)ck_epoch_end(record, NULL);
	return node != NULL;
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */

/* Walks down from the top.  Then every node that it met must be unchanged, even if popped long ago. */
static void walk(struct visitor *visitor)
{
	ck_epoch_record_t *record = &records[visitor->index];
	const struct node *met[DEPTH];
	uint64_t stamps[DEPTH];
	unsigned count = 0;

	ck_epoch_begin(record, NULL);
	for (const struct node *node = (const struct node *)ck_pr_load_ptr(&stack.head); node && count < DEPTH;
	     node = (const struct node *)ck_pr_load_ptr(&node->link.next)) {
		stamps[count] = stamp_of(node);
		met[count++] = node;
	}
	for (unsigned looks = 1 + random_below(&visitor->random, 20); looks; looks--) {
		for (unsigned i = 0; i < count; i++)
			require_same(met[i], stamps[i], "on a walk");
		/* Now and then lets another thread run, in the middle of a section. */
		if (looks == 10)
			sched_yield();
	}
	(void)ck_epoch_end(record, NULL);
	visitor->counts[WALKS]++;
	visitor->counts[MET] += count;
}

static void *walk_on(void *argument)
{
	struct visitor *visitor = argument;

	ck_epoch_register(&epoch, &records[visitor->index], NULL);
	while (!is_over())
		walk(visitor);
	return NULL;
}

static void count_pop(struct visitor *visitor)
{
	uint64_t stamp;

	if (pop(&records[visitor->index], &stamp)) {
		visitor->counts[POPPED]++;
		visitor->counts[STAMPS_POPPED] += stamp;
	} else {
		visitor->counts[EMPTY]++;
	}
}

static void count_push(struct visitor *visitor)
{
	/* Each stamp is unique. */
	const uint64_t stamp = visitor->counts[PUSHED] * THREADS_MAX + visitor->index;

	if (push(stamp)) {
		visitor->counts[PUSHED]++;
		visitor->counts[STAMPS_PUSHED] += stamp;
	} else {
		/* The nodes wait for sections of walkers.  This thread is in none: it lets a walker run. */
		visitor->counts[FULL]++;
		sched_yield();
	}
}

static void *push_and_pop(void *argument)
{
	struct visitor *visitor = argument;

	ck_epoch_register(&epoch, &records[visitor->index], NULL);
	for (unsigned i = 0; !is_over(); i++) {
		if (random_below(&visitor->random, 2))
			count_push(visitor);
		else
			count_pop(visitor);
		if (i % 256 == 0)
			note_retired(visitor, pool);
	}
	return NULL;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

/* Pops the remaining nodes.  Then every pushed stamp must have been popped once. */
static bool settle(struct visitor *sum)
{
	const uint64_t popped = sum->counts[POPPED], empty = sum->counts[EMPTY];

	ck_epoch_register(&epoch, &records[sum->index], NULL);
	while (sum->counts[EMPTY] == empty)
		count_pop(sum);
	printf("walkers   %" PRIu64 " walks met %" PRIu64 " nodes, and none changed\n", sum->counts[WALKS],
	       sum->counts[MET]);
	printf("workers   %" PRIu64 " pushed = %" PRIu64 " popped + %" PRIu64 " left; %" PRIu64
	       " found it empty, %" PRIu64 " found no node\n",
	       sum->counts[PUSHED], popped, sum->counts[POPPED] - popped, empty, sum->counts[FULL]);

	bool ok = sum->counts[PUSHED] == sum->counts[POPPED] &&
		  sum->counts[STAMPS_PUSHED] == sum->counts[STAMPS_POPPED];

	ok = settle_pool(pool, sizeof(struct node), sum->retired_at_most) && ok;
	lfpool_epoch_destroy(scheme);
	return ok;
}

int main(int argc, char **argv)
{
	options = parse_options("epoch_stack", argc, argv);
	if (!stack_open()) {
		fputs("epoch_stack: no pool\n", stderr);
		return 1;
	}

	struct visitor sum = crowd_run(&options, walk_on, push_and_pop);
	const bool ok = settle(&sum);

	puts(ok ? "every stamp is accounted for" : "FAILED: the accounts do not agree");
	return ok ? 0 : 1;
}
