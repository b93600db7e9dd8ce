/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the life of a job, see jobs.h: it is submitted, runs, and ends.
 *
 * The end      The worker that brings `unfinished` to 0 ends the job: it releases the record and tells the parent, which may
 *              end that one too, and so on upwards.  No counter is shared by all: workers meet only at the jobs whose
 *              children they share.
 * No record    The pool has a fixed number of records.  When they are all in use, the submitter runs the job itself, at
 *              once.  That is the right answer to NULL in a job system: nothing waits, nothing fails, nothing is
 *              allocated, and workers that produce work faster than it is done are slowed down to doing it.  The stack
 *              grows by one job per level of the work, no more.
 */
#include "job.h"

#include "lfpool/inline.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records ----------------------------------------------------------------------------------------------- */

lfpool_status_t jobs_pool_create(lfpool_t **pool_out, size_t capacity, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "jobs";
	config.object_size = JOB_RECORD_BYTES;
	/* Two workers never write to one line because their jobs are neighbours. */
	config.object_alignment = JOB_RECORD_ALIGNMENT;
	config.capacity = capacity;
	config.backend = backend;
	return lfpool_create(pool_out, &config);
}

static void job_fill(struct job *job, struct job *parent, job_function *run, const void *payload, size_t bytes)
{
	job->run = run;
	job->parent = parent;
	atomic_init(&job->unfinished, 1);
	memcpy(job->payload, payload, bytes);
	/* relaxed: the worker that lowers it got the job after this; and the submitter holds the parent up. */
	atomic_fetch_add_explicit(&parent->unfinished, 1, memory_order_relaxed);
}

/* NULL: no record, or payload too long for one. */
static struct job *job_record(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes)
{
	struct job *job;

	if (bytes > JOB_PAYLOAD_BYTES)
		return NULL;
	job = worker->cache ? lfpool_cache_acquire(worker->cache) : malloc(sizeof(*job));
	if (job) {
		job_fill(job, worker->running, run, payload, bytes);
		job->acquirer = worker->index;
		worker->report.submitted++;
	}
	return job;
}

static void job_release(struct jobs_worker *worker, struct job *job)
{
	worker->report.elsewhere += job->acquirer != worker->index;
	if (worker->cache)
		lfpool_cache_release(worker->cache, job);
	else
		free(job);
}

/* ---- Running and ending ------------------------------------------------------------------------------------ */

/* The job may run: on this worker, or on one that steals it. */
static void job_ready(struct jobs_worker *worker, struct job *job)
{
	/* The deque has room for every record of the pool, but not for as many as malloc gives. */
	if (deque_push(&worker->deque, job))
		wake(&worker->jobs->sleepers);
	else
		job_execute(worker, job);
}

/* One less is unfinished; with the last the job has ended, and so on upwards. */
static void job_leave(struct jobs_worker *worker, struct job *job)
{
	for (;;) {
		/* Read before: when it has ended, the job may be gone. */
		struct job *parent = job->parent;
		/* Releases what was done to the worker that ends the job or waits for it, and acquires what the others did;
		 * seq_cst: before the look for sleepers (sleep.h). */
		const uint32_t before = atomic_fetch_sub_explicit(&job->unfinished, 1, memory_order_seq_cst);

		/* Only its own function is left, which may be waiting. */
		if (before == 2)
			wake(&worker->jobs->sleepers);
		if (before > 1)
			return;
		job_release(worker, job);
		job = parent;
	}
}

void job_execute(struct jobs_worker *worker, struct job *job)
{
	struct job *outer = worker->running;

	/* What it submits is included in it. */
	worker->running = job;
	job->run(worker, job->payload);
	worker->running = outer;
	job_leave(worker, job);
}

/* ---- Submitting -------------------------------------------------------------------------------------------- */

void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = job_record(worker, run, payload, bytes);

	if (job) {
		job_ready(worker, job);
	} else {
		worker->report.submitted++;
		worker->report.at_once++;
		run(worker, payload);
	}
}

bool jobs_submit_to(struct jobs_worker *worker, unsigned index, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = job_record(worker, run, payload, bytes);

	if (!job)
		return false;
	inbox_put(&worker->jobs->workers[index].inbox, job);
	wake(&worker->jobs->sleepers);
	return true;
}
