/* SPDX-License-Identifier: MIT */
/*
 * main.c - lfpool-stress: looks for bugs in lfpool for a given time, and ends with a verdict.
 *
 * Idea         A matrix of cells, scenario x thread count.  Each cell gets the same share of the time and a separate
 *              verdict.  Start reading at round.h, then worker.h, ledger.h, demand.h.
 */
#include "history.h"
#include "options.h"
#include "round.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <unistd.h>

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
static struct cell *make_cells(lfpool_backend_t backend, size_t *count_out)
{
	struct cell *cells = round_memory(scenario_count * options.thread_counts, sizeof(*cells));
	size_t count = 0;

	for (size_t s = 0; s < scenario_count; s++) {
		if (options.scenario ? options.scenario != scenarios[s] : scenarios[s]->alone)
			continue;
		if (options.history && scenarios[s]->unlogged)
			continue;
		if (backend == LFPOOL_BACKEND_MALLOC && scenarios[s]->needs_refusals)
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
	/* Its threads have ended. */
	return load_relaxed(&cell->violations);
}

static void cell_run(struct cell *cell, uint64_t nanoseconds)
{
	uint64_t limit_ns = now_ns() + nanoseconds, operations_before = pulse_sums().operations;
	uint64_t number = options.one_round ? options.round : 0;

	do {
		round_run(cell, number, limit_ns);
		number += !options.one_round;
	} while (!cell_violations(cell) && now_ns() < limit_ns);
	cell->operations = pulse_sums().operations - operations_before;
}

static uint64_t cell_ns(size_t count)
{
	const uint64_t nanoseconds = (uint64_t)(options.seconds * 1e9 / (double)count);

	return nanoseconds < CELL_NS_MIN ? CELL_NS_MIN : nanoseconds;
}

static void run_cells(struct cell *cells, size_t count)
{
	const uint64_t nanoseconds = cell_ns(count);

	for (size_t i = 0; i < count; i++) {
		watchdog_watch(&cells[i]);
		cell_run(&cells[i], nanoseconds);
	}
	watchdog_watch(NULL);
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

/* The verdict, printed and as exit status. */
static int say_verdict(const struct cell *cells, size_t count)
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
	say("%zu passed, %zu failed\n", count - failed, failed);
	return failed ? EXIT_VIOLATIONS : EXIT_CLEAN;
}

int main(int argc, char **argv)
{
	static const char *const backends[] = {"lockfree", "mutex", "malloc"};
	lfpool_backend_t backend;
	struct cell *cells;
	size_t count;
	int status;

	options_read(argc, argv);
	backend = find_backend();
	cells = make_cells(backend, &count);
	if (!count) {
		fprintf(stderr, "lfpool-stress: nothing to run: this scenario needs refused releases, and the malloc "
				"backend refuses none\n");
		exit(EXIT_USAGE);
	}
	say("lfpool-stress: seed %" PRIu64 ", %zu cells of %.3g seconds, backend %s\n", options.seed, count,
	    (double)cell_ns(count) / 1e9, backends[backend]);
	if (options.fault != FAULT_NONE)
		say("lfpool-stress: committing the fault %s on purpose: expect violations\n",
		    fault_name(options.fault));
	run_cells(cells, count);
	say_table(cells, count);
	status = say_verdict(cells, count);
	free(cells);
	return status;
}
