/* SPDX-License-Identifier: MIT */
/*
 * main.c - lfpool-stress: looks for bugs in lfpool until the time is over, and gives a verdict.
 *
 * Idea         A matrix of cells, scenario x thread count; each gets the same share of the time and a verdict of its
 *              own: passed, failed, or skipped when there is nothing to test.  Start reading at scenario.h, then
 *              round.h, worker.h, ledger.h, demand.h.
 */
#include "history.h"
#include "options.h"
#include "scenario.h"

#include <inttypes.h>
#include <unistd.h>

#define CELL_NS_MIN UINT64_C(50000000)

static const char *backend_name(lfpool_backend_t backend)
{
	static const char *const names[] = {"lockfree", "mutex", "malloc"};

	return names[backend];
}

/* The backend that the environment chooses, found by asking a pool. */
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
	backend = lfpool_backend(pool);
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
		for (size_t t = 0; t < options.thread_counts; t++, count++) {
			cells[count].scenario = scenarios[s];
			cells[count].threads = (unsigned)options.threads[t];
			cells[count].skipped = backend == LFPOOL_BACKEND_MALLOC && scenarios[s]->needs_refusals;
		}
	}
	*count_out = count;
	return cells;
}

static unsigned cell_violations(const struct cell *cell)
{
	/* relaxed: its threads have ended. */
	return atomic_load_explicit(&cell->violations, memory_order_relaxed);
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
		history_prepare(&cells[i]);
		if (!cells[i].skipped)
			cell_run(&cells[i], nanoseconds);
	}
	watchdog_watch(NULL);
}

static uint64_t faults_committed(const struct cell *cells, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		/* relaxed: its threads have ended. */
		sum += atomic_load_explicit(&cells[i].faults, memory_order_relaxed);
	return sum;
}

static void say_entry(const struct cell *cell)
{
	char operations[24];

	if (cell->skipped)
		(void)snprintf(operations, sizeof(operations), "-");
	else if (cell->operations < 10000000)
		(void)snprintf(operations, sizeof(operations), "%" PRIu64 "k", (cell->operations + 999) / 1000);
	else
		(void)snprintf(operations, sizeof(operations), "%" PRIu64 "M", cell->operations / 1000000);
	if (cell->skipped)
		say("%8s%4s", operations, "-");
	else
		say("%8s%4u", operations, cell_violations(cell));
}

static void say_table(const struct cell *cells, size_t count)
{
	say("\nOperations (acquires and releases) and violations, by threads:\n%-18s", "");
	for (size_t t = 0; t < options.thread_counts; t++)
		say("%12lu", options.threads[t]);
	say("\n");
	for (size_t i = 0; i < count; i++) {
		if (i % options.thread_counts == 0)
			say("%-18s", cells[i].scenario->name);
		say_entry(&cells[i]);
		if ((i + 1) % options.thread_counts == 0)
			say("\n");
	}
	say("\n");
}

/* The verdict, printed and as exit status. */
static int say_verdict(const struct cell *cells, size_t count)
{
	size_t passed = 0, failed = 0, skipped = 0;

	for (size_t i = 0; i < count; i++) {
		if (cells[i].skipped)
			skipped++;
		else if (cell_violations(&cells[i]))
			failed++;
		else
			passed++;
	}
	if (skipped)
		say("%zu cells skipped: the malloc backend does not refuse wrong releases\n", skipped);
	say("%zu passed, %zu failed\n", passed, failed);
	if (failed)
		return EXIT_VIOLATIONS;
	return passed ? EXIT_CLEAN : EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct cell *cells;
	size_t count;
	int status;

	options_read(argc, argv);

	lfpool_backend_t backend = find_backend();
	cells = make_cells(backend, &count);
	say("lfpool-stress: seed %" PRIu64 ", %zu cells of %.3g seconds, backend %s\n", options.seed, count,
	    (double)cell_ns(count) / 1e9, backend_name(backend));
	if (options.fault != FAULT_NONE)
		say("lfpool-stress: committing a fault on purpose, %s: violations are expected\n", fault_name(options.fault));
	run_cells(cells, count);
	say_table(cells, count);
	if (options.fault != FAULT_NONE)
		say("Faults committed: %" PRIu64 "\n", faults_committed(cells, count));
	if (options.history)
		history_say();
	status = say_verdict(cells, count);
	free(cells);
	return status;
}
