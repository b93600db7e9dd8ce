/* SPDX-License-Identifier: MIT */
/*
 * jobs.c - work-stealing workers and pooled job records, see jobs.h.
 *
 * Idea         Each worker has a deque of jobs and a cache of the pool.  A submitted job takes a record from the
 *              submitter's cache and goes to the submitter's deque; a worker without work steals from the others.  So
 *              a record is often acquired by one worker and released by another: into the cache of the one that
 *              released it, where the next job finds it.
 * No record    The pool has a fixed number of records.  When they are all in use, the submitter runs the job itself,
 *              at once.  That is the right answer to NULL in a job system: nothing waits, nothing fails, nothing is
 *              allocated, and those who produce work faster than it is done are slowed down to doing it.  The stack
 *              grows by one job per level of the work, no more.
 * Invariants   J1  unfinished = records that hold a job submitted and not yet done.  A job that runs at once is
 *                  inside one of these (or inside jobs_run(), before there are threads), so unfinished = 0 means that
 *                  all is done.
 *              J2  unfinished is raised after a record is acquired and lowered before it is released: it never
 *                  exceeds the active objects of the pool, nor its capacity.
 *              J3  a worker sleeps only when its own deque is empty, and only it pushes there.  So each job waiting
 *                  is in the deque of a worker that is awake, and a missed wake-up costs parallelism, never progress.
 */
#include "jobs.h"

#include "deque.h"
#include "lfpool/inline.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Times a worker looks for work everywhere before it sleeps. */
#define ROUNDS_BEFORE_SLEEP 16

/* An object of the pool. */
struct job {
	job_function *run;
	alignas(max_align_t) unsigned char payload[JOB_PAYLOAD_BYTES];
};

struct jobs_worker {
	/* Shared with thieves. */
	struct deque deque;

	/* The worker's alone; read by jobs_report() when it is at rest. */
	alignas(128) struct jobs *jobs;
	lfpool_cache_t *cache;
	uint64_t submitted;
	uint64_t at_once_empty;
	uint64_t at_once_long;
	uint64_t stolen;
	uint64_t peak;
	unsigned index;
	pthread_t thread;
};

struct jobs {
	lfpool_t *pool;
	void *context;
	struct jobs_worker *workers;
	unsigned worker_count;

	alignas(128) _Atomic(uint64_t) unfinished; /* see J1                                         */

	alignas(128) _Atomic(unsigned) sleepers; /* written under the lock, read without: a hint     */
	pthread_mutex_t lock;
	pthread_cond_t wake; /* there is work, or all is done                                        */
};

/* ---- Sleeping ---------------------------------------------------------------------------------------------- */

static bool all_done(struct jobs *jobs)
{
	/* acquire: who sees 0 sees what the jobs wrote. */
	return atomic_load_explicit(&jobs->unfinished, memory_order_acquire) == 0;
}

static bool work_in_sight(struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->worker_count; i++)
		if (!deque_looks_empty(&jobs->workers[i].deque))
			return true;
	return false;
}

/* Returns when there is, or was, something to do, or all is done. */
static void sleep_until_work(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	/* relaxed: a hint, see J3. */
	atomic_fetch_add_explicit(&jobs->sleepers, 1, memory_order_relaxed);
	while (!all_done(jobs) && !work_in_sight(jobs))
		pthread_cond_wait(&jobs->wake, &jobs->lock);
	/* relaxed: as above. */
	atomic_fetch_sub_explicit(&jobs->sleepers, 1, memory_order_relaxed);
	pthread_mutex_unlock(&jobs->lock);
}

static void wake_one(struct jobs *jobs)
{
	/* relaxed: a stale 0 leaves somebody asleep until the next submit, see J3. */
	if (atomic_load_explicit(&jobs->sleepers, memory_order_relaxed) == 0)
		return;
	pthread_mutex_lock(&jobs->lock);
	pthread_cond_signal(&jobs->wake);
	pthread_mutex_unlock(&jobs->lock);
}

static void wake_all(struct jobs *jobs)
{
	/* Under the lock: a worker that has just seen work unfinished is by now waiting, or will look again. */
	pthread_mutex_lock(&jobs->lock);
	pthread_cond_broadcast(&jobs->wake);
	pthread_mutex_unlock(&jobs->lock);
}

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

/* A record that holds the job and is counted in unfinished; NULL: every record is in use. */
static struct job *record_job(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes)
{
	struct job *job = lfpool_cache_acquire(worker->cache);

	if (!job)
		return NULL;
	job->run = run;
	memcpy(job->payload, payload, bytes);

	/* relaxed: whoever lowers it got the job through the deque, hence after this. */
	uint64_t unfinished = atomic_fetch_add_explicit(&worker->jobs->unfinished, 1, memory_order_relaxed) + 1;

	if (unfinished > worker->peak)
		worker->peak = unfinished;
	return job;
}

/* After a job is done: the record goes back, from whichever worker ran it. */
static void forget_job(struct jobs_worker *worker, struct job *job)
{
	struct jobs *jobs = worker->jobs;

	/* release: what the job wrote, to those who see 0; acquire: the last one passes on what the others wrote. */
	bool last = atomic_fetch_sub_explicit(&jobs->unfinished, 1, memory_order_acq_rel) == 1;

	lfpool_cache_release(worker->cache, job);
	if (last)
		wake_all(jobs);
}

