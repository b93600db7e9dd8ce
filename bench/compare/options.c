/* SPDX-License-Identifier: MIT */
/*
 * options.c - the command line of lfpool-compare.
 */
#include "options.h"

#include "common/harness.h"

#include <getopt.h>
#include <string.h>

static const char help[] =
	"usage: lfpool-compare [option]...\n"
	"\n"
	"Measures lfpool beside other ways to get hold of 64-byte objects, in one process, and prints a table.\n"
	"\n"
	"  --threads 1,2,4,...     thread counts, each 1 to 256 (default 1,2,4,8); the hand-off takes the even ones\n"
	"  --workload NAME,...     pairs, bursts, handoff (default all)\n"
	"  --burst 256,...         objects in a burst, each 1 to 65536 (default 256)\n"
	"  --subject NAME,...      see below (default all)\n"
	"  --repetitions N         1 to 1000 (default 5); the table shows the median, the least and the greatest\n"
	"  --milliseconds N        length of each measurement, 1 to 100000 (default 100)\n"
	"  --csv FILE              write the table there too\n"
	"  --pairs N               measure nothing: run N pairs of one subject and one workload (pairs or bursts of\n"
	"                          one size) in one thread and exit; for bench/instructions, which counts them\n"
	"  --help                  this text\n"
	"\n"
	"Workloads:\n"
	"  pairs      acquire an object, write into it, release it\n"
	"  bursts     acquire and write a whole burst, then release it in the same order\n"
	"  handoff    one thread acquires and writes, another reads and releases; a bounded ring lies between them\n"
	"\n"
	"Subjects:\n";

static _Noreturn void refuse(const char *option, const char *argument)
{
	fprintf(stderr, "lfpool-compare: bad %s: '%s'; see --help\n", option, argument);
	exit(2);
}

static _Noreturn void explain(void)
{
	fputs(help, stdout);
	for (size_t i = 0; i < SUBJECTS; i++)
		printf("  %-18s %s\n", subjects[i]->name, subjects[i]->what);
	exit(0);
}

static const char *workload_name(size_t i)
{
	static const char *const names[WORKLOADS] = {[PAIRS] = "pairs", [BURSTS] = "bursts", [HANDOFF] = "handoff"};

	return names[i];
}

static const char *subject_name(size_t i)
{
	return subjects[i]->name;
}

/* Parses "one,other": chosen[i] says whether the i-th of `count` names is among them. */
static void read_names(const char *option, const char *text, const char *(*name)(size_t), size_t count, bool *chosen)
{
	memset(chosen, 0, count * sizeof(*chosen));
	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ",");
		size_t i = 0;

		while (i < count && (strlen(name(i)) != length || strncmp(name(i), word, length) != 0))
			i++;
		if (i == count)
			refuse(option, text);
		chosen[i] = true;
		word += length;
		if (*word == '\0')
			return;
	}
}

static unsigned long read_number(const char *option, const char *text, unsigned long maximum)
{
	unsigned long number;
	size_t count;

	if (!parse_numbers(text, 1, maximum, &number, 1, &count))
		refuse(option, text);
	return number;
}

static void read_option(struct options *options, int option)
{
	switch (option) {
	case 'h':
		explain();
	case 't':
		if (!parse_numbers(optarg, 1, THREADS_MAX, options->threads, OPTION_NUMBERS_MAX,
				   &options->thread_counts))
			refuse("--threads", optarg);
		break;
	case 'b':
		if (!parse_numbers(optarg, 1, 65536, options->bursts, OPTION_NUMBERS_MAX, &options->burst_counts))
			refuse("--burst", optarg);
		break;
	case 'w':
		read_names("--workload", optarg, workload_name, WORKLOADS, options->workloads);
		break;
	case 's':
		read_names("--subject", optarg, subject_name, SUBJECTS, options->subjects);
		break;
	case 'r':
		options->repetitions = read_number("--repetitions", optarg, 1000);
		break;
	case 'm':
		options->milliseconds = read_number("--milliseconds", optarg, 100000);
		break;
	case 'p':
		options->pairs = read_number("--pairs", optarg, 1000000000);
		break;
	case 'c':
		options->csv = optarg;
		break;
	default:
		/* getopt_long() has said what is wrong. */
		exit(2);
	}
}

void options_read(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"help", no_argument, NULL, 'h'},
		{"threads", required_argument, NULL, 't'},
		{"workload", required_argument, NULL, 'w'},
		{"burst", required_argument, NULL, 'b'},
		{"subject", required_argument, NULL, 's'},
		{"repetitions", required_argument, NULL, 'r'},
		{"milliseconds", required_argument, NULL, 'm'},
		{"csv", required_argument, NULL, 'c'},
		{"pairs", required_argument, NULL, 'p'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct options){
		.threads = {1, 2, 4, 8},
		.thread_counts = 4,
		.bursts = {256},
		.burst_counts = 1,
		.repetitions = 5,
		.milliseconds = 100,
	};
	memset(options->workloads, true, sizeof(options->workloads));
	memset(options->subjects, true, sizeof(options->subjects));
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		read_option(options, option);
	if (optind < argc)
		refuse("argument", argv[optind]);
}
