/* SPDX-License-Identifier: MIT */
/*
 * run.cc - one thread's part of a run: fixtures, the function, and the way out for those that skip.
 *
 * Idea         Thread 0 does what is done once, and all threads meet before and after it.
 * Barriers     The library has two of its own, at both ends of the loop, where only threads whose Run() has returned
 *              are not waited for.  A thread that has skipped and waits in our Run() for teardown would keep the others
 *              there for ever.  So it walks through both first.
 * Skips        gbench_skip() leaves the library's State alone until the function has returned.  The library takes mean
 *              and deviation over the repetitions of a row, and for that version 1.7.1
 *                - insists on equal iterations in all of them, also in those that skipped: so walk_through() counts up
 *                  to what the loop would have counted;
 *                - uses the list of statistics of the first one, which is not set if that skipped and others did not
 *                  (google/benchmark, issue 1406): so a row that has skipped skips all its repetitions that follow.
 */
#include "internal.h"

void gbench::Run(benchmark::State &google) noexcept
{
	gbench_state state = {google, *this, 0, 1};
	const int threads = google.threads();
	const bool first = google.thread_index() == 0;

	if (first)
		begin(&state);
	everyone_.wait(threads);
	if (!void_)
		run_(&state, context_);
	else if (!(state.status & SKIPPED))
		skip(&state, why_.c_str());
	finish(&state);
	everyone_.wait(threads);
	if (first)
		end(&state);
	everyone_.wait(threads);
}

void gbench::skip(gbench_state *state, const char *why)
{
	{
		std::lock_guard<std::mutex> lock(mutex_);

		/* relaxed: under the mutex. */
		if (!skipped_.load(std::memory_order_relaxed))
			why_ = why;
		/* release: what the thread wrote before it skipped. */
		skipped_.store(true, std::memory_order_release);
	}
	if (state->status & PAUSED)
		state->google.ResumeTiming();
	state->status = (state->status | SKIPPED) & ~unsigned(PAUSED);
	meeting_.leave(state->google.threads());
	if (state->status & LEFT)
		state->google.SkipWithError(why_.c_str());
}

gbench::row gbench::row_of(const benchmark::State &google) const
{
	row found(1, google.threads());

	for (int i = 0; i < arguments(); i++)
		found.push_back(google.range(size_t(i)));
	return found;
}

/* Thread 0, before all others. */
void gbench::begin(gbench_state *state)
{
	const record &before = records_[row_of(state->google)];

	meeting_.reopen();
	skipped_.store(false, std::memory_order_relaxed);
	batch_ = before.batch;
	if (before.skipped)
		skip(state, before.why.c_str());
	else
		call_fixture(setup, state);
	void_ = skipped();
}

/* Thread 0, after all others. */
void gbench::end(gbench_state *state)
{
	record &now = records_[row_of(state->google)];

	if (now.skipped)
		return;
	call_fixture(teardown, state);
	if (state->batch > 1)
		now.batch = state->batch;
	now.skipped = skipped();
	now.why = now.skipped ? why_ : "";
}

void gbench::call_fixture(gbench_fn *fixture, gbench_state *state)
{
	if (!fixture)
		return;
	state->status |= FIXTURE;
	fixture(state, context_);
	state->status &= ~unsigned(FIXTURE);
}

/* The thread has returned from the function; afterwards it has passed both barriers of the library's. */
void gbench::finish(gbench_state *state)
{
	state->status |= LEFT;
	if (!(state->status & SKIPPED)) {
		if (!(state->status & DONE))
			die("gbench_run", name.c_str(),
			    "the function returned before gbench_next() said false, and without gbench_skip()");
		meeting_.leave(state->google.threads());
		return;
	}
	if (!(state->status & DONE))
		walk_through(state);
	state->google.SkipWithError(why_.c_str());
}

/* The rest of the library's loop, as if it had been done. */
void gbench::walk_through(gbench_state *state)
{
	const int64_t batch = int64_t(state->batch > 1 ? state->batch : batch_);
	const int64_t rest = state->google.max_iterations - state->google.iterations();

	if (rest >= batch)
		(void)state->google.KeepRunningBatch(rest - rest % batch);
	if (rest > 0 && rest % batch > 0)
		(void)state->google.KeepRunningBatch(batch);
	(void)state->google.KeepRunning();
	state->status |= DONE;
}
