/* SPDX-License-Identifier: MIT */
/*
 * uv.c - the tree in libuv's thread pool.
 *
 *     scheduler-uv [--workers N] [--allocator ...] [--capacity N] ...                        report.h has all of them
 *
 * The scheduler  uv_queue_work() may be called by the thread of the loop alone.  A thread of the pool does the work; then the
 *                loop calls the second function, on its own thread again.  The request, a uv_work_t, must stay where it is
 *                until then: so it is part of the record, and a job costs one record instead of one and a request.
 * Who acquires   The thread of the pool that runs the parent.  It cannot queue the children, but it can prepare them: it takes
 *                a record for each, and hangs them onto the parent's.
 * Who releases   The loop, when it has queued what hangs on the record.  So no record ever comes back on the thread that took
 *                it: all go from the workers to the loop, one way.  In a pool with caches and nothing else the loop's
 *                cache would swallow all records, and the workers would find none.
 * The caches     The loop has one of its own.  When it is full, half of it goes to the depot, and from there to the workers, a
 *                magazine at a time: one or two compare-and-swaps for up to 256 records.
 *                   The threads of the pool belong to libuv, which does not say which of them it is that runs a job.  So they
 *                call lfpool_acquire(), which finds the cache of the calling thread.
 * No record      The worker does the child at once, and what it finds there hangs onto the same record.  It must not wait for
 *                one: those that could give it one may all be waiting behind it in the queue.
 * Nothing atomic The program has no lock and no atomic: what the workers count is in the records, and the loop adds it up.
 * The end        uv_run() returns when there is no request left: then every record is back.  The threads of libuv live on,
 *                to the end of the process or to uv_library_shutdown(), and that is later than the end of the pool: lfpool
 *                allows it.  They must be outside of the pool's calls by then, and are: all work has ended.
 */
#include "report.h"

#include <uv.h>

struct job {
	uv_work_t work; /* first: libuv hands it back */
	struct tree_node node;
	uint64_t nodes, inlined; /* that this job visited */
	struct job *children;    /* to be queued          */
	struct job *next;        /* its sibling           */
	uint32_t rest;           /* see record_ask()      */
};

/* One for the process: libuv's requests have room for a pointer, and this is what it would be for all of them. */
static struct {
	struct tree tree;
	uv_loop_t loop;
	struct hand workers, of_loop;
	struct tally tally;
} search;

/* ---- On a thread of libuv's pool ---------------------------------------------------------------------------- */

/* Visits a node in this job: the job's own, or one for which there was no record. */
static void visit(struct job *job, const struct tree_node *node)
{
	const unsigned children = tree_children(&search.tree, node);

	job->nodes++;
	for (unsigned i = 0; i < children; i++) {
		struct job *child = record_ask(&search.workers, &job->rest);

		if (child) {
			tree_child(node, i, &child->node);
			child->next = job->children;
			job->children = child;
		} else {
			struct tree_node inlined;

			tree_child(node, i, &inlined);
			job->inlined++;
			visit(job, &inlined);
		}
	}
}

static void run(uv_work_t *work)
{
	struct job *job = (struct job *)work;

	job->nodes = job->inlined = 0;
	job->rest = 0;
	job->children = NULL;
	visit(job, &job->node);
}

/* ---- On the loop's ------------------------------------------------------------------------------------------ */

static void after(uv_work_t *work, int status);

static void queue(struct job *job)
{
	/* It fails only without a function to run. */
	if (uv_queue_work(&search.loop, &job->work, run, after) != 0)
		abort();
}

static void after(uv_work_t *work, int status)
{
	struct job *job = (struct job *)work;

	(void)status; /* UV_ECANCELED, of a request that uv_cancel() has taken out of the queue: here no thread does */
	for (struct job *child = job->children, *next; child; child = next) {
		/* Once it is queued it may be run, and hang its own children onto itself; but `next` is the parent's. */
		next = child->next;
		queue(child);
	}
	search.tally.nodes += job->nodes;
	search.tally.inlined += job->inlined;
	record_release(&search.of_loop, job);
}

/* ---- The program -------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const struct options options = parse_options("uv", argc, argv);
	struct records records;
	char threads[16];

	if (!records_open(&records, options.allocator, sizeof(struct job), options.capacity))
		return 1;
	search.tree = options.tree;
	search.workers = hand_of_all(&records);
	search.of_loop = hand_of_worker(&records);
	/* libuv reads it when the first work is queued. */
	snprintf(threads, sizeof(threads), "%u", options.workers);
	if (setenv("UV_THREADPOOL_SIZE", threads, 1) != 0 || uv_loop_init(&search.loop) != 0)
		return 3;
	struct job *root = record_acquire(&search.of_loop);

	if (!root)
		return 3;
	const uint64_t began_ns = now_ns();

	tree_root(&search.tree, &root->node);
	queue(root);
	uv_run(&search.loop, UV_RUN_DEFAULT);

	const int status = report(&options, &records, now_ns() - began_ns, &search.tally, 1);

	/* Here the pool is gone, and the threads that used it are not. */
	uv_loop_close(&search.loop);
	uv_library_shutdown();
	return status;
}
