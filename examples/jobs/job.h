/* SPDX-License-Identifier: MIT */
/*
 * job.h - internal to the job system: the interface between jobs.c (the life of a job) and workers.c (which job runs
 * next).
 *
 * Invariants   J1  `unfinished` of a job = the jobs that it submitted and that have not ended, plus one until its own
 *                  function has returned.
 *              J2  a job's record is released before its parent is notified: so when a job has ended, all records
 *                  below it are back in the pool.
 *              J3  a job's `after` and payload have one user at a time: the worker that prepares it, the one that
 *                  runs it, the one that ends it.
 *              J4  `next` of a worker is NULL whenever it looks for a job, waits or sleeps.
 */
#ifndef EXAMPLE_JOB_H
#define EXAMPLE_JOB_H

#include "deque.h"
#include "jobs.h"
#include "sleep.h"

#include <pthread.h>

#define FROM_OUTSIDE UINT32_MAX

/* A record.  Everything except the payload is in one cache line, by the pool's alignment. */
struct job {
	job_function *run;
	struct job *parent;           /* the job that includes this one */
	struct job *next;             /* the next job in the inbox */
	_Atomic(uint32_t) unfinished; /* J1 */
	_Atomic(uint32_t) waits_for;  /* unended predecessors, plus one until jobs_start() */
	uint32_t acquirer;            /* index of the worker that acquired the record */
	uint32_t after_count;
	struct job *after[JOB_AFTER_MAX]; /* the jobs that wait for this one                                 */
	alignas(max_align_t) unsigned char payload[JOB_PAYLOAD_BYTES];
};
_Static_assert(offsetof(struct job, payload) <= 64, "what the system needs of a job is one cache line");
_Static_assert(sizeof(struct job) <= JOB_RECORD_BYTES, "as jobs.h says");

/* Not a record, but a job to wait for: it is "unfinished" until the last job below it has ended. */
#define JOB_ROOT {.unfinished = 1}

/* Jobs in their order of arrival, from any thread. */
struct inbox {
	pthread_mutex_t mutex;
	struct job *first, **last;
	_Atomic(bool) filled; /* not empty: so a worker that finds nothing takes no lock */
};

struct jobs_worker {
	struct deque deque; /* shared with thieves                         */
	struct inbox inbox; /* jobs for this worker only, from jobs_submit_to() */

	/* Private to the worker; jobs_report() reads it when the worker is at rest. */
	alignas(128) struct jobs *jobs;
	lfpool_cache_t *cache; /* NULL: malloc                   */
	struct job *running;   /* includes the jobs submitted now */
	struct job *next;      /* to run next */
	struct jobs_report report;
	unsigned index;
	pthread_t thread;
};

struct jobs {
	lfpool_t *pool; /* NULL: malloc */
	void *context;
	struct jobs_worker *workers;
	unsigned worker_count;
	unsigned thread_count; /* started threads: those of workers 1 .. thread_count */

	alignas(128) struct inbox inbox; /* from outside             */
	struct job outside;              /* includes all jobs from outside */
	_Atomic(uint64_t) injected;
	_Atomic(bool) stop;
	alignas(128) struct sleepers sleepers;
};

/* ---- jobs.c ---- */

/* Runs the function; `job` includes the jobs that the function submits. */
void run_as(struct jobs_worker *worker, struct job *job, job_function *run, const void *payload);
/* Runs the job, and then the job that its end makes ready. */
void job_execute(struct jobs_worker *worker, struct job *job);

/* ---- workers.c ---- */

void inbox_put(struct inbox *inbox, struct job *job);
/* Works until all jobs below `job` have ended; without a job, until the system ends. */
void work_until(struct jobs_worker *worker, struct job *job);

#endif
