/* SPDX-License-Identifier: MIT */
/*
 * main.c - threads that push on a stack, pop from it, and walk down it, all at once, for a while.
 *
 *     epoch_stack [--seconds N] [--walkers N] [--workers N] [--nodes N] [--seed N] [--no-deferral]
 *
 * Walkers go down from the top, in a section of a ck_epoch, and then look whether all that they met is still what it
 * was, though it may have been popped long ago.  Workers push and pop; each stamp that was pushed is popped once.
 * Start with stack.h.
 *
 * --no-deferral releases each node at once, as if no thread could be reading it.  Then a walker soon sees a node become
 * another one under its eyes, says so, and the program ends.
 *
 * Exit status  0: no node changed while it was looked at, and each stamp is accounted for.  1: not so, or no pool.  2:
 *              wrong usage.  3: no thread.
 */
#include "stack.h"

#include "command_line.h"

#include <inttypes.h>
#include <sched.h>

#define THREADS_MAX 64
#define DEPTH 16

struct options {
	unsigned long seconds, walkers, workers, nodes, seed;
	bool no_deferral;
};

struct counts {
	uint64_t walks, met;                   /* a walker's */
	uint64_t pushed, popped, empty, full;  /* a worker's */
	uint64_t stamps_pushed, stamps_popped; /* sums       */
};

struct site {
	struct options options;
	struct stack stack;
	_Atomic(bool) over;
};

struct visitor {
	struct site *site;
	pthread_t thread;
	unsigned index;
	ck_epoch_record_t record;
	struct random random;
	struct counts counts;
	size_t retired_at_most;
};

/* At once, and in the midst of everything: the stack may be in no state to go on with. */
static _Noreturn void tell_changed(const struct node *node, uint64_t stamp, const char *where)
{
	printf("FAILED: a node changed while it was looked at, %s: its stamp was %" PRIu64 ", and is %" PRIu64 "\n", where, stamp,
	       (uint64_t)node->stamp);
	fflush(stdout);
	_Exit(1);
}

/* ---- Walkers ----------------------------------------------------------------------------------------------- */

static void walk(struct visitor *visitor)
{
	const struct node *met[DEPTH];
	uint64_t stamps[DEPTH];
	unsigned count = 0;

	ck_epoch_begin(&visitor->record, NULL);
	const struct node *node = stack_top(&visitor->site->stack);

	for (; node && count < DEPTH; node = stack_below(node)) {
		/* relaxed: see stack.c. */
		stamps[count] = atomic_load_explicit(&node->stamp, memory_order_relaxed);
		met[count++] = node;
	}
	for (unsigned looks = 1 + random_below(&visitor->random, 20); looks; looks--) {
		for (unsigned i = 0; i < count; i++)
			if (!node_is(met[i], stamps[i]))
				tell_changed(met[i], stamps[i], "on a walk");
		/* Now and then another thread's turn, in the midst of a section. */
		if (looks == 10)
			sched_yield();
	}
	(void)ck_epoch_end(&visitor->record, NULL);
	visitor->counts.walks++;
	visitor->counts.met += count;
}

static void *walk_on(void *argument)
{
	struct visitor *visitor = argument;

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&visitor->site->over, memory_order_relaxed))
		walk(visitor);
	return NULL;
}

/* ---- Workers ----------------------------------------------------------------------------------------------- */

static void push(struct visitor *visitor)
{
	struct counts *counts = &visitor->counts;
	/* No two are the same. */
	const uint64_t stamp = counts->pushed * THREADS_MAX + visitor->index;

	if (stack_push(&visitor->site->stack, stamp)) {
		counts->pushed++;
		counts->stamps_pushed += stamp;
		return;
	}
	/* All wait for sections.  So does this worker, which is in none, while a walker goes on. */
	counts->full++;
	sched_yield();
}

static void pop(struct visitor *visitor)
{
	struct stack *stack = &visitor->site->stack;
	struct counts *counts = &visitor->counts;

	ck_epoch_begin(&visitor->record, NULL);
	struct node *node = stack_pop(stack);

	if (node) {
		const uint64_t stamp = atomic_load_explicit(&node->stamp, memory_order_relaxed);

		if (!node_is(node, stamp))
			tell_changed(node, stamp, "just popped");
		counts->popped++;
		counts->stamps_popped += stamp;
		stack_retire(stack, &visitor->record, node);
	} else {
		counts->empty++;
	}
	(void)ck_epoch_end(&visitor->record, NULL);
}

