/* SPDX-License-Identifier: MIT */
/*
 * test_loops.c - every loop over plain pools, with threads, rings and graphs as in the benchmark.
 *
 * Idea         lfpool_stats() counts the acquires and releases, which are compared with each loop's result.
 * Invariants   A1  a loop returns the number of pairs that it releases (`exhausted`: acquires that are refused).
 *              A2  at the end everything is released: closing a pool with active objects ends the program.
 * The others   A loop over deferred nodes ends the program if a node is missing at the end (member.c). The test
 *              `smoke` checks the figures of the loops over evicting pools.
 */
#include "common/harness.h"
#include "common/test.h"

#include "../graph.h"
#include "../team.h"

#include <lfpool/lfpool.h>
#include <lfpool/report.h>

#define THREADS 4 /* the most threads of a run */

extern const struct subject subject_thread;

/* ---- A run ---- */

/* Sums over all pools of the run. */
struct counts {
	size_t releases, exhausted;
};

static struct run {
	size_t chunks;               /* for each thread                           */
	struct counts before, after; /* the counts before and after the loops */
	pthread_barrier_t together;
} run;

/* Called by one thread, while no loop runs. */
static void look(struct counts *counts)
{
	if (pthread_barrier_wait(&run.together) == PTHREAD_BARRIER_SERIAL_THREAD) {
		*counts = (struct counts){0};
		for (size_t i = 0; i < team.members[0].worker.pools; i++) {
			lfpool_stats_t stats;

			(void)lfpool_stats(team.pools[i], &stats);
			counts->releases += stats.releases;
			counts->exhausted += stats.exhausted;
		}
	}
	(void)pthread_barrier_wait(&run.together);
}

static void *live(void *argument)
{
	struct member *member = argument;

	member_make(member, (unsigned)(member - team.members));
	member_begin(member);
	look(&run.before);
	for (size_t i = 0; i < run.chunks; i++)
		member->pairs += member_loop(member)(&member->worker, team.cell->workload->chunk);
	look(&run.after);
	member_end(member);
	(void)pthread_barrier_wait(&run.together);
	member_unmake(member);
	return NULL;
}

/* A1, and each workload's own rules. */
static void check_sums(const struct workload *workload)
{
	const size_t released = run.after.releases - run.before.releases;
	const size_t asked = run.chunks * workload->chunk;
	size_t pairs = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		pairs += team.members[i].pairs;
		assert_true(team.members[i].pairs >= asked || is_handoff(workload) || workload->pattern == GRAPH);
	}
	assert_int_equal(pairs, workload->emptied ? run.after.exhausted - run.before.exhausted : released);
	if (is_handoff(workload))
		assert_int_equal(pairs, asked * team.ring_count);
	if (workload->pattern == GRAPH) /* whole trees */
		assert_int_equal(pairs, run.chunks * team.threads * ((workload->chunk + TREE_JOBS - 1) / TREE_JOBS) *
						TREE_JOBS);
}

static void run_cell(const struct workload *workload, unsigned threads, size_t chunks)
{
	static struct cell cell; /* the loops read the cell through the team, so it must live on */
	pthread_t others[THREADS];

	cell = (struct cell){.subject = &subject_thread, .workload = workload, .object_bytes = 64};
	run.chunks = chunks;
	(void)pthread_barrier_init(&run.together, NULL, threads);
	team_make(&cell, threads);
	for (unsigned i = 0; i < threads; i++)
		thread_start(&others[i], live, &team.members[i]);
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	team_unmake();
	(void)pthread_barrier_destroy(&run.together);
}

/* ---- The test ---- */

/* Hand-offs need a second thread. */
TEST(loops_return_the_pairs_they_release)
{
	for (unsigned threads = 1; threads <= THREADS; threads *= 2) {
		size_t cells = 0;

		for (const struct workload *workload = workloads; workload < workloads + WORKLOAD_COUNT; workload++) {
			if (workload->run || !workload_fits(workload, &subject_thread, 64, threads))
				continue;
			run_cell(workload, threads, workload->divided ? 1 : 3);
			check_sums(workload);
			cells++;
		}
		assert_int_equal(cells, threads == 1 ? 30 : 33);
	}
}

int main(void)
{
	return tests_run(NULL, NULL);
}
