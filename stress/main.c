/* SPDX-License-Identifier: MIT */
/*
 * main.c - lfpool-stress: looks for bugs in lfpool for a given time, and ends with a verdict.
 *
 * Idea         A matrix of cells, scenario x thread count.  Each cell gets the same share of the time and a separate
 *              verdict.  Start reading at round.h, then worker.h, ledger.h, demand.h.
 * Builds       The matrix runs on the library as it is installed, and then once more, in lfpool-stress-chaos, on a copy
 *              with pauses.  Each build finds bugs that the other misses.
 */
#include "history.h"
#include "options.h"
#include "round.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define CELL_NS UINT64_C(1000000000)
#define CELL_NS_MIN UINT64_C(50000000)

/* The backend that the environment selects, found by asking a pool. */
static lfpool_backend_t find_backend(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	lfpool_backend_t backend;
	lfpool_status_t status;
	lfpool_t *pool;

	config.object_size = config.capacity = 1;
	status = lfpool_create(&pool, &config);
	if (status != LFPOOL_OK) {
		fprintf(stderr, "lfpool-stress: lfpool_create(): %s\n", lfpool_status_string(status));
		exit(EXIT_USAGE);
	}
	backend = lfpool_quick_stats(pool).backend;
	(void)lfpool_destroy(pool);
	return backend;
}

/* All cells, scenario by scenario. */
static struct cell *make_cells(size_t *count_out)
{
	struct cell *cells = round_memory(scenario_count * options.thread_counts, sizeof(*cells));
	size_t count = 0;

	for (size_t s = 0; s < scenario_count; s++) {
		if (options.scenario ? options.scenario != scenarios[s] : scenarios[s]->alone)
			continue;
		if (options.history && scenarios[s]->unlogged)
			continue;
		if (options.backend == LFPOOL_BACKEND_MALLOC && scenarios[s]->needs_refusals)
			continue;
		for (size_t t = 0; t < options.thread_counts; t++, count++) {
			cells[count].scenario = scenarios[s];
			cells[count].threads = (unsigned)options.threads[t];
		}
	}
	*count_out = count;
	return cells;
}

static unsigned cell_violations(const struct cell *cell)
{
	/* The cell's threads have ended. */
	return load_relaxed(&cell->violations);
}

static void cell_run(struct cell *cell, uint64_t nanoseconds)
{
	const uint64_t start_ns = now_ns(), limit_ns = start_ns + nanoseconds;
	const uint64_t operations_before = pulse_sums().operations;
	uint64_t number = options.one_round ? options.round : 0;

	do {
		round_run(cell, number, limit_ns);
		number += !options.one_round;
		cell->rounds++;
	} while (!cell_violations(cell) && now_ns() < limit_ns);
	cell->nanoseconds = now_ns() - start_ns;
	cell->operations = pulse_sums().operations - operations_before;
}

static uint64_t cell_ns(size_t count)
{
	const size_t all = options.next ? 2 * count : count;
	const uint64_t nanoseconds = (uint64_t)(options.seconds * 1e9 / (double)all);

	return options.seconds == 0 ? CELL_NS : nanoseconds < CELL_NS_MIN ? CELL_NS_MIN : nanoseconds;
}

/* The file of the matrix, or NULL. */
static FILE *open_csv(void)
{
	FILE *csv = options.csv ? fopen(options.csv, options.continues ? "a" : "w") : NULL;

	if (options.csv && !csv) {
		fprintf(stderr, "lfpool-stress: %s: %s\n", options.csv, strerror(errno));
		exit(EXIT_USAGE);
	}
	if (csv && !options.continues)
		fprintf(csv, "build,scenario,threads,seconds,rounds,operations,violations\n");
	return csv;
}

static void write_row(FILE *csv, const struct cell *cell)
{
	fprintf(csv, "%s,%s,%u,%.3f,%" PRIu64 ",%" PRIu64 ",%u\n", options.build, cell->scenario->name, cell->threads,
		(double)cell->nanoseconds / 1e9, cell->rounds, cell->operations, cell_violations(cell));
	/* A later cell may end the program. */
	(void)fflush(csv);
}

