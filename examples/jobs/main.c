/* SPDX-License-Identifier: MIT */
/*
 * main.c - counts a directory tree with a job per entry, and checks that threads and pools change nothing.
 *
 *     jobs [--workers N] [--capacity N] [--repeat N] [--top N] [PATH]
 *
 * N threads (one per processor), so many records in the pool of jobs and in that of results (4096), times to count on each
 * backend (1), most frequent names to print (10); a directory tree, or a file (/usr/include).
 *
 * PATH is counted first by one thread in a plain loop, without jobs and without a pool: that is the truth.  Then the
 * job system counts it on each of the pool's backends, or on the one that the environment variable LFPOOL_BACKEND
 * names, and every outcome is compared with the truth.  Reading files costs far more than any pool: the backends
 * differ little in jobs per second, which is what to expect of jobs that do real work.
 *
 * Exit status  0: every count agrees, and every object came back to its pool.  1: not so, or a pool could not be
 *              made.  2: wrong usage.  3: no memory.
 */
#include "count.h"

#include "command_line.h"

#include <inttypes.h>
#include <unistd.h>

struct options {
	unsigned long workers, capacity, repeat, top;
	lfpool_backend_t backend;
	const char *path;
};

static const char *const backend_names[] = {
	[LFPOOL_BACKEND_LOCKFREE] = "lockfree", [LFPOOL_BACKEND_MUTEX] = "mutex", [LFPOOL_BACKEND_MALLOC] = "malloc"};

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct options options = {
		.workers = processors > 0 ? (unsigned long)processors : 1, .capacity = 4096, .repeat = 1, .top = 10};
	const struct option_row rows[] = {
		OPTION_NUMBER("workers", &options.workers, 1, 1024), OPTION_NUMBER("capacity", &options.capacity, 1, 1ul << 24),
		OPTION_NUMBER("repeat", &options.repeat, 1, 1000), OPTION_NUMBER("top", &options.top, 0, 1000000), OPTIONS_END};

	options.path = command_line("jobs", rows, "PATH", argc, argv);
	if (!options.path)
		options.path = "/usr/include";
	return options;
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

static double per_second(uint64_t count, uint64_t ns)
{
	return (double)count * 1e9 / (double)(ns ? ns : 1);
}

static void print_counts(const struct outcome *outcome)
{
	const struct counts *counts = &outcome->counts;

	printf("  counted      %" PRIu64 " files, %" PRIu64 " directories, %" PRIu64 " others, %" PRIu64 " unreadable\n",
	       counts->files, counts->directories, counts->others, counts->unreadable);
	printf("               %" PRIu64 " lines, %" PRIu64 " words, %" PRIu64 " bytes, %zu different names\n", counts->lines,
	       counts->words, counts->bytes, outcome->names.used);
}

static void print_names(const struct words *names, unsigned long top)
{
	struct ranked_word *word;
	size_t count = words_rank(names, &word);

	printf("most frequent names\n");
	for (size_t i = 0; i < count && i < top; i++)
		printf("  %10" PRIu64 " %.*s\n", word[i].count, (int)word[i].text_bytes, word[i].text);
	free(word);
}

static void print_figures(const struct figures *figures)
{
	const struct jobs_report *jobs = &figures->jobs;

	printf("  job pool     capacity %zu; most active at once: at most %zu\n", jobs->capacity, jobs->peak);
	printf("               %" PRIu64 " of %" PRIu64 " jobs released by another worker than acquired them\n", jobs->elsewhere,
	       jobs->submitted);
	printf("               run at once by their submitter: %" PRIu64 " for want of a record, %" PRIu64 " too long for one\n",
	       jobs->at_once_empty, jobs->at_once_long);
	printf("               at the end: %zu active, %zu available\n", jobs->active, jobs->available);
	printf("  result pool  capacity %zu; most active at once: at least %" PRIu64 "\n", jobs->capacity,
	       figures->results_largest_batch);
	printf("               %" PRIu64 " of %" PRIu64 " results released by another worker than acquired them\n",
	       figures->results_from_others, figures->results_posted);
	printf("               added at once by their worker: %" PRIu64 " for want of a record\n",
	       figures->results_without_record);
	printf("               at the end: %zu active, %zu available\n", figures->results_active, figures->results_available);
	printf("  destroyed    %zu objects not released\n", figures->leaked);
}

/* ---- The program ------------------------------------------------------------------------------------------- */

/* Every object is back. */
static bool pools_are_whole(const struct figures *figures)
{
	return figures->leaked == 0 && figures->jobs.active == 0 && figures->results_active == 0 &&
	       figures->jobs.available == figures->jobs.capacity && figures->results_available == figures->jobs.capacity;
}

/* Counts once with jobs.  False: something is wrong, and was printed.  The caller frees outcome_out either way. */
static bool count_and_compare(struct outcome *outcome_out, const struct options *options, const struct outcome *truth)
{
	const struct job_options job = {(unsigned)options->workers, options->capacity, options->backend};
	struct figures figures;
	lfpool_status_t status = count_with_jobs(outcome_out, &figures, options->path, &job);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "jobs: cannot make the pools: %s\n", lfpool_status_string(status));
		return false;
	}

	bool agrees = outcome_equal(outcome_out, truth);
	bool whole = pools_are_whole(&figures);

	printf("%-9s %u workers, %.3f s, %.0f jobs/s: totals %s\n", backend_names[figures.jobs.backend], job.workers,
	       (double)outcome_out->ns / 1e9, per_second(figures.jobs.submitted, outcome_out->ns), agrees ? "agree" : "DIFFER");
	print_counts(outcome_out);
	print_figures(&figures);
	if (!whole)
		printf("  WRONG        objects are missing from a pool\n");
	return agrees && whole;
}

int main(int argc, char **argv)
{
	struct options options = parse_options(argc, argv);
	unsigned backends = getenv("LFPOOL_BACKEND") ? 1 : 3;
	/* Links below PATH are not followed; PATH itself may be one. */
	char *path = realpath(options.path, NULL);
	struct outcome truth, outcome = {0};
	bool good = true;

	if (!path) {
		perror(options.path);
		return 1;
	}
	options.path = path;
	count_alone(&truth, path);
	printf("tree      %s\n%-9s 1 thread, %.3f s\n", path, "no pool", (double)truth.ns / 1e9);
	print_counts(&truth);
	for (unsigned i = 0; i < backends * options.repeat; i++) {
		options.backend = (lfpool_backend_t)(i / options.repeat);
		outcome_free(&outcome);
		good &= count_and_compare(&outcome, &options, &truth);
	}
	print_names(&outcome.names, options.top);
	printf("%s\n", good ? "all totals agree, no object was lost" : "FAILED");
	outcome_free(&outcome);
	outcome_free(&truth);
	free(path);
	return good ? 0 : 1;
}
