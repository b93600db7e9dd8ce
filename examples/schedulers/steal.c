/* SPDX-License-Identifier: MIT */
/*
 * steal.c - the tree in the work-stealing job system of examples/jobs.
 *
 *     scheduler-steal [--workers N] [--allocator ...] [--capacity N] ...                     report.h has all of them
 *
 * The scheduler  A worker that submits a job puts it at the bottom of its own deque and takes the next from there; one that has
 *                none takes the oldest of another's: the one with most below it.  So the tree is searched depth first, a few
 *                hundred jobs wait where a queue has a million, and most records are acquired, used and released by one worker.
 * Who acquires   The worker that runs the parent, from its own cache: a handle, no look-up, the hit inlined.
 * Who releases   The worker that ends the job: with its function, or with the last of its children.
 * No record      The worker does the child at once, as a part of its parent.  The tree goes down only so far.
 * The end        A record is released before the parent is told, so when the root has ended all are back.
 *
 * A job is a node and nothing more.  What a job counts belongs to the worker that runs it: no atomic, no sharing.
 */
#include "report.h"

#include "jobs.h"

#include <inttypes.h>

struct search {
	const struct tree *tree;
	struct tally tallies[WORKERS_MAX];
};

static void visit(struct jobs_worker *worker, const void *payload)
{
	struct search *search = jobs_context(worker);
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
	static struct search search;
	const struct options options = parse_options("steal", argc, argv);
	struct records records;
	struct tree_node root;

	if (!records_open(&records, options.allocator, JOB_RECORD_BYTES, options.capacity))
		return 1;

	struct jobs *jobs = jobs_create(options.workers, records.pool, &search);

	if (!jobs)
		return 3;
	search.tree = &options.tree;
	tree_root(&options.tree, &root);

	const uint64_t began_ns = now_ns();

	jobs_run(jobs, visit, &root, sizeof(root));

	const uint64_t took_ns = now_ns() - began_ns;
	const struct jobs_report figures = jobs_report(jobs);

	jobs_destroy(jobs);
	search.tallies[0].inlined = figures.at_once;
	printf("stolen    %" PRIu64 " of %" PRIu64 " jobs; %" PRIu64 " released by another worker than acquired them\n",
	       figures.stolen, figures.submitted, figures.elsewhere);
	return report(&options, &records, took_ns, search.tallies, options.workers);
}
