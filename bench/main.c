/* SPDX-License-Identifier: MIT */
/*
 * main.c - lfpool-bench: every way to get hold of an object, in every situation, beside lfpool.
 *
 * Idea         Registers each cell {workload, object size, subject, threads} with Google Benchmark, which chooses by
 *              --benchmark_filter, repeats, and writes JSON.  `bench/run` calls it often and in turns, so that all
 *              subjects meet the same machine.  It reports speed and never decides anything, but it stops when an
 *              acquire fails or a release is refused: then the figures would be about something else.
 *
 *     lfpool-bench [--benchmark_...]                         bench/README.md
 *     lfpool-bench --exactly SUBJECT WORKLOAD BYTES PAIRS    one thread, nothing measured: for callgrind
 *     lfpool-bench --check SUBJECT                           see check.h; status 77: it cannot be measured here
 *     lfpool-bench --memory SUBJECT BYTES                    the process of a row of "memory", see memory.h
 *     lfpool-bench --backlog SUBJECT WORKLOAD                the process of a row of "backlog-...", see retire/backlog.h
 */
#include "check.h"
#include "create.h"
#include "memory.h"
#include "retire/backlog.h"
#include "subjects.h"
#include "team.h"

#include <string.h>
#include <unistd.h>

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if !defined(__OPTIMIZE__) || defined(SANITIZED)
#define BUILD "not optimised, or slowed down by a sanitizer: the figures mean nothing"
#else
#define BUILD "optimised"
#endif

static const size_t sizes[] = {16, 64, 256, 4096};
static const unsigned thread_counts[] = {1, 2, 4, 8, 16};

#define SIZES (sizeof(sizes) / sizeof(*sizes))
#define THREAD_COUNTS (sizeof(thread_counts) / sizeof(*thread_counts))

/* Lives as long as the program, and is found from here. */
static struct cell *keep(struct cell cell)
{
	static struct cell *last;
	struct cell *copy = must(malloc(sizeof(cell)));

	*copy = cell;
	copy->before = last;
	return last = copy;
}

static void add_loop(struct cell cell)
{
	gbench_t *benchmark = NULL;

	for (size_t t = 0; t < THREAD_COUNTS; t++) {
		if (!workload_fits(cell.workload, cell.subject, cell.object_bytes, thread_counts[t]))
			continue;
		if (!benchmark)
			benchmark = gbench_register(team_run, keep(cell), "%s/%zu/%s", cell.workload->name, cell.object_bytes,
						    cell.subject->name);
		gbench_threads(benchmark, (int)thread_counts[t]);
	}
}

static void add_rows(void)
{
	for (size_t w = 0; w < WORKLOAD_COUNT; w++)
		for (size_t b = 0; b < SIZES; b++)
			for (size_t s = 0; s < subject_count; s++)
				add_loop((struct cell){
					.subject = subjects[s], .workload = &workloads[w], .object_bytes = sizes[b]});
	/* Those that are not loops under the clock of team.c. */
	for (size_t b = 0; b < SIZES; b++)
		for (size_t s = 0; s < subject_count; s++)
			if (memory_fits(subjects[s], sizes[b]))
				memory_register(keep((struct cell){.subject = subjects[s], .object_bytes = sizes[b]}));
	for (size_t c = 0; c < CREATE_COUNT; c++)
		for (size_t s = 0; s < subject_count; s++)
			if (create_fits(&creations[c], subjects[s]))
				create_register(keep((struct cell){.subject = subjects[s], .creation = &creations[c]}));
	for (size_t b = 0; b < BACKLOG_COUNT; b++)
		for (size_t s = 0; s < subject_count; s++)
			if (backlog_fits(&backlogs[b], subjects[s]))
				backlog_register(keep((struct cell){.subject = subjects[s], .backlog = &backlogs[b]}));
}

/* What a reader of the JSON wants to know about the names in it. */
static void add_context(void)
{
	char key[64], text[256];

	for (size_t s = 0; s < subject_count; s++) {
		const struct subject *subject = subjects[s];

		(void)snprintf(key, sizeof(key), "subject.%s", subject->name);
		(void)snprintf(text, sizeof(text), "%s|%s|%s", subject->group, subject->what,
			       subject->version ? subject->version() : "");
		gbench_add_context(key, text);
	}
	for (size_t m = 0; m < missing_count; m++) {
		(void)snprintf(key, sizeof(key), "skipped.%s", missing[m].name);
		gbench_add_context(key, missing[m].why);
	}
	for (size_t s = 0; s < subject_count; s++) {
		if (!(subjects[s]->traits & TRAIT_NOT_PREEMPTIBLE))
			continue;
		(void)snprintf(key, sizeof(key), "skipped.%s", subjects[s]->name);
		(void)snprintf(text, sizeof(text), "more than %u threads: not preemptible, a time slice for each call", cpus());
		gbench_add_context(key, text);
	}
	for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
		(void)snprintf(key, sizeof(key), "workload.%s", workloads[w].name);
		gbench_add_context(key, workloads[w].what);
	}
	gbench_add_context("workload." MEMORY_NAME, MEMORY_WHAT);
	for (size_t c = 0; c < CREATE_COUNT; c++) {
		(void)snprintf(key, sizeof(key), "workload.%s", creations[c].name);
		gbench_add_context(key, creations[c].what);
	}
	for (size_t b = 0; b < BACKLOG_COUNT; b++) {
		(void)snprintf(key, sizeof(key), "workload.%s", backlogs[b].name);
		gbench_add_context(key, backlogs[b].what);
	}
	gbench_add_context("compiler", COMPILER);
	gbench_add_context("build", BUILD);
}

