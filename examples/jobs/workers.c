/* SPDX-License-Identifier: MIT */
/*
 * workers.c - which job runs next, see jobs.h: a worker's deque first, then the others' deques, then the inbox, then sleep.
 *
 * Idea         Worker 0 has no thread of its own: it is the caller of jobs_run() or jobs_finish(), for the time of the call.
 *              The others have one from jobs_create() to jobs_destroy().  To wait is to work: a worker that waits for a
 *              group does what a worker does all the time, until that group has ended.
 */
#include "job.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Times a worker looks for work everywhere before it sleeps. */
#define ROUNDS_BEFORE_SLEEP 16
#define DEQUE_CAPACITY_MAX 4096

/* ---- Working ----------------------------------------------------------------------------------------------- */

static struct job *find_job(struct jobs_worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct job *job = deque_pop(&worker->deque);

	for (unsigned i = 1; !job && i < jobs->worker_count; i++) {
		job = deque_steal(&jobs->workers[(worker->index + i) % jobs->worker_count].deque);
		/* Written only if there is a job: jobs_report() reads it while idle workers look around. */
		if (job)
			worker->stolen++;
	}
	/* Last: what is begun is done before what is new. */
	return job ? job : inbox_take(&jobs->inbox);
}

/* How long a worker works: until the group has ended, or, without one, the system. */
struct stint {
	struct jobs *jobs;
	struct jobs_group *group;
};

static bool stint_is_over(const struct stint *stint)
{
	/* seq_cst, both: after the sleeper has counted itself (sleep.h); and acquires what the jobs wrote. */
	if (!stint->group)
		return atomic_load_explicit(&stint->jobs->stop, memory_order_seq_cst);
	return atomic_load_explicit(&stint->group->unfinished, memory_order_seq_cst) == 0;
}

static bool reason_to_wake(const void *context)
{
	const struct stint *stint = context;
	struct jobs *jobs = stint->jobs;

	if (stint_is_over(stint) || !inbox_looks_empty(&jobs->inbox))
		return true;
	for (unsigned i = 0; i < jobs->worker_count; i++)
		if (!deque_looks_empty(&jobs->workers[i].deque))
			return true;
	return false;
}

