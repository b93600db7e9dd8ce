/* SPDX-License-Identifier: MIT */
/*
 * glib.c - the tree in GLib's GThreadPool.
 *
 *     scheduler-glib [--workers N] [--allocator ...] [--capacity N] ...                      report.h has all of them
 *
 * The scheduler  A queue under a lock, and threads that run one function on what they find in it.  Any thread may push.  No
 *                thread can wait for a job: a thread that did would be missing among those that must do it.  So a parent is
 *                not waited for but *finished by its last child*: each record knows its parent, and how many are unfinished
 *                below.
 * Who acquires   The thread that runs the parent: once for each child that it pushes.
 * Who releases   The thread that finishes the job: the one that ran it if there was nothing below it, otherwise the one that
 *                finished its last child, and that may be any.  Records live for longer than their jobs run: until all
 *                below is done.  Count that in the capacity.
 * The caches     Threads come with the load, go when they have been idle for a while, have no number, and work for one
 *                GThreadPool after the other.  So each uses its own cache, by lfpool_acquire() and lfpool_release(); when it
 *                exits, what is left there goes to others.
 * No record      The child is done at once, on the stack, as a part of its parent's job.
 * The end        A record is released *before* its parent is told.  So when the root is finished all others have been released,
 *                and no thread is inside of a call: the order that lfpool_destroy() asks for, without a further wait.
 *                g_thread_pool_free() waits for the threads all the same: the last of them has just signalled main(), and still
 *                holds its lock.  They live on, in GLib.
 */
#include "report.h"

#include <glib.h>
#include <stdatomic.h>

struct job {
	struct tree_node node;
	struct job *parent;           /* NULL: the root's                            */
	_Atomic(uint32_t) unfinished; /* children, and the job itself while it runs */
};

struct search {
	const struct tree *tree;
	GThreadPool *threads;
	struct hand hand;
	_Atomic(uint64_t) nodes, inlined;
	GMutex lock;
	GCond ended;
	_Atomic(bool) done; /* written under the lock */
};

static void spawn(struct search *search, struct job *parent, struct job *job)
{
	job->parent = parent;
	/* relaxed: not 0, since the parent itself still runs. */
	if (parent)
		atomic_fetch_add_explicit(&parent->unfinished, 1, memory_order_relaxed);
	/* release: the record, to run().  GLib's lock orders them too, but ThreadSanitizer cannot look into GLib. */
	atomic_store_explicit(&job->unfinished, 1, memory_order_release);
	/* It can fail to start a thread, but not to queue: those that there are will come to it. */
	g_thread_pool_push(search->threads, job, NULL);
}

/* Visits a node in this job: the job's own, or one for which there was no record. */
static void visit(struct search *search, struct job *job, const struct tree_node *node, uint32_t *rest)
{
	const unsigned children = tree_children(search->tree, node);

	/* relaxed, both: sums, read when all is done. */
	atomic_fetch_add_explicit(&search->nodes, 1, memory_order_relaxed);
	for (unsigned i = 0; i < children; i++) {
		struct job *child = record_ask(&search->hand, rest);
		struct tree_node inlined;

		if (child) {
			tree_child(node, i, &child->node);
			spawn(search, job, child);
		} else {
			tree_child(node, i, &inlined);
			atomic_fetch_add_explicit(&search->inlined, 1, memory_order_relaxed);
			visit(search, job, &inlined, rest);
		}
	}
}

static void tell(struct search *search)
{
	g_mutex_lock(&search->lock);
	/* release: the end of all jobs, to main(); as in spawn(). */
	atomic_store_explicit(&search->done, true, memory_order_release);
	g_cond_signal(&search->ended);
	g_mutex_unlock(&search->lock);
}

/* One less is unfinished in this job; if it was the last, the job is, and there is one less in its parent. */
static void finish(struct search *search, struct job *job)
{
	while (job) {
		struct job *const parent = job->parent;

		/* release: what was done, to the thread that is last; acquire: that one sees what the others did, and has the
		 * record for itself. */
		if (atomic_fetch_sub_explicit(&job->unfinished, 1, memory_order_acq_rel) != 1)
			return;
		record_release(&search->hand, job);
		job = parent;
	}
	tell(search);
}

static void run(gpointer data, gpointer user_data)
{
	struct search *search = user_data;
	struct job *job = data;
	uint32_t rest = 0;

	/* acquire: see spawn(). */
	(void)atomic_load_explicit(&job->unfinished, memory_order_acquire);
	visit(search, job, &job->node, &rest);
	finish(search, job);
}

int main(int argc, char **argv)
{
	const struct options options = parse_options("glib", argc, argv);
	struct search search = {.tree = &options.tree};
	struct records records;
	GError *error = NULL;

	if (!records_open(&records, options.allocator, sizeof(struct job), options.capacity))
		return 1;
	search.hand = hand_of_all(&records);
	g_mutex_init(&search.lock);
	g_cond_init(&search.ended);
	/* Not exclusive: its threads are taken from those that GLib has, and go back there. */
	search.threads = g_thread_pool_new(run, &search, (int)options.workers, FALSE, &error);
	struct job *root = record_acquire(&search.hand);

	if (!search.threads || error || !root) {
		fprintf(stderr, "scheduler-glib: %s\n", error ? error->message : "no memory");
		return 3;
	}

	const uint64_t began_ns = now_ns();

	tree_root(&options.tree, &root->node);
	spawn(&search, NULL, root);
	g_mutex_lock(&search.lock);
	/* acquire: see tell(). */
	while (!atomic_load_explicit(&search.done, memory_order_acquire))
		g_cond_wait(&search.ended, &search.lock);
	g_mutex_unlock(&search.lock);

	const uint64_t took_ns = now_ns() - began_ns;

	/* Waits until no thread is in run(). */
	g_thread_pool_free(search.threads, FALSE, TRUE);
	g_cond_clear(&search.ended);
	g_mutex_clear(&search.lock);

	const struct tally tally = {search.nodes, search.inlined};

	return report(&options, &records, took_ns, &tally, 1);
}
