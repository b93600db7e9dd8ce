/* SPDX-License-Identifier: MIT */
/*
 * main.c - the command line of the explorer.
 */
#include "../../common/harness.h"
#include "follow.h"
#include "scenario.h"

#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"usage: lfpool-explore [OPTION]... [SCENARIO...]       all scenarios if none is named; patterns allowed,\n"
	"                                               !PATTERN leaves out\n"
	"       lfpool-explore --litmus                        the memory model's own tests\n"
	"       lfpool-explore --list\n"
	"  --weak             C11's weak memory (default: sequentially consistent)\n"
	"  --fence full       no membarrier: owners and thieves fence (default: asymmetric); both: one, then the "
	"other\n"
	"  --strategy S       dfs (default), random or pct\n"
	"  --preemptions N    dfs: at most N preemptions in an execution (default 2)\n"
	"  --stale N          dfs: at most N loads of old values (default 1)\n"
	"  --executions N     at most N executions of each scenario (random, pct: default 100000)\n"
	"  --seed N           random, pct\n"
	"  --replay STRING    one execution, as a failure printed it\n"
	"  --quiet            failures and the verdict only\n"
	"  --first            stop at the first failure\n";

static struct options {
	struct search search;
	bool asymmetric, full, quiet, first;
} options = {
	.search = {.strategy = DEPTH_FIRST, .preemptions = 2, .stale = 1, .spurious = 1, .depth = 4, .seed = 1},
	.asymmetric = true,
};

static const char *strategy_names[] = {"dfs", "random", "pct", "replay"};
static unsigned passed, failed;
/* The current run, for reporting failures, and crashes under some schedule. */
static struct {
	const char *scenario;
	bool asymmetric;
	const struct result *result;
} running;

static void print_replay(void)
{
	printf("  replay: --fence %s%s --replay '%s' %s\n", running.asymmetric ? "asymmetric" : "full",
	       options.search.weak ? " --weak" : "", running.result->replay, running.scenario);
	(void)fflush(stdout);
}

/* stdio is not safe in a handler in general, but here the library crashes, not stdio. */
static void on_crash(int number)
{
	printf("FAIL  %s\n  killed by signal %d\n", running.scenario, number);
	print_replay();
	_exit(1);
}

static void explore(const struct scenario *scenario, bool asymmetric)
{
	struct search search = options.search;
	struct result result;
	const uint64_t start = now_ns();

	if (!search.executions_max)
		search.executions_max = search.strategy == DEPTH_FIRST ? UINT64_MAX : 100000;
	running.scenario = scenario->name;
	running.asymmetric = asymmetric;
	running.result = &result;
	scenario_search(scenario, asymmetric, &search, &result);
	result.failed ? failed++ : passed++;
	if (options.quiet && !result.failed)
		return;
	printf("%s  %-18s %-4s %-10s %-6s %9llu executions%s, %.0f operations each, %.1f s\n",
	       result.failed ? "FAIL" : "ok  ", scenario->name, search.weak ? "weak" : "sc",
	       asymmetric ? "membarrier" : "fences", strategy_names[search.strategy],
	       (unsigned long long)result.executions, result.exhausted ? ", exhausted" : "",
	       result.executions ? (double)result.operations / (double)result.executions : 0.0,
	       (double)(now_ns() - start) * 1e-9);
	if (result.failed) {
		printf("  %s\n", result.message);
		print_replay();
	}
	(void)fflush(stdout);
}

/* A pattern that begins with ! removes names that earlier patterns selected; if it is the first, from all names. */
static bool wanted(const char *name, char **patterns)
{
	bool is = !*patterns || **patterns == '!';

	for (; *patterns; patterns++) {
		const bool out = **patterns == '!';

		if (fnmatch(*patterns + out, name, 0) == 0)
			is = !out;
	}
	return is;
}

static bool choose(const char *text, const char *const *names, int count, int *chosen_out)
{
	for (int i = 0; i < count; i++)
		if (strcmp(text, names[i]) == 0) {
			*chosen_out = i;
			return true;
		}
	return false;
}

static bool parse(int argc, char **argv)
{
	static const char *const fences[] = {"asymmetric", "full", "both"};
	static const struct option known[] = {
		{"weak", no_argument, NULL, 'w'},
		{"fence", required_argument, NULL, 'f'},
		{"strategy", required_argument, NULL, 's'},
		{"preemptions", required_argument, NULL, 'p'},
		{"stale", required_argument, NULL, 't'},
		{"executions", required_argument, NULL, 'n'},
		{"seed", required_argument, NULL, 'e'},
		{"replay", required_argument, NULL, 'r'},
		{"quiet", no_argument, NULL, 'q'},
		{"litmus", no_argument, NULL, 'm'},
		{"list", no_argument, NULL, 'l'},
		{"first", no_argument, NULL, '1'},
		{NULL, 0, NULL, 0},
	};
	struct search *search = &options.search;
	int chosen;

	for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		unsigned long long number = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (letter) {
		case 'w': search->weak = true; break;
		case 'p': search->preemptions = (unsigned)number; break;
		case 't': search->stale = (unsigned)number; break;
		case 'n': search->executions_max = number; break;
		case 'e': search->seed = number; break;
		case 'q': options.quiet = true; break;
		case '1': options.first = true; break;
		case 'm': exit(litmus_run(!options.quiet));
		case 'r':
			search->strategy = REPLAY;
			search->replay = optarg;
			break;
		case 'f':
			if (!choose(optarg, fences, 3, &chosen))
				return false;
			options.asymmetric = chosen != 1;
			options.full = chosen != 0;
			break;
		case 's':
			if (!choose(optarg, strategy_names, 3, &chosen))
				return false;
			search->strategy = (enum strategy)chosen;
			break;
		case 'l':
			for (size_t i = 0; i < scenario_count; i++)
				printf("%-20s %s\n", scenarios[i].name, scenarios[i].about);
			exit(0);
		default: return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	if (!parse(argc, argv)) {
		(void)fputs(usage, stderr);
		return 2;
	}
	(void)signal(SIGSEGV, on_crash);
	(void)signal(SIGBUS, on_crash);
	(void)signal(SIGABRT, on_crash);
	for (size_t i = 0; i < scenario_count && !(options.first && failed); i++) {
		if (!wanted(scenarios[i].name, argv + optind))
			continue;
		if (options.asymmetric)
			explore(&scenarios[i], true);
		if (options.full)
			explore(&scenarios[i], false);
	}
	if (options.search.strategy == RANDOM || options.search.strategy == PCT)
		printf("seed %llu\n", (unsigned long long)options.search.seed);
	follow_end();
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed ? 1 : 0;
}
