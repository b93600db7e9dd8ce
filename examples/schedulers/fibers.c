/* SPDX-License-Identifier: MIT */
/*
 * fibers.c - the tree in fibers that wander from worker to worker.
 *
 *     scheduler-fibers [--workers N] [--allocator ...] [--capacity N] ...                    report.h has all of them
 *
 * The scheduler  A job waits in the deque of the worker that submitted it, like in steal.c.  The worker that takes it gives
 *                it a fiber, and the fiber stops in the middle of the job, between two children, as if it waited for a disk.
 *                 It goes to the inbox of the next worker, and to no other, so that every yield is a migration: with two
 *                workers or more a job goes on on another thread than it began, always, not by luck.
 * Who acquires   The fiber, for its children: half of them before it yields with the cache of one worker, half of them after
 *                with the cache of another.
 * Who releases   The fiber, at its end, with the cache of the worker that it is on by then.
 * Which cache    Always `worker->hand`, and `worker` is what fiber_yield() returned last.  Nothing is looked up by thread, so
 *                there is nothing that the compiler could remember of the thread before (fiber.h).  The alternative, a
 *                cache for each fiber, is as right; there are more of them, with less in each.
 * No record      The child is visited at once, on the same stack, and does not yield.
 * No fiber       When all are in use, all are under way: the job goes back to the deque, and the worker sees to its inbox, or
 *                gives the others time for their own.  Only where not one stack could be mapped it does the job on its
 *                own, and the job does not yield.
 */
#include "report.h"

#include "deque.h"
#include "fiber.h"
#include "harness.h"
#include "inbox.h"
#include "sleep.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#define FIBERS 256
/* Times a worker looks for work everywhere before it sleeps. */
#define ROUNDS_BEFORE_SLEEP 16

/* A record. */
struct job {
	struct tree_node node;
};

struct search;

struct worker {
	/* Shared. */
	struct deque jobs;   /* not begun            */
	struct inbox fibers; /* that go on here next */
	struct sleepers sleepers;

	/* The worker's alone, and the fiber's that it runs. */
	alignas(128) struct search *search;
	unsigned index;
	struct hand hand;
	lfpool_cache_t *fiber_cache;
	uint64_t nodes, inlined, yields, migrations, without_fiber;
	pthread_t thread;
};

struct search {
	const struct tree *tree;
	struct worker *workers;
	unsigned worker_count;
	lfpool_t *fibers;
	alignas(128) _Atomic(uint64_t) unfinished; /* jobs with a record */
};

/* ---- In a fiber, or without ----------------------------------------------------------------------------------------- */

/* False: the deque is full, nothing has changed.  It has room for every record of the pool, but not for all of malloc's. */
static bool spawn(struct worker *worker, struct job *job)
{
	struct search *search = worker->search;

	/* relaxed: a worker that lowers it has the job from here. */
	atomic_fetch_add_explicit(&search->unfinished, 1, memory_order_relaxed);
	if (!deque_push(&worker->jobs, job)) {
		/* relaxed: the submitter's own job is not finished, so this is not the last. */
		atomic_fetch_sub_explicit(&search->unfinished, 1, memory_order_relaxed);
		return false;
	}
	for (unsigned i = 0; i < search->worker_count; i++)
		if (i != worker->index)
			wake_one(&search->workers[i].sleepers);
	return true;
}

/* Visits a node.  `fiber` is NULL where it must not yield.  Returns the worker that it ends on. */
static struct worker *visit(struct worker *worker, struct fiber *fiber, const struct tree_node *node)
{
	const unsigned children = tree_children(worker->search->tree, node);

	for (unsigned i = 0; i < children; i++) {
		struct tree_node child;
		struct job *job;

		if (fiber && i > 0 && i == children / 2) {
			const struct worker *before = worker;

			/* From here on it is another worker, on another thread. */
			worker = fiber_yield(fiber);
			worker->yields++;
			worker->migrations += worker != before;
		}
		tree_child(node, i, &child);
		job = record_acquire(&worker->hand);
		if (job) {
			job->node = child;
			if (spawn(worker, job))
				continue;
			record_release(&worker->hand, job);
		}
		worker->inlined++;
		visit(worker, NULL, &child);
	}
	worker->nodes++;
	return worker;
}

static void finish(struct worker *worker, struct job *job)
{
	struct search *search = worker->search;

	record_release(&worker->hand, job);
	/* Releases what the job wrote to the worker that sees 0; seq_cst: before the look for sleepers (sleep.h). */
	if (atomic_fetch_sub_explicit(&search->unfinished, 1, memory_order_seq_cst) == 1)
		for (unsigned i = 0; i < search->worker_count; i++)
			wake_one(&search->workers[i].sleepers);
}

static void run_in_fiber(struct fiber *fiber, void *host, void *argument)
{
	struct job *job = argument;
	struct worker *worker = visit(host, fiber, &job->node);

	finish(worker, job);
}

/* ---- Workers -------------------------------------------------------------------------------------------------------- */

static void resume(struct worker *worker, struct fiber *fiber)
{
	struct search *search = worker->search;
	struct worker *next = &search->workers[(worker->index + 1) % search->worker_count];

	if (fiber_resume(fiber, worker)) {
		lfpool_cache_release(worker->fiber_cache, fiber);
		return;
	}
	/* Now, and not before, it stands still and can be handed on.  There is room for all fibers. */
	(void)inbox_put(&next->fibers, fiber);
	wake_one(&next->sleepers);
}

