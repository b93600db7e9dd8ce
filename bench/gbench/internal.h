/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what stands behind gbench_t and gbench_state_t; C++, for gbench.cc and state.cc only.
 *
 * Idea         A gbench is a benchmark of the library's with a Run() of our own, since the library's Setup() and
 *              Teardown() take functions without a context.  The library calls Run() in each thread of a run.  There is
 *              one run at a time, and all its threads have ended before the next begins: so what the threads of a run
 *              share can lie in the gbench itself.
 * Barriers     everyone_ surrounds the fixtures, and no thread ever misses it.  meeting_ is gbench_rendezvous(); a
 *              thread leaves it when it skips or returns.
 * The trap     The library has two barriers of its own, at both ends of the loop, where only threads whose
 *              Run() has returned are not waited for.  A thread that has skipped and waits for teardown in our Run()
 *              would keep the others there for ever: it must walk through both first (finish()).
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
#include <string>

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

enum status {
	FIXTURE = 1, /* in setup or teardown             */
	PAUSED = 2,  /* between gbench_pause and _resume */
	DONE = 4,    /* gbench_next has said false       */
	SKIPPED = 8
};

} // namespace gbench_internal

using namespace gbench_internal;

struct gbench_state {
	benchmark::State &google;
	gbench &owner;
	unsigned status;
};

struct gbench final : public benchmark::internal::Benchmark {
	gbench(const char *benchmark_name, gbench_fn *run, void *run_context)
		: Benchmark(benchmark_name), name(benchmark_name), run_(run), context_(run_context)
	{
	}

	/* An exception of a callback that is written in C++ ends the program here. */
	void Run(benchmark::State &google) noexcept override
	{
		gbench_state state = {google, *this, 0};
		const bool first = google.thread_index() == 0;

		if (first) {
			meeting_.reopen();
			skipped_.store(false, std::memory_order_relaxed);
			call_fixture(setup, &state);
			skipped_in_setup_ = skipped();
		}
		everyone_.wait(google.threads());
		if (!skipped_in_setup_)
			run_(&state, context_);
		else if (!first)
			skip(&state, "skipped in setup");
		finish(&state);
		everyone_.wait(google.threads());
		if (first)
			call_fixture(teardown, &state);
		everyone_.wait(google.threads());
	}

	void skip(gbench_state *state, const char *why)
	{
		state->google.SkipWithError(why);
		state->status = (state->status | SKIPPED) & ~unsigned(PAUSED);
		/* release: what the thread wrote before it skipped. */
		skipped_.store(true, std::memory_order_release);
		meeting_.leave(state->google.threads());
	}

	bool skipped() const
	{
		/* acquire: see skip(). */
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
	void call_fixture(gbench_fn *fixture, gbench_state *state)
	{
		if (!fixture)
			return;
		state->status |= FIXTURE;
		fixture(state, context_);
		state->status &= ~unsigned(FIXTURE);
	}

	/* The thread has returned from the function; afterwards it has passed both barriers of the library's. */
	void finish(gbench_state *state)
	{
		if (state->status & SKIPPED) {
			/* After SkipWithError() one call goes through what is left of the two, and says false. */
			if (!(state->status & DONE))
				(void)state->google.KeepRunning();
			state->status |= DONE;
		} else if (!(state->status & DONE)) {
			die("gbench_run", name.c_str(),
			    "the function returned before gbench_next() said false, and without gbench_skip()");
		} else {
			meeting_.leave(state->google.threads());
		}
	}

	gbench_fn *const run_;
	void *const context_;
	barrier everyone_, meeting_;
	std::atomic<bool> skipped_{false};
	bool skipped_in_setup_ = false; /* written by thread 0; everyone_ is between that and the others' look */
};

/* Ends the program unless `right`. */
inline void must(bool right, const char *function, const gbench *benchmark, const char *otherwise)
{
	if (!right)
		die(function, benchmark ? benchmark->name.c_str() : "", "%s", otherwise);
}

#endif
