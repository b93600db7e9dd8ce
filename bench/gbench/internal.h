/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what stands behind gbench_t and gbench_state_t; C++, for the .cc files of this folder only.
 *
 * Idea         A gbench is a benchmark of the library's with a Run() of our own (run.cc), since the library's Setup()
 *              and Teardown() take functions without a context.  The library calls Run() in each thread of a run.
 *              There is one run at a time, and all its threads have ended before the next begins: so what the threads
 *              of a run share can lie in the gbench itself.
 */
#ifndef GBENCH_INTERNAL_H
#define GBENCH_INTERNAL_H

#include "barrier.h"
#include "gbench.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gbench_internal {

/* ---- Errors ---- */

[[noreturn]] __attribute__((format(printf, 3, 4)))
inline void die(const char *function, const char *name, const char *format, ...)
{
	va_list arguments;

	std::fflush(stdout);
	std::fprintf(stderr, "%s: %s%s", function, name, *name ? ": " : "");
	va_start(arguments, format);
	std::vfprintf(stderr, format, arguments);
	va_end(arguments);
	std::fprintf(stderr, "\n");
	std::abort();
}

/* Calls `call`; an exception ends the program here, before it can meet a frame of C. */
template <class Call> auto guarded(const char *function, const char *name, Call call) -> decltype(call())
{
	try {
		return call();
	} catch (const std::exception &exception) {
		die(function, name, "%s", exception.what());
	} catch (...) {
		die(function, name, "an exception");
	}
}

/* Where a thread is; to be combined. */
enum status {
	FIXTURE = 1, /* in setup or teardown                 */
	PAUSED = 2,  /* between gbench_pause and _resume     */
	DONE = 4,    /* gbench_next has said false           */
	SKIPPED = 8, /* gbench_skip                          */
	LEFT = 16    /* the function has returned; the library's loop is over */
};

} // namespace gbench_internal

using namespace gbench_internal;

struct gbench_state {
	benchmark::State &google;
	gbench &owner;
	unsigned status;
	size_t batch; /* iterations of the last batch; 1 before */
};

struct gbench final : public benchmark::internal::Benchmark {
	gbench(const char *benchmark_name, gbench_fn *run, void *run_context)
		: Benchmark(benchmark_name), name(benchmark_name), run_(run), context_(run_context)
	{
	}

	/* One thread's part of a run.  An exception of a callback that is written in C++ ends the program here. */
	void Run(benchmark::State &google) noexcept override;

	void skip(gbench_state *state, const char *why);

	bool skipped() const
	{
		/* acquire: what the thread wrote before it skipped. */
		return skipped_.load(std::memory_order_acquire);
	}

	void meet(int threads)
	{
		meeting_.wait(threads);
	}

	/* How many arguments each row has so far; -1: not known yet. */
	int arguments() const
	{
		return ArgsCnt();
	}

	const std::string name;
	gbench_fn *setup = nullptr;
	gbench_fn *teardown = nullptr;
	bool has_min_time = false, has_iterations = false, has_real_time = false, has_manual_time = false;

private:
	/* A row of this benchmark: its arguments, and the threads. */
	typedef std::vector<int64_t> row;

	row row_of(const benchmark::State &google) const;
	void begin(gbench_state *state);
	void end(gbench_state *state);
	void call_fixture(gbench_fn *fixture, gbench_state *state);
	void finish(gbench_state *state);
	void walk_through(gbench_state *state);

	gbench_fn *const run_;
	void *const context_;
	/* everyone_ surrounds the fixtures; nobody ever leaves it.  meeting_ is gbench_rendezvous(). */
	barrier everyone_, meeting_;

	/* Of the present run.  Thread 0 writes these two when it begins, before the others look: everyone_. */
	bool void_ = false; /* the function is not called                          */
	size_t batch_ = 1;  /* what this row's last run had: for a thread that skips before its first batch */
	/* By whoever skips. */
	std::mutex mutex_;
	std::string why_;   /* written once in a run, under the mutex              */
	std::atomic<bool> skipped_{false};

	/* Thread 0 only. */
	struct record {
		size_t batch = 1;
		bool skipped = false;
		std::string why;
	};
	std::map<row, record> records_;
};

/* Ends the program unless `right`. */
inline void must(bool right, const char *function, const gbench *benchmark, const char *otherwise)
{
	if (!right)
		die(function, benchmark ? benchmark->name.c_str() : "", "%s", otherwise);
}

#endif
