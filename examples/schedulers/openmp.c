/* SPDX-License-Identifier: MIT */
/*
 * openmp.c - the tree as OpenMP tasks, with gcc's libgomp or clang's libomp.
 *
 *     scheduler-openmp [--workers N] [--allocator ...] [--capacity N] ...                    report.h has all of them
 *
 * The scheduler  The compiler makes a task of a block, and the runtime puts it where another thread of the team finds it.
 *                `taskwait` waits for the tasks that this one has spawned, and does some of them meanwhile.
 * Who acquires   The thread that runs the parent: once for each child that it spawns.
 * Who releases   The thread that has run the child.  If another thread took the task, that is not the one that acquired the
 *                record.
 * The caches     One for each thread of the team, found by omp_get_thread_num().  A task is *tied* unless it says
 *                otherwise: after a taskwait it goes on on the thread that began it, so a hand may be kept in a variable
 *                for as long as the task runs.  In an `untied` task it may not: ask for the number again each time.
 *                   A parallel region inside of a task is another team, which counts from 0 too: its threads would share
 *                the caches of the first.  There, use hand_of_all().
 * No record      The child is done at once, as a plain call.  The runtimes do the same: libgomp stops deferring tasks
 *                when there are 64 for each thread, libomp when a thread's queue of 256 is full.  So there are never
 *                more records in use than that and a few for each level of the tree, however large the tree is: a small
 *                pool will do.
 * Not pooled     The runtime makes a record of its own for each task, which no program can give it from a pool.  What is
 *                gained is in what the program itself keeps for each.
 * The end        The parallel region ends with a barrier, and all tasks have ended by then.  The threads live on, waiting for
 *                the next region; the caches, being the pool's and not the threads', go with the pool.
 */
#include "report.h"

#include <omp.h>

struct job {
	struct tree_node node;
};

/* Of each thread. */
static struct hand hands[WORKERS_MAX];
static struct tally tallies[WORKERS_MAX];

static void visit(const struct tree *tree, const struct tree_node *node, uint32_t *rest);

static void run(const struct tree *tree, struct job *job)
{
	uint32_t rest = 0;

	visit(tree, &job->node, &rest);
	record_release(&hands[omp_get_thread_num()], job);
}

/* The node, and all below it. */
static void visit(const struct tree *tree, const struct tree_node *node, uint32_t *rest)
{
	const int thread = omp_get_thread_num();
	const unsigned children = tree_children(tree, node);

	tallies[thread].nodes++;
	for (unsigned i = 0; i < children; i++) {
		struct job *job = record_ask(&hands[thread], rest);
		struct tree_node child;

		if (job) {
			tree_child(node, i, &job->node);
#pragma omp task firstprivate(tree, job) default(none)
			run(tree, job);
		} else {
			tree_child(node, i, &child);
			tallies[thread].inlined++;
			visit(tree, &child, rest);
		}
	}
#pragma omp taskwait
}

int main(int argc, char **argv)
{
	const struct options options = parse_options("openmp", argc, argv);
	const struct tree *tree = &options.tree;
	struct records records;
	struct tree_node root;
	uint32_t rest = 0;

	if (!records_open(&records, options.allocator, sizeof(struct job), options.capacity))
		return 1;
	/* As many as there may be; fewer, and the numbers of those that there are fit all the same. */
	omp_set_dynamic(0);
	for (unsigned i = 0; i < options.workers; i++)
		hands[i] = hand_of_worker(&records);
	tree_root(tree, &root);

	const uint64_t began_ns = now_ns();

#pragma omp parallel num_threads((int)options.workers) default(none) shared(tree, root, rest)
#pragma omp single
	visit(tree, &root, &rest);

	return report(&options, &records, now_ns() - began_ns, tallies, options.workers);
}