void jobs_wait(struct jobs_worker *worker, struct jobs_group *group)
{
	struct stint stint = {worker->jobs, group};
	unsigned idle_rounds = 0;

	while (!stint_is_over(&stint)) {
		struct job *job = find_job(worker);

		if (job) {
			job_execute(worker, job);
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
	jobs_wait(worker, NULL);
	return NULL;
}

void jobs_run(struct jobs *jobs, job_function *run, const void *payload, size_t bytes)
{
	struct jobs_group group = JOBS_GROUP_INIT;

	jobs_submit_in(&jobs->workers[0], &group, run, payload, bytes);
	jobs_wait(&jobs->workers[0], &group);
}

void jobs_finish(struct jobs *jobs)
{
	jobs_wait(&jobs->workers[0], &jobs->outside);
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

static lfpool_status_t pools_create(struct jobs *jobs, const struct jobs_config *config)
{
	lfpool_config_t pool_config = LFPOOL_CONFIG_INIT;

	pool_config.name = "jobs";
	pool_config.object_size = JOB_RECORD_BYTES;
	pool_config.object_alignment = JOB_RECORD_ALIGNMENT;
	pool_config.capacity = config->capacity;
	pool_config.backend = config->backend;
	jobs->pool = config->pool;
	jobs->pool_is_ours = !config->pool && !config->heap;
	if (jobs->pool_is_ours) {
		const lfpool_status_t status = lfpool_create(&jobs->pool, &pool_config);

		if (status != LFPOOL_OK)
			return status;
	}
	pool_config.name = "job edges";
	pool_config.object_size = sizeof(struct edge);
	pool_config.object_alignment = alignof(struct edge);
	pool_config.capacity = config->edges ? config->edges : 2 * config->capacity;
	return lfpool_create(&jobs->edge_pool, &pool_config);
}

/* False: no memory. */
static bool worker_init(struct jobs_worker *worker, struct jobs *jobs, unsigned index, size_t deque_capacity)
{
	worker->jobs = jobs;
	worker->index = index;
	/* Made here, used by the worker's thread only: pthread_create() hands them over. */
	worker->cache = jobs->pool ? lfpool_cache_create(jobs->pool) : NULL;
	worker->edge_cache = lfpool_cache_create(jobs->edge_pool);
	return (worker->cache || !jobs->pool) && worker->edge_cache && deque_init(&worker->deque, deque_capacity);
}

lfpool_status_t jobs_create(struct jobs **jobs_out, const struct jobs_config *config)
{
	lfpool_status_t status = LFPOOL_E_NO_MEMORY;

	*jobs_out = NULL;
	if (config->workers == 0 || config->workers >= FROM_OUTSIDE)
		return LFPOOL_E_ARGUMENT;

	struct jobs *jobs = aligned_zeroed(1, sizeof(*jobs));

	if (!jobs)
		return status;
	sleepers_init(&jobs->sleepers);
	jobs->context = config->context;
	jobs->workers = aligned_zeroed(config->workers, sizeof(*jobs->workers));
	if (!jobs->workers)
		goto fail;
	status = pools_create(jobs, config);
	if (status != LFPOOL_OK)
		goto fail;
	status = LFPOOL_E_NO_MEMORY;
	if (!inbox_init(&jobs->inbox, config->capacity))
		goto fail;

	const size_t most = config->deque_capacity ? config->deque_capacity : DEQUE_CAPACITY_MAX;

	while (jobs->worker_count < config->workers) {
		struct jobs_worker *worker = &jobs->workers[jobs->worker_count];

		if (!worker_init(worker, jobs, jobs->worker_count++, config->capacity < most ? config->capacity : most))
			goto fail;
	}
	/* A thread that cannot be had is a worker fewer; the others do its work. */
	for (unsigned i = 1; i < jobs->worker_count; i++, jobs->thread_count++)
		if (pthread_create(&jobs->workers[i].thread, NULL, work_until_stop, &jobs->workers[i]) != 0)
			break;
	*jobs_out = jobs;
	return LFPOOL_OK;
fail:
	jobs_destroy(jobs);
	return status;
}

struct jobs_report jobs_report(const struct jobs *jobs)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	struct jobs_report report = {
		.edges_active = lfpool_active_count(jobs->edge_pool),
		.backend = lfpool_backend(jobs->edge_pool),
		/* relaxed: no thread injects now. */
		.injected = atomic_load_explicit(&jobs->injected, memory_order_relaxed),
	};

	if (jobs->pool) {
		(void)lfpool_stats(jobs->pool, &stats);
		report.peak = stats.high_water;
		report.capacity = lfpool_capacity(jobs->pool);
		report.active = lfpool_active_count(jobs->pool);
		report.available = lfpool_available_count(jobs->pool);
	}
	report.submitted = report.injected;
	for (unsigned i = 0; i < jobs->worker_count; i++) {
		const struct jobs_worker *worker = &jobs->workers[i];

		report.submitted += worker->submitted;
		report.at_once_empty += worker->at_once_empty;
		report.at_once_long += worker->at_once_long;
		report.stolen += worker->stolen;
		report.overflowed += worker->overflowed;
		report.elsewhere += worker->elsewhere;
	}
	return report;
}

size_t jobs_destroy(struct jobs *jobs)
{
	/* seq_cst: before the look for sleepers (sleep.h). */
	atomic_store_explicit(&jobs->stop, true, memory_order_seq_cst);
	wake_all(&jobs->sleepers);
	for (unsigned i = 1; i <= jobs->thread_count; i++)
		pthread_join(jobs->workers[i].thread, NULL);
	for (unsigned i = 0; i < jobs->worker_count; i++) {
		deque_free(&jobs->workers[i].deque);
		lfpool_cache_destroy(jobs->workers[i].cache);
	}
	inbox_free(&jobs->inbox);

	/* The caches of edges go with their pool. */
	const size_t active = lfpool_destroy(jobs->edge_pool) + (jobs->pool_is_ours ? lfpool_destroy(jobs->pool) : 0);

	sleepers_destroy(&jobs->sleepers);
	free(jobs->workers);
	free(jobs);
	return active;
}
