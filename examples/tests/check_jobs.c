/* SPDX-License-Identifier: MIT */
/*
 * check_jobs.c - submit, wait, wake up, inject, see check_jobs.h.
 *
 * What needs another worker to wake up waits for it without a limit: a wake-up that is lost is a test that hangs, and its time
 * limit ends it.
 */
#include "check_jobs.h"

#include "sanitizers.h"

#include <sched.h>

#define WAKE_UPS (UNDER_TSAN || UNDER_ASAN ? 300 : 3000)

/* ---- Submit: every job of a random tree once ---------------------------------------------------------------- */

#define TREE_DEPTH 7

static _Atomic(uint64_t) tree_nodes;

struct node {
	uint64_t state;
	unsigned depth;
};

static unsigned children_of(struct node *node)
{
	struct random random = {node->state};
	const unsigned children = node->depth == TREE_DEPTH ? 0 : random_below(&random, 6);

	node->state = random.state;
	return children;
}

static struct node child_of(const struct node *node, unsigned i)
{
	return (struct node){node->state ^ (i + 1) * UINT64_C(0xd1342543de82ef95), node->depth + 1};
}

static uint64_t tree_alone(struct node node)
{
	const unsigned children = children_of(&node);
	uint64_t nodes = 1;

	for (unsigned i = 0; i < children; i++)
		nodes += tree_alone(child_of(&node, i));
	return nodes;
}

static void tree_run(struct jobs_worker *worker, const void *payload)
{
	struct node node = *(const struct node *)payload;
	const unsigned children = children_of(&node);

	count_up(&tree_nodes);
	for (unsigned i = 0; i < children; i++) {
		const struct node child = child_of(&node, i);
		char too_long[JOB_PAYLOAD_BYTES + 1] = {0};

		memcpy(too_long, &child, sizeof(child));
		jobs_submit(worker, tree_run, too_long, i == 5 ? sizeof(too_long) : sizeof(child));
	}
}

