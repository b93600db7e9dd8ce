/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the life of a job, see jobs.h: it is submitted, runs, and ends.
 *
 * Idea         A submitted job takes a record from its worker's cache and goes to its worker's deque, where that worker, or
 *              one that steals, finds it.  So a record is often acquired by one worker and released by another: into the
 *              cache of the one that released it, where the next job finds it.
 * The end      Each job counts its children, and itself until its function returns.  The worker that brings the count to 0
 *              ends the job: releases its record and counts it off in its parent's group, which may end that one too, and so
 *              on upwards.  No counter is shared by all: workers meet only at the jobs whose children they share.
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

static void job_fill(struct job *job, struct jobs_group *group, job_function *run, const void *payload, size_t bytes)
{
	job->run = run;
	job->group = group;
	atomic_init(&job->children.unfinished, 1);
	job->children.owner = job;
	job->after = NULL;
	job->stays = false;
	memcpy(job->payload, payload, bytes);
	/* relaxed: the worker that lowers it got the job after this; and the submitter holds the group up. */
	atomic_fetch_add_explicit(&group->unfinished, 1, memory_order_relaxed);
}

struct job *job_record(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = worker->cache ? lfpool_cache_acquire(worker->cache) : malloc(sizeof(*job));

	if (job) {
		job_fill(job, group, run, payload, bytes);
		job->acquirer = (uint16_t)worker->index;
	}
	return job;
}

static void job_forget(struct jobs_worker *worker, struct job *job)
{
	worker->elsewhere += job->acquirer != worker->index;
	if (worker->cache)
		lfpool_cache_release(worker->cache, job);
	else
		free(job);
}

/* ---- Running and ending ------------------------------------------------------------------------------------ */

void run_in_group(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload)
{
	struct jobs_group *submitter = worker->group;

	worker->group = group;
	run(worker, payload);
	worker->group = submitter;
}

/* One of the group's is done; and with the last of a job's children the job, and so on. */
static void group_leave(struct jobs_worker *worker, struct jobs_group *group)
{
	for (;;) {
		/* Read before: when the last has left, a group on a stack may be gone. */
		struct job *owner = group->owner;

		/* Releases what the job wrote to the worker that sees 0, and the last to leave acquires what the others wrote;
		 * seq_cst: before the look for sleepers (sleep.h). */
		if (atomic_fetch_sub_explicit(&group->unfinished, 1, memory_order_seq_cst) != 1)
			return;
		if (!owner)
			break;
		group = owner->group;
		tell_those_after(worker, owner);
		job_forget(worker, owner);
	}
	wake_all(&worker->jobs->sleepers);
}

void job_execute(struct jobs_worker *worker, struct job *job)
{
	while (job) {
		run_in_group(worker, &job->children, job->run, job->payload);
		group_leave(worker, &job->children);
		job = worker->here;
		if (job)
			worker->here = job->next;
	}
}

/* ---- Submitting -------------------------------------------------------------------------------------------- */

void job_ready(struct jobs_worker *worker, struct job *job)
{
	if (!deque_push(&worker->deque, job)) {
		worker->overflowed++;
		if (!inbox_put(&worker->jobs->inbox, job)) {
			/* It has room for every record of the pool, but not for as many as malloc gives. */
			job_execute(worker, job);
			return;
		}
	}
	wake_one(&worker->jobs->sleepers);
}

void jobs_submit_in(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = NULL;

	worker->submitted++;
	if (bytes > JOB_PAYLOAD_BYTES) {
		worker->at_once_long++;
	} else {
		job = job_record(worker, group, run, payload, bytes);
		worker->at_once_empty += !job;
	}
	if (job)
		job_ready(worker, job);
	else
		run_in_group(worker, group, run, payload);
}

void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes)
{
	jobs_submit_in(worker, worker->group, run, payload, bytes);
}

bool jobs_inject(struct jobs *jobs, job_function *run, const void *payload, size_t bytes, int64_t timeout_ns)
{
	struct job *job = bytes <= JOB_PAYLOAD_BYTES && jobs->pool ? lfpool_acquire_wait(jobs->pool, timeout_ns) : NULL;

	if (!job)
		return false;
	job_fill(job, &jobs->outside, run, payload, bytes);
	job->acquirer = FROM_OUTSIDE;
	/* relaxed: a count, exact when nothing runs. */
	atomic_fetch_add_explicit(&jobs->injected, 1, memory_order_relaxed);
	/* There is room for every record of the pool. */
	(void)inbox_put(&jobs->inbox, job);
	wake_one(&jobs->sleepers);
	return true;
}
