/* SPDX-License-Identifier: MIT */
/* report.c - everything the harness prints during a run: violations, hangs and crashes; see round.h. */
#include "round.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* For each cell.  The first violation also prints the configuration and the replay command. */
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

/* ---- The round ---- */

static struct text about; /* its seed, configuration and replay command, in two lines */

static void add_configuration(struct text *text)
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

static void add_variable(struct text *text, const char *name)
{
	const char *value = getenv(name);

	if (value)
		text_add(text, "%s=%s ", name, value);
}

/* The command that runs this round again. */
static void add_replay(struct text *text)
{
	const struct cell *cell = current.cell;

	add_variable(text, "LFPOOL_BACKEND");
	add_variable(text, "LFPOOL_MEMBARRIER");
	text_add(text, "%s --build %s --scenario %s --threads %u --seed %" PRIu64 " --seconds 10", options.program,
		 options.build, cell->scenario->name, cell->threads, options.seed);
	if (options.history)
		text_add(text, options.history_only ? " --history-only" : " --history");
	if (options.fault != FAULT_NONE)
		text_add(text, " --break %s", fault_name(options.fault));
	text_add(text, " --round %" PRIu64, current.number);
}

void report_round(void)
{
	about.used = 0;
	text_add(&about, "  seed %" PRIu64 ", ", options.seed);
	add_configuration(&about);
	text_add(&about, "\n  replay: ");
	add_replay(&about);
	text_add(&about, "\n");
}

/* ---- Violations ---- */

void violation_found(const char *what)
{
	struct cell *cell = current.cell;

	pthread_mutex_lock(&output);
	/* relaxed: written under the lock; a late reader does no harm. */
	const unsigned before = add_relaxed(&cell->violations, 1);
	if (before < VIOLATIONS_PRINTED)
		printf("VIOLATION %s, %u threads, round %" PRIu64 ": %s\n", cell->scenario->name, cell->threads,
		       current.number, what);
	if (before == 0)
		fputs(about.characters, stdout);
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

/* ---- Hangs and crashes ---- */

/* Writes texts up to a NULL.  Safe in a signal handler: stdout is empty, because say() and violation() flush it. */
static void put(const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	for (; text; text = va_arg(arguments, const char *))
		if (write(STDOUT_FILENO, text, strlen(text)) < 0)
			break;
	va_end(arguments);
}

struct digits {
	char text[24];
};

/* Safe in a signal handler. */
static const char *digits(uint64_t number, struct digits *digits)
{
	char *at = digits->text + sizeof(digits->text) - 1;

	for (*at = '\0'; at > digits->text; number /= 10) {
		*--at = (char)('0' + number % 10);
		if (number < 10)
			break;
	}
	return at;
}

/* "HANG pairs, 2 threads, round 3: ", and more.  Safe in a signal handler. */
static void put_event(const char *event, const char *what, const char *value)
{
	struct digits threads, round;

	put(event, " ", current.cell->scenario->name, ", ", digits(current.cell->threads, &threads), " threads, round ",
	    digits(current.number, &round), ": ", what, value, "\n", about.characters, NULL);
}

/* Each thread's last step.  Safe in a signal handler. */
static void put_threads(void)
{
	struct digits number;

	for (unsigned i = 0; i <= 3 * current.threads; i++) {
		/* relaxed: a report is not exact. */
		const char *step = load_relaxed(&pulses[i].step);
		const bool child = i > current.threads, mine = here && here->index == i;

		if (!step)
			continue;
		put("  last step of ", i == current.threads ? "the main thread" : child ? "child " : "thread ", NULL);
		if (i != current.threads)
			put(digits(child ? i - current.threads - 1 : i, &number), NULL);
		put(": ", step, mine ? "  <- this thread\n" : "\n", NULL);
	}
}

#ifdef SA_ONSTACK
static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
#define CRASHES (sizeof(crashes) / sizeof(crashes[0]))
static struct sigaction actions[CRASHES]; /* before ours: the default, or a sanitizer's */
static char stacks[PULSES][1 << 15];      /* a crash may be the end of a stack */

static void on_crash(int number, siginfo_t *information, void *context)
{
	static _Atomic(unsigned) reported; /* 0 or 1: riscv64 cannot exchange bytes */
	struct digits signal;

	(void)context;
	/* relaxed: the reporting thread ends the program. */
	while (exchange_relaxed(&reported, 1))
		(void)pause();
	put_event("CRASH", "signal ", digits((uint64_t)number, &signal));
	put_threads();
	for (size_t i = 0; i < CRASHES; i++)
		(void)sigaction(crashes[i], &actions[i], NULL);
	/* The instruction fails again, and ends the program.  A signal that was sent does not repeat. */
	if (information->si_code <= 0)
		(void)raise(number);
}

void report_crashes(void)
{
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	(void)sigfillset(&action.sa_mask);
	for (size_t i = 0; i < CRASHES; i++)
		(void)sigaction(crashes[i], &action, &actions[i]);
}

void report_crashes_of(const struct worker *worker)
{
	stack_t stack = {.ss_sp = stacks[worker->index], .ss_size = sizeof(stacks[0])}, old;

	/* Sanitizers have their own stack. */
	if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE)
		(void)sigaltstack(&stack, NULL);
}
#else
void report_crashes(void) {}

void report_crashes_of(const struct worker *worker)
{
	(void)worker;
}
#endif

static pthread_t watchdog;
static _Atomic(const struct cell *) watched; /* NULL: the run has ended */

static _Noreturn void bark(void)
{
	char seconds[32];

	(void)snprintf(seconds, sizeof(seconds), "%g seconds", options.patience);
	pthread_mutex_lock(&output);
	put_event("HANG", "no operation for ", seconds);
	put_threads();
	_Exit(EXIT_STUCK);
}

static void *watch(void *unused)
{
	const struct timespec pause = {0, LOOK_EVERY_NS};
	uint64_t seen = 0, since = now_ns();

	(void)unused;
	/* acquire: the cell's fields. */
	while (atomic_load_explicit(&watched, memory_order_acquire)) {
		const uint64_t sum = pulse_sums().operations, now = now_ns();

		if (sum != seen)
			since = now;
		seen = sum;
		if ((double)(now - since) > options.patience * 1e9)
			bark();
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
