/* SPDX-License-Identifier: MIT */
/*
 * check_graph.c - dependencies, continuations and parallel for, see check_jobs.h.
 */
#include "check_jobs.h"

/* ---- Dependencies: a random graph --------------------------------------------------------------------------- */

#define GRAPH_JOBS 400
#define GRAPH_BEFORE 5

struct graph {
	unsigned before[GRAPH_JOBS][GRAPH_BEFORE]; /* numbers below the job's own                              */
	unsigned before_count[GRAPH_JOBS];
	_Atomic(uint64_t) ended[GRAPH_JOBS]; /* how often, as the last thing that the job does           */
	uint64_t value[GRAPH_JOBS];          /* not atomic: the order is the system's business           */
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
	_Atomic(uint64_t) ran; /* jobs whose continuations these are: 1                             */
	unsigned worker;       /* that ran, and so ended it                                         */
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

int main(int argc, char **argv)
{
	parse_arguments(argc, argv);
	graphs(0);
	graphs(1);
	graphs(7);
	continuations();
	loops();
	printf("%u workers, %zu records, seed %llu: all as promised\n", workers, records, (unsigned long long)seed);
	return 0;
}
