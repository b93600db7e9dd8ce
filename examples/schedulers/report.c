/* SPDX-License-Identifier: MIT */
/*
 * report.c - options and the last line, see report.h.
 */
#include "report.h"

#include "command_line.h"
#include "resident.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *const allocator_names[] = {
	[ALLOCATOR_LFPOOL] = "lfpool", [ALLOCATOR_MUTEX] = "mutex", [ALLOCATOR_MALLOC] = "malloc"};

/* ---- Options ----------------------------------------------------------------------------------------------- */

static enum allocator allocator_named(const char *scheduler, const char *name)
{
	for (unsigned i = 0; i < sizeof(allocator_names) / sizeof(*allocator_names); i++)
		if (strcmp(name, allocator_names[i]) == 0)
			return (enum allocator)i;
	fprintf(stderr, "scheduler-%s: %s is none of lfpool, mutex, malloc\n", scheduler, name);
	exit(2);
}

struct options parse_options(const char *scheduler, int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	/* The capacity: more than a queue that is first in, first out, ever holds of the tree of this seed. */
	unsigned long workers = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (unsigned long)processors;
	unsigned long capacity = 1ul << 20, seed = 4, work = 0;
	const char *allocator = allocator_names[ALLOCATOR_LFPOOL];
	bool small = false;
	char program[32];
	const struct option_row rows[] = {OPTION_NUMBER("workers", &workers, 1, WORKERS_MAX),
					  OPTION_TEXT("allocator", "lfpool|mutex|malloc", &allocator),
					  OPTION_NUMBER("capacity", &capacity, 1, 1ul << 26),
					  OPTION_NUMBER("nodes-seed", &seed, 0, UINT32_MAX),
					  OPTION_FLAG("small", &small),
					  OPTION_NUMBER("work", &work, 0, 1000000),
					  OPTIONS_END};

	(void)snprintf(program, sizeof(program), "scheduler-%s", scheduler);
	(void)command_line(program, rows, NULL, argc, argv);
	return (struct options){
		.scheduler = scheduler,
		.workers = (unsigned)workers,
		.allocator = allocator_named(scheduler, allocator),
		.capacity = capacity,
		.tree = {.seed = seed, .levels = small ? TREE_LEVELS_SMALL : TREE_LEVELS, .work = (uint32_t)work},
	};
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
	printf("records   %zu bytes each, capacity %zu; never more than %zu in use at once\n", records->bytes, options->capacity,
	       stats.high_water);
}

int report(const struct options *options, struct records *records, uint64_t took_ns, const struct tally *tallies, size_t count)
{
	const double seconds = (double)took_ns / 1e9;
	const struct tree *tree = &options->tree;
	const uint64_t truth = tree_count(tree);
	uint64_t nodes = 0, inlined = 0;

	for (size_t i = 0; i < count; i++) {
		nodes += tallies[i].nodes;
		inlined += tallies[i].inlined;
	}
	printf("tree      seed %" PRIu64 ", %" PRIu32 " levels, %" PRIu32 " rounds of work: %" PRIu64 " nodes\n", tree->seed,
	       tree->levels, tree->work, truth);
	tell_records(options, records);
	printf("memory    %.0f KiB resident at the most\n", resident_peak_bytes() / 1024);
	printf("inline    %" PRIu64 " nodes for want of a record\n", inlined);

	/* No thread is inside a call; threads that used the records may live on. */
	const size_t misused = records->pool ? lfpool_quick_stats(records->pool).misuses : 0,
		     active = lfpool_destroy(records->pool);
	const bool good = nodes == truth && misused == 0 && active == 0;

	if (!good)
		printf("FAILED    %" PRIu64 " nodes were visited, %zu records misused, %zu not released\n", nodes, misused,
		       active);
	printf("%s %s %u workers: %" PRIu64 " jobs in %.3f s: %.0f jobs/s\n", options->scheduler,
	       allocator_names[options->allocator], options->workers, nodes - inlined, seconds,
	       (double)(nodes - inlined) / (seconds > 0 ? seconds : 1e-9));
	return good ? 0 : 1;
}