/* ---- --exactly, --check, --memory, --backlog ---- */

static const struct subject *find_subject(const char *name)
{
	for (size_t s = 0; s < subject_count; s++)
		if (strcmp(subjects[s]->name, name) == 0)
			return subjects[s];
	return NULL;
}

static const struct workload *find_workload(const char *name)
{
	for (size_t w = 0; w < WORKLOAD_COUNT; w++)
		if (strcmp(workloads[w].name, name) == 0)
			return &workloads[w];
	return NULL;
}

/* A power of two that objects may have. */
static bool parse_size(const char *text, unsigned long *bytes_out)
{
	size_t count;

	return parse_numbers(text, 16, 4096, bytes_out, 1, &count) && (*bytes_out & (*bytes_out - 1)) == 0;
}

static int run_exactly(char **arguments)
{
	struct cell cell = {.subject = find_subject(arguments[0]), .workload = find_workload(arguments[1])};
	unsigned long bytes, pairs;
	size_t count;

	if (!cell.subject || !cell.workload || !parse_size(arguments[2], &bytes) ||
	    !parse_numbers(arguments[3], 1, 1000000000, &pairs, 1, &count) ||
	    !workload_fits(cell.workload, cell.subject, bytes, 1)) {
		fprintf(stderr,
			"lfpool-bench: --exactly SUBJECT WORKLOAD BYTES PAIRS: no such cell for one thread: %s %s %s %s\n",
			arguments[0], arguments[1], arguments[2], arguments[3]);
		return 2;
	}
	cell.object_bytes = bytes;
	team_run_exactly(&cell, pairs);
	return 0;
}

static int run_check(const char *name)
{
	const struct subject *subject = find_subject(name);

	if (subject && subject->loops.pair) {
		check_subject(subject);
		return 0;
	}
	for (size_t m = 0; m < missing_count; m++) {
		if (strcmp(missing[m].name, name) == 0) {
			printf("skipped: %s: %s\n", name, missing[m].why);
			return 77;
		}
	}
	fprintf(stderr, "lfpool-bench: " CHECK_OPTION " SUBJECT: no such subject: %s\n", name);
	return 2;
}

static int run_memory(char **arguments)
{
	const struct subject *subject = find_subject(arguments[0]);
	unsigned long bytes;

	if (!subject || !parse_size(arguments[1], &bytes) || !memory_fits(subject, bytes)) {
		fprintf(stderr, "lfpool-bench: --memory SUBJECT BYTES: no such row: %s %s\n", arguments[0], arguments[1]);
		return 2;
	}
	memory_play(subject, bytes, stdout);
	return 0;
}

static int run_backlog(char **arguments)
{
	const struct subject *subject = find_subject(arguments[0]);
	const struct backlog *backlog = backlog_find(arguments[1]);

	if (!subject || !backlog || !backlog_fits(backlog, subject)) {
		fprintf(stderr, "lfpool-bench: --backlog SUBJECT WORKLOAD: no such row: %s %s\n", arguments[0], arguments[1]);
		return 2;
	}
	backlog_play(backlog, subject, stdout);
	return 0;
}

static void *nothing(void *argument)
{
	return argument;
}

/* Until a process has had a second thread, the C library locks nothing: malloc and mutexes are faster than in any program
 * that shares a pool, and only in rows of one thread that happen to come first. */
static void have_had_threads(void)
{
	pthread_t thread;

	thread_start(&thread, nothing, NULL);
	(void)pthread_join(thread, NULL);
}

/* Libraries that are loaded while the program runs (subjects/called.c) want more of the static TLS block than the C library
 * keeps free, and it is asked before a program starts: so this one starts once more. */
static void ask_for_tls(char **argv)
{
	if (setenv("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=16384", 1) == 0)
		(void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	if (!getenv("GLIBC_TUNABLES"))
		ask_for_tls(argv);
	subjects_find();
	/* Each subject names its backend itself. */
	(void)unsetenv("LFPOOL_BACKEND");
	have_had_threads();
	if (argc == 6 && strcmp(argv[1], "--exactly") == 0)
		return run_exactly(argv + 2);
	if (argc == 3 && strcmp(argv[1], CHECK_OPTION) == 0)
		return run_check(argv[2]);
	if (argc == 4 && strcmp(argv[1], MEMORY_OPTION) == 0)
		return run_memory(argv + 2);
	if (argc == 4 && strcmp(argv[1], BACKLOG_OPTION) == 0)
		return run_backlog(argv + 2);
	add_rows();
	add_context();
	return gbench_main(argc, argv);
}
