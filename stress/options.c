/* SPDX-License-Identifier: MIT */
/*
 * options.c - the command line.
 */
#include "options.h"

#include "common/harness.h"
#include "scenario.h"
#include "watchdog.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#define FAULT_TEXT(name, text) text,
static const char *const fault_names[] = {FAULTS(FAULT_TEXT)};

/* liburcu's. */
static const char *const flavors[] = {"memb", "mb", "bp", "qsbr", "signal"};

static const char help[] =
	"usage: lfpool-stress [option]...\n"
	"\n"
	"Looks for bugs in lfpool with an oracle of its own.  Says nothing about speed.\n"
	"\n"
	"  --scenario NAME|all   what the threads do (default all, which is all but soak; --list explains them)\n"
	"  --threads 1,2,4,...   thread counts, each 1 to 256 (default 1,2,4,8; soak has one, default 4)\n"
	"  --seconds S           length of the whole run (default 10), divided evenly over the cells, that is over\n"
	"                        scenarios x thread counts; a cell gets at least 0.05 s\n"
	"  --seed N              decides sizes, capacities, flags and what each thread does; the same seed gives the\n"
	"                        same choices (default: a new one, printed)\n"
	"  --history             log when each call began and ended, and check after each round that its answers were\n"
	"                        possible; a round is as short as the log demands\n"
	"  --round N             run only the N-th round of each cell, again and again: for replaying a violation\n"
	"  --flavor NAME         for the scenario rcu: memb (default), mb, bp, qsbr, signal\n"
	"  --patience S          a cell without progress for S seconds is a hang (default 60, 120 under ThreadSanitizer)\n"
	"  --soak-out FILE.csv   the samples of the scenario soak; stress/plot_soak draws them\n"
	"  --list                list the scenarios\n"
	"  --help                this text\n"
	"\n"
	"A cell runs many short rounds, each with a new pool whose configuration comes from the seed.\n"
	"Environment: LFPOOL_BACKEND (lockfree, mutex, malloc) chooses what stands behind the calls; LFPOOL_MEMBARRIER=off\n"
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
	if (strcmp(name, "all") == 0)
		return NULL;
	for (size_t i = 0; i < scenario_count; i++)
		if (strcmp(name, scenarios[i]->name) == 0)
			return scenarios[i];
	refuse("--scenario", name);
}

static enum fault read_fault(const char *name)
{
	for (size_t i = 0; i < sizeof(fault_names) / sizeof(fault_names[0]); i++)
		if (strcmp(name, fault_names[i]) == 0)
			return (enum fault)i;
	refuse("--break", name);
}

static const char *read_flavor(const char *name)
{
	for (size_t i = 0; i < sizeof(flavors) / sizeof(flavors[0]); i++)
		if (strcmp(name, flavors[i]) == 0)
			return flavors[i];
	refuse("--flavor", name);
}

static double read_seconds(const char *option, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e6))
		refuse(option, text);
	return seconds;
}

static uint64_t read_number(const char *option, const char *text)
{
	char *end;

	errno = 0;
	unsigned long long number = strtoull(text, &end, 0);
	if (end == text || *end != '\0' || *text == '-' || errno)
		refuse(option, text);
	return number;
}

static uint64_t new_seed(void)
{
	struct random r = {(uint64_t)time(NULL) << 32 ^ (uint64_t)getpid() << 16 ^ now_ns()};

	/* Short enough to type. */
	return random_next(&r) >> 32;
}

static void read_option(struct options *options, int option)
{
	switch (option) {
	case 'h':
		fputs(help, stdout);
		exit(EXIT_CLEAN);
	case 'l':
		list();
	case 'c':
		options->scenario = read_scenario(optarg);
		break;
	case 't':
		if (!parse_numbers(optarg, 1, THREADS_MAX, options->threads, THREAD_COUNTS_MAX,
				   &options->thread_counts))
			refuse("--threads", optarg);
		break;
	case 's':
		options->seconds = read_seconds("--seconds", optarg);
		break;
	case 'p':
		options->patience = read_seconds("--patience", optarg);
		break;
	case 'n':
		options->seed = read_number("--seed", optarg);
		break;
	case 'r':
		options->round = read_number("--round", optarg);
		options->one_round = true;
		break;
	case 'o':
		options->history_only = true;
		options->history = true;
		break;
	case 'y':
		options->history = true;
		break;
	case 'a':
		options->sanitizer_only = true;
		break;
	case 'f':
		options->flavor = read_flavor(optarg);
		break;
	case 'u':
		options->soak_out = optarg;
		break;
	case 'b':
		options->fault = read_fault(optarg);
		break;
	default:
		/* getopt_long() has said what is wrong. */
		exit(EXIT_USAGE);
	}
}

static void threads_by_default(struct options *options)
{
	static const unsigned long some[] = {1, 2, 4, 8};

	if (options->thread_counts)
		return;
	if (options->scenario && options->scenario->alone) {
		options->threads[options->thread_counts++] = 4;
		return;
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		options->threads[options->thread_counts++] = some[i];
}

void options_read(struct options *options, int argc, char **argv)
{
	/* --break, --history-only and --sanitizer-only are for testing the oracle and are described in stress/README.md,
	 * not in the help. */
	static const struct option known[] = {
		{"help", no_argument, NULL, 'h'},           {"list", no_argument, NULL, 'l'},
		{"scenario", required_argument, NULL, 'c'}, {"threads", required_argument, NULL, 't'},
		{"seconds", required_argument, NULL, 's'},  {"patience", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 'n'},     {"round", required_argument, NULL, 'r'},
		{"break", required_argument, NULL, 'b'},    {"history", no_argument, NULL, 'y'},
		{"history-only", no_argument, NULL, 'o'},   {"soak-out", required_argument, NULL, 'u'},
		{"flavor", required_argument, NULL, 'f'},   {"sanitizer-only", no_argument, NULL, 'a'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct options){
		.program = argv[0],
		.seconds = 10,
		.patience = WATCHDOG_PATIENCE_SECONDS,
		.seed = new_seed(),
		.flavor = flavors[0],
	};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		read_option(options, option);
	if (optind < argc)
		refuse("argument", argv[optind]);
	threads_by_default(options);
	if (options->scenario && options->scenario->alone && options->thread_counts > 1)
		refuse("--threads", "more than one count");
	if (options->scenario && options->scenario->unlogged && options->history)
		refuse("--history", options->scenario->name);
}
