/* SPDX-License-Identifier: MIT */
/*
 * member.c - see member.h.
 */
#include "member.h"

#include "common/latency.h"
#include "graph.h"
#include "priority/evicting.h"
#include "rest.h"
#include "retire/retiring.h"

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

/* The index-th of the processors that this process may use. */
static size_t processor_at(const cpu_set_t *set, unsigned index)
{
	size_t processor = 0;

	while (!CPU_ISSET(processor, set) || index-- > 0)
		processor++;
	return processor;
}

static void pin(struct member *member)
{
	cpu_set_t one;

	member->pinned = false;
	if (sched_getaffinity(0, sizeof(member->affinity), &member->affinity) != 0 ||
	    (unsigned)CPU_COUNT(&member->affinity) < member->worker.threads)
		return;
	CPU_ZERO(&one);
	CPU_SET(processor_at(&member->affinity, member->worker.index), &one);
	member->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void unpin(const struct member *member)
{
	if (member->pinned)
		(void)sched_setaffinity(0, sizeof(member->affinity), &member->affinity);
}

/* ---- What the threads share ---- */

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

void team_make(const struct cell *cell, unsigned threads)
{
	const struct plan plan = workload_plan(cell->workload, cell->subject, cell->object_bytes, threads);

	memset(&team, 0, sizeof(team));
	team.cell = cell;
	team.threads = threads;
	/* Now: a thread that is pinned may use one CPU only. */
	team.at_once = threads < cpus() ? threads : cpus();
	team.shared = cell->subject->open(&plan);
	team.ring_count = rings_wanted(cell->workload->pattern, threads);
	team.clock = plan.capacity;
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
	team.cell->subject->close(team.shared);
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

loop_fn *member_loop(const struct member *member)
{
	const struct worker *worker = &member->worker;
	const struct loops *loops = &team.cell->subject->loops;
	const enum pattern pattern = team.cell->workload->pattern;

	if (pattern == ONE_TO_ONE || pattern == ONE_TO_MANY || pattern == MANY_TO_ONE)
		return is_consumer(worker) ? loops->consume : loops->produce;
	if (member_reads(member))
		return loops->read;
	return *(loop_fn *const *)(const void *)((const char *)loops + team.cell->workload->loop);
}

/* The rings that this worker is at an end of. */
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

static struct evicting *evicting_make(const struct worker *worker)
{
	struct evicting *evicting = zeroed(sizeof(*evicting));
	const size_t capacity = worker->count * worker->threads;

	evicting->handles = zeroed(worker->count * sizeof(*evicting->handles));
	evicting->clock = &team.clock;
	evicting->step = evicting_step(capacity);
	evicting->window = (uint32_t)(capacity + 1) / 2;
	evicting->acquires = team.cell->workload->evicts;
	evicting->lost = team.cell->workload->stale;
	return evicting;
}

static struct retiring *retiring_make(const struct worker *worker)
{
	struct retiring *retiring = zeroed(sizeof(*retiring));

	retiring->table = team.nodes;
	retiring->stamp = (uint64_t)worker->index << 48;
	return retiring;
}

/* 0 .. count - 1: falling, or in random order (Fisher and Yates 1938, Durstenfeld 1964). */
static uint32_t *order_make(struct worker *worker, bool shuffled)
{
	uint32_t *order = zeroed((worker->count + 1) * sizeof(*order));

	for (size_t i = 0; i < worker->count; i++)
		order[i] = (uint32_t)(worker->count - 1 - i);
	for (size_t i = worker->count; shuffled && i > 1; i--) {
		const uint32_t other = random_below(&worker->random, (uint32_t)i), last = order[i - 1];

		order[i - 1] = order[other];
		order[other] = last;
	}
	return order;
}

static void **array_make(const struct worker *worker)
{
	return zeroed((worker->count + 1) * sizeof(void *));
}

/* A table full of objects. */
static void table_fill(struct worker *worker)
{
	worker->held = 0;
	if (worker->subject->loops.fill(worker, worker->count) != worker->count)
		give_up(worker->subject->name, "no object, though the pool is large enough for all");
}

/* Every thread has a table; one more, by thread 0, lies in the mailbox. */
static void larson_begin(struct worker *worker)
{
	worker->mailbox = &team.table;
	table_fill(worker);
	if (worker->index > 0)
		return;
	team.table = worker->objects;
	worker->objects = array_make(worker);
	table_fill(worker);
}

static void larson_end(struct worker *worker)
{
	worker->held = worker->count;
	(void)worker->subject->loops.drain(worker, worker->held);
	if (worker->index > 0)
		return;
	free(worker->objects);
	worker->objects = team.table;
	worker->held = worker->count;
	(void)worker->subject->loops.drain(worker, worker->held);
}

/* Everything is out, by thread 0. */
static void exhaust_begin(struct worker *worker)
{
	if (worker->index > 0)
		return;
	team.rest = rest_begin(worker->subject, team.shared);
	if (worker->subject->loops.fill(worker, worker->count) != worker->count)
		give_up(worker->subject->name, "NULL, though not all objects are in use");
}

static void exhaust_end(struct worker *worker)
{
	if (worker->index > 0)
		return;
	(void)worker->subject->loops.drain(worker, worker->held);
	rest_end(team.rest);
}

/* Each thread fills its share: from then on the pool is full. */
static void evict_begin(struct worker *worker)
{
	if (worker->subject->loops.fill(worker, worker->count) != worker->count)
		give_up(worker->subject->name, "NULL, though not all objects are in use");
}

/* Each entry of the table has a node, by thread 0. */
static void retire_begin(struct worker *worker)
{
	if (worker->index == 0)
		(void)worker->subject->loops.fill(worker, RETIRE_TABLE);
}

/* Nothing is left, or the subject lost it. */
static void retire_end(struct worker *worker)
{
	if (worker->index == 0)
		(void)worker->subject->loops.drain(worker, RETIRE_TABLE);
	retiring_settle(worker);
	if (worker->index == 0 && retiring_in_flight() != 0)
		give_up(worker->subject->name, "all has been waited for, but not all is free");
}

void retiring_settle(struct worker *worker)
{
	worker->subject->loops.deferring->settle(worker->hand, worker->index == 0);
}

size_t retiring_in_flight(void)
{
	size_t deferred = 0;

	for (unsigned i = 0; i < team.threads; i++)
		/* relaxed: see count_updates(). */
		deferred += __atomic_load_n(&team.members[i].worker.retiring->updates, __ATOMIC_RELAXED);
	return team.cell->subject->loops.deferring->in_flight(team.shared, deferred);
}

/* ---- The life of a member ---- */

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
	};
	pin(member);
	worker->hand = worker->subject->join(team.shared);
	worker->objects = array_make(worker);
	member->order = order_make(worker, workload->shuffled);
	worker->order = member->order;
	if (workload->timed) {
		worker->acquire_times = zeroed(sizeof(struct histogram));
		worker->release_times = zeroed(sizeof(struct histogram));
	}
	if (workload->evicts)
		worker->evicting = evicting_make(worker);
	if (workload->retires)
		worker->retiring = retiring_make(worker);
	if (workload->pattern == GRAPH)
		worker->graph = graph_make(worker);
	else if (team.ring_count)
		give_rings(worker);
}

