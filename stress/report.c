/* SPDX-License-Identifier: MIT */
/*
 * report.c - everything the harness prints while it runs.
 */
#include "report.h"

#include "options.h"
#include "round.h"
#include "scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of these the first names the configuration and the replay as well. */
#define VIOLATIONS_PRINTED 3

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static bool progress_shown;

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stdout);
	progress_shown = false;
}

__attribute__((format(printf, 1, 0)))
static void print(const char *format, va_list arguments, bool progress)
{
	pthread_mutex_lock(&output);
	clear_progress();
	vprintf(format, arguments);
	progress_shown = progress;
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print(format, arguments, false);
	va_end(arguments);
}

void say_progress(const char *format, ...)
{
	va_list arguments;

	if (!isatty(STDOUT_FILENO))
		return;
	va_start(arguments, format);
	print(format, arguments, true);
	va_end(arguments);
}

static void print_variable(const char *name)
{
	const char *value = getenv(name);

	if (value)
		printf("%s=%s ", name, value);
}

/* "  replay: " and the command that runs this cell again, without the end of the line. */
static void print_replay(const struct cell *cell)
{
	const struct options *options = cell->options;

	printf("  replay: ");
	print_variable("LFPOOL_BACKEND");
	print_variable("LFPOOL_MEMBARRIER");
	print_variable("LFPOOL_STAMPS");
	printf("%s --scenario %s --threads %u --seed %" PRIu64 " --seconds 10", options->program, cell->scenario->name,
	       cell->threads, options->seed);
	if (strcmp(cell->scenario->name, "rcu") == 0)
		printf(" --flavor %s", options->flavor);
	if (options->history)
		printf(options->history_only ? " --history-only" : " --history");
	if (options->fault != FAULT_NONE)
		printf(" --break %s", fault_name(options->fault));
}

void say_hang(const struct cell *cell)
{
	pthread_mutex_lock(&output);
	clear_progress();
	printf("HANG %s, %u threads, seed %" PRIu64 ": no operation for %g seconds\n", cell->scenario->name, cell->threads,
	       cell->options->seed, cell->options->patience);
	print_replay(cell);
	printf("\n");
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

__attribute__((format(printf, 2, 0)))
static void print_violation(struct round *round, const char *format, va_list arguments)
{
	struct cell *cell = round->cell;
	char configuration[ROUND_TEXT_BYTES];

	pthread_mutex_lock(&output);
	/* relaxed: written under the lock; readers only want to know soon. */
	unsigned before = atomic_fetch_add_explicit(&cell->violations, 1, memory_order_relaxed);
	if (before < VIOLATIONS_PRINTED) {
		clear_progress();
		printf("VIOLATION %s, %u threads, round %" PRIu64 ": ", cell->scenario->name, cell->threads, round->number);
		vprintf(format, arguments);
		printf("\n");
	}
	if (before == 0) {
		round_describe(round, configuration);
		printf("  seed %" PRIu64 ", %s\n", cell->options->seed, configuration);
		print_replay(cell);
		printf(" --round %" PRIu64 "\n", round->number);
	}
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

void violation(struct round *round, const char *format, ...)
{
	va_list arguments;

	if (round->cell->options->history_only || round->cell->options->sanitizer_only)
		return;
	va_start(arguments, format);
	print_violation(round, format, arguments);
	va_end(arguments);
}

void violation_of_history(struct round *round, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_violation(round, format, arguments);
	va_end(arguments);
}
