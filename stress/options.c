/* SPDX-License-Identifier: MIT */
/*
 * options.c - the command line.
 */
#include "options.h"

#include "common/command_line.h"
#include "common/sanitizers.h"
#include "round.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define FAULT_TEXT(name, text) text,
static const char *const fault_names[] = {FAULTS(FAULT_TEXT)};

struct options options;

#define SCENARIO_LISTED(name) &scenario_##name,
const struct scenario *const scenarios[] = {SCENARIOS(SCENARIO_LISTED)};
const size_t scenario_count = COUNT(scenarios);

static const char help[] =
	"usage: lfpool-stress [option]...\n"
	"\n"
	"Looks for bugs in lfpool with an oracle outside the library.  Does not measure speed.\n"
	"\n"
	"  --scenario NAME|all   what the threads do (default all: all except soak; --list describes them)\n"
	"  --threads 1,2,4,...   thread counts, each 1 to 256 (default 1,2,4,8; soak has one, default 4)\n"
	"  --seconds S           length of the whole run (default 10), divided evenly among the cells\n"
	"                        (scenarios x thread counts); a cell gets at least 0.05 s\n"
	"  --seed N              fixes sizes, capacities, flags and each thread's choices (default: a new seed, "
	"printed)\n"
	"  --history             log when each call began and ended, and check after each round that its answers were\n"
	"                        possible; a round ends when its log is full\n"
	"  --round N             run only the N-th round of each cell, repeatedly, to replay a violation\n"
	"  --patience S          a cell without progress for S seconds is a hang (default 60, 120 under "
	"ThreadSanitizer)\n"
	"  --soak-out FILE.csv   the samples of the scenario soak; stress/plot_soak draws them\n"
	"  --list                list the scenarios\n"
	"  --help                this text\n"
	"\n"
	"A cell runs many short rounds, each with a new pool whose configuration comes from the seed.\n"
	"Environment: LFPOOL_BACKEND (lockfree, mutex, malloc) selects the implementation; LFPOOL_MEMBARRIER=off\n"
	"forces the fallback of the library's asymmetric fence.\n"
	"Exit status: 0 clean, 1 violations, 2 bad usage or nothing to run, 3 a hang or no memory.\n";

const char *fault_name(enum fault fault)
{
	return fault_names[fault];
}

static _Noreturn void refuse(const char *option, const char *argument)
{
	fprintf(stderr, "lfpool-stress: bad %s: '%s'; see --help\n", option, argument);
	exit(EXIT_USAGE);
}

static _Noreturn void list(void)
{
	for (size_t i = 0; i < scenario_count; i++)
		printf("%-18s%s\n", scenarios[i]->name, scenarios[i]->description);
	exit(EXIT_CLEAN);
}

static const struct scenario *read_scenario(const char *name)
{
	for (size_t i = 0; i < scenario_count; i++)
		if (strcmp(name, scenarios[i]->name) == 0)
			return scenarios[i];
	if (strcmp(name, "all") != 0)
		refuse("--scenario", name);
	return NULL;
}

/* The index of `name` in `names`. */
static size_t read_name(const char *option, const char *name, const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	refuse(option, name);
}

static double read_seconds(const char *option, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e6))
		refuse(option, text);
	return seconds;
}

static uint64_t new_seed(void)
{
	struct random r = {(uint64_t)time(NULL) << 32 ^ (uint64_t)getpid() << 16 ^ now_ns()};

	/* Short enough to type. */
	return random_next(&r) >> 32;
}

void options_read(int argc, char **argv)
{
	const char *scenario = "all", *threads = NULL, *seconds = "10", *patience = UNDER_TSAN ? "120" : "60";
	const char *fault = "none";
	unsigned long seed = ULONG_MAX, round = ULONG_MAX;
	bool helps = false, lists = false;
	/* --break, --history-only and --sanitizer-only are for testing the oracle and are described in
	 * stress/README.md, not in the help. */
	const struct option_row rows[] = {OPTION_FLAG("help", &helps),
					  OPTION_FLAG("list", &lists),
					  OPTION_TEXT("scenario", "NAME|all", &scenario),
					  OPTION_TEXT("threads", "N,...", &threads),
					  OPTION_TEXT("seconds", "S", &seconds),
					  OPTION_TEXT("patience", "S", &patience),
					  OPTION_NUMBER("seed", &seed, 0, ULONG_MAX - 1),
					  OPTION_NUMBER("round", &round, 0, ULONG_MAX - 1),
					  OPTION_TEXT("break", "FAULT", &fault),
					  OPTION_FLAG("history", &options.history),
					  OPTION_FLAG("history-only", &options.history_only),
					  OPTION_FLAG("sanitizer-only", &options.sanitizer_only),
					  OPTION_TEXT("soak-out", "FILE.csv", &options.soak_out),
					  OPTIONS_END};

	(void)command_line("lfpool-stress", rows, NULL, argc, argv);
	if (helps) {
		fputs(help, stdout);
		exit(EXIT_CLEAN);
	}
	if (lists)
		list();
	options.program = argv[0];
	options.scenario = read_scenario(scenario);
	options.seconds = read_seconds("--seconds", seconds);
	options.patience = read_seconds("--patience", patience);
	options.seed = seed == ULONG_MAX ? new_seed() : seed;
	options.one_round = round != ULONG_MAX;
	options.round = round;
	options.fault = (enum fault)read_name("--break", fault, fault_names, COUNT(fault_names));
	options.history |= options.history_only;
	if (!threads)
		threads = options.scenario && options.scenario->alone ? "4" : "1,2,4,8";
	if (!parse_numbers(threads, 1, THREADS_MAX, options.threads, THREAD_COUNTS_MAX, &options.thread_counts))
		refuse("--threads", threads);
	if (options.scenario && options.scenario->alone && options.thread_counts > 1)
		refuse("--threads", "more than one count");
	if (options.scenario && options.scenario->unlogged && options.history)
		refuse("--history", options.scenario->name);
}
