/* SPDX-License-Identifier: MIT */
/*
 * main.c - lfpool-compare: how fast is lfpool beside a mutex pool, malloc, and a list without any synchronisation?
 *
 * Idea         One process, so that all subjects meet the same machine.  Repetitions are interleaved: every cell of
 *              the table once, then every cell again; a disturbance then hits one repetition of all instead of all
 *              repetitions of one, and the median forgets it. It reports speed and never decides anything, but it
 *              stops when an acquire fails or a release is refused: then the figures would be about something else.
 *              measure.h says what the figures mean.
 */
#include "measure.h"
#include "options.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if defined(__OPTIMIZE__) && !defined(SANITIZED)
#define SLOW_BUILD false
#else
#define SLOW_BUILD true
#endif

static void introduce(const struct table *table, const struct options *options)
{
	const char *membarrier = getenv("LFPOOL_MEMBARRIER");
	const double seconds = (double)(table->count * options->repetitions * options->milliseconds) / 1e3;

	printf("lfpool-compare: %d-byte objects, %u CPUs, %s, %lu interleaved repetitions of %lu ms, about %.0f s\n",
	       OBJECT_BYTES, cpus(), COMPILER, options->repetitions, options->milliseconds, seconds);
	printf("ns per pair: elapsed time x min(threads, CPUs) / pairs of acquire and release; lower is better\n"
	       "x mutex: how many times faster than the mutex pool with as many threads; higher is better\n"
	       "Medians, and the least and the greatest.\n\n");
	for (size_t i = 0; i < SUBJECTS; i++)
		if (options->subjects[i])
			printf("  %-18s %s\n", subjects[i]->name, subjects[i]->what);
	if (membarrier)
		printf("LFPOOL_MEMBARRIER=%s is set\n", membarrier);
	if (SLOW_BUILD)
		printf("This build is not optimised, or is slowed down by a sanitizer: the figures mean nothing.\n");
	(void)fflush(stdout);
}

static void sweep(struct table *table, const struct options *options)
{
	const bool progress = isatty(STDERR_FILENO);

	for (size_t r = 0; r < table->repetitions; r++) {
		for (size_t i = 0; i < table->count; i++) {
			struct cell *cell = &table->cells[i];

			if (progress)
				fprintf(stderr, "\rrepetition %zu of %zu, cell %zu of %zu ", r + 1,
					table->repetitions, i + 1, table->count);
			cell->ns[r] = measure(cell->subject, &cell->work, cell->threads,
					      options->milliseconds * UINT64_C(1000000));
		}
	}
	if (progress)
		fprintf(stderr, "\r\033[K");
}

static FILE *open_csv(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file) {
		perror(path);
		exit(3);
	}
	return file;
}

static int compare_all(const struct options *options)
{
	/* Opened first: nobody should wait for a minute to learn that there is no such folder. */
	FILE *csv = options->csv ? open_csv(options->csv) : NULL;
	struct table table;
	int status = 0;

	table_make(&table, options);
	introduce(&table, options);
	sweep(&table, options);
	table_finish(&table);
	table_print(&table);
	if (csv) {
		bool written = table_write_csv(&table, csv);

		if (fclose(csv) != 0 || !written) {
			fprintf(stderr, "lfpool-compare: cannot write %s\n", options->csv);
			status = 3;
		}
	}
	table_free(&table);
	return status;
}

/* Count mode: the one cell that the options leave. */
static int run_one(struct options *options)
{
	struct table table;
	int status = 0;

	options->thread_counts = 1;
	table_make(&table, options);
	if (table.count == 1 && table.cells[0].work.kind != HANDOFF) {
		run_exactly(table.cells[0].subject, &table.cells[0].work, options->pairs);
	} else {
		fprintf(stderr, "lfpool-compare: --pairs takes one --subject and one --workload, pairs or bursts\n");
		status = 2;
	}
	table_free(&table);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;

	/* Each subject names its backend itself. */
	(void)unsetenv("LFPOOL_BACKEND");
	options_read(&options, argc, argv);
	return options.pairs ? run_one(&options) : compare_all(&options);
}
