/* SPDX-License-Identifier: MIT */
/*
 * main.c - counts a directory tree with a job per entry, and checks that threads and pools do not change the result.
 *
 *     jobs [--workers N] [--capacity N] [--trace FILE] [PATH]
 *     jobs --compare [--workers N] [--capacity N] [--depth N] [--rounds N]
 *
 * Defaults: one worker per processor, a capacity of 4096 job records, PATH /usr/include.  PATH may also be a file.
 *
 * PATH is counted first by one thread in a plain loop, without jobs and without a pool: that is the truth.  Then the
 * job system counts it on each of the pool's backends, or on the one that the environment variable LFPOOL_BACKEND
 * names, and compares every result with the truth.  Reading files costs far more than any pool, so the backends
 * differ little in jobs per second, as expected for jobs that do real work.
 *
 * --trace writes how many records are in use over time (examples/live/live.h).
 *
 * --compare runs no job of this program: it times a much smaller job system with records from lfpool, malloc, and a
 * list under a mutex (compare.h), on trees of up to 2^20 - 1 jobs (depth 19), in 15 rounds.
 *
 * Exit status  0: every count agrees, and every record came back to its pool.  1: otherwise, or a pool could not be
 *              made.  2: wrong usage.  3: no memory.
 */
#include "command_line.h"
#include "compare.h"
#include "jobs.h"
#include "live.h"

#include "lfpool/report.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKERS_MAX 1024

static unsigned long workers, capacity = 4096, depth = 19, rounds = 15;
static bool comparing;

static const char *const backend_names[] = {
	[LFPOOL_BACKEND_LOCKFREE] = "lockfree", [LFPOOL_BACKEND_MUTEX] = "mutex", [LFPOOL_BACKEND_MALLOC] = "malloc"};

/* ---- The counting, which knows nothing of jobs, threads or pools ------------------------------------------- */

struct counts {
	uint64_t files;
	uint64_t directories;
	uint64_t others;     /* links, pipes, devices, sockets                   */
	uint64_t unreadable; /* files that could not be opened, or not read to the end */
	uint64_t lines;
	uint64_t words;
	uint64_t bytes;
};

static void counts_add(struct counts *sum, const struct counts *counts)
{
	sum->files += counts->files;
	sum->directories += counts->directories;
	sum->others += counts->others;
	sum->unreadable += counts->unreadable;
	sum->lines += counts->lines;
	sum->words += counts->words;
	sum->bytes += counts->bytes;
}

/* Lines and words as in `LC_ALL=C wc`: a word is a longest run of bytes without white space, at least one of them
 * printable.  False: an error before the end of the file. */
static bool count_contents(struct counts *counts, int fd)
{
	unsigned char buffer[1 << 15];
	bool in_word = false; /* a printable byte since the last white space */
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < got; i++) {
			counts->lines += buffer[i] == '\n';
			if (isspace(buffer[i])) {
				in_word = false;
			} else if (isprint(buffer[i])) {
				counts->words += !in_word;
				in_word = true;
			}
		}
		counts->bytes += got > 0 ? (uint64_t)got : 0;
	}
	return got == 0;
}

/* A separate function, so that its buffer is not in each frame of a walk down a deep tree. */
static __attribute__((noinline)) void count_file(struct counts *counts, const char *path)
{
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		counts->unreadable++;
		return;
	}
	counts->files++;
	counts->unreadable += !count_contents(counts, fd);
	close(fd);
}

