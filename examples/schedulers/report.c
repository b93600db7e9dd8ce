/* SPDX-License-Identifier: MIT */
/*
 * report.c - options and the last line, see report.h.
 */
#include "report.h"

#include "harness.h"
#include "resident.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MAX 64

static const char *const allocator_names[] = {
	[ALLOCATOR_LFPOOL] = "lfpool", [ALLOCATOR_MUTEX] = "mutex", [ALLOCATOR_MALLOC] = "malloc"};

/* ---- Options ----------------------------------------------------------------------------------------------- */

static unsigned long number(const char *scheduler, const char *text, unsigned long minimum, unsigned long maximum)
{
	unsigned long value;
	size_t count;

	if (!parse_numbers(text, minimum, maximum, &value, 1, &count)) {
		fprintf(stderr, "scheduler-%s: %s is not a number in %lu .. %lu\n", scheduler, text, minimum, maximum);
		exit(2);
	}
	return value;
}

static enum allocator allocator_named(const char *scheduler, const char *name)
{
	for (unsigned i = 0; i < sizeof(allocator_names) / sizeof(*allocator_names); i++)
		if (strcmp(name, allocator_names[i]) == 0)
			return (enum allocator)i;
	fprintf(stderr, "scheduler-%s: %s is none of lfpool, mutex, malloc\n", scheduler, name);
	exit(2);
}

static _Noreturn void usage(const char *scheduler)
{
	fprintf(stderr,
		"usage: scheduler-%s [--workers N] [--allocator lfpool|mutex|malloc] [--capacity N] [--nodes-seed N] [--small]"
		" [--work N]\n",
		scheduler);
	exit(2);
}

struct options parse_options(const char *scheduler, int argc, char **argv)
{
	static const struct option known[] = {{"workers", required_argument, NULL, 'w'},
					      {"allocator", required_argument, NULL, 'a'},
					      {"capacity", required_argument, NULL, 'c'},
					      {"nodes-seed", required_argument, NULL, 'n'},
					      {"small", no_argument, NULL, 's'},
					      {"work", required_argument, NULL, 'r'},
					      {NULL, 0, NULL, 0}};
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options options = {
		.scheduler = scheduler,
		.workers = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (unsigned)processors,
		/* More than a queue that is first in, first out, ever holds of the tree of this seed. */
		.capacity = 1ul << 20,
		.tree = {.seed = 4, .levels = TREE_LEVELS},
	};

	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (option == 'w')
			options.workers = (unsigned)number(scheduler, optarg, 1, WORKERS_MAX);
		else if (option == 'a')
			options.allocator = allocator_named(scheduler, optarg);
		else if (option == 'c')
			options.capacity = number(scheduler, optarg, 1, 1ul << 26);
		else if (option == 'n')
			options.tree.seed = number(scheduler, optarg, 0, UINT32_MAX);
		else if (option == 's')
			options.tree.levels = TREE_LEVELS_SMALL;
		else if (option == 'r')
			options.tree.work = (uint32_t)number(scheduler, optarg, 0, 1000000);
		else
			usage(scheduler);
	}
	if (optind != argc)
		usage(scheduler);
	return options;
}

/* ---- The end ----------------------------------------------------------------------------------------------- */

static void tell_records(const struct options *options, const struct records *records)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	if (!records->pool) {
		printf("records   %zu bytes each, as many as are asked for\n", records->bytes);
		return;
	}
	(void)lfpool_stats(records->pool, &stats);
	printf("records   %zu bytes each, capacity %zu; never more than %zu in use at once\n", records->bytes,
	       options->capacity, stats.high_water);
}

int report(const struct options *options, struct records *records, const struct result *result)
{
	const struct tree *tree = &options->tree;
	const uint64_t truth = tree_count(tree), jobs = result->nodes - result->inlined;
	const double seconds = (double)(result->ended_ns - result->began_ns) / 1e9;
	bool good = true;

	printf("tree      seed %" PRIu64 ", %" PRIu32 " levels, %" PRIu32 " rounds of work: %" PRIu64 " nodes\n",
	       tree->seed, tree->levels, tree->work, truth);
	tell_records(options, records);
	printf("memory    %.0f KiB resident at the most\n", resident_peak_bytes() / 1024);
	printf("inline    %" PRIu64 " nodes for want of a record\n", result->inlined);
	if (result->nodes != truth) {
		printf("FAILED    %" PRIu64 " nodes were visited\n", result->nodes);
		good = false;
	}
	if (records->pool && lfpool_misuse_count(records->pool) != 0) {
		printf("FAILED    %zu records were misused\n", lfpool_misuse_count(records->pool));
		good = false;
	}
	const size_t active = records_close(records);

	if (active != 0) {
		printf("FAILED    %zu records were not released\n", active);
		good = false;
	}
	printf("%s %s %u workers: %" PRIu64 " jobs in %.3f s: %.0f jobs/s\n", options->scheduler,
	       allocator_names[options->allocator], options->workers, jobs, seconds,
	       (double)jobs / (seconds > 0 ? seconds : 1e-9));
	return good ? 0 : 1;
}
