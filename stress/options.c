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
	"  --build plain|chaos|both  the library as it is installed, or with pauses at random before its atomic\n"
	"                        operations, or one after the other (default; soak: plain).  The chaos build is a\n"
	"                        second program, lfpool-stress-chaos, in the same folder\n"
	"  --scenario NAME|all   what the threads do (default all: all except soak; --list describes them)\n"
	"  --threads 1,2,4,...   thread counts, each 1 to 256 (default 1,2,4,8; soak has one, default 4)\n"
	"  --seconds S           length of the whole run (default: 1 for each cell; soak: 10), divided evenly among\n"
	"                        the cells (builds x scenarios x thread counts); a cell gets at least 0.05 s\n"
	"  --seed N              fixes sizes, capacities, flags and each thread's choices (default: a new seed, "
	"printed)\n"
	"  --history             log when each call began and ended, and check after each round that its answers were\n"
	"                        possible; a round ends when its log is full\n"
	"  --round N             run only the N-th round of each cell, repeatedly, to replay a violation\n"
	"  --patience S          a cell without progress for S seconds is a hang (default 60, 120 under "
	"ThreadSanitizer)\n"
	"  --csv FILE            the matrix, a row for each cell when it ends; stress/plot draws it\n"
	"  --soak-out FILE.csv   the samples of the scenario soak; stress/plot draws them\n"
	"             FILE.json  the same as a trace for Perfetto or examples/live/draw\n"
	"  --list                list the scenarios\n"
	"  --help                this text\n"
	"\n"
	"For tests of the harness:\n"
	"  --break FAULT         commit a fault on purpose; stress/faults.h describes them:\n"
	"%s"
	"  --history-only        no other checks than --history's\n"
	"  --sanitizer-only      no checks, except a sanitizer's\n"
	"  --before P,F          P cells passed and F failed in the plain build, whose run this one continues\n"
	"\n"
	"A cell runs many short rounds, each with a new pool whose configuration comes from the seed.\n"
	"Environment: LFPOOL_BACKEND (lockfree, mutex, malloc) selects the implementation; LFPOOL_MEMBARRIER=off\n"
	"forces the fallback of the library's asymmetric fence.\n"
	"Exit status: 0 clean, 1 violations, 2 bad usage or nothing to run, 3 a hang or no memory; a crash ends the\n"
	"program by its signal.\n";

const char *fault_name(enum fault fault)
{
	return fault_names[fault];
}

static _Noreturn void refuse(const char *option, const char *argument)
{
	fprintf(stderr, "lfpool-stress: bad %s: '%s'; see --help\n", option, argument);
	exit(EXIT_USAGE);
}

/* The names of the faults, in lines of this help. */
static const char *listed_faults(void)
{
	static struct text text;
	size_t column = 0;

	for (size_t i = FAULT_NONE + 1; i < COUNT(fault_names); i++) {
		const bool first = column == 0, last = i + 1 == COUNT(fault_names);

		column += strlen(fault_names[i]) + 2;
		text_add(&text, "%s%s%s", first ? "                        " : " ", fault_names[i], last ? "\n" : ",");
		if (column > 70 && !last) {
			text_add(&text, "\n");
			column = 0;
		}
	}
	return text.characters;
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

/* "chaos" for lfpool-stress-chaos, "plain" for lfpool-stress. */
static const char *read_build_name(const char *program)
{
	static const char prefix[] = "stress-";
	const char *name = strstr(program, prefix);

	/* The last one: a folder may have such a name. */
	for (const char *later = name; later; later = strstr(later + 1, prefix))
		name = later;
	return name && !strchr(name, '/') ? name + strlen(prefix) : "plain";
}

/* Decides which programs run. */
static void read_build(const char *build, char **argv)
{
	static char chaos[PATH_MAX];
	const bool plain = strcmp(options.build, "plain") == 0, both = strcmp(build, "both") == 0;
	const bool other = plain && strcmp(build, "chaos") == 0;

	if (!both && !other && strcmp(build, options.build) != 0)
		refuse("--build", build);
	if (!other && !(both && plain && !(options.scenario && options.scenario->alone)))
		return;
	(void)snprintf(chaos, sizeof(chaos), "%s-chaos", argv[0]);
	if (strchr(chaos, '/') && access(chaos, X_OK) != 0) {
		fprintf(stderr, "lfpool-stress: there is no %s; --build plain does not need it\n", chaos);
		exit(EXIT_USAGE);
	}
	options.next = chaos;
	if (other)
		options_become_next(argv);
}

_Noreturn void options_become_next(char **argv)
{
	argv[0] = options.next;
	(void)execvp(options.next, argv);
	fprintf(stderr, "lfpool-stress: %s: %s\n", options.next, strerror(errno));
	exit(EXIT_USAGE);
}

static uint64_t new_seed(void)
{
	struct random r = {(uint64_t)time(NULL) << 32 ^ (uint64_t)getpid() << 16 ^ now_ns()};

	/* Short enough to type. */
	return random_next(&r) >> 32;
}

void options_read(int argc, char **argv)
{
	const char *scenario = "all", *threads = NULL, *seconds = NULL, *patience = UNDER_TSAN ? "120" : "60";
	const char *fault = "none", *build = "both", *before = NULL;
	size_t counts = 0;
	unsigned long seed = ULONG_MAX, round = ULONG_MAX;
	bool helps = false, lists = false;
	const struct option_row rows[] = {OPTION_FLAG("help", &helps),
					  OPTION_FLAG("list", &lists),
					  OPTION_TEXT("build", "plain|chaos|both", &build),
					  OPTION_TEXT("before", "P,F", &before),
					  OPTION_TEXT("csv", "FILE", &options.csv),
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
					  OPTION_TEXT("soak-out", "FILE.csv|FILE.json", &options.soak_out),
					  OPTIONS_END};

	(void)command_line("lfpool-stress", rows, NULL, argc, argv);
	if (helps) {
		printf(help, listed_faults());
		exit(EXIT_CLEAN);
	}
	if (lists)
		list();
	options.program = argv[0];
	options.build = read_build_name(argv[0]);
	options.scenario = read_scenario(scenario);
	if (!seconds && options.scenario && options.scenario->alone)
		seconds = "10";
	options.seconds = seconds ? read_seconds("--seconds", seconds) : 0;
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
	options.continues = before != NULL;
	if (before && !(parse_numbers(before, 0, ULONG_MAX, options.before, 2, &counts) && counts == 2))
		refuse("--before", before);
	read_build(build, argv);
}
