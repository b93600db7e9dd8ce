/* SPDX-License-Identifier: MIT */
/*
 * workers.c - which job runs next, see jobs.h.
 *
 * Idea         A worker looks into its inbox, its deque, the other workers' deques, and the inbox for jobs from
 *              outside; then it sleeps.  Waiting is working: a worker that waits runs jobs as usual, until the job it
 *              waits for has ended.  Worker 0 has no thread: it is the caller of jobs_run() or jobs_finish().
 */
#include "job.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* How often a worker looks for work everywhere before it sleeps. */
#define ROUNDS_BEFORE_SLEEP 16
/* A deque has room for all records of the pool, if there is one. */
#define DEQUE_CAPACITY_OF_MALLOC 4096

/* ---- Inbox ------------------------------------------------------------------------------------------------- */

static void inbox_init(struct inbox *inbox)
{
	pthread_mutex_init(&inbox->mutex, NULL);
	inbox->last = &inbox->first;
}

void inbox_put(struct inbox *inbox, struct job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&inbox->mutex);
	*inbox->last = job;
	inbox->last = &job->next;
	/* seq_cst: before the check for sleepers (sleep.h). */
	atomic_store_explicit(&inbox->filled, true, memory_order_seq_cst);
	pthread_mutex_unlock(&inbox->mutex);
}

static bool inbox_looks_empty(struct inbox *inbox)
{
	/* seq_cst: after the sleeper has counted itself (sleep.h). */
	return !atomic_load_explicit(&inbox->filled, memory_order_seq_cst);
}

static struct job *inbox_take(struct inbox *inbox)
{
	struct job *job;

	if (inbox_looks_empty(inbox))
		return NULL;
	pthread_mutex_lock(&inbox->mutex);
	job = inbox->first;
	if (job)
		inbox->first = job->next;
	if (!inbox->first) {
		inbox->last = &inbox->first;
		/* relaxed: the lock orders it. */
		atomic_store_explicit(&inbox->filled, false, memory_order_relaxed);
	}
	pthread_mutex_unlock(&inbox->mutex);
	return job;
}

/* ---- Working ----------------------------------------------------------------------------------------------- */

static struct job *find_job(struct jobs_worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct job *job = inbox_take(&worker->inbox);

	if (!job)
		job = deque_pop(&worker->deque);
	for (unsigned i = 1; !job && i < jobs->worker_count; i++) {
		job = deque_steal(&jobs->workers[(worker->index + i) % jobs->worker_count].deque);
		/* Written only if there is a job: jobs_report() reads it while idle workers search. */
		if (job)
			worker->report.stolen++;
	}
	/* Last: finish existing work before starting new work. */
	return job ? job : inbox_take(&jobs->inbox);
}

/* A worker, and the job whose end it works for; NULL: until the system ends. */
struct stint {
	struct jobs_worker *worker;
	struct job *job;
};

static bool stint_is_over(const struct stint *stint)
{
	/* seq_cst, both: after the sleeper has counted itself (sleep.h); acquires the jobs' writes. */
	if (!stint->job)
		return atomic_load_explicit(&stint->worker->jobs->stop, memory_order_seq_cst);
	return atomic_load_explicit(&stint->job->unfinished, memory_order_seq_cst) == 1;
}

static bool reason_to_wake(const void *context)
{
	const struct stint *stint = context;
	struct jobs *jobs = stint->worker->jobs;

	if (stint_is_over(stint) || !inbox_looks_empty(&stint->worker->inbox) || !inbox_looks_empty(&jobs->inbox))
		return true;
	for (unsigned i = 0; i < jobs->worker_count; i++)
		if (!deque_looks_empty(&jobs->workers[i].deque))
			return true;
	return false;
}

