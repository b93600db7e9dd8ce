/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - the memory model's own tests: twelve small programs whose outcomes C11 settles.
 *
 * Idea         Each thread notes what it read; an outcome that C11 forbids must never be seen in an exhausted search,
 *              and one that it allows (and the model claims to show) must be seen.  The names are those of the
 *              literature (Alglave, Maranget, Tautschnig 2014).
 */
#include "explore.h"

#include "verbs.h"

#include <stdio.h>
#include <string.h>

#define DONE 99u

static uint32_t x, y, datum;
static uint32_t r[4];

/* The verbs ask for the types of atomics only to find the value's type. */
#define SET(p, v, order) EXPLORE_STORE(&(p), (uint32_t)(v), order)
#define GET(p, order) EXPLORE_LOAD(&(p), order)
#define RLX EXPLORE_RELAXED
#define ACQ EXPLORE_ACQUIRE
#define REL EXPLORE_RELEASE

static void sb(unsigned t, void (*between)(void))
{
	SET(*(t ? &y : &x), 1, RLX);
	between();
	r[t] = GET(*(t ? &x : &y), RLX);
}

static void nothing(void)
{
}

static void sb_relaxed(unsigned t) { sb(t, nothing); }
static void sb_fences(unsigned t) { sb(t, explore_fence); }
static void sb_one_fence(unsigned t) { sb(t, t ? explore_fence : nothing); }
static void sb_membarrier(unsigned t) { sb(t, t ? memory_barrier_everywhere : nothing); }
static bool both_zero(void) { return r[0] == 0 && r[1] == 0; }

static void mp(unsigned t, enum explore_order store, enum explore_order load)
{
	if (t == 0) {
		SET(x, 1, RLX);
		SET(y, 1, store);
	} else {
		r[0] = GET(y, load);
		r[1] = GET(x, RLX);
	}
}

static void mp_relaxed(unsigned t) { mp(t, RLX, RLX); }
static void mp_release_only(unsigned t) { mp(t, REL, RLX); }
static void mp_acquire_only(unsigned t) { mp(t, RLX, ACQ); }
static void mp_release_acquire(unsigned t) { mp(t, REL, ACQ); }
static bool flag_without_data(void) { return r[0] == 1 && r[1] == 0; }

static void mp_fences(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
		explore_fence();
		SET(y, 1, RLX);
	} else {
		r[0] = GET(y, RLX);
		explore_fence();
		r[1] = GET(x, RLX);
	}
}

/* A read-modify-write in between continues the release sequence; a plain store does not. */
static void release_sequence(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
		SET(y, 1, REL);
	} else if (t == 1) {
		(void)explore_add(&y, sizeof(y), 1);
	} else {
		r[0] = GET(y, ACQ) == 2;
		r[1] = GET(x, RLX);
	}
}

static void broken_sequence(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
		SET(y, 1, REL);
		SET(y, 2, RLX);
	} else {
		r[0] = GET(y, ACQ) == 2;
		r[1] = GET(x, RLX);
	}
}

static void corr(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
		SET(x, 2, RLX);
	} else {
		r[0] = GET(x, RLX);
		r[1] = GET(x, RLX);
	}
}
static bool backwards(void) { return r[0] > r[1]; }

static void iriw(unsigned t, void (*between)(void))
{
	if (t < 2) {
		SET(*(t ? &y : &x), 1, REL);
	} else {
		unsigned first = t == 2 ? 0 : 2;

		r[first] = GET(*(t == 2 ? &x : &y), ACQ);
		between();
		r[first + 1] = GET(*(t == 2 ? &y : &x), ACQ);
	}
}
static void iriw_acquire(unsigned t) { iriw(t, nothing); }
static void iriw_fences(unsigned t) { iriw(t, explore_fence); }
static bool readers_disagree(void) { return r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0; }

/* Write-to-read causality: 0 writes, 1 sees it and releases, 2 sees that. */
static void wrc(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
	} else if (t == 1) {
		r[2] = GET(x, RLX);
		SET(y, 1, REL);
	} else {
		r[0] = GET(y, ACQ);
		r[1] = GET(x, RLX);
	}
}
static bool causality_broken(void) { return r[2] == 1 && r[0] == 1 && r[1] == 0; }

