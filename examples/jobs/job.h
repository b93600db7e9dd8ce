/* SPDX-License-Identifier: MIT */
/*
 * job.h - inside the job system: what its parts know of each other.
 *
 *     jobs.c     records: submit, run, end                  depend.c   before and after
 *     workers.c  threads: which runs what, and when they rest for.c      parallel for
 *
 * Invariants   J1  a group's `unfinished` = its jobs that hold a record and have not ended, and for a job's own children one
 *                  more until its function has returned.
 *              J2  a job's record, and the edges to those after it, are released before its group is told: so when a group
 *                  has ended, the pools have all its records back.
 *              J3  a job's `after` and payload have one user at a time: the worker that prepares it, then the one that runs
 *              it,
 *                  then the one that ends it.
 *              J4  `here` is empty whenever a worker looks for a job, waits or sleeps.
 */
#ifndef EXAMPLE_JOB_H
#define EXAMPLE_JOB_H

#include "deque.h"
#include "inbox.h"
#include "jobs.h"
#include "sleep.h"

#include <pthread.h>

/* An object of the pool of edges: in the list of the job before. */
struct edge {
	struct edge *next;
	struct job *after;
};

#define FROM_OUTSIDE UINT16_MAX

/* An object of the pool of jobs.  All but the payload in one cache line, as the pool aligns it. */
struct job {
	job_function *run;
	struct jobs_group *group;    /* that it belongs to                                                   */
	struct jobs_group children;  /* see J1; owned by this job                                            */
	struct edge *after;          /* to the jobs that wait for this one                                   */
	struct job *next;            /* in `here`                                                            */
	_Atomic(uint32_t) waits_for; /* jobs before it that have not ended, and one until jobs_start()       */
	uint16_t acquirer;           /* worker                                                               */
	bool stays;                  /* with the worker that ends the last job before it                     */
	alignas(max_align_t) unsigned char payload[JOB_PAYLOAD_BYTES];
};
_Static_assert(offsetof(struct job, payload) <= 64, "what the system needs of a job is one cache line");
_Static_assert(sizeof(struct job) <= JOB_RECORD_BYTES, "as jobs.h says");

struct jobs_worker {
	/* Shared with thieves. */
	struct deque deque;

	/* The worker's alone; read by jobs_report() when it is at rest. */
	alignas(128) struct jobs *jobs;
	lfpool_cache_t *cache;      /* of the pool of jobs; NULL: malloc                                     */
	lfpool_cache_t *edge_cache; /* of the pool of edges                                                  */
	struct jobs_group *group;   /* to which what the running job submits belongs                         */
	struct job *here;           /* ready, and to be run by this worker next                              */
	uint64_t submitted;
	uint64_t at_once_empty;
	uint64_t at_once_long;
	uint64_t stolen;
	uint64_t overflowed;
	uint64_t elsewhere;
	unsigned index;
	pthread_t thread;
};

struct jobs {
	lfpool_t *pool; /* NULL: malloc */
	bool pool_is_ours;
	lfpool_t *edge_pool;
	void *context;
	struct jobs_worker *workers;
	unsigned worker_count;
	unsigned thread_count; /* started: those of workers 1 .. thread_count                                */

	alignas(128) struct inbox inbox;        /* from outside, and overflow: room for every record       */
	alignas(128) struct jobs_group outside; /* all that was injected                                   */
	_Atomic(uint64_t) injected;
	_Atomic(bool) stop;
	alignas(128) struct sleepers sleepers;
};

/* ---- jobs.c ---- */

/* A job with its payload that belongs to the group, not yet told whom to wait for; NULL: no record. */
struct job *job_record(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload,
		       size_t bytes);
/* Runs the function, not as a job of its own; what it submits belongs to the group. */
void run_in_group(struct jobs_worker *worker, struct jobs_group *group, job_function *run, const void *payload);
/* Runs the job, and what its end leaves to be run `here`. */
void job_execute(struct jobs_worker *worker, struct job *job);
/* The job may run: on this worker, or on one that steals it. */
void job_ready(struct jobs_worker *worker, struct job *job);

/* ---- depend.c ---- */

/* The job has ended: tells those after it, and releases the edges to them. */
void tell_those_after(struct jobs_worker *worker, struct job *job);

#endif
