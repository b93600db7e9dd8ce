/* SPDX-License-Identifier: MIT */
/* member.c - one thread of a run: its preparation and its end; see team.h. */
#include "common/latency.h"
#include "graph.h"
#include "ring.h"
#include "team.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

struct team team;

static void *zeroed(size_t bytes)
{
	bytes = (bytes + 127) & ~(size_t)127;
	return memset(must(aligned_alloc(128, bytes)), 0, bytes);
}

/* ---- Threads on processors ---- */

unsigned cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);

	/* More CPUs than the set has room for. */
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned)online : 1;
}

/* Pins the member to one of the processors that this process may use, by the member's index. */
static void pin(struct member *member)
{
	const struct worker *worker = &member->worker;
	unsigned index = worker->index;
	size_t processor = 0;
	cpu_set_t one;

	member->pinned = false;
	if (sched_getaffinity(0, sizeof(member->affinity), &member->affinity) != 0 ||
	    (unsigned)CPU_COUNT(&member->affinity) < worker->threads)
		return;
	while (!CPU_ISSET(processor, &member->affinity) || index-- > 0)
		processor++;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	member->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

/* ---- Shared by the threads ---- */

static unsigned rings_wanted(enum pattern pattern, unsigned threads)
{
	switch (pattern) {
	case ONE_TO_ONE: return threads / 2;
	case ONE_TO_MANY:
	case MANY_TO_ONE: return threads - 1;
	case GRAPH: return threads > 1 ? threads : 0;
	default: return 0;
	}
}

/* The rounds of work that take `ns`, from the fastest of some trials, which was disturbed least. */
static size_t work_rounds(size_t ns)
{
	enum { TRIALS = 100, ROUNDS = 1000 };
	uint64_t object[8] = {0}, least_ns = UINT64_MAX;

	for (int i = 0; ns && i < TRIALS; i++) {
		const uint64_t start_ns = now_ns();

		(void)object_work(object, ROUNDS, 0);

		const uint64_t taken_ns = now_ns() - start_ns;

		least_ns = taken_ns < least_ns ? taken_ns : least_ns;
	}
	return ns ? 1 + ns * ROUNDS / (size_t)least_ns : 0;
}

static size_t pools_of(const struct workload *workload)
{
	return workload->pools ? workload->pools : 1;
}

void team_make(const struct cell *cell, unsigned threads)
{
	const struct plan plan = workload_plan(cell->workload, cell->object_bytes, threads);

	memset(&team, 0, sizeof(team));
	team.cell = cell;
	team.threads = threads;
	/* Computed before threads are pinned: a pinned thread may use only one CPU. */
	team.at_once = threads < cpus() ? threads : cpus();
	for (size_t i = 0; i < pools_of(cell->workload); i++)
		team.pools[i] = cell->subject->open(&plan);
	team.shared = team.pools[0];
	team.ring_count = rings_wanted(cell->workload->pattern, threads);
	team.clock = plan.capacity;
	team.work = work_rounds(cell->workload->work_ns);
	if (cell->workload->retires)
		team.nodes = zeroed(RETIRE_TABLE * sizeof(*team.nodes));
	for (unsigned i = 0; i < team.ring_count; i++)
		team.rings[i] = zeroed(sizeof(struct ring));
}

void team_unmake(void)
{
	for (unsigned i = 0; i < team.ring_count; i++)
		free(team.rings[i]);
	free(team.nodes);
	for (size_t i = 0; i < pools_of(team.cell->workload); i++)
		team.cell->subject->close(team.pools[i]);
}

/* ---- One member ---- */

static bool is_consumer(const struct worker *worker)
{
	switch (team.cell->workload->pattern) {
	case ONE_TO_ONE: return worker->index % 2;
	case ONE_TO_MANY: return worker->index > 0;
	case MANY_TO_ONE: return worker->index == 0;
	default: return false;
	}
}

bool member_reads(const struct member *member)
{
	return team.cell->workload->reads && member->worker.index % 2;
}

/* Acquires the objects that are out when the loop starts. */
static void fill(struct worker *worker)
{
	worker->held = 0;
	if (worker->subject->loops.fill(worker, worker->count) != worker->count)
		give_up(worker->subject->name, "no object, though the pool is large enough for all");
}

static void drain(struct worker *worker)
{
	(void)worker->subject->loops.drain(worker, worker->held);
}

/* A short-lived thread: acquires `count` objects, releases them, and ends. */
static void *come_and_go(void *argument)
{
	struct worker *starter = argument, worker = *starter;

	worker.hand = worker.subject->join(worker.shared);
	fill(&worker);
	drain(&worker);
	worker.subject->leave(worker.hand);
	return NULL;
}

static size_t churn(struct worker *worker, size_t pairs)
{
	size_t done = 0;

	for (; done < pairs; done += worker->count) {
		pthread_t thread;

		thread_start(&thread, come_and_go, worker);
		(void)pthread_join(thread, NULL);
	}
	return done;
}

loop_fn *member_loop(const struct member *member)
{
	const struct loops *loops = &team.cell->subject->loops;

	if (is_handoff(team.cell->workload))
		return is_consumer(&member->worker) ? loops->consume : loops->produce;
	if (member_reads(member))
		return loops->read;
	if (team.cell->workload->churns)
		return churn;
	return workload_loop(team.cell->workload, team.cell->subject);
}

/* Gives the worker the rings at whose ends it is. */
static void give_rings(struct worker *worker)
{
	const enum pattern pattern = team.cell->workload->pattern;
	const bool hub = worker->index == 0 && pattern != ONE_TO_ONE;

	worker->rings = hub ? team.rings : &team.rings[pattern == ONE_TO_ONE ? worker->index / 2 : worker->index - 1];
	worker->ring_count = hub ? team.ring_count : 1;
}

static struct graph *graph_make(const struct worker *worker)
{
	struct graph *graph = zeroed(sizeof(*graph));

	graph->root.depth = TREE_ROOT;
	graph->finished = &team.finished;
	graph->stack = zeroed(sizeof(*graph->stack) * TREE_JOBS * worker->threads);
	if (worker->threads > 1) {
		graph->inbox = team.rings[worker->index];
		graph->outbox = team.rings[(worker->index + 1) % worker->threads];
	}
	return graph;
}

/* A step of the clock is an eighth of the pool, at most 64 operations: then its cost no longer shows. */
static void give_handles(struct worker *worker)
{
	const size_t capacity = worker->count * worker->threads;

	worker->handles = zeroed(worker->count * sizeof(*worker->handles));
	worker->clock = &team.clock;
	worker->step = capacity < 512 ? (capacity + 7) / 8 : 64;
	worker->window = (uint32_t)(capacity + 1) / 2;
	worker->acquires = team.cell->workload->evicts;
	worker->lost = team.cell->workload->stale;
}

uint32_t *order_make(size_t count, struct random *random)
{
	uint32_t *order = zeroed((count + 1) * sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)(count - 1 - i);
	for (size_t i = count; random && i > 1; i--) {
		const uint32_t other = random_below(random, (uint32_t)i), last = order[i - 1];

		order[i - 1] = order[other];
		order[other] = last;
	}
	return order;
}

static void **array_make(const struct worker *worker)
{
	return zeroed((worker->count + 1) * sizeof(void *));
}

void member_make(struct member *member, unsigned index)
{
	const struct workload *workload = team.cell->workload;
	struct worker *worker = &member->worker;

	*worker = (struct worker){
		.subject = team.cell->subject,
		.shared = team.shared,
		.index = index,
		.threads = team.threads,
		.random = random_for(UINT64_C(0x5eed), index),
		.count = workload_count(workload, team.threads),
		.work = team.work,
		.table = team.nodes,
		.stamp = (uint64_t)index << 48,
	};
	pin(member);
	worker->pools = pools_of(workload);
	worker->hands = zeroed(worker->pools * sizeof(*worker->hands));
	for (size_t i = 0; i < worker->pools; i++)
		worker->hands[i] = worker->subject->join(team.pools[i]);
	worker->hand = worker->hands[0];
	worker->objects = array_make(worker);
	worker->order = order_make(worker->count, workload->shuffled ? &worker->random : NULL);
	if (workload->timed) {
		worker->acquire_times = zeroed(sizeof(struct histogram));
		worker->release_times = zeroed(sizeof(struct histogram));
	}
	if (workload->evicts)
		give_handles(worker);
	if (workload->pattern == GRAPH)
		worker->graph = graph_make(worker);
	else if (team.ring_count)
		give_rings(worker);
}

void member_unmake(struct member *member)
{
	struct worker *worker = &member->worker;

	for (size_t i = 0; i < worker->pools; i++)
		worker->subject->leave(worker->hands[i]);
	free(worker->hands);
	if (member->pinned)
		(void)sched_setaffinity(0, sizeof(member->affinity), &member->affinity);
	free(worker->objects);
	free((uint32_t *)(uintptr_t)worker->order);
	free(worker->acquire_times);
	free(worker->release_times);
	free(worker->handles);
	if (worker->graph)
		free(worker->graph->stack);
	free(worker->graph);
}

/* ---- Before the loop, and after it ---- */

/* Every thread has a table; thread 0 puts one more into the mailbox. */
static void larson_begin(struct worker *worker)
{
	worker->mailbox = &team.table;
	fill(worker);
	if (worker->index > 0)
		return;
	team.table = worker->objects;
	worker->objects = array_make(worker);
	fill(worker);
}

static void larson_end(struct worker *worker)
{
	worker->held = worker->count;
	drain(worker);
	if (worker->index > 0)
		return;
	free(worker->objects);
	worker->objects = team.table;
	worker->held = worker->count;
	drain(worker);
}

static void *use_and_rest(void *unused)
{
	const struct subject *subject = team.cell->subject;
	void *object = NULL;
	struct worker worker = {.subject = subject, .hand = subject->join(team.shared), .objects = &object, .count = 1};

	fill(&worker);
	drain(&worker);
	(void)pthread_barrier_wait(&team.turn); /* this thread has used the pool */
	(void)pthread_barrier_wait(&team.turn); /* the run is over  */
	subject->leave(worker.hand);
	return unused;
}

/* Acquires every object. */
static void exhaust_begin(struct worker *worker)
{
	(void)pthread_barrier_init(&team.turn, NULL, RESTING_THREADS + 1);
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		thread_start(&team.resting[i], use_and_rest, NULL);
	(void)pthread_barrier_wait(&team.turn);
	fill(worker);
}

static void exhaust_end(struct worker *worker)
{
	drain(worker);
	(void)pthread_barrier_wait(&team.turn);
	for (unsigned i = 0; i < RESTING_THREADS; i++)
		(void)pthread_join(team.resting[i], NULL);
	(void)pthread_barrier_destroy(&team.turn);
}

void member_begin(struct member *member)
{
	const struct workload *workload = team.cell->workload;
	struct worker *worker = &member->worker;

	if (workload->pattern == EXCHANGE) {
		larson_begin(worker);
	} else if (workload->evicts) {
		fill(worker); /* each thread fills its share; then the pool is full */
	} else if (workload->emptied || workload->retires) {
		if (worker->index == 0 && workload->emptied)
			exhaust_begin(worker);
		else if (worker->index == 0)
			(void)worker->subject->loops.fill(worker, RETIRE_TABLE);
	} else if (!workload->divided) {
		/* Acquires and releases all objects, to touch their pages.  (For a million objects a warm-up of one
		 * chunk does that.) */
		fill(worker);
		drain(worker);
	}
}

void member_settle(struct member *member)
{
	member->worker.subject->loops.retiring->settle(member->worker.hand, member->worker.index == 0);
}

/* No object may be in flight at the end: the subject would have lost it. */
static void retire_end(struct member *member)
{
	const struct subject *subject = member->worker.subject;
	size_t deferred = 0;

	if (member->worker.index == 0)
		(void)subject->loops.drain(&member->worker, RETIRE_TABLE);
	member_settle(member);
	for (unsigned i = 0; i < team.threads; i++)
		/* relaxed: see count_updates(). */
		deferred += __atomic_load_n(&team.members[i].worker.updates, __ATOMIC_RELAXED);
	if (member->worker.index == 0 && subject->loops.retiring->in_flight(team.shared, deferred) != 0)
		give_up(subject->name, "after waiting for all deferred nodes some are not free");
}

void member_end(struct member *member)
{
	const struct workload *workload = team.cell->workload;

	if (workload->pattern == EXCHANGE)
		larson_end(&member->worker);
	else if (workload->retires)
		retire_end(member);
	else if (!workload->emptied)
		drain(&member->worker);
	else if (member->worker.index == 0)
		exhaust_end(&member->worker);
}