static void begin(struct worker *worker, struct job *job)
{
	struct fiber *fiber = lfpool_cache_acquire(worker->fiber_cache);

	if (fiber) {
		fiber_begin(fiber, run_in_fiber, job);
		resume(worker, fiber);
	} else if (lfpool_active_count(worker->search->fibers) > 0) {
		/* There is room: either it has just come from there, or there was nothing. */
		(void)deque_push(&worker->jobs, job);
		sched_yield();
	} else {
		worker->without_fiber++;
		visit(worker, NULL, &job->node);
		finish(worker, job);
	}
}

static struct job *find_job(struct worker *worker)
{
	struct search *search = worker->search;
	struct job *job = deque_pop(&worker->jobs);

	for (unsigned i = 1; !job && i < search->worker_count; i++)
		job = deque_steal(&search->workers[(worker->index + i) % search->worker_count].jobs);
	return job;
}

static bool all_done(struct search *search)
{
	/* seq_cst: after the sleeper has counted itself (sleep.h); and acquires what the jobs wrote. */
	return atomic_load_explicit(&search->unfinished, memory_order_seq_cst) == 0;
}

static bool reason_to_wake(const void *context)
{
	const struct worker *worker = context;
	struct search *search = worker->search;

	if (all_done(search) || !inbox_looks_empty(&search->workers[worker->index].fibers))
		return true;
	for (unsigned i = 0; i < search->worker_count; i++)
		if (!deque_looks_empty(&search->workers[i].jobs))
			return true;
	return false;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	unsigned idle_rounds = 0;

	while (!all_done(worker->search)) {
		/* First what is under way. */
		struct fiber *fiber = inbox_take(&worker->fibers);
		struct job *job = fiber ? NULL : find_job(worker);

		idle_rounds = fiber || job ? 0 : idle_rounds + 1;
		if (fiber)
			resume(worker, fiber);
		else if (job)
			begin(worker, job);
		else if (idle_rounds < ROUNDS_BEFORE_SLEEP)
			sched_yield();
		else
			sleep_until(&worker->sleepers, reason_to_wake, worker);
	}
	return NULL;
}

/* ---- The program ---------------------------------------------------------------------------------------------------- */

static bool worker_init(struct worker *worker, struct search *search, const struct records *records, size_t capacity)
{
	worker->search = search;
	worker->index = (unsigned)(worker - search->workers);
	worker->hand = hand_of_worker(records);
	worker->fiber_cache = lfpool_cache_create(search->fibers);
	sleepers_init(&worker->sleepers);
	return worker->fiber_cache && deque_init(&worker->jobs, capacity) && inbox_init(&worker->fibers, FIBERS);
}

/* Runs the root and all below it.  False: a thread could not be had. */
static bool run(struct search *search, struct job *root, struct result *result)
{
	struct worker *workers = search->workers;

	result->began_ns = now_ns();
	tree_root(search->tree, &root->node);
	(void)spawn(&workers[0], root);
	for (unsigned i = 1; i < search->worker_count; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return false;
	work(&workers[0]);
	for (unsigned i = 1; i < search->worker_count; i++)
		pthread_join(workers[i].thread, NULL);
	result->ended_ns = now_ns();
	return true;
}

int main(int argc, char **argv)
{
	const struct options options = parse_options("fibers", argc, argv);
	struct search search = {.tree = &options.tree, .worker_count = options.workers};
	struct records records;
	struct result result = {.nodes = 0};
	uint64_t yields = 0, migrations = 0, without_fiber = 0;

	if (!records_open(&records, options.allocator, sizeof(struct job), options.capacity))
		return 1;
	if (fibers_create(&search.fibers, FIBERS) != LFPOOL_OK)
		return 1;
	search.workers = aligned_alloc(128, options.workers * sizeof(*search.workers));
	if (!search.workers)
		return 3;
	memset(search.workers, 0, options.workers * sizeof(*search.workers));
	for (unsigned i = 0; i < options.workers; i++)
		if (!worker_init(&search.workers[i], &search, &records, options.capacity))
			return 3;

	struct job *root = record_acquire(&search.workers[0].hand);

	if (!root || !run(&search, root, &result))
		return 3;
	for (unsigned i = 0; i < options.workers; i++) {
		struct worker *worker = &search.workers[i];

		result.nodes += worker->nodes;
		result.inlined += worker->inlined;
		yields += worker->yields;
		migrations += worker->migrations;
		without_fiber += worker->without_fiber;
		deque_free(&worker->jobs);
		inbox_free(&worker->fibers);
		sleepers_destroy(&worker->sleepers);
	}
	printf("fibers    %" PRIu64 " yields, %" PRIu64 " migrations; %" PRIu64 " jobs without a fiber\n", yields, migrations,
	       without_fiber);
	free(search.workers);

	const size_t active = lfpool_destroy(search.fibers);
	/* With one worker there is nowhere to go. */
	const bool wandered = migrations == (options.workers > 1 ? yields : 0) && yields > 0;

	if (active != 0 || !wandered)
		printf("FAILED    %zu fibers were not released, %" PRIu64 " of %" PRIu64 " yields were migrations\n", active,
		       migrations, yields);

	const int status = report(&options, &records, &result);

	return active == 0 && wandered ? status : 1;
}
