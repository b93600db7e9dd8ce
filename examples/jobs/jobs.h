/* SPDX-License-Identifier: MIT */
/*
 * jobs.h - a job system: work-stealing workers whose job records come from an lfpool.
 *
 * Job          A function and a few bytes of payload.  A job has *ended* when its function has returned and all jobs that
 *              it submitted have ended.
 * Group        What a worker waits for, or a job's own children: counts the jobs in it that have not ended.
 * Before and   A job that is prepared names the jobs that must have ended before it; it is not yet free to run.  jobs_start()
 * after        sets it free, and the worker that ends the last of those runs it or hands it on.
 * No record    Nothing here waits for memory, and nothing allocates.  When all records are in use jobs_submit() does the job
 *              at once, jobs_prepare() and jobs_then() say so, and jobs_inject() waits as long as it is told.
 *
 *     submit         jobs_submit, jobs_submit_in     a job, from inside a job
 *     wait           jobs_wait                       runs other jobs until a group has ended
 *     parallel for   jobs_for                        a range, divided as workers get idle
 *     depend         jobs_prepare, jobs_start
 *     continue       jobs_then                       on the very worker that ended the job
 *     from outside   jobs_inject, jobs_finish        from threads that are no workers
 *
 * To embed it, take this folder's jobs.h, jobs.c, job.h, workers.c, depend.c, for.c, deque.h, inbox.h, sleep.h, ring.h and
 * one of ring_ck.c and ring_mutex.c.  How it works: README.md.
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

struct jobs;        /* the system                                        */
struct jobs_worker; /* one of its workers: handed to each job it runs    */
struct job;         /* a job that is prepared, see jobs_prepare()        */

/* What a job does.  `payload` is the submitter's, or a copy; valid until the function returns. */
typedef void job_function(struct jobs_worker *worker, const void *payload);

/* ---- The system -------------------------------------------------------------------------------------------- */

/* Zero means the default where there is one. */
struct jobs_config {
	unsigned workers;         /* 1 .. 65534: the caller of jobs_run(), and a thread for each other   */
	size_t capacity;          /* job records                                                         */
	size_t edges;             /* records of which job waits for which; 0 = twice the capacity               */
	size_t deque_capacity;    /* jobs in a worker's deque, more go to the inbox that all share; 0 = as
	                             many as there are records, at most 4096                             */
	lfpool_t *pool;           /* of objects of JOB_RECORD_BYTES at multiples of JOB_RECORD_ALIGNMENT, of
	                             this capacity; it stays the caller's; NULL = it makes its own       */
	bool heap;                /* for comparison: records by malloc(), as many as are asked for       */
	lfpool_backend_t backend; /* of the pools that it makes                                          */
	void *context;            /* for jobs_context()                                                  */
};

/* Makes a job system; its threads sleep until there is work.  LFPOOL_E_ARGUMENT: workers is out of range; otherwise as
 * lfpool_create(). */
lfpool_status_t jobs_create(struct jobs **jobs_out, const struct jobs_config *config);

/* Ends the threads.  Not while any other call on it is under way.  Jobs that were injected and have not begun are dropped
 * (jobs_finish() before it leaves none).  Returns what lfpool_destroy() said: records still active, 0 if all is well. */
size_t jobs_destroy(struct jobs *jobs);

/* Runs a job and returns when it has ended.  The caller works too: it is worker 0 for the time.  One call of jobs_run() or
 * jobs_finish() at a time, and not from inside a job. */
void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes);

/*
 * jobs_inject - submits a job from a thread that is no worker.
 *
 * timeout_ns  How long to wait for a record if all are in use: 0 not at all, negative for ever.
 * Returns     false: no record in that time, or more than JOB_PAYLOAD_BYTES; with `heap` always.
 * Threads     Any, at any time between jobs_create() and jobs_destroy().  With a single worker the job runs when a caller
 *             calls jobs_run() or jobs_finish().
 */
bool jobs_inject(struct jobs *jobs, job_function *run, const void *payload, size_t bytes, int64_t timeout_ns);

