/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - a small job system: work-stealing workers whose job records come from an lfpool.
 *
 * A job is a function and a few bytes of payload.  A job may submit further jobs, and never waits for them:
 * jobs_run() returns when the first job and all that came of it are done.  To embed it, take jobs.h, jobs.c and
 * deque.h.
 */
#ifndef EXAMPLE_JOBS_H
#define EXAMPLE_JOBS_H

#include "lfpool/lfpool.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of payload that a job record has room for.  A job with more of it is run at once by its submitter. */
#define JOB_PAYLOAD_BYTES 240

struct jobs;        /* the system                                        */
struct jobs_worker; /* one of its workers: handed to each job it runs    */

/* What a job does.  `payload` is the submitter's, or a copy; valid until the function returns. */
typedef void job_function(struct jobs_worker *worker, const void *payload);

struct jobs_config {
	unsigned workers;         /* threads, the caller of jobs_run() included; at least 1      */
	size_t capacity;          /* job records; jobs beyond it are run at once                 */
	lfpool_backend_t backend; /* of the pool                                                 */
	void *context;            /* for jobs_context()                                          */
};

/* Exact once jobs_run() has returned. */
struct jobs_report {
	uint64_t submitted;       /* jobs in all                                                 */
	uint64_t at_once_empty;   /* of these: run by the submitter, no record was to be had     */
	uint64_t at_once_long;    /* of these: run by the submitter, payload too long            */
	uint64_t stolen;          /* of these: acquired by one worker, run and released by another */
	uint64_t peak;            /* most records active at once, at least (see jobs.c)          */
	size_t capacity;          /* of the pool                                                 */
	size_t active;            /* records the pool counts as active now                       */
	size_t available;         /* records the pool counts as available now                    */
	lfpool_backend_t backend; /* in force                                                    */
};

/* Makes a job system that has no threads yet.  LFPOOL_E_ARGUMENT: no workers; otherwise as lfpool_create(). */
lfpool_status_t jobs_create(struct jobs **jobs_out, const struct jobs_config *config);

/* Runs a job and all that comes of it.  The caller works too: it is worker 0.  One call at a time. */
void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes);

/* Submits a job from inside a job.  Never fails: what cannot be recorded is done before the call returns. */
void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes);

/* Number of the worker, 0 .. workers - 1: for data that each worker has of its own. */
unsigned jobs_worker_index(const struct jobs_worker *worker);

/* The context of the config. */
void *jobs_context(const struct jobs_worker *worker);

/* Not while jobs_run() is under way. */
struct jobs_report jobs_report(const struct jobs *jobs);

/* Not while jobs_run() is under way.  Returns what lfpool_destroy() said: records still active, 0 if all is well. */
size_t jobs_destroy(struct jobs *jobs);

#endif