static int is_below(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Reads and closes the directory before opening anything below it: a thread has one file open, however deep the tree
 * is. */
static void count_directory(struct counts *counts, const char *path, void (*visit)(void *, const char *), void *context)
{
	struct dirent **entries;
	const int count = scandir(path, &entries, is_below, NULL);

	counts->directories++;
	counts->unreadable += count < 0;
	for (int i = 0; i < count; i++) {
		char *below;

		if (asprintf(&below, "%s/%s", path, entries[i]->d_name) >= 0) {
			visit(context, below);
			free(below);
		} else {
			counts->unreadable++;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* Adds the entry at `path`: a file by its contents, anything else as one of its kind; does not follow links.  For a
 * directory, calls `visit` with the path of each entry. */
static void count_path(struct counts *counts, const char *path, void (*visit)(void *context, const char *path),
		       void *context)
{
	struct stat entry;

	if (lstat(path, &entry) != 0)
		counts->unreadable++;
	else if (S_ISREG(entry.st_mode))
		count_file(counts, path);
	else if (S_ISDIR(entry.st_mode))
		count_directory(counts, path, visit, context);
	else
		counts->others++;
}

/* ---- One thread, no pool ----------------------------------------------------------------------------------- */

static void walk(void *counts, const char *path)
{
	count_path(counts, path, walk, counts);
}

/* ---- A job for each entry ---------------------------------------------------------------------------------- */

/* Each worker adds up its own counts. */
struct sum {
	alignas(128) struct counts counts;
};

static void visit(struct jobs_worker *worker, const void *path);

static void submit(void *worker, const char *path)
{
	jobs_submit(worker, visit, path, strlen(path) + 1);
}

static void visit(struct jobs_worker *worker, const void *path)
{
	struct sum *sums = jobs_context(worker);

	count_path(&sums[jobs_worker_index(worker)].counts, path, submit, worker);
}

/* ---- Both ways --------------------------------------------------------------------------------------------- */

static void print_counts(const struct counts *counts)
{
	printf("  counted   %" PRIu64 " files, %" PRIu64 " directories, %" PRIu64 " others, %" PRIu64 " unreadable\n",
	       counts->files, counts->directories, counts->others, counts->unreadable);
	printf("            %" PRIu64 " lines, %" PRIu64 " words, %" PRIu64 " bytes\n", counts->lines, counts->words,
	       counts->bytes);
}

/* Counts once with jobs.  False: a mistake, which was printed. */
static bool count_and_compare(const char *path, lfpool_backend_t backend, const struct counts *truth)
{
	static struct sum sums[WORKERS_MAX];
	struct counts counts = {0};
	struct jobs *jobs;
	lfpool_t *pool;
	const lfpool_status_t status = jobs_pool_create(&pool, capacity, backend);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "jobs: no pool of records: %s\n", lfpool_status_string(status));
		return false;
	}
	memset(sums, 0, sizeof(sums));
	jobs = jobs_create((unsigned)workers, pool, sums);
	if (!jobs)
		exit(3);

	live_watch(pool, backend_names[lfpool_quick_stats(pool).backend], 0);

	const uint64_t start = now_ns();

	jobs_run(jobs, visit, path, strlen(path) + 1);

	const double seconds = (double)(now_ns() - start) / 1e9;
	const struct jobs_report report = jobs_report(jobs);
	lfpool_stats_t stats;

	jobs_destroy(jobs);
	(void)lfpool_stats(pool, &stats);
	for (unsigned i = 0; i < workers; i++)
		counts_add(&counts, &sums[i].counts);

	/* All members have one type, so there is no padding. */
	const bool agrees = memcmp(&counts, truth, sizeof(counts)) == 0;

	printf("%-9s %lu workers, %.3f s, %.0f jobs/s: totals %s\n", backend_names[lfpool_quick_stats(pool).backend],
	       workers, seconds, (double)report.submitted / seconds, agrees ? "agree" : "DIFFER");
	print_counts(&counts);
	printf("  jobs      %" PRIu64 ", %" PRIu64 " stolen, %" PRIu64 " at once for want of a record\n",
	       report.submitted, report.stolen, report.at_once);
	printf("  records   capacity %zu, at most %zu active; %" PRIu64
	       " released by another worker than acquired them\n",
	       stats.capacity, stats.high_water, report.elsewhere);

	live_forget(pool);

	const size_t lost = lfpool_destroy(pool);

	printf("  destroyed %zu records not released\n", lost);
	return agrees && lost == 0;
}

static int compare_trees(void)
{
	const int used = (int)(workers < COMPARE_WORKERS_MAX ? workers : COMPARE_WORKERS_MAX);

	return compare(used, capacity, (unsigned)depth, (unsigned)rounds) ? 0 : 1;
}

int main(int argc, char **argv)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const char *traced = NULL;
	const struct option_row rows[] = {OPTION_NUMBER("workers", &workers, 1, WORKERS_MAX),
					  OPTION_NUMBER("capacity", &capacity, 1, 1ul << 24),
					  OPTION_FLAG("compare", &comparing),
					  OPTION_NUMBER("depth", &depth, COMPARE_DEPTH_MIN, COMPARE_DEPTH_MAX),
					  OPTION_NUMBER("rounds", &rounds, 1, COMPARE_ROUNDS_MAX),
					  OPTION_TEXT("trace", "FILE", &traced),
					  OPTIONS_END};

	workers = processors > 0 ? (unsigned long)processors : 1;

	const char *named = command_line("jobs", rows, "PATH", argc, argv);

	if (comparing)
		return compare_trees();

	/* Links below PATH are not followed; PATH itself may be one. */
	char *path = realpath(named ? named : "/usr/include", NULL);
	struct counts truth = {0};
	bool good = true;

	if (!path) {
		perror(named);
		return 1;
	}

	const uint64_t start = now_ns();

	if (traced && !(live_trace(traced) && live_start(0))) {
		perror(traced);
		return 3;
	}
	walk(&truth, path);
	printf("tree      %s\n%-9s 1 thread, %.3f s\n", path, "no pool", (double)(now_ns() - start) / 1e9);
	print_counts(&truth);
	/* With the variable all three runs would use its backend. */
	for (unsigned backend = 0; backend < (getenv("LFPOOL_BACKEND") ? 1 : 3); backend++)
		good &= count_and_compare(path, (lfpool_backend_t)backend, &truth);
	if (traced)
		live_stop();
	puts(good ? "all totals agree, no record was lost" : "FAILED");
	free(path);
	return good ? 0 : 1;
}