/* Works as worker 0, and returns when every job that was injected has ended. */
void jobs_finish(struct jobs *jobs);

/* Exact while nothing runs: after jobs_run() and jobs_finish(). */
struct jobs_report {
	uint64_t submitted;       /* jobs in all                                                         */
	uint64_t at_once_empty;   /* of these: run by the submitter, no record was to be had             */
	uint64_t at_once_long;    /* of these: run by the submitter, payload too long                    */
	uint64_t injected;        /* of these: from outside                                              */
	uint64_t stolen;          /* taken out of another worker's deque                                 */
	uint64_t overflowed;      /* put in the inbox, because the worker's deque was full               */
	uint64_t elsewhere;       /* records released by another worker than the one that acquired them  */
	size_t peak;              /* most records active at once, at most (lfpool_stats_t, high_water);
	                             this and the next three are 0 with `heap`                           */
	size_t capacity;          /* of the pool of records                                              */
	size_t active;            /* records the pool counts as active now                               */
	size_t available;         /* records the pool counts as available now                            */
	size_t edges_active;      /* likewise, of the pool of edges                                      */
	lfpool_backend_t backend; /* in force                                                            */
};

struct jobs_report jobs_report(const struct jobs *jobs);

/* ---- Inside a job ------------------------------------------------------------------------------------------ */

/* Number of the worker, 0 .. workers - 1: for data that each worker has of its own. */
unsigned jobs_worker_index(const struct jobs_worker *worker);

/* The context of the config. */
void *jobs_context(const struct jobs_worker *worker);

/* Submits a job that this one includes: it has to end before this one has.  Never fails: what cannot be recorded is done
 * before the call returns. */
void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes);

/* A worker that waits has one, on its stack: `struct jobs_group group = JOBS_GROUP_INIT`. */
struct jobs_group {
	_Atomic(uint64_t) unfinished; /* jobs in it that have not ended                                      */
	struct job *owner;            /* the job whose children they are; NULL: of a wait, or of none    */
};
#define JOBS_GROUP_INIT {0, NULL}

/* As jobs_submit(), but the job belongs to the group. */
void jobs_submit_in(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload, size_t bytes);

/* Returns when all jobs of the group have ended; until then the worker runs others, on top of this one's stack.  What a
 * continuation can do instead needs no stack. */
void jobs_wait(struct jobs_worker *worker, struct jobs_group *group);

/* Does body(begin .. end - 1) in pieces of at most `grain` (at least 1), on all workers that have nothing better to do.
 * Returns when all is done.  `context` is for the body. */
typedef void jobs_for_body(struct jobs_worker *worker, size_t begin, size_t end, void *context);
void jobs_for(struct jobs_worker *worker, size_t begin, size_t end, size_t grain, jobs_for_body *body, void *context);

/* ---- Dependencies and continuations ------------------------------------------------------------------------ */

/*
 * jobs_prepare - a job that does not run yet.
 *
 * group          That it belongs to, from now on; NULL: the running job's own.
 * before, count  Jobs that must have ended before it begins: prepared, and not started yet.  NULLs among them are passed
 *                over: of those the caller knows already that they have ended.
 * Returns        The job, to be used until jobs_start() by the worker that prepared it; NULL: no record for it or for an
 *                edge, or payload too long, and nothing changed.  A caller that gets NULL can start what it has, jobs_wait()
 *                for it, and then do the job itself.
 */
struct job *jobs_prepare(struct jobs_worker *worker, struct jobs_group *group, struct job *const *before, size_t count,
			 job_function *run, const void *payload, size_t bytes);

/* Sets the job free: it runs when those before it have ended.  It must not be used any more. */
void jobs_start(struct jobs_worker *worker, struct job *job);

/* When `before`, not started yet, has ended, the worker that ended it runs this next.  The job belongs to the running job's
 * group.  false: no record, and nothing changed. */
bool jobs_then(struct jobs_worker *worker, struct job *before, job_function *run, const void *payload, size_t bytes);

#endif
