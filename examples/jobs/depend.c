/* SPDX-License-Identifier: MIT */
/*
 * depend.c - jobs that wait for jobs, see jobs.h.
 *
 * Idea         A job knows how many it waits for, and those know it: each has a list of edges.  The end of a job lowers the
 *              count of each job in its list, and a worker that brings a count to 0 has a job that is ready.  No worker
 *              waits, and none looks for what may have become ready.
 * Why prepared An edge is written by the worker that prepares the job before, until it starts it; no worker can end it
 *              meanwhile.  So the list is a plain one, and "has it ended already?" is never asked.
 * No cycle     A job names those before it when it is made, and they were made before.
 * Where        The first job that becomes ready is run next by the worker that made it so: what it needs was just written
 *              there.  The others go to the deque, for workers that are idle.  A continuation (jobs_then) always stays.
 */
#include "job.h"

#include "lfpool/inline.h"

static void release_edges(struct jobs_worker *worker, struct edge *edge)
{
	while (edge) {
		struct edge *next = edge->next;

		lfpool_cache_release(worker->edge_cache, edge);
		edge = next;
	}
}

/* So many edges, linked by `next`; false: there are not as many. */
static bool acquire_edges(struct jobs_worker *worker, size_t count, struct edge **edges_out)
{
	*edges_out = NULL;
	while (count--) {
		struct edge *edge = lfpool_cache_acquire(worker->edge_cache);

		if (!edge) {
			release_edges(worker, *edges_out);
			return false;
		}
		edge->next = *edges_out;
		*edges_out = edge;
	}
	return true;
}

struct job *jobs_prepare(struct jobs_worker *worker, struct jobs_group *group, struct job *const *before, size_t count,
			 job_function *run, const void *payload, size_t bytes)
{
	struct edge *edges;
	uint32_t waits_for = 1; /* for jobs_start() */

	if (bytes > JOB_PAYLOAD_BYTES || !acquire_edges(worker, count, &edges))
		return NULL;

	struct job *job = job_record(worker, group ? group : worker->group, run, payload, bytes);

	for (size_t i = 0; job && i < count; i++) {
		struct edge *edge = edges;

		if (!before[i])
			continue;
		edges = edge->next;
		edge->after = job;
		edge->next = before[i]->after;
		before[i]->after = edge;
		waits_for++;
	}
	release_edges(worker, edges);
	if (job) {
		/* Not atomic: it is not lowered before one of those before it is started. */
		atomic_init(&job->waits_for, waits_for);
		worker->submitted++;
	}
	return job;
}

/* True for the last of those that it waited for. */
static bool waits_no_more(struct job *job)
{
	/* release: what was done before it; acquire: the last has it all, and the job begins after it. */
	return atomic_fetch_sub_explicit(&job->waits_for, 1, memory_order_acq_rel) == 1;
}

void jobs_start(struct jobs_worker *worker, struct job *job)
{
	if (waits_no_more(job))
		job_ready(worker, job);
}

bool jobs_then(struct jobs_worker *worker, struct job *before, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = jobs_prepare(worker, NULL, &before, 1, run, payload, bytes);

	if (!job)
		return false;
	job->stays = true;
	/* Started: what is left to wait for is `before`, which is not. */
	(void)waits_no_more(job);
	return true;
}

void tell_those_after(struct jobs_worker *worker, struct job *ended)
{
	for (struct edge *edge = ended->after; edge; edge = edge->next) {
		struct job *job = edge->after;

		if (!waits_no_more(job))
			continue;
		if (job->stays || !worker->here) {
			job->next = worker->here;
			worker->here = job;
		} else {
			job_ready(worker, job);
		}
	}
	release_edges(worker, ended->after);
}
