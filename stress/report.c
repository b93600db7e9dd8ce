/* SPDX-License-Identifier: MIT */
/* report.c - everything the harness prints during a run, and the watchdog; see round.h. */
#include "round.h"

#include <inttypes.h>
#include <stdarg.h>

/* Per cell.  The first also names the configuration and the replay command. */
#define VIOLATIONS_PRINTED 3
#define LOOK_EVERY_NS 100000000

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	pthread_mutex_lock(&output);
	vprintf(format, arguments);
	fflush(stdout);
	pthread_mutex_unlock(&output);
	va_end(arguments);
}

_Noreturn void say_no_memory(const char *for_what)
{
	say("lfpool-stress: no memory for %s\n", for_what);
	exit(EXIT_STUCK);
}

static void print_variable(const char *name)
{
	const char *value = getenv(name);

	if (value)
		printf("%s=%s ", name, value);
}

/* "  replay: " and the command that runs this cell again, without the newline. */
static void print_replay(const struct cell *cell)
{
	printf("  replay: ");
	print_variable("LFPOOL_BACKEND");
	print_variable("LFPOOL_MEMBARRIER");
	printf("%s --scenario %s --threads %u --seed %" PRIu64 " --seconds 10", options.program, cell->scenario->name,
	       cell->threads, options.seed);
	if (options.history)
		printf(options.history_only ? " --history-only" : " --history");
	if (options.fault != FAULT_NONE)
		printf(" --break %s", fault_name(options.fault));
}

void round_describe(struct text *text)
{
	static const char *const routes[] = {"thread", "inline", "cache", "bulk"};
	static const char *const endings[] = {"threads exit first", "threads exit after the count",
					      "threads outlive the pool", "threads exit during destroy"};
	static const char *const flags[] = {"prefault", "zero", "check-races"};
	const lfpool_config_t *config = &current.config;

	text_add(text, "objects of %zu aligned to %zu, capacity %zu%s, cache ", config->object_size,
		 config->object_alignment, config->capacity, current.demand.counted ? " (scarce)" : "");
	if (config->cache_capacity == LFPOOL_CACHE_NONE || !config->cache_capacity)
		text_add(text, config->cache_capacity ? "none" : "default");
	else
		text_add(text, "%zu", config->cache_capacity);
	text_add(text, config->flags ? ", flags" : ", flags 0");
	for (unsigned bit = 0; bit < sizeof(flags) / sizeof(flags[0]); bit++)
		if (config->flags >> bit & 1)
			text_add(text, " %s", flags[bit]);
	if (current.initial)
		text_add(text, ", grows to %zu by %zu", config->max_capacity, config->growth_step);
	text_add(text, "%s%s, by", current.trims ? ", trimmed" : "", current.refusals ? ", with refusals" : "");
	for (unsigned i = 0; i < current.route_count; i++)
		text_add(text, " %s", routes[current.routes[i]]);
	text_add(text, ", %s%s", endings[current.ending], current.remark.characters);
}

/* ---- Violations ---- */

void violation_found(const char *what)
{
	struct cell *cell = current.cell;
	struct text configuration = {.used = 0};

	pthread_mutex_lock(&output);
	/* relaxed: written under the lock; a late reader does no harm. */
	const unsigned before = add_relaxed(&cell->violations, 1);
	if (before < VIOLATIONS_PRINTED)
		printf("VIOLATION %s, %u threads, round %" PRIu64 ": %s\n", cell->scenario->name, cell->threads,
		       current.number, what);
	if (before == 0) {
		round_describe(&configuration);
		printf("  seed %" PRIu64 ", %s\n", options.seed, configuration.characters);
		print_replay(cell);
		printf(" --round %" PRIu64 "\n", current.number);
	}
	fflush(stdout);
	pthread_mutex_unlock(&output);
}

void violation(const char *format, ...)
{
	char what[TEXT_BYTES];
	va_list arguments;

	if (options.history_only || options.sanitizer_only)
		return;
	va_start(arguments, format);
	(void)vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	violation_found(what);
}

/* ---- Hangs ---- */

static pthread_t watchdog;
static _Atomic(const struct cell *) watched; /* NULL: the run has ended */

static void bark(const struct cell *cell)
{
	pthread_mutex_lock(&output);
	printf("HANG %s, %u threads, seed %" PRIu64 ": no operation for %g seconds\n", cell->scenario->name,
	       cell->threads, options.seed, options.patience);
	print_replay(cell);
	printf("\n");
	fflush(stdout);
	_Exit(EXIT_STUCK);
}

static void *watch(void *unused)
{
	const struct timespec pause = {0, LOOK_EVERY_NS};
	uint64_t seen = 0, since = now_ns();
	const struct cell *cell;

	(void)unused;
	/* acquire: the cell's fields. */
	while ((cell = atomic_load_explicit(&watched, memory_order_acquire)) != NULL) {
		const uint64_t sum = pulse_sums().operations, now = now_ns();

		if (sum != seen)
			since = now;
		seen = sum;
		if ((double)(now - since) > options.patience * 1e9)
			bark(cell);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

void watchdog_watch(const struct cell *cell)
{
	/* release: see watch(). */
	if (!atomic_exchange_explicit(&watched, cell, memory_order_release))
		thread_start(&watchdog, watch, NULL);
	else if (!cell)
		(void)pthread_join(watchdog, NULL);
}
