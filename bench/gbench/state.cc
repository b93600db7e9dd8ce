/* SPDX-License-Identifier: MIT */
/*
 * state.cc - what a benchmark's function calls: the loop, the rendezvous, what to know, what to report.
 *
 * Idea         Each call goes to the library's State after a look at where the thread is.  In gbench_next() that is one
 *              test of one word.
 */
#include "internal.h"

#include <cmath>

namespace {

void must_be_in_function(const gbench_state *state, const char *function)
{
	must(!(state->status & FIXTURE), function, &state->owner, "not in setup or teardown");
}

void must_be_in_loop(const gbench_state *state, const char *function)
{
	const bool in_loop = !(state->status & (FIXTURE | DONE)) && state->google.iterations() > 0;

	must(in_loop, function, &state->owner, "not in the loop");
}

/* gbench_next() where it is not simply the next: false, after it has said so before or the thread has skipped. */
bool refuse(const gbench_state *state, const char *function)
{
	must_be_in_function(state, function);
	must(!(state->status & PAUSED), function, &state->owner, "the timing is paused, gbench_resume() is missing");
	return false;
}

} // namespace

/* ---- The loop ---- */

bool gbench_next(gbench_state_t *state)
{
	if (__builtin_expect(state->status, 0))
		return refuse(state, __func__);
	if (state->google.KeepRunning())
		return true;
	state->status |= DONE;
	return false;
}

bool gbench_next_batch(gbench_state_t *state, size_t count)
{
	must(count >= 1 && count <= size_t(INT64_MAX), __func__, &state->owner, "not a number of iterations");
	if (__builtin_expect(state->status, 0))
		return refuse(state, __func__);
	state->batch = count;
	if (state->google.KeepRunningBatch(int64_t(count)))
		return true;
	state->status |= DONE;
	return false;
}

void gbench_pause(gbench_state_t *state)
{
	if (state->status & SKIPPED)
		return;
	must_be_in_loop(state, __func__);
	must(!(state->status & PAUSED), __func__, &state->owner, "paused already");
	state->status |= PAUSED;
	state->google.PauseTiming();
}

void gbench_resume(gbench_state_t *state)
{
	if (state->status & SKIPPED)
		return;
	must_be_in_loop(state, __func__);
	must(state->status & PAUSED, __func__, &state->owner, "not paused");
	state->status &= ~unsigned(PAUSED);
	state->google.ResumeTiming();
}

void gbench_set_iteration_time(gbench_state_t *state, double seconds)
{
	must(std::isfinite(seconds) && seconds >= 0, __func__, &state->owner, "not a time");
	state->google.SetIterationTime(seconds);
}

void gbench_skip(gbench_state_t *state, const char *why)
{
	must(why, __func__, &state->owner, "no reason");
	if (!(state->status & SKIPPED))
		guarded(__func__, state->owner.name.c_str(), [&] { state->owner.skip(state, why); });
}

bool gbench_skipped(const gbench_state_t *state)
{
	return state->owner.skipped();
}

void gbench_rendezvous(gbench_state_t *state)
{
	must_be_in_function(state, __func__);
	if (!(state->status & SKIPPED))
		guarded(__func__, state->owner.name.c_str(), [&] { state->owner.meet(state->google.threads()); });
}

/* ---- What to know, what to report ---- */

int64_t gbench_state_arg(const gbench_state_t *state, size_t index)
{
	const int count = state->owner.arguments();

	if (count < 0 || index >= size_t(count))
		die(__func__, state->owner.name.c_str(), "argument %zu of %d", index, count);
	return state->google.range(index);
}

int gbench_state_threads(const gbench_state_t *state)
{
	return state->google.threads();
}

int gbench_state_thread_index(const gbench_state_t *state)
{
	return state->google.thread_index();
}

int64_t gbench_state_iterations(const gbench_state_t *state)
{
	return state->google.iterations();
}

void gbench_set_label(gbench_state_t *state, const char *label)
{
	must(label, __func__, &state->owner, "no label");
	guarded(__func__, state->owner.name.c_str(), [&] { state->google.SetLabel(label); });
}

void gbench_set_items(gbench_state_t *state, int64_t items)
{
	guarded(__func__, state->owner.name.c_str(), [&] { state->google.SetItemsProcessed(items); });
}

void gbench_set_bytes(gbench_state_t *state, int64_t bytes)
{
	guarded(__func__, state->owner.name.c_str(), [&] { state->google.SetBytesProcessed(bytes); });
}

void gbench_counter(gbench_state_t *state, const char *name, double value, unsigned flags)
{
	typedef benchmark::Counter Counter;
	static const Counter::Flags google[] = {Counter::kIsRate, Counter::kAvgThreads, Counter::kIsIterationInvariant,
						Counter::kAvgIterations, Counter::kInvert};
	Counter::Flags all = Counter::kDefaults;

	must(name && *name, __func__, &state->owner, "no name");
	must(flags <= 63, __func__, &state->owner, "unknown flags");
	for (unsigned bit = 0; bit < 5; bit++)
		if (flags & (1u << bit))
			all = all | google[bit];
	guarded(__func__, state->owner.name.c_str(), [&] {
		state->google.counters[name] =
			Counter(value, all, flags & GBENCH_COUNTER_1024 ? Counter::kIs1024 : Counter::kIs1000);
	});
}
