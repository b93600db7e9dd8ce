/* SPDX-License-Identifier: MIT */
/*
 * check_jobs.c - what jobs.h promises, with these workers and records.
 *
 *     check_jobs WORKERS RECORDS SEED
 *
 * Idea         Each part gives the system work whose every step leaves a mark, and then reads the marks: run exactly once, not
 *              before what had to end before, on the worker it was promised to.  Then every record is back.  What needs
 *              another worker to wake up waits for it without a limit: a wake-up that is lost is a test that hangs, and its
 *              time limit ends it.
 */
#include "harness.h"
#include "jobs.h"

#include <sched.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WAKE_UPS 300
#else
#define WAKE_UPS 3000
#endif

#define REQUIRE(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static unsigned workers;
static size_t records;
static uint64_t seed;

static _Noreturn void failed(const char *condition, int line)
{
	fprintf(stderr, "check_jobs.c:%d: required: %s (%u workers, %zu records, seed %llu)\n", line, condition, workers, records,
		(unsigned long long)seed);
	exit(1);
}

static struct jobs *system_with(size_t edges, size_t deque_capacity)
{
	struct jobs_config config = {.workers = workers, .capacity = records, .edges = edges, .deque_capacity = deque_capacity};
	struct jobs *jobs;

	REQUIRE(jobs_create(&jobs, &config) == LFPOOL_OK);
	return jobs;
}

/* Nothing runs, and every record is back. */
static struct jobs_report whole(struct jobs *jobs)
{
	struct jobs_report report = jobs_report(jobs);

	REQUIRE(report.active == 0 && report.available == records && report.edges_active == 0);
	return report;
}

