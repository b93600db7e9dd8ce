/* SPDX-License-Identifier: MIT */
/*
 * gbench.cc - benchmarks and the program: what is called before and around the run.  For Google Benchmark 1.7.1; C++11.
 *
 * Idea         Each call checks what it was given, so that the message can name the call and the benchmark, and then
 *              passes it on.
 */
#include "internal.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace {

/* Changes a benchmark, if what is asked for is `right`. */
template <class Change>
void set(const char *function, gbench *benchmark, bool right, const char *otherwise, Change change)
{
	must(benchmark, function, nullptr, "no benchmark");
	must(right, function, benchmark, otherwise);
	guarded(function, benchmark->name.c_str(), change);
}

/* The same for arguments: `count` in each row. */
template <class Change>
void set_arguments(const char *function, gbench *benchmark, size_t count, bool right, const char *otherwise,
		   Change change)
{
	set(function, benchmark, right, otherwise, [&] {
		const int before = benchmark->arguments();

		if (before != -1 && size_t(before) != count)
			die(function, benchmark->name.c_str(), "%zu in a row, but %d before", count, before);
		change();
	});
}

/* --help, and what the library takes for it: a format that does not exist. */
bool help_was_asked_for;

void help()
{
	if (!help_was_asked_for)
		std::fprintf(stderr, "--benchmark_format, --benchmark_out_format: console, json or csv\n");
	benchmark::PrintDefaultHelp();
	if (!help_was_asked_for)
		std::exit(2);
}

} // namespace

/* ---- Before the run ---- */

gbench_t *gbench_register(const char *name, gbench_fn *run, void *context)
{
	must(name && *name, __func__, nullptr, "no name");
	if (!run)
		die(__func__, name, "no function");
	return guarded(__func__, name, [&] {
		gbench *benchmark = new gbench(name, run, context);

		benchmark::internal::RegisterBenchmarkInternal(benchmark);
		return benchmark;
	});
}

void gbench_fixture(gbench_t *b, gbench_fn *setup, gbench_fn *teardown)
{
	set(__func__, b, true, "", [&] {
		b->setup = setup;
		b->teardown = teardown;
	});
}

void gbench_arg(gbench_t *b, int64_t value)
{
	set_arguments(__func__, b, 1, true, "", [&] { b->Arg(value); });
}

void gbench_args(gbench_t *b, const int64_t *values, size_t count)
{
	set_arguments(__func__, b, count, values && count > 0, "no values",
		      [&] { b->Args(std::vector<int64_t>(values, values + count)); });
}

void gbench_arg_names(gbench_t *b, const char *const *names, size_t count)
{
	set_arguments(__func__, b, count, names && count > 0, "no names", [&] {
		std::vector<std::string> copies;

		for (size_t i = 0; i < count; i++) {
			must(names[i], "gbench_arg_names", b, "a name is NULL");
			copies.push_back(names[i]);
		}
		b->ArgNames(copies);
	});
}

void gbench_range(gbench_t *b, int64_t first, int64_t last)
{
	set_arguments(__func__, b, 1, first <= last, "first > last", [&] { b->Range(first, last); });
}

void gbench_range_multiplier(gbench_t *b, int multiplier)
{
	set(__func__, b, multiplier >= 2, "a multiplier below 2", [&] { b->RangeMultiplier(multiplier); });
}

void gbench_dense_range(gbench_t *b, int64_t first, int64_t last, int step)
{
	set_arguments(__func__, b, 1, first <= last && step >= 1, "first > last, or a step below 1",
		      [&] { b->DenseRange(first, last, step); });
}

void gbench_threads(gbench_t *b, int threads)
{
	set(__func__, b, threads >= 1, "less than 1 thread", [&] { b->Threads(threads); });
}

void gbench_thread_range(gbench_t *b, int first, int last)
{
	set(__func__, b, 1 <= first && first <= last, "not 1 <= first <= last", [&] { b->ThreadRange(first, last); });
}

void gbench_unit(gbench_t *b, enum gbench_unit unit)
{
	static const benchmark::TimeUnit units[] = {benchmark::kNanosecond, benchmark::kMicrosecond,
						    benchmark::kMillisecond, benchmark::kSecond};

	unsigned value;

	/* C can pass any number, which C++ may not even look at as an enum. */
	std::memcpy(&value, &unit, sizeof value);
	set(__func__, b, value <= GBENCH_SECOND, "no such unit", [&] { b->Unit(units[value]); });
}

void gbench_min_time(gbench_t *b, double seconds)
{
	set(__func__, b, std::isfinite(seconds) && seconds > 0, "not a time above 0", [&] {
		must(!b->has_iterations, "gbench_min_time", b, "not with gbench_iterations()");
		b->has_min_time = true;
		b->MinTime(seconds);
	});
}

void gbench_iterations(gbench_t *b, int64_t iterations)
{
	set(__func__, b, iterations >= 1, "less than 1 iteration", [&] {
		must(!b->has_min_time, "gbench_iterations", b, "not with gbench_min_time()");
		b->has_iterations = true;
		b->Iterations(iterations);
	});
}

void gbench_repetitions(gbench_t *b, int repetitions)
{
	set(__func__, b, repetitions >= 1, "less than 1 repetition", [&] { b->Repetitions(repetitions); });
}

void gbench_use_real_time(gbench_t *b)
{
	set(__func__, b, !(b && b->has_manual_time), "not with gbench_use_manual_time()", [&] {
		b->has_real_time = true;
		b->UseRealTime();
	});
}

void gbench_use_manual_time(gbench_t *b)
{
	set(__func__, b, !(b && b->has_real_time), "not with gbench_use_real_time()", [&] {
		b->has_manual_time = true;
		b->UseManualTime();
	});
}

void gbench_process_cpu_time(gbench_t *b)
{
	set(__func__, b, true, "", [&] { b->MeasureProcessCPUTime(); });
}

/* ---- The program ---- */

void gbench_initialize(int *argc, char **argv)
{
	must(argc && argv && *argc >= 1, __func__, nullptr, "no arguments");
	help_was_asked_for = false;
	for (int i = 1; i < *argc; i++)
		help_was_asked_for |= std::strcmp(argv[i], "--help") == 0;
	guarded(__func__, "", [&] { benchmark::Initialize(argc, argv, help); });
}

bool gbench_report_unknown(int argc, char **argv)
{
	return benchmark::ReportUnrecognizedArguments(argc, argv);
}

void gbench_add_context(const char *key, const char *value)
{
	must(key && value, __func__, nullptr, "no key, or no value");
	guarded(__func__, key, [&] { benchmark::AddCustomContext(key, value); });
}

size_t gbench_run(void)
{
	static bool ran;

	/* 1.7.1 would use its reporter again after it has deleted it. */
	must(!ran, __func__, nullptr, "only once in a process");
	ran = true;
	return guarded(__func__, "", [] { return benchmark::RunSpecifiedBenchmarks(); });
}

void gbench_shutdown(void)
{
	benchmark::Shutdown();
	/* The library keeps the pointer that it has just freed. */
	benchmark::internal::GetGlobalContext() = nullptr;
}

int gbench_main(int argc, char **argv)
{
	gbench_initialize(&argc, argv);
	if (gbench_report_unknown(argc, argv)) {
		gbench_shutdown();
		return 2;
	}

	const size_t rows = gbench_run();

	gbench_shutdown();
	return rows > 0 ? 0 : 1;
}
