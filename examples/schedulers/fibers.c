/* SPDX-License-Identifier: MIT */
/*
 * fibers.c - the tree in fibers that wander from worker to worker of the job system of examples/jobs.
 *
 *     scheduler-fibers [--workers N] [--allocator ...] [--capacity N] ...                    report.h has all of them
 *
 * The scheduler  Each job gets a fiber, and the fiber stops in the middle of the job, between two children, as if it waited for
 *                a disk.  The job hands it on: it submits another one, which resumes the fiber, to the next worker and to no
 *                other.  So every yield is a migration: with two workers or more a fiber goes on on another thread, always,
 *                not by luck.  (And the job has not ended before the other one has: what it includes goes with the fiber.)
 * Who acquires   The fiber, for its children: half of them before it yields with the cache of one worker, half of them after
 *                with the cache of another.
 * Which cache    That of `worker`, which is what fiber_yield() returned last.  Nothing is looked up by thread, so there is
 *                nothing that the compiler could remember of the thread before (fiber.h).
 * No record      A child is visited at once, and a fiber that should be handed on goes on where it is.
 * No fiber       The job does without, and does not yield.
 */
#include "report.h"

#include "fiber.h"
#include "jobs.h"

#include <inttypes.h>

#define FIBERS 256

/* A worker's own. */
struct own {
	alignas(128) lfpool_cache_t *fibers;
	uint64_t yields, migrations, stayed, without_fiber;
};

struct search {
	const struct tree *tree;
	unsigned workers;
	struct own own[WORKERS_MAX];
	struct tally tallies[WORKERS_MAX];
};

static struct own *own(struct jobs_worker *worker)
{
	struct search *search = jobs_context(worker);

	return &search->own[jobs_worker_index(worker)];
}

static void run(struct jobs_worker *worker, const void *payload);

/* Visits a node.  `fiber` is NULL where it must not yield. */
static void visit(struct jobs_worker *worker, struct fiber *fiber, const struct tree_node *node)
{
	struct search *search = jobs_context(worker);
	const unsigned children = tree_children(search->tree, node);

	for (unsigned i = 0; i < children; i++) {
		struct tree_node child;

		if (fiber && i > 0 && i == children / 2) {
			const struct jobs_worker *before = worker;

			/* From here on it is another worker, on another thread. */
			worker = fiber_yield(fiber);
			own(worker)->yields++;
			own(worker)->migrations += worker != before;
		}
		tree_child(node, i, &child);
		jobs_submit(worker, run, &child, sizeof(child));
	}
	search->tallies[jobs_worker_index(worker)].nodes++;
}

static void run_in_fiber(struct fiber *fiber, void *worker, const void *payload)
{
	/* A copy: the payload is the job's, which may have handed the fiber on, and returned. */
	const struct tree_node node = *(const struct tree_node *)payload;

	visit(worker, fiber, &node);
}

/* A job, too: lets a fiber go on, on this worker. */
static void resume(struct jobs_worker *worker, const void *payload)
{
	struct fiber *fiber = *(struct fiber *const *)payload;
	const struct search *search = jobs_context(worker);
	const unsigned next = (jobs_worker_index(worker) + 1) % search->workers;

	while (!fiber_resume(fiber, worker)) {
		/* Now, and not before, it stands still and can be handed on. */
		if (jobs_submit_to(worker, next, resume, &fiber, sizeof(fiber)))
			return;
		own(worker)->stayed++;
	}
	lfpool_cache_release(own(worker)->fibers, fiber);
}

static void run(struct jobs_worker *worker, const void *payload)
{
	struct fiber *fiber = lfpool_cache_acquire(own(worker)->fibers);

	if (fiber) {
		fiber_begin(fiber, run_in_fiber, payload);
		resume(worker, &fiber);
	} else {
		own(worker)->without_fiber++;
		visit(worker, NULL, payload);
	}
}

/* Says what the fibers did.  False: not all wandered at each yield, or they did not come back. */
static bool tell_fibers(const struct search *search, size_t lost, bool always)
{
	struct own sum = {.yields = 0};

	for (unsigned i = 0; i < search->workers; i++) {
		sum.yields += search->own[i].yields;
		sum.migrations += search->own[i].migrations;
		sum.stayed += search->own[i].stayed;
		sum.without_fiber += search->own[i].without_fiber;
	}
	printf("fibers    %" PRIu64 " yields, %" PRIu64 " migrations, %" PRIu64 " stayed; %" PRIu64 " jobs without a fiber\n",
	       sum.yields, sum.migrations, sum.stayed, sum.without_fiber);
	/* With one worker there is nowhere to go. */
	if (lost == 0 && sum.yields > 0 && sum.migrations == (search->workers > 1 ? sum.yields - sum.stayed : 0) &&
	    !(always && sum.stayed))
		return true;
	printf("FAILED    %zu fibers were not released, or they did not wander\n", lost);
	return false;
}

int main(int argc, char **argv)
{
	static struct search search;
	const struct options options = parse_options("fibers", argc, argv);
	struct records records;
	struct tree_node root;
	lfpool_t *fibers;

	if (!records_open(&records, options.allocator, JOB_RECORD_BYTES, options.capacity))
		return 1;
	if (fibers_create(&fibers, FIBERS) != LFPOOL_OK)
		return 1;
	search.tree = &options.tree;
	search.workers = options.workers;
	for (unsigned i = 0; i < options.workers; i++)
		if (!(search.own[i].fibers = lfpool_cache_create(fibers)))
			return 3;

	struct jobs *jobs = jobs_create(options.workers, records.pool, &search);

	if (!jobs)
		return 3;
	tree_root(&options.tree, &root);

	const uint64_t began_ns = now_ns();

	jobs_run(jobs, run, &root, sizeof(root));

	const uint64_t took_ns = now_ns() - began_ns;

	search.tallies[0].inlined = jobs_report(jobs).at_once;
	jobs_destroy(jobs);

	/* With records for all nodes and for all fibers there is always one to hand a fiber on. */
	const bool always = options.capacity > 2 * tree_count(&options.tree);
	const bool wandered = tell_fibers(&search, lfpool_destroy(fibers), always);
	const int status = report(&options, &records, took_ns, search.tallies, options.workers);

	return wandered ? status : 1;
}