static void count_up(_Atomic(uint64_t) *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static uint64_t counted(_Atomic(uint64_t) *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

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

/* ---- Dependencies: a random graph --------------------------------------------------------------------------- */

#define GRAPH_JOBS 400
#define GRAPH_BEFORE 5

struct graph {
	unsigned before[GRAPH_JOBS][GRAPH_BEFORE]; /* numbers below the job's own                              */
	unsigned before_count[GRAPH_JOBS];
	_Atomic(uint64_t) ended[GRAPH_JOBS];       /* how often, as the last thing that the job does           */
	uint64_t value[GRAPH_JOBS];                /* not atomic: the order is the system's business           */
	uint64_t prepared, at_once;
};

struct vertex {
	struct graph *graph;
	unsigned number;
};

static void vertex_value(struct graph *g, unsigned number)
{
	uint64_t value = number;

	for (unsigned i = 0; i < g->before_count[number]; i++) {
		REQUIRE(counted(&g->ended[g->before[number][i]]) == 1);
		value += g->value[g->before[number][i]] * 3;
	}
	g->value[number] = value;
}

/* Some of the jobs end not with their function, but with what they have submitted. */
static void vertex_child(struct jobs_worker *worker, const void *payload)
{
	const struct vertex *vertex = payload;

	(void)worker;
	vertex_value(vertex->graph, vertex->number);
	count_up(&vertex->graph->ended[vertex->number]);
}

static void vertex_run(struct jobs_worker *worker, const void *payload)
{
	const struct vertex *vertex = payload;

	if (vertex->number % 3 == 0)
		jobs_submit(worker, vertex_child, vertex, sizeof(*vertex));
	else
		vertex_child(worker, vertex);
}

static void start_open(struct jobs_worker *worker, struct job **open)
{
	for (unsigned i = 0; i < GRAPH_JOBS; i++)
		if (open[i])
			jobs_start(worker, open[i]);
	memset(open, 0, GRAPH_JOBS * sizeof(*open));
}

static void graph_run(struct jobs_worker *worker, const void *payload)
{
	struct graph *g = *(struct graph *const *)payload;
	struct jobs_group group = JOBS_GROUP_INIT;
	struct job *open[GRAPH_JOBS] = {0};

	for (unsigned number = 0; number < GRAPH_JOBS; number++) {
		const struct vertex vertex = {g, number};
		struct job *before[GRAPH_BEFORE];

		for (unsigned i = 0; i < g->before_count[number]; i++)
			before[i] = open[g->before[number][i]];
		open[number] = jobs_prepare(worker, &group, before, g->before_count[number], vertex_run, &vertex, sizeof(vertex));
		if (open[number]) {
			g->prepared++;
			continue;
		}
		g->at_once++;
		start_open(worker, open);
		jobs_wait(worker, &group);
		vertex_child(worker, &vertex);
	}
	start_open(worker, open);
	jobs_wait(worker, &group);
}

static void graphs(size_t edges)
{
	struct jobs *jobs = system_with(edges, 0);
	struct graph *g = calloc(1, sizeof(*g));

	REQUIRE(g);
	for (unsigned round = 0; round < 30; round++) {
		struct random random = random_for(seed, round);

		memset(g, 0, sizeof(*g));
		for (unsigned number = 1; number < GRAPH_JOBS; number++) {
			g->before_count[number] = random_below(&random, GRAPH_BEFORE + 1);
			/* Often the last few, so that chains are long. */
			for (unsigned i = 0; i < g->before_count[number]; i++)
				g->before[number][i] = number - 1 - random_below(&random, number < 8 ? number : 8);
		}
		jobs_run(jobs, graph_run, &g, sizeof(g));
		for (unsigned number = 0; number < GRAPH_JOBS; number++) {
			const uint64_t value = g->value[number];

			REQUIRE(counted(&g->ended[number]) == 1);
			vertex_value(g, number);
			REQUIRE(g->value[number] == value);
		}
		REQUIRE(g->prepared + g->at_once == GRAPH_JOBS);
		REQUIRE(records < 3 || edges == 1 || g->prepared > GRAPH_JOBS / 3);
		whole(jobs);
	}
	free(g);
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Continuations: at once, once, on the worker that ended the job ----------------------------------------- */

#define CONTINUATIONS 3

struct stage {
	_Atomic(uint64_t) ran;            /* jobs whose continuations these are: 1                             */
	unsigned worker;                  /* that ran, and so ended it                                         */
	_Atomic(uint64_t) continued;
	struct jobs_group *group;
};

static void stage_run(struct jobs_worker *worker, const void *payload)
{
	struct stage *stage = *(struct stage *const *)payload;

	count_up(&stage->ran);
	stage->worker = jobs_worker_index(worker);
}

static void stage_continue(struct jobs_worker *worker, const void *payload)
{
	struct stage *stage = *(struct stage *const *)payload;

	REQUIRE(counted(&stage->ran) == 1);
	REQUIRE(stage->worker == jobs_worker_index(worker));
	count_up(&stage->continued);
}

#define STAGES 200

static void stages_run(struct jobs_worker *worker, const void *payload)
{
	struct stage *stages = *(struct stage *const *)payload;

	for (unsigned i = 0; i < STAGES; i++) {
		struct stage *stage = &stages[i];
		struct job *job = jobs_prepare(worker, NULL, NULL, 0, stage_run, &stage, sizeof(stage));

		if (!job) {
			stage_run(worker, &stage);
			for (unsigned c = 0; c < CONTINUATIONS; c++)
				stage_continue(worker, &stage);
			continue;
		}
		for (unsigned c = 0; c < CONTINUATIONS; c++)
			if (!jobs_then(worker, job, stage_continue, &stage, sizeof(stage)))
				count_up(&stage->continued);
		jobs_start(worker, job);
	}
}

static void continuations(void)
{
	struct jobs *jobs = system_with(0, 0);

	for (unsigned round = 0; round < 20; round++) {
		static struct stage stages[STAGES];
		struct stage *const payload = stages;

		memset(stages, 0, sizeof(stages));
		jobs_run(jobs, stages_run, &payload, sizeof(payload));
		for (unsigned i = 0; i < STAGES; i++)
			REQUIRE(counted(&stages[i].ran) == 1 && counted(&stages[i].continued) == CONTINUATIONS);
		whole(jobs);
	}
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Parallel for: each index once, in pieces of at most a grain -------------------------------------------- */

#define INDICES 5000

struct loop {
	size_t begin, end, grain;
	uint64_t done[INDICES];
};

static void loop_body(struct jobs_worker *worker, size_t begin, size_t end, void *context)
{
	struct loop *loop = context;

	(void)worker;
	REQUIRE(begin < end && end - begin <= loop->grain);
	for (size_t i = begin; i < end; i++)
		loop->done[i]++;
}

static void loop_run(struct jobs_worker *worker, const void *payload)
{
	struct loop *loop = *(struct loop *const *)payload;

	jobs_for(worker, loop->begin, loop->end, loop->grain, loop_body, loop);
	/* The loop has ended when the call returns, not only when the job has. */
	for (size_t i = 0; i < INDICES; i++)
		REQUIRE(loop->done[i] == (i >= loop->begin && i < loop->end));
}

static void loops(void)
{
	static struct loop loop[4];
	struct jobs *jobs = system_with(0, 0);
	struct random random = random_for(seed, 99);

	for (unsigned round = 0; round < 100; round++) {
		struct loop *const payload = loop;

		memset(loop, 0, sizeof(loop));
		loop->begin = random_below(&random, INDICES);
		loop->end = round == 0 ? 0 : loop->begin + random_below(&random, (uint32_t)(INDICES - loop->begin) + 1);
		loop->grain = 1 + random_below(&random, 50);
		jobs_run(jobs, loop_run, &payload, sizeof(payload));
		whole(jobs);
	}
	REQUIRE(jobs_destroy(jobs) == 0);
}

/* ---- Sleep: who is needed wakes up -------------------------------------------------------------------------- */

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

	/* A job that nobody has begun is dropped, and its record counted. */
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
	unsigned long number[3];
	size_t count;

	for (int i = 1; i < 4; i++)
		if (argc != 4 || !parse_numbers(argv[i], 1, 1 << 20, &number[i - 1], 1, &count)) {
			fputs("usage: check_jobs WORKERS RECORDS SEED\n", stderr);
			return 2;
		}
	workers = (unsigned)number[0];
	records = number[1];
	seed = number[2];
	edges_of_use();
	trees();
	trees_of_malloc();
	waits();
	graphs(0);
	graphs(1);
	graphs(7);
	continuations();
	loops();
	/* A job that its submitter does itself meets nobody. */
	if (workers > 1 && records > 1)
		wakes_for_deque();
	wakes_for_inbox();
	outsiders();
	printf("%u workers, %zu records, seed %llu: all as promised\n", workers, records, (unsigned long long)seed);
	return 0;
}
