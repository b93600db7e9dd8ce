/* SPDX-License-Identifier: MIT */
/*
 * job.h - inside the job system: what jobs.c (the life of a job) and workers.c (which job runs next) know of each
 * other.
 *
 * Invariants   J1  `unfinished` of a job = the jobs that it submitted and that have not ended, and one more until its
 *                  own function has returned.
 *              J2  a job's record is released before its parent is told: so when a job has ended, the pool has the
 *                  records of all below it back.
 *              J3  a job's `after` and payload have one user at a time: the worker that prepares it, the one that runs
 *                  it, the one that ends it.
 *              J4  `next` of a worker is NULL whenever it looks for a job, waits or sleeps.
 */
#ifndef EXAMPLE_JOB_H
#define EXAMPLE_JOB_H

#include "deque.h"
#include "jobs.h"
#include "sleep.h"

#include <pthread.h>

#define FROM_OUTSIDE UINT32_MAX

/* A record.  All but the payload in one cache line, as the pool aligns it. */
struct job {
	job_function *run;
	struct job *parent;           /* which includes it                                                   */
	struct job *next;             /* in an inbox                                                         */
	_Atomic(uint32_t) unfinished; /* see J1                                                              */
	_Atomic(uint32_t) waits_for;  /* jobs before it that have not ended, and one until jobs_start()      */
	uint32_t acquirer;            /* worker                                                              */
	uint32_t after_count;
	struct job *after[JOB_AFTER_MAX]; /* the jobs that wait for this one                                 */
	alignas(max_align_t) unsigned char payload[JOB_PAYLOAD_BYTES];
};
_Static_assert(offsetof(struct job, payload) <= 64, "what the system needs of a job is one cache line");
_Static_assert(sizeof(struct job) <= JOB_RECORD_BYTES, "as jobs.h says");

/* No record, but something to be waited for: it is "unfinished" until the last job below it has ended. */
#define JOB_ROOT {.unfinished = 1}

/* Jobs in the order in which they came, from any thread. */
struct inbox {
	pthread_mutex_t mutex;
	struct job *first, **last;
	_Atomic(bool) filled; /* there is one: so a worker that finds nothing takes no lock */
};

struct jobs_worker {
	struct deque deque; /* shared with thieves                         */
	struct inbox inbox; /* what jobs_submit_to() names this worker for */

	/* The worker's alone; read by jobs_report() when it is at rest. */
	alignas(128) struct jobs *jobs;
	lfpool_cache_t *cache; /* NULL: malloc                   */
	struct job *running;   /* includes what is submitted now */
	struct job *next;      /* to be run next                 */
	struct jobs_report report;
	unsigned index;
	pthread_t thread;
};

struct jobs {
	lfpool_t *pool; /* NULL: malloc */
	void *context;
	struct jobs_worker *workers;
	unsigned worker_count;
	unsigned thread_count; /* started: those of workers 1 .. thread_count */

	alignas(128) struct inbox inbox; /* from outside             */
	struct job outside;              /* includes all of that     */
	_Atomic(uint64_t) injected;
	_Atomic(bool) stop;
	alignas(128) struct sleepers sleepers;
};

/* ---- jobs.c ---- */

/* Runs the function; what it submits is included in `job`. */
void run_as(struct jobs_worker *worker, struct job *job, job_function *run, const void *payload);
/* Runs the job, and what its end leaves to be run next. */
void job_execute(struct jobs_worker *worker, struct job *job);

/* ---- workers.c ---- */

void inbox_put(struct inbox *inbox, struct job *job);
/* Works until all below the job has ended; without one, until the system does. */
void work_until(struct jobs_worker *worker, struct job *job);

#endif
