/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - a job system: work-stealing workers whose job records come from an lfpool.
 *
 * Job          A function and a few bytes of payload.  A job has *ended* when its function has returned and all jobs that
 *              it submitted have ended.
 * No record    Nothing here allocates.  When all records are in use jobs_submit() does the job at once, jobs_submit_to() says
 *              so.
 *
 *     submit         jobs_submit, jobs_submit_to     from inside a job
 *
 * To embed it, take this folder's jobs.h, jobs.c, workers.c, job.h, deque.h and sleep.h.  How it works: README.md.
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
/* Bytes of payload that a job record has room for. */
#define JOB_PAYLOAD_BYTES (JOB_RECORD_BYTES - 64)

struct jobs;        /* the system                                     */
struct jobs_worker; /* one of its workers: handed to each job it runs */

/* What a job does.  `payload` is the submitter's, or a copy; valid until the function returns. */
typedef void job_function(struct jobs_worker *worker, const void *payload);

/* ---- The system -------------------------------------------------------------------------------------------- */

/* A pool of so many job records.  It is the caller's, before and after the system. */
lfpool_status_t jobs_pool_create(lfpool_t **pool_out, size_t capacity, lfpool_backend_t backend);

/* Workers 1 .. workers - 1 have a thread each, which sleeps until there is work; worker 0 is the caller of jobs_run().
 * pool     Of job records.  NULL: they come from malloc(), for comparison.
 * context  For jobs_context().
 * NULL: no memory, or no thread. */
struct jobs *jobs_create(unsigned workers, lfpool_t *pool, void *context);

/* Ends the threads.  Not while any other call on it is under way. */
void jobs_destroy(struct jobs *jobs);

/* Runs a job and returns when it has ended.  The caller works too: it is worker 0 for the time.  One call at a
 * time, and not from inside a job. */
void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes);

/* Exact while nothing runs: after jobs_run(). */
struct jobs_report {
	uint64_t submitted; /* jobs in all                                                        */
	uint64_t at_once;   /* of these: run by the submitter, for want of a record               */
	uint64_t stolen;    /* taken out of another worker's deque                                */
	uint64_t elsewhere; /* records released by another worker than the one that acquired them */
};

struct jobs_report jobs_report(const struct jobs *jobs);

/* ---- Inside a job ------------------------------------------------------------------------------------------ */

/* Number of the worker, 0 .. workers - 1: for data that each worker has of its own. */
unsigned jobs_worker_index(const struct jobs_worker *worker);

/* The context of jobs_create(). */
void *jobs_context(const struct jobs_worker *worker);

/* Submits a job that this one includes: it has to end before this one has.  Never fails: without a record, or with a payload
 * that is too long for one, it is done before the call returns. */
void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes);

/* The same, to be run by worker `index` and no other.  false: no record, or payload too long. */
bool jobs_submit_to(struct jobs_worker *worker, unsigned index, job_function *run, const void *payload, size_t bytes);

#endif
