/* SPDX-License-Identifier: MIT */
/* one_page.c - a work-stealing job system on one page, see docs/job-systems.md.  one_page [WORKERS [RECORDS]] */
#include <lfpool/inline.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS_MAX = 64, DEQUE_JOBS = 1024 };

struct worker;
typedef void job_function(struct worker *worker, int64_t first, int64_t last);

struct job { /* a record */
	job_function *run;
	int64_t first, last; /* its arguments */
	struct job *parent;
	atomic_int unfinished; /* its children, and one for the job itself until its function has returned */
};

struct worker { /* its deque: the jobs at positions top .. bottom - 1 (Chase and Lev 2005) */
	_Alignas(128) _Atomic(int64_t) top;
	_Alignas(128) _Atomic(int64_t) bottom;
	_Atomic(struct job *) deque[DEQUE_JOBS];
	lfpool_cache_t *cache; /* used by this worker alone */
	struct job *running;   /* counts the jobs that are spawned now */
	int at_once;           /* jobs to run before it asks for a record again: a NULL costs more than a record */
	int64_t found;         /* by the jobs that ran here */
	pthread_t thread;
};

static struct worker workers[WORKERS_MAX];
static int worker_count;

static void spawn(struct worker *worker, job_function *run, int64_t first, int64_t last)
{
	int64_t bottom = worker->bottom;
	struct job *job = NULL;

	if (worker->at_once > 0)
		worker->at_once--;
	else if (bottom - worker->top < DEQUE_JOBS && !(job = lfpool_cache_acquire(worker->cache)))
		worker->at_once = 7;
	if (!job) { /* every record is in use: no error, no wait, no malloc */
		run(worker, first, last);
		return;
	}
	*job = (struct job){run, first, last, worker->running, 1};
	atomic_fetch_add_explicit(&job->parent->unfinished, 1, memory_order_relaxed);
	atomic_store_explicit(&worker->deque[bottom % DEQUE_JOBS], job, memory_order_relaxed);
	atomic_store_explicit(&worker->bottom, bottom + 1, memory_order_release); /* gives the job away */
}

static struct job *pop(struct worker *worker) /* the newest job */
{
	int64_t bottom = worker->bottom - 1;

	worker->bottom = bottom; /* seq_cst: a thief sees this, or this worker sees the thief's top */
	int64_t top = worker->top;
	struct job *job = top <= bottom ? worker->deque[bottom % DEQUE_JOBS] : NULL;
	if (top < bottom)
		return job;
	if (job && !atomic_compare_exchange_strong(&worker->top, &top, top + 1))
		job = NULL; /* it was the last one, and a thief has it */
	atomic_store_explicit(&worker->bottom, bottom + 1, memory_order_relaxed);
	return job;
}

static struct job *steal(struct worker *victim) /* the oldest job */
{
	int64_t top = victim->top, bottom = victim->bottom; /* in this order */
	struct job *job = top < bottom ? victim->deque[top % DEQUE_JOBS] : NULL;

	return job && atomic_compare_exchange_strong(&victim->top, &top, top + 1) ? job : NULL;
}

static void work(struct worker *worker) /* runs a job, and ends each job of which nothing is unfinished */
{
	struct job *job = pop(worker), *outer = worker->running, *parent;

	for (int i = 1; !job && i < worker_count; i++)
		job = steal(&workers[(worker - workers + i) % worker_count]);
	if (!job) {
		sched_yield(); /* examples/jobs/sleep.h lets idle workers sleep */
		return;
	}
	worker->running = job;
	job->run(worker, job->first, job->last);
	worker->running = outer;
	for (; atomic_fetch_sub(&job->unfinished, 1) == 1; job = parent) {
		parent = job->parent;
		lfpool_cache_release(worker->cache, job); /* before the parent can end */
	}
}

static void *join(void *argument) /* works until all children of the running job have ended */
{
	for (struct worker *worker = argument; worker->running->unfinished > 1;)
		work(worker);
	return NULL;
}

/* Runs a job, and all jobs below it.  Returns the number of records that were not released. */
static size_t run(int count, size_t records, job_function *function, int64_t first, int64_t last)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	struct job root = {.unfinished = 1}; /* counts children like a record, but never ends */
	lfpool_t *pool;

	config.object_size = sizeof(struct job);
	config.object_alignment = 64; /* two workers never write to one cache line */
	config.capacity = records;
	if (count < 1 || count > WORKERS_MAX || lfpool_create(&pool, &config) != LFPOOL_OK)
		exit(3);
	worker_count = count;
	for (int i = 0; i < count; i++) {
		workers[i].running = &root;
		if (!(workers[i].cache = lfpool_cache_create(pool)))
			exit(3);
	}
	spawn(&workers[0], function, first, last);
	for (int i = 1; i < count; i++) /* worker 0 is this thread */
		if (pthread_create(&workers[i].thread, NULL, join, &workers[i]) != 0)
			exit(3);
	join(&workers[0]);
	for (int i = 1; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	return lfpool_destroy(pool);
}

static void collatz(struct worker *worker, int64_t first, int64_t last) /* steps of these sequences, a job for each */
{
	for (int64_t n = first; first == last && n > 1; n = n % 2 ? 3 * n + 1 : n / 2)
		worker->found++;
	if (first < last) {
		spawn(worker, collatz, first, first + (last - first) / 2);
		spawn(worker, collatz, first + (last - first) / 2 + 1, last);
	}
}

int main(int argc, char **argv)
{
	size_t lost = run(argc > 1 ? atoi(argv[1]) : 4, argc > 2 ? (size_t)atoi(argv[2]) : 4096, collatz, 1, 100000);
	long long steps = 0;

	for (int i = 0; i < worker_count; i++)
		steps += workers[i].found;
	printf("%lld steps, %zu records lost\n", steps, lost);
	return lost > 0;
}