static void note_retired(struct visitor *visitor)
{
	const size_t retired = lfpool_retired_count(visitor->site->stack.pool);

	visitor->retired_at_most = retired > visitor->retired_at_most ? retired : visitor->retired_at_most;
}

static void *work(void *argument)
{
	struct visitor *visitor = argument;

	/* relaxed: a sign only. */
	for (unsigned i = 0; !atomic_load_explicit(&visitor->site->over, memory_order_relaxed); i++) {
		if (random_below(&visitor->random, 2))
			push(visitor);
		else
			pop(visitor);
		if (i % 256 == 0)
			note_retired(visitor);
	}
	return NULL;
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

/* Every stamp that was pushed was popped once; the last ones here. */
static bool settle(struct site *site, struct visitor *visitors, size_t count)
{
	struct visitor last = {.site = site};
	struct counts sum = {0};
	size_t retired_at_most = 0;
	lfpool_t *pool = site->stack.pool;

	for (size_t i = 0; i < count; i++) {
		const struct counts *c = &visitors[i].counts;

		sum.walks += c->walks;
		sum.met += c->met;
		sum.pushed += c->pushed;
		sum.popped += c->popped;
		sum.empty += c->empty;
		sum.full += c->full;
		sum.stamps_pushed += c->stamps_pushed;
		sum.stamps_popped += c->stamps_popped;
		if (visitors[i].retired_at_most > retired_at_most)
			retired_at_most = visitors[i].retired_at_most;
	}
	ck_epoch_register(&site->stack.epoch, &last.record, NULL);
	while (!last.counts.empty)
		pop(&last);
	printf("walkers   %" PRIu64 " walks met %" PRIu64 " nodes, and none changed\n", sum.walks, sum.met);
	printf("workers   %" PRIu64 " pushed = %" PRIu64 " popped + %" PRIu64 " left; %" PRIu64 " found it empty, %" PRIu64
	       " found no node\n",
	       sum.pushed, sum.popped, last.counts.popped, sum.empty, sum.full);
	bool ok = sum.pushed == sum.popped + last.counts.popped;

	ok = sum.stamps_pushed == sum.stamps_popped + last.counts.stamps_popped && ok;
	ok = lfpool_drain(pool) == LFPOOL_OK && lfpool_retired_count(pool) == 0 && ok;
	ok = lfpool_active_count(pool) == 0 && lfpool_misuse_count(pool) == 0 && !lfpool_check(pool, NULL) && ok;
	printf("pool      %zu nodes of %zu bytes = %zu KiB, whatever happens; at most %zu retired at once\n",
	       lfpool_capacity(pool), sizeof(struct node), lfpool_capacity(pool) * sizeof(struct node) / 1024, retired_at_most);
	return stack_close(&site->stack) == 0 && ok;
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	struct options options = {.seconds = 2, .walkers = 1, .workers = 2, .nodes = 1000, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seconds", &options.seconds, 1, 3600),
					  OPTION_NUMBER("walkers", &options.walkers, 1, THREADS_MAX / 2),
					  OPTION_NUMBER("workers", &options.workers, 1, THREADS_MAX / 2),
					  OPTION_NUMBER("nodes", &options.nodes, 8, 100000000),
					  OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX),
					  OPTION_FLAG("no-deferral", &options.no_deferral),
					  OPTIONS_END};

	(void)command_line("epoch_stack", rows, NULL, argc, argv);
	return options;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static struct site site;
	static struct visitor visitors[THREADS_MAX];

	site.options = parse_options(argc, argv);
	const size_t walkers = site.options.walkers, count = walkers + site.options.workers;

	if (!stack_open(&site.stack, site.options.nodes, !site.options.no_deferral))
		return 1;
	for (size_t i = 0; i < count; i++) {
		visitors[i].site = &site;
		visitors[i].index = (unsigned)i;
		visitors[i].random = random_for(site.options.seed, (unsigned)i);
		ck_epoch_register(&site.stack.epoch, &visitors[i].record, NULL);
		thread_start(&visitors[i].thread, i < walkers ? walk_on : work, &visitors[i]);
	}
	nanosleep(&(struct timespec){.tv_sec = (time_t)site.options.seconds}, NULL);
	/* relaxed: a sign only. */
	atomic_store_explicit(&site.over, true, memory_order_relaxed);
	for (size_t i = 0; i < count; i++)
		pthread_join(visitors[i].thread, NULL);
	const bool ok = settle(&site, visitors, count);

	puts(ok ? "every stamp is accounted for" : "FAILED: the accounts do not agree");
	return ok ? 0 : 1;
}
