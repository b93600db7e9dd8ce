/* SPDX-License-Identifier: MIT */
/*
 * gbench.cc - see gbench.h.  C++11.
 *
 * Idea         A gbench_t is the library's Benchmark and a gbench_state_t its State, under names that C can say.
 */
#include "gbench.h"

#include <benchmark/benchmark.h>

#include <cstdarg>
#include <cstdio>

static benchmark::internal::Benchmark *in_library(gbench_t *benchmark)
{
	return reinterpret_cast<benchmark::internal::Benchmark *>(benchmark);
}

static benchmark::State *in_library(const gbench_state_t *state)
{
	return reinterpret_cast<benchmark::State *>(const_cast<gbench_state_t *>(state));
}

gbench_t *gbench_register(gbench_fn *run, void *context, const char *format, ...)
{
	char name[128];
	va_list arguments;

	va_start(arguments, format);
	(void)std::vsnprintf(name, sizeof name, format, arguments);
	va_end(arguments);

	const auto call = [=](benchmark::State &state) { run(reinterpret_cast<gbench_state_t *>(&state), context); };

	return reinterpret_cast<gbench_t *>(benchmark::RegisterBenchmark(name, call)->UseManualTime());
}

void gbench_threads(gbench_t *benchmark, int threads)
{
	in_library(benchmark)->Threads(threads);
}

void gbench_iterations(gbench_t *benchmark, int64_t iterations)
{
	in_library(benchmark)->Iterations(iterations);
}

bool gbench_next(gbench_state_t *state, size_t count)
{
	return in_library(state)->KeepRunningBatch(int64_t(count));
}

int gbench_state_threads(const gbench_state_t *state)
{
	return in_library(state)->threads();
}

int gbench_state_thread_index(const gbench_state_t *state)
{
	return in_library(state)->thread_index();
}

void gbench_set_iteration_time(gbench_state_t *state, double seconds)
{
	in_library(state)->SetIterationTime(seconds);
}

void gbench_counter(gbench_state_t *state, const char *name, double value)
{
	in_library(state)->counters[name] = value;
}

void gbench_add_context(const char *key, const char *value)
{
	benchmark::AddCustomContext(key, value);
}

int gbench_main(int argc, char **argv)
{
	benchmark::Initialize(&argc, argv);
	if (benchmark::ReportUnrecognizedArguments(argc, argv))
		return 2;

	const size_t rows = benchmark::RunSpecifiedBenchmarks();

	benchmark::Shutdown();
	return rows > 0 ? 0 : 1;
}
