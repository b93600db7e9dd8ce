/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - a job system: work-stealing workers whose job records come from an lfpool.
 *
 * Job          A function and a few bytes of payload.  A job has *ended* when its function has returned and all jobs
 *              that it submitted have ended.
 * No record    Nothing here allocates.  When all records are in use, jobs_submit() does the job at once,
 *              jobs_prepare() and jobs_submit_to() return a failure, and jobs_inject() waits up to its timeout.
 *
 *     submit         jobs_submit, jobs_submit_to     from inside a job
 *     wait           jobs_wait                       runs other jobs in the meantime
 *     parallel for   jobs_for                        a range, divided as workers become idle
 *     depend         jobs_prepare, jobs_start
 *     continue       jobs_then
 *     from outside   jobs_inject, jobs_finish        from threads that are not workers
 *
 * To embed it, take this folder's jobs.h, jobs.c, workers.c, job.h, deque.h and sleep.h.  README.md explains how it
 * works.
 */
#ifndef EXAMPLE_JOBS_H
#define EXAMPLE_JOBS_H

#include "lfpool/lfpool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_RECORD_BYTES 256
#define JOB_RECORD_ALIGNMENT 64
/* Bytes of payload that fit into a job record. */
#define JOB_PAYLOAD_BYTES (JOB_RECORD_BYTES - 64)
/* Jobs that may wait for one job. */
#define JOB_AFTER_MAX 3

struct jobs;        /* the system                                     */
struct jobs_worker; /* one of its workers: passed to each job it runs */
struct job;         /* a prepared job, see jobs_prepare() */

/* A job's function.  `payload` is the submitter's, or a copy; valid until the function returns. */
typedef void job_function(struct jobs_worker *worker, const void *payload);

/* ---- The system -------------------------------------------------------------------------------------------- */

/* Makes a pool of `capacity` job records.  The caller destroys the pool, after the system. */
lfpool_status_t jobs_pool_create(lfpool_t **pool_out, size_t capacity, lfpool_backend_t backend);

/* Workers 1 .. workers - 1 have a thread each, which sleeps until there is work; worker 0 is the caller of jobs_run().
 * pool     Of job records.  NULL: they come from malloc(), for comparison.
 * context  For jobs_context().
 * NULL: no memory, or no thread. */
struct jobs *jobs_create(unsigned workers, lfpool_t *pool, void *context);

/* Ends the threads.  No other call may be in progress; injected jobs must have ended (jobs_finish()). */
void jobs_destroy(struct jobs *jobs);

/* Runs a job and returns when it has ended.  The caller works too, as worker 0. One call of jobs_run() or
 * jobs_finish() at a time, and not from inside a job. */
void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes);

/* Submits a job from a thread that is not a worker.  Waits for a record up to `timeout_ns`; 0: not at all; -1: without
 * limit.  false: no record, or payload too long. */
bool jobs_inject(struct jobs *jobs, job_function *run, const void *payload, size_t bytes, int64_t timeout_ns);

/* Works as worker 0, and returns when every injected job has ended. */
void jobs_finish(struct jobs *jobs);

/* Exact while nothing runs: after jobs_run() and jobs_finish(). */
struct jobs_report {
	uint64_t submitted; /* jobs in all                                                        */
	uint64_t at_once;   /* of these, run by the submitter because there was no record */
	uint64_t stolen;    /* taken out of another worker's deque                                */
	uint64_t elsewhere; /* records released by a different worker from the one that acquired them */
};

struct jobs_report jobs_report(const struct jobs *jobs);

/* ---- Inside a job ------------------------------------------------------------------------------------------ */

/* Number of the worker, 0 .. workers - 1: an index for per-worker data. */
unsigned jobs_worker_index(const struct jobs_worker *worker);

/* The context of jobs_create(). */
void *jobs_context(const struct jobs_worker *worker);

/* Submits a job that the calling job includes: the calling job ends after it.  Never fails: without a record, or with
 * a payload that is too long, the job is done before the call returns. */
void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes);

/* As jobs_submit(), but only worker `index` runs the job.  false: no record, or payload too long. */
bool jobs_submit_to(struct jobs_worker *worker, unsigned index, job_function *run, const void *payload, size_t bytes);

/* Returns when all jobs that this job submitted have ended; until then the worker runs other jobs, on top of this
 * job's stack.  All prepared jobs must have been started. */
void jobs_wait(struct jobs_worker *worker);

/* Divides begin .. end - 1 into pieces of at most `grain` (at least 1), and calls body() for each, on all workers that
 * have no other job.  Returns when all is done.  `context` is for the body. */
typedef void jobs_for_body(struct jobs_worker *worker, size_t begin, size_t end, void *context);
void jobs_for(struct jobs_worker *worker, size_t begin, size_t end, size_t grain, jobs_for_body *body, void *context);

/* ---- Dependencies and continuations ------------------------------------------------------------------------ */

/*
 * jobs_prepare - makes a job that the calling job includes, and that does not run yet.
 *
 * before, count  Jobs that must have ended before it begins: prepared, but not started yet.  NULLs among them are
 *                skipped: they stand for jobs that have ended.
 * Returns        The job, for use by the worker that prepared it, until jobs_start().  NULL: no record, or
 *                JOB_AFTER_MAX jobs already wait for one of its predecessors, or payload too long; nothing has
 *                changed.  A caller that gets NULL can start its prepared jobs, jobs_wait(), and then do the job
 *                itself.
 */
struct job *jobs_prepare(struct jobs_worker *worker, struct job *const *before, size_t count, job_function *run,
			 const void *payload, size_t bytes);

/* Starts the job: it runs when its predecessors have ended.  `job` becomes invalid. */
void jobs_start(struct jobs_worker *worker, struct job *job);

/* Prepares a job after `before`, which is not started yet, and starts it.  The worker that ends `before` runs the
 * new job next, unless another job was prepared after `before` earlier.  false: as jobs_prepare(). */
bool jobs_then(struct jobs_worker *worker, struct job *before, job_function *run, const void *payload, size_t bytes);

#endif