/* Two compare-and-swaps of one value: never do both succeed. */
static void two_cas(unsigned t)
{
	uint32_t expected = 0;

	r[t] = explore_cas(&x, sizeof(x), &expected, t + 1, false, RLX, RLX);
}
static bool both_one(void) { return r[0] == 1 && r[1] == 1; }

static void weak_cas(unsigned t)
{
	uint32_t expected = 0;

	if (t == 0)
		r[0] = !explore_cas(&x, sizeof(x), &expected, 1, true, RLX, RLX);
	else
		(void)GET(x, RLX);
}
static bool failed_for_nothing(void) { return r[0] == 1; }

/* Plain data behind a flag: a race unless the flag is release and acquire. */
static void plain(unsigned t, enum explore_order store, enum explore_order load)
{
	if (t == 0) {
		explore_plain(&datum, true);
		SET(y, 1, store);
	} else if (GET(y, load)) {
		explore_plain(&datum, false);
	}
}
static void plain_ordered(unsigned t) { plain(t, REL, ACQ); }
static void plain_no_release(unsigned t) { plain(t, RLX, ACQ); }
static void plain_no_acquire(unsigned t) { plain(t, REL, RLX); }
static bool never(void) { return false; }

static const struct litmus {
	const char *name;
	unsigned threads;
	void (*run)(unsigned thread);
	bool (*outcome)(void);
	bool allowed;
	bool race;
} tests[] = {
	{"SB relaxed", 2, sb_relaxed, both_zero, true, false},
	{"SB, a fence on one side", 2, sb_one_fence, both_zero, true, false},
	{"SB, fences on both sides", 2, sb_fences, both_zero, false, false},
	{"SB, membarrier on one side", 2, sb_membarrier, both_zero, false, false},
	{"MP relaxed", 2, mp_relaxed, flag_without_data, true, false},
	{"MP release, relaxed", 2, mp_release_only, flag_without_data, true, false},
	{"MP relaxed, acquire", 2, mp_acquire_only, flag_without_data, true, false},
	{"MP release, acquire", 2, mp_release_acquire, flag_without_data, false, false},
	{"MP with fences", 2, mp_fences, flag_without_data, false, false},
	{"release sequence through a read-modify-write", 3, release_sequence, flag_without_data, false, false},
	{"release sequence broken by a relaxed store", 2, broken_sequence, flag_without_data, true, false},
	{"CoRR", 2, corr, backwards, false, false},
	{"IRIW release, acquire", 4, iriw_acquire, readers_disagree, true, false},
	{"IRIW with fences", 4, iriw_fences, readers_disagree, false, false},
	{"WRC release, acquire", 3, wrc, causality_broken, false, false},
	{"two compare-and-swaps", 2, two_cas, both_one, false, false},
	{"weak compare-and-swap fails for no reason", 2, weak_cas, failed_for_nothing, true, false},
	{"plain data, release and acquire", 2, plain_ordered, never, false, false},
	{"plain data, no release", 2, plain_no_release, never, false, true},
	{"plain data, no acquire", 2, plain_no_acquire, never, false, true},
};

static bool seen;

static void reset(void *context)
{
	(void)context;
	x = y = datum = 0;
	memset(r, 0, sizeof(r));
}

static void run(void *context, unsigned thread)
{
	((const struct litmus *)context)->run(thread);
}

static void finish(void *context)
{
	seen = seen || ((const struct litmus *)context)->outcome();
}

int litmus_run(bool verbose)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const struct litmus *test = &tests[i];
		struct search search = {.strategy = DEPTH_FIRST, .weak = true, .preemptions = 8, .stale = 8,
					.spurious = 1, .executions_max = UINT64_C(10000000)};
		struct program program = {test->threads, reset, run, finish, (void *)(uintptr_t)test};
		struct result result;

		seen = false;
		engine_search(&search, &program, &result);

		bool good = test->race ? result.failed
				       : !result.failed && result.exhausted && seen == test->allowed;

		if (verbose || !good)
			printf("%s  %-46s %-11s %s%llu executions%s\n", good ? "ok  " : "FAIL", test->name,
			       test->race ? "a race" : test->allowed ? "allowed" : "forbidden",
			       result.failed ? "race found, " : seen ? "seen, " : "not seen, ",
			       (unsigned long long)result.executions, result.exhausted ? ", exhausted" : "");
		good ? passed++ : failed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