static void run_cells(struct cell *cells, size_t count)
{
	const uint64_t nanoseconds = cell_ns(count);
	FILE *csv = open_csv();

	for (size_t i = 0; i < count; i++) {
		watchdog_watch(&cells[i]);
		cell_run(&cells[i], nanoseconds);
		if (csv)
			write_row(csv, &cells[i]);
	}
	watchdog_watch(NULL);
	if (csv)
		(void)fclose(csv);
}

static void say_table(const struct cell *cells, size_t count)
{
	say("\nOperations (acquires and releases) and violations, by threads:\n%-18s", "");
	for (size_t t = 0; t < options.thread_counts; t++)
		say("%12lu", options.threads[t]);
	for (const struct cell *cell = cells; cell < cells + count; cell++) {
		const bool large = cell->operations >= 10000000;

		if ((size_t)(cell - cells) % options.thread_counts == 0)
			say("\n%-18s", cell->scenario->name);
		say("%7" PRIu64 "%c%4u", large ? cell->operations / 1000000 : (cell->operations + 999) / 1000,
		    large ? 'M' : 'k', cell_violations(cell));
	}
	say("\n\n");
}

/* Becomes the program of the next build, which runs the same cells and adds its counts to these. */
static _Noreturn void go_on(int argc, char **argv, size_t passed, size_t failed)
{
	char **arguments = round_memory((size_t)argc + 4, sizeof(*arguments)), texts[3][64];
	size_t count = (size_t)argc;

	/* The last of several equal options counts. */
	memcpy(arguments, argv, count * sizeof(*arguments));
	(void)snprintf(arguments[count++] = texts[0], sizeof(texts[0]), "--seed=%" PRIu64, options.seed);
	(void)snprintf(arguments[count++] = texts[1], sizeof(texts[1]), "--before=%zu,%zu", passed, failed);
	if (options.seconds > 0)
		(void)snprintf(arguments[count++] = texts[2], sizeof(texts[2]), "--seconds=%g", options.seconds / 2);
	options_become_next(arguments);
}

/* Prints the verdict, and returns it as exit status.  If there is a next build, its program does both instead. */
static int say_verdict(const struct cell *cells, size_t count, int argc, char **argv)
{
	size_t failed = 0;
	uint64_t faults = 0;

	for (size_t i = 0; i < count; i++) {
		failed += cell_violations(&cells[i]) != 0;
		faults += load_relaxed(&cells[i].faults);
	}
	if (options.fault != FAULT_NONE)
		say("Faults committed: %" PRIu64 "\n", faults);
	if (options.history)
		history_say();
	count += options.before[0] + options.before[1];
	failed += options.before[1];
	if (options.next)
		go_on(argc, argv, count - failed, failed);
	say("%zu passed, %zu failed\n", count - failed, failed);
	return failed ? EXIT_VIOLATIONS : EXIT_CLEAN;
}

int main(int argc, char **argv)
{
	static const char *const backends[] = {"lockfree", "mutex", "malloc"};
	struct cell *cells;
	size_t count;
	int status;

	options_read(argc, argv);
	report_crashes();
	options.backend = find_backend();
	cells = make_cells(&count);
	if (!count) {
		fprintf(stderr, "lfpool-stress: nothing to run: this scenario needs refused releases, and the malloc "
				"backend refuses none\n");
		exit(EXIT_USAGE);
	}
	say("lfpool-stress: seed %" PRIu64 ", %s build, %zu cells of %.3g seconds, backend %s\n", options.seed,
	    options.build, count, (double)cell_ns(count) / 1e9, backends[options.backend]);
	if (options.fault != FAULT_NONE)
		say("lfpool-stress: committing the fault %s on purpose: expect violations\n",
		    fault_name(options.fault));
	run_cells(cells, count);
	say_table(cells, count);
	status = say_verdict(cells, count, argc, argv);
	free(cells);
	return status;
}