void work_until(struct jobs_worker *worker, struct job *job)
{
	const struct stint stint = {worker, job};
	unsigned idle_rounds = 0;

	while (!stint_is_over(&stint)) {
		struct job *found = find_job(worker);

		if (found) {
			job_execute(worker, found);
			idle_rounds = 0;
		} else if (++idle_rounds < ROUNDS_BEFORE_SLEEP) {
			sched_yield();
		} else {
			sleep_until(&worker->jobs->sleepers, reason_to_wake, &stint);
		}
	}
}

static void *work_until_stop(void *worker)
{
	work_until(worker, NULL);
	return NULL;
}

void jobs_wait(struct jobs_worker *worker)
{
	work_until(worker, worker->running);
}

void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes)
{
	struct jobs_worker *worker = &jobs->workers[0];
	struct job root = JOB_ROOT;

	worker->running = &root;
	jobs_submit(worker, run, payload, bytes);
	work_until(worker, &root);
	worker->running = NULL;
}

void jobs_finish(struct jobs *jobs)
{
	work_until(&jobs->workers[0], &jobs->outside);
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
	/* sizeof() is a multiple of the alignment, as aligned_alloc() requires. */
	void *memory = aligned_alloc(128, count * bytes);

	return memory ? memset(memory, 0, count * bytes) : NULL;
}

static bool worker_init(struct jobs_worker *worker, struct jobs *jobs, unsigned index)
{
	worker->jobs = jobs;
	worker->index = index;
	inbox_init(&worker->inbox);
	/* Made here, but used only by the worker's thread: pthread_create() hands it over. */
	worker->cache = jobs->pool ? lfpool_cache_create(jobs->pool) : NULL;
	return (worker->cache || !jobs->pool) &&
	       deque_init(&worker->deque, jobs->pool ? lfpool_capacity(jobs->pool) : DEQUE_CAPACITY_OF_MALLOC);
}

static bool workers_start(struct jobs *jobs)
{
	for (unsigned i = 0; i < jobs->worker_count; i++)
		if (!worker_init(&jobs->workers[i], jobs, i))
			return false;
	for (unsigned i = 1; i < jobs->worker_count; i++, jobs->thread_count++)
		if (pthread_create(&jobs->workers[i].thread, NULL, work_until_stop, &jobs->workers[i]) != 0)
			return false;
	return true;
}

struct jobs *jobs_create(unsigned workers, lfpool_t *pool, void *context)
{
	struct jobs *jobs = aligned_zeroed(1, sizeof(*jobs));

	if (!jobs)
		return NULL;
	*jobs = (struct jobs){.pool = pool, .context = context, .outside = JOB_ROOT, .sleepers = SLEEPERS_INIT};
	inbox_init(&jobs->inbox);
	jobs->workers = aligned_zeroed(workers, sizeof(*jobs->workers));
	jobs->worker_count = jobs->workers ? workers : 0;
	if (jobs->workers && workers_start(jobs))
		return jobs;
	jobs_destroy(jobs);
	return NULL;
}

void jobs_destroy(struct jobs *jobs)
{
	/* seq_cst: before the check for sleepers (sleep.h). */
	atomic_store_explicit(&jobs->stop, true, memory_order_seq_cst);
	wake(&jobs->sleepers);
	for (unsigned i = 1; i <= jobs->thread_count; i++)
		pthread_join(jobs->workers[i].thread, NULL);
	for (unsigned i = 0; i < jobs->worker_count; i++) {
		deque_free(&jobs->workers[i].deque);
		lfpool_cache_destroy(jobs->workers[i].cache);
	}
	free(jobs->workers);
	free(jobs);
}

struct jobs_report jobs_report(const struct jobs *jobs)
{
	/* relaxed: no thread injects now. */
	struct jobs_report sum = {.submitted = atomic_load_explicit(&jobs->injected, memory_order_relaxed)};

	for (unsigned i = 0; i < jobs->worker_count; i++) {
		const struct jobs_report *report = &jobs->workers[i].report;

		sum.submitted += report->submitted;
		sum.at_once += report->at_once;
		sum.stolen += report->stolen;
		sum.elsewhere += report->elsewhere;
	}
	return sum;
}
