/* SPDX-License-Identifier: MIT */
/*
 * steal.c - the tree in the work-stealing job system of examples/jobs.
 *
 *     scheduler-steal [--workers N] [--allocator ...] [--capacity N] ...                     report.h has all of them
 *
 * The scheduler  A deque for each worker (Chase and Lev 2005).  A worker that submits a job puts it at the bottom of its own
 *                and takes the next from there, like a stack; one that has none takes the oldest of another's: the one with
 *                most below it.  So the tree is searched depth first, a few hundred jobs wait where a queue has a million,
 *                and most records are acquired, used and released by one worker.
 * Who acquires   The worker that runs the parent, from its own cache: a handle, no look-up, the hit inlined.
 * Who releases   The worker that ends the job: with its function, or with the last of its children.
 * No record      The worker does the child at once, as a part of its parent.  The tree goes down only so far.
 * The end        A record is released before the parent is told, so when the root has ended all are back.
 *
 * A job is a node and nothing more.  What a job counts belongs to the worker that runs it: no atomic, no sharing.
 */
#include "report.h"

#include "harness.h"
#include "jobs.h"

#include <inttypes.h>
#include <stdalign.h>

/* Of one worker. */
struct tally {
	alignas(128) uint64_t nodes;
};

struct search {
	const struct tree *tree;
	struct tally *tallies;
};

static void visit(struct jobs_worker *worker, const void *payload)
{
	const struct search *search = jobs_context(worker);
	const struct tree_node *node = payload;
	const unsigned children = tree_children(search->tree, node);

	search->tallies[jobs_worker_index(worker)].nodes++;
	for (unsigned i = 0; i < children; i++) {
		struct tree_node child;

		tree_child(node, i, &child);
		jobs_submit(worker, visit, &child, sizeof(child));
	}
}

int main(int argc, char **argv)
{
	const struct options options = parse_options("steal", argc, argv);
	struct records records;

	if (!records_open(&records, options.allocator, JOB_RECORD_BYTES, options.capacity))
		return 1;

	struct search search = {
		.tree = &options.tree,
		.tallies = aligned_alloc(alignof(struct tally), options.workers * sizeof(struct tally)),
	};
	const struct jobs_config config = {
		.workers = options.workers,
		.capacity = options.capacity,
		.edges = 1, /* none is used */
		.pool = records.pool,
		.heap = !records.pool,
		.context = &search,
	};
	struct result result = {.nodes = 0};
	struct tree_node root;
	struct jobs *jobs;

	if (!search.tallies || jobs_create(&jobs, &config) != LFPOOL_OK)
		return 3;
	for (unsigned i = 0; i < options.workers; i++)
		search.tallies[i].nodes = 0;
	tree_root(&options.tree, &root);
	result.began_ns = now_ns();
	jobs_run(jobs, visit, &root, sizeof(root));
	result.ended_ns = now_ns();
	for (unsigned i = 0; i < options.workers; i++)
		result.nodes += search.tallies[i].nodes;

	const struct jobs_report figures = jobs_report(jobs);

	result.inlined = figures.at_once_empty;
	printf("stolen    %" PRIu64 " of %" PRIu64 " jobs; %" PRIu64 " released by another worker than acquired them\n",
	       figures.stolen, figures.submitted, figures.elsewhere);
	jobs_destroy(jobs);
	free(search.tallies);
	return report(&options, &records, &result);
}
