/* SPDX-License-Identifier: MIT */
/*
 * team.c - the life of a run, see team.h.
 */
#include "team.h"

#include "common/latency.h"
#include "barrier.h"
#include "member.h"
#include "priority/evicting.h"
#include "retire/retiring.h"

#include <string.h>

/* Before the clock: caches fill, the library makes its thread-local cache.  One is enough where it is a million pairs. */
#define WARM_UP_CHUNKS 4
/* Subjects that defer warm up for so long: some grace periods, until what was deferred first is used again. */
#define WARM_UP_NS UINT64_C(60000000)

/* Waits for all threads of the run. */
static void meet(const gbench_state_t *state)
{
	static struct barrier barrier = BARRIER_INITIALIZER;

	barrier_wait(&barrier, gbench_state_threads(state));
}

/* ---- The figures ---- */

static void report_quantiles(gbench_state_t *state, const char *what, const struct histogram *sum)
{
	static const struct {
		const char *name;
		double fraction;
	} quantiles[] = {{"p1", .01},       {"p5", .05},         {"p10", .1},  {"p25", .25}, {"p50", .5},
			 {"p75", .75},      {"p90", .9},         {"p95", .95}, {"p99", .99}, {"p99.9", .999},
			 {"p99.99", .9999}, {"p99.999", .99999}, {"max", 1}};
	char name[32];

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		(void)snprintf(name, sizeof(name), "%s_ns_%s", what, quantiles[i].name);
		gbench_counter(state, name, histogram_quantile(sum, quantiles[i].fraction) * clock_tick_ns());
	}
}

/* Adds all threads' histograms to the first one's. */
static void report_latency(gbench_state_t *state)
{
	const struct worker *first = &team.members[0].worker;

	for (unsigned i = 1; i < team.threads; i++) {
		histogram_merge(first->acquire_times, team.members[i].worker.acquire_times);
		histogram_merge(first->release_times, team.members[i].worker.release_times);
	}
	report_quantiles(state, "acquire", first->acquire_times);
	report_quantiles(state, "release", first->release_times);
	gbench_counter(state, "clock_ns", clock_cost_ns());
	gbench_counter(state, "clock_step_ns", clock_step_ns());
}

/* What became of the operations, of those before the clock too. */
static void report_evicting(gbench_state_t *state)
{
	size_t acquired = 0, refused = 0, updated = 0, stale = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		const struct evicting *evicting = team.members[i].worker.evicting;

		acquired += evicting->acquired;
		refused += evicting->refused;
		updated += evicting->updated;
		stale += evicting->stale;
	}
	gbench_counter(state, "refused", (double)refused / (double)(acquired + refused));
	if (updated + stale)
		gbench_counter(state, "stale", (double)stale / (double)(updated + stale));
}

/* From the start until all is free; and what was counted before the clock too, per update. */
static void report_retiring(gbench_state_t *state, uint64_t start_ns, double updates)
{
	uint64_t sections = 0, waits = 0, all = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		const struct retiring *retiring = team.members[i].worker.retiring;

		sections += retiring->sections;
		waits += retiring->waits;
		all += retiring->updates;
	}
	gbench_counter(state, "settled_ns", (double)(team.settled_ns - start_ns) * team.at_once / updates);
	gbench_counter(state, "cpu_ns", (double)(team.cpu_ns[1] - team.cpu_ns[0]) / updates);
	gbench_counter(state, "waits", (double)waits / (double)all);
	if (team.cell->workload->reads)
		gbench_counter(state, "sections", (double)sections / (double)all);
}

/* What a member counts. */
static const char *figure_name(const struct workload *workload)
{
	if (workload->retires)
		return "ns_per_update";
	return workload->emptied ? "acquire_ns" : workload->evicts ? "ns_per_operation" : "ns_per_pair";
}

static const char *count_name(const struct workload *workload)
{
	return workload->retires ? "updates" : workload->evicts ? "operations" : "pairs";
}

/* What a chunk took. */
static double chunk_ns(const struct member *member)
{
	return (double)(member->end_ns - member->start_ns) / (double)member->done;
}

