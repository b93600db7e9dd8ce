/* SPDX-License-Identifier: MIT */
/*
 * team.c - the life of a run, see team.h.
 */
#include "team.h"

#include "common/latency.h"

#include <string.h>

/* Before the clock starts: caches fill, the library makes its thread-local cache.  One chunk is enough if it has a
 * million pairs. */
#define WARM_UP_CHUNKS 4
/* Warm-up time of subjects that defer: some grace periods, until the first deferred nodes are used again. */
#define WARM_UP_NS UINT64_C(60000000)

/* ---- The figures ---- */

struct figure figures[FIGURES_MAX];
size_t figure_count;

void say_figure(const char *name, double value)
{
	struct figure *figure = &figures[figure_count++];

	(void)snprintf(figure->name, sizeof(figure->name), "%s", name);
	figure->value = value;
}

static void report_quantiles(const char *what, const struct histogram *sum)
{
	static const struct {
		const char *name;
		double fraction;
	} quantiles[] = {{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}, {"p99.99", .9999}, {"max", 1}};
	char name[32];

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		(void)snprintf(name, sizeof(name), "%s_ns_%s", what, quantiles[i].name);
		say_figure(name, histogram_quantile(sum, quantiles[i].fraction) * clock_tick_ns());
	}
}

/* Adds all threads' histograms to the first one's. */
static void report_latency(void)
{
	const struct worker *first = &team.members[0].worker;

	for (unsigned i = 1; i < team.threads; i++) {
		histogram_merge(first->acquire_times, team.members[i].worker.acquire_times);
		histogram_merge(first->release_times, team.members[i].worker.release_times);
	}
	report_quantiles("acquire", first->acquire_times);
	report_quantiles("release", first->release_times);
	say_figure("clock_ns", clock_cost_ns());
}

/* The time at the worst levels: two of 256 levels are at the end of a magazine; a processor is lost less often. */
static void report_levels(void)
{
	const struct worker *first = &team.members[0].worker;

	for (unsigned i = 1; i < team.threads; i++)
		histogram_merge(first->acquire_times, team.members[i].worker.acquire_times);
	say_figure("worst_ns", histogram_quantile(first->acquire_times, .999) * clock_tick_ns() / AROUND_PAIRS);
}

/* The sum of a uint64_t field over all workers. */
static double sum_of(size_t field)
{
	double sum = 0;

	for (unsigned i = 0; i < team.threads; i++)
		sum += (double)*(const uint64_t *)(const void *)((const char *)&team.members[i].worker + field);
	return sum;
}
#define SUM_OF(field) sum_of(offsetof(struct worker, field))

/* The outcomes of all operations, including those before the clock started. */
static void report_evicting(void)
{
	const double acquired = SUM_OF(acquired), refused = SUM_OF(refused);
	const double updated = SUM_OF(updated), stale = SUM_OF(stale);

	say_figure("refused", refused / (acquired + refused));
	if (updated + stale > 0)
		say_figure("stale", stale / (updated + stale));
}

/* The times until all nodes are free; and the counts per update, including those before the clock started. */
static void report_retiring(uint64_t start_ns, double updates)
{
	const double all = SUM_OF(updates);

	say_figure("settled_ns", (double)(team.settled_ns - start_ns) * team.at_once / updates);
	say_figure("cpu_ns", (double)(team.cpu_ns[1] - team.cpu_ns[0]) / updates);
	say_figure("waits", SUM_OF(waits) / all);
	if (team.cell->workload->reads)
		say_figure("sections", SUM_OF(sections) / all);
}

/* The duration of a chunk. */
static double chunk_ns(const struct member *member)
{
	return (double)(member->end_ns - member->start_ns) / (double)member->done;
}

