/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - shared by the programs `table` and `epoch_stack`: threads that read and threads that write at the same
 * time, for a while, and their counts.
 *
 *     PROGRAM [--seconds N] [--readers N] [--writers N] [--nodes N] [--seed N] [--no-deferral]
 *
 * --no-deferral releases each node at once, although a thread may be reading it.  Soon a reader sees a node change,
 * reports it, and ends the program.
 *
 * Exit status  0: no node changed while it was read, and each node is accounted for.  1: otherwise, or no pool.  2:
 *              wrong usage.  3: no thread.
 */
#ifndef EXAMPLE_CROWD_H
#define EXAMPLE_CROWD_H

#include "command_line.h"
#include "harness.h"
#include "lfpool/debug.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"
#include "lfpool/retire.h"

#include <inttypes.h>
#include <stdatomic.h>

#define THREADS_MAX 64
#define COUNTS_MAX 8

struct options {
	unsigned long seconds, readers, writers, nodes, seed;
	bool no_deferral;
};

/* A thread of the crowd. */
struct visitor {
	unsigned index;
	struct random random;
	uint64_t counts[COUNTS_MAX]; /* used by the program; crowd_run() returns the sums */
	size_t retired_at_most;      /* the most retired nodes that it has seen */
	pthread_t thread;
};

static _Atomic(bool) crowd_over;

/* relaxed: the flag publishes nothing. */
static inline bool is_over(void)
{
	return atomic_load_explicit(&crowd_over, memory_order_relaxed);
}

static inline struct options parse_options(const char *program, int argc, char **argv)
{
	struct options options = {.seconds = 2, .readers = 2, .writers = 2, .nodes = 1000, .seed = 1};
	const struct option_row rows[] = {OPTION_NUMBER("seconds", &options.seconds, 1, 3600),
					  OPTION_NUMBER("readers", &options.readers, 1, THREADS_MAX / 2),
					  OPTION_NUMBER("writers", &options.writers, 1, THREADS_MAX / 2),
					  OPTION_NUMBER("nodes", &options.nodes, 8, 100000000),
					  OPTION_NUMBER("seed", &options.seed, 0, UINT32_MAX),
					  OPTION_FLAG("no-deferral", &options.no_deferral),
					  OPTIONS_END};

	(void)command_line(program, rows, NULL, argc, argv);
	return options;
}

/* Writers call this occasionally. */
static inline void note_retired(struct visitor *visitor, const lfpool_t *pool)
{
	const size_t retired = lfpool_quick_stats(pool).retired;

	visitor->retired_at_most = retired > visitor->retired_at_most ? retired : visitor->retired_at_most;
}

/* Ends the program without any cleanup: the nodes' structure may be unusable. */
static inline _Noreturn void tell_changed(const char *where, uint64_t was, uint64_t is)
{
	printf("FAILED: a node changed while it was read, %s: its stamp was %" PRIu64 ", and is %" PRIu64 "\n", where,
	       was, is);
	fflush(stdout);
	_Exit(1);
}

/* Runs the threads for the requested time; returns the sum of their counts. */
static inline struct visitor crowd_run(const struct options *options, void *(*read)(void *), void *(*write)(void *))
{
	static struct visitor visitors[THREADS_MAX];
	const size_t count = options->readers + options->writers;
	struct visitor sum = {.index = THREADS_MAX - 1, .random = random_for(options->seed, THREADS_MAX - 1)};

	for (unsigned i = 0; i < count; i++) {
		visitors[i].index = i;
		visitors[i].random = random_for(options->seed, i);
		thread_start(&visitors[i].thread, i < options->readers ? read : write, &visitors[i]);
	}
	nanosleep(&(struct timespec){.tv_sec = (time_t)options->seconds}, NULL);
	atomic_store_explicit(&crowd_over, true, memory_order_relaxed);
	for (size_t i = 0; i < count; i++) {
		pthread_join(visitors[i].thread, NULL);
		for (unsigned j = 0; j < COUNTS_MAX; j++)
			sum.counts[j] += visitors[i].counts[j];
		if (visitors[i].retired_at_most > sum.retired_at_most)
			sum.retired_at_most = visitors[i].retired_at_most;
	}
	return sum;
}

/* Prints the final state of the pool, whose objects are all released or retired by now. */
static inline bool settle_pool(lfpool_t *pool, size_t node_bytes, size_t retired_at_most)
{
	const bool ok = lfpool_drain(pool) == LFPOOL_OK && lfpool_quick_stats(pool).retired == 0 &&
			lfpool_active_count(pool) == 0 && lfpool_quick_stats(pool).misuses == 0 &&
			!lfpool_check(pool, NULL);

	printf("pool      %zu nodes of %zu bytes = %zu KiB, whatever happens; at most %zu retired at once\n",
	       lfpool_capacity(pool), node_bytes, lfpool_capacity(pool) * node_bytes / 1024, retired_at_most);
	return lfpool_destroy(pool) == 0 && ok;
}

#endif
