/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - the life of a job, see jobs.h: it is submitted or prepared, runs, and ends.
 *
 * The end      The worker that brings `unfinished` to 0 ends the job: it releases the record and notifies the parent,
 *              which may end too, and so on upwards.  Workers share a counter only if they run children of
 *              one job.
 * No record    The pool has a fixed number of records.  When they are all in use, the submitter runs the job itself,
 *              at once.  That is the right reaction to NULL in a job system: nothing waits, fails or allocates, and
 *              workers that produce work faster than it is done are slowed down by doing it.  The stack grows by at
 *              most one job per level of the work.
 * Order        A job counts the predecessors that it waits for, and each predecessor lists the job in its `after`.
 *              Each `after` is written before its predecessor starts, and so before that can end: a plain list
 *              suffices, and no code asks whether a predecessor has ended already.  A job names its predecessors when
 *              it is made, and they were made before it: there is no cycle.
 */
#include "job.h"

#include "lfpool/inline.h"
#include "lfpool/wait.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records ----------------------------------------------------------------------------------------------- */

lfpool_status_t jobs_pool_create(lfpool_t **pool_out, size_t capacity, lfpool_backend_t backend)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.name = "jobs";
	config.object_size = JOB_RECORD_BYTES;
	/* Two workers never write to one line just because their jobs are neighbours. */
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
	atomic_init(&job->waits_for, 1);
	job->after_count = 0;
	memcpy(job->payload, payload, bytes);
	/* relaxed: a worker that lowers the count got the job after this; and the submitter keeps the parent from
	 * ending. */
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

/* The job may run on this worker, or on one that steals it. */
static void job_ready(struct jobs_worker *worker, struct job *job)
{
	/* The deque has room for every record of the pool, but not for all that malloc gives. */
	if (deque_push(&worker->deque, job))
		wake(&worker->jobs->sleepers);
	else
		job_execute(worker, job);
}

/* A predecessor of the job has ended.  True: it was the last one. */
static bool waits_no_more(struct job *job)
{
	/* release: this predecessor's writes; acquire: the last caller gets all predecessors' writes, for the job. */
	return atomic_fetch_sub_explicit(&job->waits_for, 1, memory_order_acq_rel) == 1;
}

/* The first job that becomes ready runs next on this worker, which has just written its input.  Other ready jobs go
 * to the deque. */
static void tell_those_after(struct jobs_worker *worker, struct job *ended)
{
	for (uint32_t i = 0; i < ended->after_count; i++) {
		struct job *job = ended->after[i];

		if (!waits_no_more(job))
			continue;
		if (worker->next)
			job_ready(worker, job);
		else
			worker->next = job;
	}
}

/* One job less is unfinished; the last one ends the parent, and so on upwards. */
static void job_leave(struct jobs_worker *worker, struct job *job)
{
	for (;;) {
		/* Read first: the job may be gone once it has ended. */
		struct job *parent = job->parent;
		/* Releases this worker's writes to the worker that ends the job or waits for it, and acquires the
		 * others' writes; seq_cst: before the check for sleepers (sleep.h). */
		const uint32_t before = atomic_fetch_sub_explicit(&job->unfinished, 1, memory_order_seq_cst);

		/* Only the job's own function is left, and may be waiting. */
		if (before == 2)
			wake(&worker->jobs->sleepers);
		if (before > 1)
			return;
		tell_those_after(worker, job);
		job_release(worker, job);
		job = parent;
	}
}

void run_as(struct jobs_worker *worker, struct job *job, job_function *run, const void *payload)
{
	struct job *outer = worker->running;

	worker->running = job;
	run(worker, payload);
	worker->running = outer;
}

void job_execute(struct jobs_worker *worker, struct job *job)
{
	while (job) {
		run_as(worker, job, job->run, job->payload);
		job_leave(worker, job);
		job = worker->next;
		worker->next = NULL;
	}
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

bool jobs_inject(struct jobs *jobs, job_function *run, const void *payload, size_t bytes, int64_t timeout_ns)
{
	struct job *job = bytes <= JOB_PAYLOAD_BYTES && jobs->pool ? lfpool_acquire_wait(jobs->pool, timeout_ns) : NULL;

	if (!job)
		return false;
	job_fill(job, &jobs->outside, run, payload, bytes);
	job->acquirer = FROM_OUTSIDE;
	/* relaxed: a count, exact when nothing runs. */
	atomic_fetch_add_explicit(&jobs->injected, 1, memory_order_relaxed);
	inbox_put(&jobs->inbox, job);
	wake(&jobs->sleepers);
	return true;
}

/* ---- Before and after -------------------------------------------------------------------------------------- */

struct job *jobs_prepare(struct jobs_worker *worker, struct job *const *before, size_t count, job_function *run,
			 const void *payload, size_t bytes)
{
	struct job *job;

	for (size_t i = 0; i < count; i++)
		if (before[i] && before[i]->after_count == JOB_AFTER_MAX)
			return NULL;
	job = job_record(worker, run, payload, bytes);
	for (size_t i = 0; job && i < count; i++) {
		struct job *one = before[i];

		/* Also skips a predecessor that already lists the job. */
		if (!one || (one->after_count > 0 && one->after[one->after_count - 1] == job))
			continue;
		one->after[one->after_count++] = job;
		/* relaxed: the count is not lowered before a predecessor starts. */
		atomic_fetch_add_explicit(&job->waits_for, 1, memory_order_relaxed);
	}
	return job;
}

void jobs_start(struct jobs_worker *worker, struct job *job)
{
	if (waits_no_more(job))
		job_ready(worker, job);
}

bool jobs_then(struct jobs_worker *worker, struct job *before, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = jobs_prepare(worker, &before, 1, run, payload, bytes);

	if (job)
		jobs_start(worker, job);
	return job != NULL;
}

/* ---- Parallel for ------------------------------------------------------------------------------------------ */

/* A part of the loop, for the worker that takes it. */
struct range {
	jobs_for_body *body;
	void *context;
	size_t begin, end, grain;
};

/* Lazy binary splitting (Tzannes, Caragea, Barua and Vishkin 2010).  A worker with a range checks its own deque.  If
 * it is empty, thieves would find nothing: the upper half of the range becomes a job for them.  Otherwise no worker
 * is idle, or the jobs there suffice: the worker does one grain and checks again.  So a range is split where workers
 * need it, with any grain. */
static void range_run(struct jobs_worker *worker, const void *payload)
{
	struct range range = *(const struct range *)payload;

	while (range.end - range.begin > range.grain) {
		if (deque_looks_empty(&worker->deque)) {
			struct range upper = range;

			range.end = upper.begin = range.begin + (range.end - range.begin) / 2;
			jobs_submit(worker, range_run, &upper, sizeof(upper));
		} else {
			range.body(worker, range.begin, range.begin + range.grain, range.context);
			range.begin += range.grain;
		}
	}
	range.body(worker, range.begin, range.end, range.context);
}

void jobs_for(struct jobs_worker *worker, size_t begin, size_t end, size_t grain, jobs_for_body *body, void *context)
{
	struct range range = {body, context, begin, end, grain ? grain : 1};
	struct job loop = JOB_ROOT;

	if (begin >= end)
		return;
	run_as(worker, &loop, range_run, &range);
	work_until(worker, &loop);
}