/* By thread 0, when all have ended. */
static void report(gbench_state_t *state, const uint64_t before[2])
{
	const struct subject *subject = team.cell->subject;
	uint64_t start_ns = UINT64_MAX, end_ns = 0, after[2];
	double sum_ns = 0, slowest_ns = 0;
	size_t pairs = 0;
	unsigned counted = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		const struct member *member = &team.members[i];
		const double took_ns = chunk_ns(member);

		start_ns = member->start_ns < start_ns ? member->start_ns : start_ns;
		end_ns = member->end_ns > end_ns ? member->end_ns : end_ns;
		if (member_reads(member))
			continue;
		counted++;
		pairs += member->pairs;
		sum_ns += took_ns;
		slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
	}
	const double ns = (double)(end_ns - start_ns) * team.at_once / (double)pairs;

	gbench_counter(state, figure_name(team.cell->workload), ns);
	gbench_counter(state, count_name(team.cell->workload), (double)pairs);
	gbench_counter(state, "fairness", slowest_ns * counted / sum_ns);
	if (team.cell->workload->timed)
		report_latency(state);
	if (team.cell->workload->evicts)
		report_evicting(state);
	if (team.cell->workload->retires)
		report_retiring(state, start_ns, (double)pairs);
	if (subject->counters) {
		subject->counters(team.shared, &after[0], &after[1]);
		gbench_counter(state, "misses_per_pair", (double)(after[0] - before[0]) / (double)pairs);
		gbench_counter(state, "retries_per_pair", (double)(after[1] - before[1]) / (double)pairs);
	}
}

/* Every member runs equally many chunks: some wait for others. */
static void warm_up(struct worker *worker, loop_fn *loop)
{
	const uint64_t start_ns = now_ns();
	const int chunks = team.cell->workload->divided && !team.cell->workload->evicts ? 1 : WARM_UP_CHUNKS;

	for (int i = 0; i < chunks || (worker->retiring && now_ns() - start_ns < WARM_UP_NS); i++)
		(void)loop(worker, team.cell->workload->chunk);
	if (!worker->acquire_times)
		return;
	memset(worker->acquire_times, 0, sizeof(*worker->acquire_times));
	memset(worker->release_times, 0, sizeof(*worker->release_times));
}

/* Of all threads of the process, also those that subjects have started. */
static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Threads that wait for each other must all do what they were asked for; the others stop together. */
static bool stop_together(void)
{
	const enum pattern pattern = team.cell->workload->pattern;

	return pattern == ALONE || pattern == EXCHANGE;
}

/*
 * The loop under the clock: `asked` chunks.
 *
 * When the first thread has done them, the others only finish the chunk they are at.  Otherwise the slower ones would go on
 * among themselves: with less contention than the row says, and CPUs that idle.  A reader reads until then.
 */
static void measure(struct member *member, loop_fn *loop)
{
	const size_t chunk = team.cell->workload->chunk;
	const bool together = stop_together(), reads = member_reads(member);

	member->start_ns = now_ns();
	do {
		member->pairs += loop(&member->worker, chunk);
		member->done++;
		/* relaxed, as below: nothing else is read because of it. */
	} while ((reads || member->done < member->asked) && !(together && __atomic_load_n(&team.over, __ATOMIC_RELAXED)));
	member->end_ns = now_ns();
	__atomic_store_n(&team.over, true, __ATOMIC_RELAXED);
	/* What it has done is what it was asked for. */
	if (reads)
		member->asked = member->done;
}

/* After the loop, until what it has deferred is free. */
static void settle(gbench_state_t *state, struct worker *worker)
{
	retiring_settle(worker);
	meet(state);
	if (worker->index > 0)
		return;
	team.settled_ns = now_ns();
	team.cpu_ns[1] = processor_ns();
}

void team_run(gbench_state_t *state, void *cell)
{
	const unsigned index = (unsigned)gbench_state_thread_index(state);
	struct member *member = &team.members[index];
	struct worker *worker = &member->worker;
	uint64_t before[2] = {0, 0};

	if (index == 0)
		team_make(cell, (unsigned)gbench_state_threads(state));
	meet(state);
	member_make(member, index);
	member_begin(member);
	meet(state);

	loop_fn *loop = member_loop(member);

	warm_up(worker, loop);
	meet(state);
	if (worker->index == 0 && worker->subject->counters)
		worker->subject->counters(team.shared, &before[0], &before[1]);
	/* All iterations are taken at once: only Google Benchmark knows how many there will be, and a thread that has taken the
	 * last waits for the others.  The clock is ours anyway. */
	while (gbench_next(state, team.cell->workload->chunk))
		member->asked++;
	if (worker->index == 0)
		team.cpu_ns[0] = processor_ns();
	meet(state);
	measure(member, loop);
	meet(state);
	if (worker->retiring)
		settle(state, worker);
	/* As long as it would have taken to do all. */
	gbench_set_iteration_time(state, chunk_ns(member) * (double)member->asked / 1e9);
	if (worker->index == 0)
		report(state, before);
	meet(state);
	member_end(member);
	meet(state);
	member_unmake(member);
	meet(state);
	if (index == 0)
		team_unmake();
}

void team_run_exactly(const struct cell *cell, size_t pairs)
{
	struct member *member = &team.members[0];

	team_make(cell, 1);
	member_make(member, 0);
	member_begin(member);
	(void)member_loop(member)(&member->worker, pairs);
	member_end(member);
	member_unmake(member);
	team_unmake();
}
