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
 *     lfpool-bench --check SUBJECT                           see check.c; status 77: it cannot be measured here
 */
#include "single.h"
#include "subjects.h"

#include <stdarg.h>
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

/* The first thread of those that the row is named for does it all. */
static void run_single(gbench_state_t *state, void *context)
{
	const struct cell *cell = context;

	while (gbench_next(state, 1)) {
		const uint64_t start_ns = now_ns();

		if (gbench_state_thread_index(state) == 0)
			cell->single->run(state, cell);
		gbench_set_iteration_time(state, (double)(now_ns() - start_ns) / 1e9);
	}
}

static void add_single(struct cell cell)
{
	if (!cell.single->fits(cell.single, cell.subject, cell.object_bytes))
		return;

	gbench_t *benchmark = gbench_register(run_single, keep(cell), "%s/%zu/%s", cell.single->name, cell.object_bytes,
					      cell.subject->name);

	gbench_iterations(benchmark, 1);
	gbench_threads(benchmark, cell.single->threads);
}

static void add_rows(void)
{
	for (size_t w = 0; w < WORKLOAD_COUNT + SINGLE_COUNT; w++) {
		for (size_t b = 0; b < SIZES; b++) {
			for (size_t s = 0; s < subject_count; s++) {
				struct cell cell = {.subject = subjects[s], .object_bytes = sizes[b]};

				if (w < WORKLOAD_COUNT) {
					cell.workload = &workloads[w];
					add_loop(cell);
				} else {
					cell.single = &singles[w - WORKLOAD_COUNT];
					add_single(cell);
				}
			}
		}
	}
}

/* What a reader of the JSON wants to know about the names in it. */
__attribute__((format(printf, 3, 4))) static void add_context(const char *kind, const char *name, const char *format, ...)
{
	char key[64], text[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)snprintf(key, sizeof(key), "%s%s", kind, name);
	gbench_add_context(key, text);
}

static void add_contexts(void)
{
	for (size_t s = 0; s < subject_count; s++) {
		const struct subject *subject = subjects[s];

		add_context("subject.", subject->name, "%s|%s|%s", subject->group, subject->what,
			    subject->version ? subject->version() : "");
		if (subject->traits & TRAIT_NOT_PREEMPTIBLE)
			add_context("skipped.", subject->name,
				    "more than %u threads: not preemptible, a time slice for each call", cpus());
	}
	for (size_t m = 0; m < missing_count; m++)
		add_context("skipped.", missing[m].name, "%s", missing[m].why);
	for (size_t w = 0; w < WORKLOAD_COUNT; w++)
		add_context("workload.", workloads[w].name, "%s", workloads[w].what);
	for (size_t i = 0; i < SINGLE_COUNT; i++)
		add_context("workload.", singles[i].name, "%s", singles[i].what);
	add_context("compiler", "", "%s", COMPILER);
	add_context("build", "", "%s", BUILD);
}

/* ---- --exactly, --check ---- */

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

static int run_exactly(char **arguments)
{
	struct cell cell = {.subject = find_subject(arguments[0]), .workload = find_workload(arguments[1])};
	unsigned long bytes, pairs;
	size_t count;

	/* Objects have a power of two bytes. */
	if (!cell.subject || !cell.workload || !parse_numbers(arguments[2], 16, 4096, &bytes, 1, &count) ||
	    (bytes & (bytes - 1)) || !parse_numbers(arguments[3], 1, 1000000000, &pairs, 1, &count) ||
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

	if (subject) {
		check_subject(subject);
		return 0;
	}
	for (size_t m = 0; m < missing_count; m++) {
		if (strcmp(missing[m].name, name) == 0) {
			printf("skipped: %s: %s\n", name, missing[m].why);
			return 77;
		}
	}
	fprintf(stderr, "lfpool-bench: --check SUBJECT: no such subject: %s\n", name);
	return 2;
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
	if (argc == 3 && strcmp(argv[1], "--check") == 0)
		return run_check(argv[2]);
	add_rows();
	add_contexts();
	return gbench_main(argc, argv);
}
