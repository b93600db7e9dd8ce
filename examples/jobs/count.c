/* SPDX-License-Identifier: MIT */
/*
 * count.c - the application of the job system, see count.h.
 *
 * Idea         A job visits one path.  What it counted it posts as a result record, and if the path is a directory it
 *              submits a job for each entry.  Frequencies of names stay in a table per worker and are merged when all
 *              is done.  walk() and visit() differ in nothing else: what they count must be the same.
 */
#include "count.h"

#include "harness.h"
#include "must.h"
#include "results.h"

#include <string.h>

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
	return counts_equal(&a->counts, &b->counts) && words_equal(&a->names, &b->names);
}

void outcome_free(struct outcome *outcome)
{
	words_free(&outcome->names);
}

/* ---- One thread, no pool ----------------------------------------------------------------------------------- */

static void walk(struct reader *reader, const char *path, struct counts *sum)
{
	struct listing below;
	struct counts counts = reader_visit(reader, path, &below);
	const char *child;

	counts_add(sum, &counts);
	while ((child = listing_next(&below)) != NULL)
		walk(reader, child, sum);
	listing_free(&below);
}

void count_alone(struct outcome *outcome_out, const char *path)
{
	uint64_t start = now_ns();
	struct reader reader;

	*outcome_out = (struct outcome){0};
	reader_init(&reader);
	walk(&reader, path, &outcome_out->counts);
	words_merge(&outcome_out->names, &reader.names);
	reader_free(&reader);
	outcome_out->ns = now_ns() - start;
}

/* ---- Many workers, pooled records -------------------------------------------------------------------------- */

/* What one worker has of its own. */
struct own {
	struct reader reader;
	struct collector collector;
};

struct counting {
	struct results results;
	struct jobs *jobs;
	struct own *own; /* one per worker */
	unsigned workers;
};

static void visit(struct jobs_worker *worker, const void *payload)
{
	struct counting *counting = jobs_context(worker);
	struct own *own = &counting->own[jobs_worker_index(worker)];
	struct listing below;
	struct counts counts = reader_visit(&own->reader, payload, &below);
	const char *child;

	results_post(&own->collector, &counts);
	while ((child = listing_next(&below)) != NULL)
		jobs_submit(worker, visit, child, strlen(child) + 1);
	listing_free(&below);
}

/* After a failure, counting_close() takes back what there is. */
static lfpool_status_t counting_open(struct counting *counting, const struct job_options *options)
{
	struct jobs_config config = {
		.workers = options->workers, .capacity = options->capacity, .backend = options->backend, .context = counting};
	lfpool_status_t status = jobs_create(&counting->jobs, &config);

	if (status == LFPOOL_OK)
		status = results_create(&counting->results, options->capacity, options->backend);
	counting->own = must_grow(NULL, options->workers, sizeof(*counting->own));
	for (; status == LFPOOL_OK && counting->workers < options->workers; counting->workers++) {
		reader_init(&counting->own[counting->workers].reader);
		status = collector_create(&counting->own[counting->workers].collector, &counting->results);
	}
	return status;
}

/* Returns how many objects were not released. */
static size_t counting_close(struct counting *counting)
{
	for (unsigned i = 0; i < counting->workers; i++)
		reader_free(&counting->own[i].reader);
	free(counting->own);
	return (counting->jobs ? jobs_destroy(counting->jobs) : 0) + results_destroy(&counting->results);
}

/* When all jobs are done: the workers' sums into one. */
static void counting_merge(struct counting *counting, struct outcome *outcome, struct figures *figures)
{
	results_collect(&counting->own[0].collector);
	for (unsigned i = 0; i < counting->workers; i++) {
		const struct own *own = &counting->own[i];

		counts_add(&outcome->counts, &own->collector.sum);
		words_merge(&outcome->names, &own->reader.names);
		figures->results_posted += own->collector.posted;
		figures->results_without_record += own->collector.without;
		figures->results_from_others += own->collector.from_others;
		if (own->collector.largest_batch > figures->results_largest_batch)
			figures->results_largest_batch = own->collector.largest_batch;
	}
}

lfpool_status_t count_with_jobs(struct outcome *outcome_out, struct figures *figures_out, const char *path,
				const struct job_options *options)
{
	struct counting counting = {.workers = 0};
	lfpool_status_t status = counting_open(&counting, options);

	*outcome_out = (struct outcome){0};
	*figures_out = (struct figures){.leaked = 0};
	if (status == LFPOOL_OK) {
		uint64_t start = now_ns();

		jobs_run(counting.jobs, visit, path, strlen(path) + 1);
		counting_merge(&counting, outcome_out, figures_out);
		outcome_out->ns = now_ns() - start;
		figures_out->jobs = jobs_report(counting.jobs);
		figures_out->results_active = lfpool_active_count(counting.results.pool);
		figures_out->results_available = lfpool_available_count(counting.results.pool);
	}
	figures_out->leaked = counting_close(&counting);
	return status;
}