/* Called by thread 0, after all threads have ended. */
static void report(void)
{
	const struct workload *workload = team.cell->workload;
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	double pairs = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		const struct member *member = &team.members[i];

		start_ns = member->start_ns < start_ns ? member->start_ns : start_ns;
		end_ns = member->end_ns > end_ns ? member->end_ns : end_ns;
		pairs += (double)member->pairs; /* 0 for a reader */
	}
	say_figure(workload->retires   ? "ns_per_update"
		   : workload->evicts  ? "ns_per_operation"
		   : workload->emptied ? "acquire_ns"
				       : "ns_per_pair",
		   (double)(end_ns - start_ns) * team.at_once / pairs);
	say_figure(workload->retires ? "updates" : workload->evicts ? "operations" : "pairs", pairs);
	if (workload->levels)
		report_levels();
	else if (workload->timed)
		report_latency();
	if (workload->evicts)
		report_evicting();
	if (workload->retires)
		report_retiring(start_ns, pairs);
}

/* ---- A thread of the run ---- */

/* Every member runs the same number of chunks, because some members wait for others. */
static void warm_up(struct worker *worker, loop_fn *loop)
{
	const struct workload *workload = team.cell->workload;
	const uint64_t start_ns = now_ns();
	const int chunks = workload->divided && !workload->evicts ? 1 : WARM_UP_CHUNKS;

	for (int i = 0; i < chunks || (workload->retires && now_ns() - start_ns < WARM_UP_NS); i++)
		(void)loop(worker, workload->chunk);
	if (!workload->timed)
		return;
	memset(worker->acquire_times, 0, sizeof(*worker->acquire_times));
	memset(worker->release_times, 0, sizeof(*worker->release_times));
}

/*
 * The timed loop: `asked` chunks.
 *
 * When the first thread has done its chunks, the others only finish their current chunk.  Otherwise slower ones would
 * continue alone, with less contention than the row claims, and with idle CPUs.  Threads that wait for each other must
 * all do their share.  A reader reads until the end.
 */
static void measure(struct member *member, loop_fn *loop)
{
	const struct workload *workload = team.cell->workload;
	const bool together = !is_handoff(workload) && workload->pattern != GRAPH, reads = member_reads(member);

	member->start_ns = now_ns();
	do {
		member->pairs += loop(&member->worker, workload->chunk);
		member->done++;
		/* relaxed, as below: orders nothing else. */
	} while ((reads || member->done < member->asked) &&
		 !(together && __atomic_load_n(&team.over, __ATOMIC_RELAXED)));
	member->end_ns = now_ns();
	__atomic_store_n(&team.over, true, __ATOMIC_RELAXED);
	/* A reader counts as having done what it was asked for. */
	if (reads)
		member->asked = member->done;
}

/* ---- The run ---- */

/* A barrier for each number of threads. */
static pthread_barrier_t together[THREADS_MAX + 1];

void teams_init(void)
{
	for (unsigned threads = 1; threads <= THREADS_MAX; threads++)
		(void)pthread_barrier_init(&together[threads], NULL, threads);
}

static void meet(void)
{
	(void)pthread_barrier_wait(&together[team.threads]);
}

void team_begin(const struct cell *cell, unsigned threads, unsigned index)
{
	struct member *member = &team.members[index];

	if (index == 0)
		team_make(cell, threads);
	(void)pthread_barrier_wait(&together[threads]);
	member_make(member, index);
	member_begin(member);
	meet();
	warm_up(&member->worker, member_loop(member));
	meet();
}

double team_measure(unsigned index, size_t chunks)
{
	struct member *member = &team.members[index];

	member->asked = chunks;
	if (index == 0)
		team.cpu_ns[0] = processor_ns();
	meet();
	measure(member, member_loop(member));
	meet();
	if (team.cell->workload->retires) {
		/* Waits until its deferred nodes are free. */
		member_settle(member);
		meet();
	}
	if (index == 0) {
		team.settled_ns = now_ns();
		team.cpu_ns[1] = processor_ns();
		report();
	}
	return chunk_ns(member) * (double)member->asked / 1e9;
}

void team_end(unsigned index)
{
	struct member *member = &team.members[index];

	meet();
	member_end(member);
	meet();
	member_unmake(member);
	meet();
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