/* Goes up to all objects and down again: from then on their pages are there.  (A warm-up of one chunk does that for the million.) */
static void touch(struct worker *worker)
{
	(void)worker->subject->loops.drain(worker, worker->subject->loops.fill(worker, worker->count));
}

void member_begin(struct member *member)
{
	if (team.cell->workload->pattern == EXCHANGE)
		larson_begin(&member->worker);
	else if (team.cell->workload->emptied)
		exhaust_begin(&member->worker);
	else if (team.cell->workload->evicts)
		evict_begin(&member->worker);
	else if (team.cell->workload->retires)
		retire_begin(&member->worker);
	else if (!team.cell->workload->divided)
		touch(&member->worker);
}

void member_end(struct member *member)
{
	struct worker *worker = &member->worker;

	if (team.cell->workload->pattern == EXCHANGE)
		larson_end(worker);
	else if (team.cell->workload->emptied)
		exhaust_end(worker);
	else if (team.cell->workload->retires)
		retire_end(worker);
	else
		(void)worker->subject->loops.drain(worker, worker->held);
}

void member_unmake(struct member *member)
{
	struct worker *worker = &member->worker;

	worker->subject->leave(worker->hand);
	unpin(member);
	free(worker->objects);
	free(member->order);
	free(worker->acquire_times);
	free(worker->release_times);
	if (worker->graph)
		free(worker->graph->stack);
	free(worker->graph);
	if (worker->evicting)
		free(worker->evicting->handles);
	free(worker->evicting);
	free(worker->retiring);
}
