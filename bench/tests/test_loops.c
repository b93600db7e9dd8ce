/* SPDX-License-Identifier: MIT */
/*
 * test_loops.c - every loop of every workload, with threads, rings and graphs made as in the benchmark.
 *
 * Idea         The pool keeps account: how many acquires and releases there were, by lfpool_stats(), beside what a loop says.
 * Invariants   A1  a loop returns as many pairs as it releases (exhausted: as many as were refused).
 *              A2  in the end everything is released: closing a pool of which something is active ends the program.
 *              A3  over a pool that evicts, or nodes that are deferred: a loop does what it was asked for; acquires from a full
 *                  pool evict; each node that was made is deferred once.
 */
#include "common/harness.h"
#include "common/test.h"

#include "common/latency.h"
#include "../graph.h"
#include "../team.h"

#include <lfpool/lfpool.h>

#define THREADS 4 /* at the most */

extern const struct subject subject_thread, subject_priority, subject_released_at_once;

/* ---- A run ---- */

static struct run {
	size_t chunks;                         /* for each thread                           */
	lfpool_stats_t before, after;          /* of the loops                              */
	size_t timed_acquires, timed_releases; /* atomic */
	pthread_barrier_t together;
} run;

/* One thread asks, when no loop runs. */
static void look(lfpool_stats_t *stats)
{
	stats->struct_size = sizeof(*stats);
	if (pthread_barrier_wait(&run.together) == PTHREAD_BARRIER_SERIAL_THREAD && team.cell->subject == &subject_thread)
		(void)lfpool_stats(team.shared, stats);
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
	if (team.cell->workload->timed) {
		(void)__atomic_add_fetch(&run.timed_acquires, member->worker.acquire_times->count, __ATOMIC_RELAXED);
		(void)__atomic_add_fetch(&run.timed_releases, member->worker.release_times->count, __ATOMIC_RELAXED);
	}
	member_end(member);
	(void)pthread_barrier_wait(&run.together);
	member_unmake(member);
	return NULL;
}

/* A1, and what each workload promises beyond. */
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
		assert_int_equal(pairs, run.chunks * team.threads * ((workload->chunk + TREE_JOBS - 1) / TREE_JOBS) * TREE_JOBS);
	assert_int_equal(run.timed_acquires, workload->timed ? run.after.acquires - run.before.acquires : 0);
	assert_int_equal(run.timed_releases, workload->timed ? released : 0);
}

static void run_cell(const struct workload *workload, const struct subject *subject, unsigned threads, size_t chunks)
{
	static struct cell cell; /* the checks that follow look at the team, and so at this */
	pthread_t others[THREADS];

	cell = (struct cell){.subject = subject, .workload = workload, .object_bytes = 64};
	run.chunks = chunks;
	run.timed_acquires = run.timed_releases = 0;
	(void)pthread_barrier_init(&run.together, NULL, threads);
	team_make(&cell, threads);
	for (unsigned i = 0; i < threads; i++)
		thread_start(&others[i], live, &team.members[i]);
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	team_unmake();
	(void)pthread_barrier_destroy(&run.together);
}

/* ---- The tests ---- */

static size_t run_all(const struct subject *subject, unsigned threads, void (*check)(const struct workload *workload))
{
	size_t cells = 0;

	for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
		if (workloads[w].run || !workload_fits(&workloads[w], subject, 64, threads) ||
		    (workloads[w].evicts && workloads[w].count > 1024))
			continue;
		run_cell(&workloads[w], subject, threads, workloads[w].divided && !workloads[w].evicts ? 1 : 3);
		check(&workloads[w]);
		cells++;
	}
	return cells;
}

/* All; the hand-offs need a second thread. */
TEST(loops_of_pools)
{
	for (unsigned threads = 1; threads <= THREADS; threads *= 2)
		assert_int_equal(run_all(&subject_thread, threads, check_sums), threads == 1 ? 20 : 23);
}

/* With one thread, whose clock no other takes away, every acquire evicts. */
static void check_evicting_loop(const struct workload *workload)
{
	for (unsigned i = 0; i < team.threads; i++) {
		const struct worker *did = &team.members[i].worker;
		const size_t operations = run.chunks * workload->chunk, acquires = did->acquired + did->refused;

		assert_int_equal(team.members[i].pairs, operations);
		assert_int_equal(acquires + did->updated + did->stale, operations);
		/* By lot, but the same in each run. */
		assert_in_range(acquires, operations * workload->evicts / 200, operations * workload->evicts / 66);
		assert_true(workload->evicts < 100 || acquires == operations);
		assert_true(team.threads > 1 || (did->refused == 0 && did->stale <= did->updated));
	}
}

TEST(loop_of_pools_that_evict)
{
	for (unsigned threads = 1; threads <= THREADS; threads *= 2)
		assert_int_equal(run_all(&subject_priority, threads, check_evicting_loop), 6);
}

static void check_retiring_loop(const struct workload *workload)
{
	uint64_t made = 0, deferred = 0;

	for (unsigned i = 0; i < team.threads; i++) {
		const struct member *member = &team.members[i];
		const size_t asked = run.chunks * workload->chunk;

		assert_int_equal(member->pairs, member_reads(member) ? 0 : asked);
		assert_int_equal(member->worker.sections, member_reads(member) ? asked : 0);
		made += member->worker.stamp - ((uint64_t)i << 48);
		deferred += member->worker.updates;
	}
	assert_true(made == deferred && made >= RETIRE_TABLE);
}

TEST(loops_that_defer)
{
	for (unsigned threads = 1; threads <= THREADS; threads *= 2)
		assert_int_equal(run_all(&subject_released_at_once, threads, check_retiring_loop), threads == 1 ? 1 : 2);
}

int main(void)
{
	/* Readers look at what was released, and AddressSanitizer would say so. */
	assert_int_equal(setenv("LFPOOL_DEBUG", "no-tools", 1), 0);
	return tests_run(NULL, NULL);
}