void jobs_submit(struct jobs_worker *worker, job_function *run, const void *payload, size_t bytes)
{
	worker->submitted++;
	if (bytes > JOB_PAYLOAD_BYTES) {
		worker->at_once_long++;
		run(worker, payload);
		return;
	}

	struct job *job = record_job(worker, run, payload, bytes);

	if (!job) {
		worker->at_once_empty++;
		run(worker, payload);
	} else if (!deque_push(&worker->deque, job)) {
		/* Only if the pool gives out more objects than its capacity. */
		worker->at_once_empty++;
		run(worker, payload);
		forget_job(worker, job);
	} else {
		wake_one(worker->jobs);
	}
}

/* ---- Workers ----------------------------------------------------------------------------------------------- */

static struct job *find_job(struct jobs_worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct job *job = deque_pop(&worker->deque);

	for (unsigned i = 1; !job && i < jobs->worker_count; i++) {
		job = deque_steal(&jobs->workers[(worker->index + i) % jobs->worker_count].deque);
		worker->stolen += job != NULL;
	}
	return job;
}

static void *work_until_done(void *argument)
{
	struct jobs_worker *worker = argument;
	unsigned idle_rounds = 0;

	for (;;) {
		struct job *job = find_job(worker);

		if (job) {
			job->run(worker, job->payload);
			forget_job(worker, job);
			idle_rounds = 0;
		} else if (all_done(worker->jobs)) {
			return NULL;
		} else if (++idle_rounds < ROUNDS_BEFORE_SLEEP) {
			sched_yield();
		} else {
			sleep_until_work(worker->jobs);
		}
	}
}

void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes)
{
	unsigned started = 1;

	/* Before there are threads: from here on unfinished is not 0 until all is done (J1). */
	jobs_submit(&jobs->workers[0], run, payload, bytes);
	/* A thread that cannot be had is a worker fewer; the others do its work. */
	while (started < jobs->worker_count &&
	       pthread_create(&jobs->workers[started].thread, NULL, work_until_done, &jobs->workers[started]) == 0)
		started++;
	work_until_done(&jobs->workers[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(jobs->workers[i].thread, NULL);
}

unsigned jobs_worker_index(const struct jobs_worker *worker)
{
	return worker->index;
}

void *jobs_context(const struct jobs_worker *worker)
{
	return worker->jobs->context;
}

/* ---- The system -------------------------------------------------------------------------------------------- */

static void *aligned_zeroed(size_t count, size_t bytes)
{
	/* sizeof() is a multiple of the alignment, as aligned_alloc() wants it. */
	void *memory = aligned_alloc(128, count * bytes);

	return memory ? memset(memory, 0, count * bytes) : NULL;
}

lfpool_status_t jobs_create(struct jobs **jobs_out, const struct jobs_config *config)
{
	lfpool_config_t pool_config = LFPOOL_CONFIG_INIT;
	lfpool_status_t status = LFPOOL_E_NO_MEMORY;

	*jobs_out = NULL;
	if (config->workers == 0)
		return LFPOOL_E_ARGUMENT;

	struct jobs *jobs = aligned_zeroed(1, sizeof(*jobs));

	if (!jobs)
		return status;
	atomic_init(&jobs->unfinished, 0);
	atomic_init(&jobs->sleepers, 0);
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->wake, NULL);
	jobs->context = config->context;
	jobs->workers = aligned_zeroed(config->workers, sizeof(*jobs->workers));
	if (!jobs->workers)
		goto fail;

	pool_config.name = "jobs";
	pool_config.object_size = sizeof(struct job);
	pool_config.object_alignment = alignof(struct job);
	pool_config.capacity = config->capacity;
	pool_config.backend = config->backend;
	status = lfpool_create(&jobs->pool, &pool_config);
	if (status != LFPOOL_OK)
		goto fail;
	for (; jobs->worker_count < config->workers; jobs->worker_count++) {
		struct jobs_worker *worker = &jobs->workers[jobs->worker_count];

		worker->jobs = jobs;
		worker->index = jobs->worker_count;
		/* Made here, used by the worker's thread only: pthread_create() hands it over. */
		worker->cache = lfpool_cache_create(jobs->pool);
		if (!worker->cache || !deque_init(&worker->deque, config->capacity)) {
			status = LFPOOL_E_NO_MEMORY;
			goto fail;
		}
	}
	*jobs_out = jobs;
	return LFPOOL_OK;
fail:
	jobs_destroy(jobs);
	return status;
}

struct jobs_report jobs_report(const struct jobs *jobs)
{
	struct jobs_report report = {
		.capacity = lfpool_capacity(jobs->pool),
		.active = lfpool_active_count(jobs->pool),
		.available = lfpool_available_count(jobs->pool),
		.backend = lfpool_backend(jobs->pool),
	};

	for (unsigned i = 0; i < jobs->worker_count; i++) {
		const struct jobs_worker *worker = &jobs->workers[i];

		report.submitted += worker->submitted;
		report.at_once_empty += worker->at_once_empty;
		report.at_once_long += worker->at_once_long;
		report.stolen += worker->stolen;
		if (worker->peak > report.peak)
			report.peak = worker->peak;
	}
	return report;
}

size_t jobs_destroy(struct jobs *jobs)
{
	/* The caches go with the pool. */
	for (unsigned i = 0; i < jobs->worker_count; i++)
		deque_free(&jobs->workers[i].deque);

	size_t active = lfpool_destroy(jobs->pool);

	pthread_cond_destroy(&jobs->wake);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs->workers);
	free(jobs);
	return active;
}
