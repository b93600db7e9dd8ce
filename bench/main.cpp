/* SPDX-License-Identifier: MIT */
/*
 * main.cpp - lfpool-bench: every way to get an object, in every situation, next to lfpool.
 *
 * Idea         Registers each cell {workload, object size, subject, threads} with Google Benchmark, which selects by
 *              --benchmark_filter, repeats, and writes JSON. `bench/run` calls lfpool-bench often and alternates, so
 *              that all subjects meet the same machine.  lfpool-bench reports speed and judges nothing.  But it stops
 *              when an acquire fails or a release is refused, because then the figures would be meaningless.
 *
 *     lfpool-bench [--benchmark_...]                         bench/README.md
 *     lfpool-bench --exactly SUBJECT WORKLOAD BYTES PAIRS    one thread, nothing measured: for callgrind
 *     lfpool-bench --check SUBJECT                           see check.c; status 77: SUBJECT cannot be measured here
 */
#include "subjects.h"
#include "team.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <unistd.h>

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#if !defined(__OPTIMIZE__)
#define BUILD "not optimised: the figures mean nothing"
#else
#define BUILD "optimised"
#endif

/* ---- The rows ---- */

static void take_figures(benchmark::State &state)
{
	for (size_t i = 0; i < figure_count; i++)
		state.counters[figures[i].name] = figures[i].value;
	figure_count = 0;
}

static void run_team(benchmark::State &state, const cell &cell)
{
	const unsigned index = unsigned(state.thread_index());
	size_t chunks = 0;

	team_begin(&cell, unsigned(state.threads()), index);
	/* Takes all iterations at once: only Google Benchmark knows how many there will be, and the thread that takes
	 * the last waits for the others.  The timing is ours anyway. */
	while (state.KeepRunningBatch(benchmark::IterationCount(cell.workload->chunk)))
		chunks++;
	state.SetIterationTime(team_measure(index, chunks));
	if (index == 0)
		take_figures(state);
	team_end(index);
}

/* The row's first thread does everything. */
static void run_once(benchmark::State &state, const cell &cell)
{
	for (auto _ : state) {
		const uint64_t start_ns = now_ns();

		if (state.thread_index() == 0) {
			cell.workload->run(&cell);
			take_figures(state);
		}
		state.SetIterationTime(double(now_ns() - start_ns) / 1e9);
	}
}

/* Up to 16, or twice as many as there are processors. */
static unsigned most_threads()
{
	return std::min(std::max(16u, 2 * cpus()), unsigned(THREADS_MAX));
}

/* A benchmark with a row for each sensible number of threads. */
static void add_rows_of(const cell &cell)
{
	const auto run = cell.workload->run ? run_once : run_team;
	const std::string name = std::string(cell.workload->name) + "/" + std::to_string(cell.object_bytes) + "/" +
				 cell.subject->name;
	benchmark::internal::Benchmark *rows = nullptr;

	for (unsigned threads = 1; threads <= most_threads(); threads *= 2) {
		if (!workload_fits(cell.workload, cell.subject, cell.object_bytes, threads))
			continue;
		if (!rows)
			rows = benchmark::RegisterBenchmark(name.c_str(),
							    [=](benchmark::State &state) { run(state, cell); });
		rows->UseManualTime()->Threads(int(threads));
		if (cell.workload->run)
			rows->Iterations(1);
	}
}

static void add_rows()
{
	for (const workload &workload : workloads)
		for (const size_t bytes : {16ul, 64ul, 256ul, 4096ul})
			for (size_t s = 0; s < subject_count; s++)
				add_rows_of({subjects[s], &workload, bytes});
}

/* For readers of the JSON: describes the names in it. */
static void add_contexts()
{
	for (size_t s = 0; s < subject_count; s++) {
		const subject &subject = *subjects[s];
		const std::string version = subject.version ? subject.version() : "";

		benchmark::AddCustomContext(std::string("subject.") + subject.name,
					    std::string(subject.group) + "|" + subject.what + "|" + version);
		if (subject.traits & TRAIT_NOT_PREEMPTIBLE)
			benchmark::AddCustomContext(std::string("skipped.") + subject.name,
						    "more than " + std::to_string(cpus()) +
							    " threads: not preemptible, a time slice for each call");
	}
	for (size_t m = 0; m < missing_count; m++)
		benchmark::AddCustomContext(std::string("skipped.") + missing[m].name, missing[m].why);
	benchmark::AddCustomContext("compiler", COMPILER);
	benchmark::AddCustomContext("build", BUILD);
}

/* ---- --exactly, --check ---- */

static const subject *find_subject(const std::string &name)
{
	for (size_t s = 0; s < subject_count; s++)
		if (name == subjects[s]->name)
			return subjects[s];
	return nullptr;
}

static const workload *find_workload(const std::string &name)
{
	for (const workload &workload : workloads)
		if (name == workload.name)
			return &workload;
	return nullptr;
}

static int run_exactly(char **arguments)
{
	cell cell = {find_subject(arguments[0]), find_workload(arguments[1]), 0};
	unsigned long bytes, pairs;
	size_t count;

	/* An object's size is a power of two. */
	if (!cell.subject || !cell.workload || cell.workload->run ||
	    !parse_numbers(arguments[2], 16, 4096, &bytes, 1, &count) || (bytes & (bytes - 1)) ||
	    !parse_numbers(arguments[3], 1, 1000000000, &pairs, 1, &count) ||
	    !workload_fits(cell.workload, cell.subject, bytes, 1)) {
		fprintf(stderr,
			"lfpool-bench: --exactly SUBJECT WORKLOAD BYTES PAIRS: no such cell for one thread: %s %s %s "
			"%s\n",
			arguments[0], arguments[1], arguments[2], arguments[3]);
		return 2;
	}
	cell.object_bytes = bytes;
	team_run_exactly(&cell, pairs);
	return 0;
}

static int run_check(const std::string &name)
{
	const subject *subject = find_subject(name);

	if (subject) {
		check_subject(subject);
		return 0;
	}
	for (size_t m = 0; m < missing_count; m++) {
		if (name == missing[m].name) {
			printf("skipped: %s: %s\n", missing[m].name, missing[m].why);
			return 77;
		}
	}
	fprintf(stderr, "lfpool-bench: --check SUBJECT: no such subject: %s\n", name.c_str());
	return 2;
}

static void *nothing(void *argument)
{
	return argument;
}

/* Until a process has had a second thread, the C library locks nothing: malloc and mutexes would be faster than in
 * any program that shares a pool, but only in single-threaded rows that come first. */
static void have_had_threads()
{
	pthread_t thread;

	thread_start(&thread, nothing, nullptr);
	(void)pthread_join(thread, nullptr);
}

/* Libraries loaded at run time (subjects/called.c) need more of the static TLS block than the C library keeps free.
 * The C library reads the setting before a program starts, so this program starts again. */
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
	/* Each subject sets its own backend. */
	(void)unsetenv("LFPOOL_BACKEND");
	have_had_threads();
	teams_init();
	if (argc == 6 && std::string(argv[1]) == "--exactly")
		return run_exactly(argv + 2);
	if (argc == 3 && std::string(argv[1]) == "--check")
		return run_check(argv[2]);
	add_rows();
	add_contexts();
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;
	return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
