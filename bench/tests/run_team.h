/* SPDX-License-Identifier: MIT */
/*
 * run_team.h - one cell's threads, as in the benchmark, with a life that a test gives them.
 */
#ifndef LFPOOL_BENCH_TESTS_RUN_TEAM_H
#define LFPOOL_BENCH_TESTS_RUN_TEAM_H

#include "../member.h"

#define THREADS 4 /* at the most */

static pthread_barrier_t together;

static inline void turn_together(void)
{
	(void)pthread_barrier_wait(&together);
}

/* Each thread runs `life` with its struct member; then this thread calls `check`, if it is not NULL. */
static inline void run_team(struct cell cell, unsigned threads, void *(*life)(void *), void (*check)(void))
{
	pthread_t others[THREADS];

	(void)pthread_barrier_init(&together, NULL, threads);
	team_make(&cell, threads);
	for (unsigned i = 0; i < threads; i++)
		thread_start(&others[i], life, &team.members[i]);
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(others[i], NULL);
	if (check)
		check();
	team_unmake();
	(void)pthread_barrier_destroy(&together);
}

/* Makes the calling member, begins, and runs `chunks` chunks together with the others. */
static inline void live_until_the_end(struct member *member, size_t chunks)
{
	member_make(member, (unsigned)(member - team.members));
	member_begin(member);
	turn_together();
	for (size_t i = 0; i < chunks; i++)
		member->pairs += member_loop(member)(&member->worker, team.cell->workload->chunk);
	turn_together();
}

#endif
