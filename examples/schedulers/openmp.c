/* SPDX-License-Identifier: MIT */
/*
 * openmp.c - the tree as OpenMP tasks, with gcc's libgomp or clang's libomp.
 *
 *     scheduler-openmp [--workers N] [--allocator ...] [--capacity N] ...                    report.h has all of them
 *
 * The scheduler  The compiler makes a task of a block, and the runtime puts it where another thread of the team finds it.
 *                `taskwait` waits for the tasks that this one has spawned, and does some of them meanwhile.
 * Who acquires   The thread that runs the parent: once for each child that it spawns.
 * Who releases   The thread that has run the child, when the child has told its parent what it found.  If another thread
 *                took the task, that is not the one that acquired the record.  The parent waits in `taskwait`, so it is
 *                still there to be told.
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

#include "harness.h"

#include <omp.h>
#include <stdatomic.h>

struct job {
	struct tree_node node;
	_Atomic(uint64_t) *found; /* where its parent adds up */
};

struct search {
	const struct tree *tree;
	struct hand *hands; /* of each thread */
	_Atomic(uint64_t) inlined;
};

static uint64_t visit(struct search *search, const struct tree_node *node, uint32_t *rest);

static void run(struct search *search, struct job *job)
{
	uint32_t rest = 0;
	const uint64_t found = visit(search, &job->node, &rest);

	/* relaxed: the parent reads it after its taskwait. */
	atomic_fetch_add_explicit(job->found, found, memory_order_relaxed);
	record_release(&search->hands[omp_get_thread_num()], job);
}

/* How many nodes there are at and below this one. */
static uint64_t visit(struct search *search, const struct tree_node *node, uint32_t *rest)
{
	const struct hand *hand = &search->hands[omp_get_thread_num()];
	const unsigned children = tree_children(search->tree, node);
	_Atomic(uint64_t) found;

	atomic_init(&found, 1);
	for (unsigned i = 0; i < children; i++) {
		struct job *job = record_ask(hand, rest);

		if (job) {
			tree_child(node, i, &job->node);
			job->found = &found;
#pragma omp task firstprivate(search, job) default(none)
			run(search, job);
		} else {
			struct tree_node child;

			tree_child(node, i, &child);
			/* relaxed: a sum, read after the region; and as in run(). */
			atomic_fetch_add_explicit(&search->inlined, 1, memory_order_relaxed);
			atomic_fetch_add_explicit(&found, visit(search, &child, rest), memory_order_relaxed);
		}
	}
#pragma omp taskwait
	/* relaxed: the children's writes came before the end of the taskwait. */
	return atomic_load_explicit(&found, memory_order_relaxed);
}

int main(int argc, char **argv)
{
	const struct options options = parse_options("openmp", argc, argv);
	struct hand *hands = malloc(options.workers * sizeof(*hands));
	struct search search = {.tree = &options.tree, .hands = hands};
	struct result result = {0};
	struct records records;
	struct tree_node root;
	uint32_t rest = 0;

	if (!hands)
		return 3;
	if (!records_open(&records, options.allocator, sizeof(struct job), options.capacity))
		return 1;
	/* As many as there may be; fewer, and the numbers of those that there are fit all the same. */
	omp_set_dynamic(0);
	for (unsigned i = 0; i < options.workers; i++)
		hands[i] = hand_of_worker(&records);
	tree_root(&options.tree, &root);
	result.began_ns = now_ns();
#pragma omp parallel num_threads((int)options.workers) default(none) shared(search, root, rest, result)
#pragma omp single
	result.nodes = visit(&search, &root, &rest);
	result.ended_ns = now_ns();
	result.inlined = search.inlined;
	const int status = report(&options, &records, &result);

	free(hands);
	return status;
}