static void trees(void)
{
	/* Deques that overflow all the time. */
	struct jobs *jobs = system_with(0, 2);
	uint64_t truth = 0;

	for (unsigned i = 0; i < 20; i++) {
		const struct node root = {seed + i, 0};

		truth += tree_alone(root);
		jobs_run(jobs, tree_run, &root, sizeof(root));
		REQUIRE(counted(&tree_nodes) == truth);
		REQUIRE(whole(jobs).submitted == truth);
	}
	/* What was made to happen, did. */
	REQUIRE(records > 1 || whole(jobs).at_once_empty > 0);
	REQUIRE(records < 100 || whole(jobs).overflowed > 0);
	REQUIRE(workers > 1 || whole(jobs).elsewhere == 0);
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* With malloc there may be more jobs than the inbox has room for. */
static void trees_of_malloc(void)
{
	struct jobs_config config = {.workers = workers, .capacity = 1, .deque_capacity = 1, .heap = true};
	const struct node root = {seed, 0};
	const uint64_t before = counted(&tree_nodes);
	struct jobs *jobs;

	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_OK);
	REQUIRE(!jobs_inject(jobs, tree_run, &root, sizeof(root), 0));
	jobs_run(jobs, tree_run, &root, sizeof(root));
	REQUIRE(counted(&tree_nodes) - before == tree_alone(root));
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Wait: for all that a group includes, also what was submitted by a job that was done at once --------------- */

static void wait_run(struct jobs_worker *worker, const void *payload)
{
	const struct node *root = payload;
	const uint64_t before = counted(&tree_nodes);
	struct jobs_group group = JOBS_GROUP_INIT;
	char too_long[JOB_PAYLOAD_BYTES + 1] = {0};

	memcpy(too_long, root, sizeof(*root));
	jobs_submit_in(worker, &group, tree_run, too_long, sizeof(too_long));
	jobs_submit_in(worker, &group, tree_run, root, sizeof(*root));
	jobs_wait(worker, &group);
	REQUIRE(counted(&tree_nodes) - before == 2 * tree_alone(*root));
}

static void waits(void)
{
	struct jobs *jobs = system_with(0, 0);

	for (unsigned i = 0; i < 20; i++) {
		const struct node root = {seed + i, 0};

		jobs_run(jobs, wait_run, &root, sizeof(root));
		whole(jobs);
	}
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Sleep: a worker that is needed wakes up -------------------------------------------------------------------------- */

static void raise_flag(struct jobs_worker *worker, const void *payload)
{
	_Atomic(bool) *flag = *(_Atomic(bool) *const *)payload;

	(void)worker;
	atomic_store_explicit(flag, true, memory_order_relaxed);
}

/* Cannot return before another worker has taken the job out of this one's deque. */
static void rendezvous(struct jobs_worker *worker, const void *payload)
{
	_Atomic(bool) met = false, *flag = &met;
	struct jobs_group group = JOBS_GROUP_INIT;

	(void)payload;
	jobs_submit_in(worker, &group, raise_flag, &flag, sizeof(flag));
	while (!atomic_load_explicit(&met, memory_order_relaxed))
		sched_yield();
	jobs_wait(worker, &group);
}

static void wakes_for_deque(void)
{
	struct jobs *jobs = system_with(0, 0);
	struct random random = random_for(seed, 7);

	for (unsigned round = 0; round < WAKE_UPS; round++) {
		/* Now they are asleep, now they are about to be. */
		for (unsigned i = random_below(&random, 60); i > 0; i--)
			sched_yield();
		jobs_run(jobs, rendezvous, "", 1);
	}
	whole(jobs);
	REQUIRE(jobs_destroy(jobs) == 0);
}

static void wakes_for_inbox(void)
{
	struct jobs *jobs = system_with(0, 0);
	struct random random = random_for(seed, 8);

	for (unsigned round = 0; round < WAKE_UPS; round++) {
		_Atomic(bool) ran = false, *flag = &ran;

		for (unsigned i = random_below(&random, 60); i > 0; i--)
			sched_yield();
		REQUIRE(jobs_inject(jobs, raise_flag, &flag, sizeof(flag), -1));
		while (workers > 1 && !atomic_load_explicit(&ran, memory_order_relaxed))
			sched_yield();
		jobs_finish(jobs);
		REQUIRE(atomic_load_explicit(&ran, memory_order_relaxed));
	}
	REQUIRE(whole(jobs).injected == WAKE_UPS);
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- From outside: threads that inject while others do, and worker 0 runs something else --------------------- */

#define INJECTORS 3
#define INJECTED 1000

static _Atomic(uint64_t) injected_ran, injected_refused;

static void injected_child(struct jobs_worker *worker, const void *payload)
{
	(void)worker;
	(void)payload;
	count_up(&injected_ran);
}

static void injected_job(struct jobs_worker *worker, const void *payload)
{
	jobs_submit(worker, injected_child, payload, 1);
	count_up(&injected_ran);
}

static void *inject_many(void *jobs)
{
	for (unsigned i = 0; i < INJECTED; i++)
		/* One worker does nothing until it is told to. */
		if (!jobs_inject(jobs, injected_job, "", 1, workers > 1 && i % 2 ? -1 : 0))
			count_up(&injected_refused);
	return NULL;
}

static void outsiders(void)
{
	struct jobs *jobs = system_with(0, 0);
	char too_long[JOB_PAYLOAD_BYTES + 1] = {0};
	pthread_t threads[INJECTORS];

	REQUIRE(!jobs_inject(jobs, injected_job, too_long, sizeof(too_long), -1));
	for (unsigned i = 0; i < INJECTORS; i++)
		thread_start(&threads[i], inject_many, jobs);
	for (unsigned i = 0; i < 10; i++) {
		const struct node root = {seed + i, 0};

		jobs_run(jobs, tree_run, &root, sizeof(root));
	}
	for (unsigned i = 0; i < INJECTORS; i++)
		pthread_join(threads[i], NULL);
	jobs_finish(jobs);
	REQUIRE(counted(&injected_ran) == 2 * (INJECTORS * INJECTED - counted(&injected_refused)));
	REQUIRE(whole(jobs).injected == INJECTORS * INJECTED - counted(&injected_refused));
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Misuse, and what is left over --------------------------------------------------------------------------- */

static void edges_of_use(void)
{
	struct jobs_config config = {.workers = 0, .capacity = 1};
	_Atomic(bool) ran = false, *flag = &ran;
	struct jobs *jobs;

	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_E_ARGUMENT && !jobs);
	config.workers = 65535;
	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_E_ARGUMENT && !jobs);
	config = (struct jobs_config){.workers = 1, .capacity = 0};
	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_E_CONFIG_CAPACITY && !jobs);

	/* A job that no worker has begun is dropped, and its record counted. */
	config.capacity = 1;
	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_OK);
	REQUIRE(jobs_inject(jobs, raise_flag, &flag, sizeof(flag), 0));
	REQUIRE(!jobs_inject(jobs, raise_flag, &flag, sizeof(flag), 0));
	REQUIRE(jobs_destroy(jobs) == 1 && !ran);

	/* A pool of the caller's stays. */
	lfpool_config_t pool_config = LFPOOL_CONFIG_INIT;

	pool_config.object_size = JOB_RECORD_BYTES;
	pool_config.object_alignment = JOB_RECORD_ALIGNMENT;
	pool_config.capacity = config.capacity = records;
	REQUIRE(lfpool_create(&config.pool, &pool_config) == LFPOOL_OK);
	for (unsigned i = 0; i < 3; i++) {
		REQUIRE(jobs_create(&jobs, &config) == LFPOOL_OK);
		jobs_run(jobs, raise_flag, &flag, sizeof(flag));
		REQUIRE(jobs_destroy(jobs) == 0 && ran);
	}
	REQUIRE(lfpool_available_count(config.pool) == records && !lfpool_check(config.pool, NULL));
	REQUIRE(lfpool_destroy(config.pool) == 0);
}

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	edges_of_use();
	trees();
	trees_of_malloc();
	waits();
	/* A job that its submitter does itself meets no other worker. */
	if (workers > 1 && records > 1)
		wakes_for_deque();
	wakes_for_inbox();
	outsiders();
	printf("%u workers, %zu records, seed %llu: all as promised\n", workers, records, (unsigned long long)seed);
	return 0;
}
