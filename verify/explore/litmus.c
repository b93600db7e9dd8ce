/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - the explorer's own tests: small programs whose outcomes C11 settles, or what a sleep is.
 *
 * Idea         Each thread notes what it read; an outcome that C11 forbids must never be seen in an exhausted search,
 *              and one that it allows (and the model claims to show) must be seen.  The names are those of the
 *              literature (Alglave, Maranget, Tautschnig 2014).  What must fail must fail under each strategy, and fail
 *              again when it is replayed.
 */
#include "explore.h"

#include "os/os.h"
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

/* Programs of one line. */
/* clang-format off */

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

/* ---- Sleep ---- */

static _Atomic(uint64_t) word, other_word;
#define TIMEOUT 5

static void give(_Atomic(uint64_t) *wakes)
{
	explore_plain(&datum, true);
	store_release(&word, 1);
	if (wakes)
		os_wake(wakes);
}

/* Sleeps until there is a word, and reads the datum. */
static void await(void)
{
	while (!load_acquire(&word))
		os_sleep_on(&word, 0, UINT64_MAX);
	explore_plain(&datum, false);
}

static void sleep_woken(unsigned t) { t ? await() : give(&word); }
static void sleep_forgotten(unsigned t) { t ? await() : give(NULL); }
static void sleep_other_woken(unsigned t) { t ? await() : give(&other_word); }

/* The word says nothing: a wake before the sleep is lost. */
static void sleep_lost(unsigned t)
{
	if (t == 0) {
		SET(x, 1, RLX);
		os_wake(&word);
	} else if (!GET(x, RLX)) {
		os_sleep_on(&word, 0, UINT64_MAX);
	}
}

static void sleep_upper_half(unsigned t)
{
	if (t == 0) {
		store_release(&word, UINT64_C(1) << 32);
		os_wake(&word);
	} else {
		while (!(uint32_t)load_acquire(&word))
			os_sleep_on(&word, 0, UINT64_MAX);
	}
}

/* Each says what it did, then looks what the other did: as waiter and releaser do. */
static void dekker(unsigned t, void (*waiter)(void), void (*releaser)(void))
{
	if (t == 0) {
		SET(x, 1, RLX);
		releaser();
		if (GET(y, RLX))
			give(&word);
	} else {
		SET(y, 1, RLX);
		waiter();
		if (!GET(x, RLX))
			await();
	}
}
static void dekker_fences(unsigned t) { dekker(t, explore_fence, explore_fence); }
static void dekker_membarrier(unsigned t) { dekker(t, memory_barrier_everywhere, nothing); }
static void dekker_waiter_unfenced(unsigned t) { dekker(t, nothing, explore_fence); }
static void dekker_releaser_unfenced(unsigned t) { dekker(t, explore_fence, nothing); }

/* r[0]: given, r[1]: the time was over, r[2]: neither, at least once. */
static void sleep_deadline(unsigned t)
{
	const uint64_t deadline = os_now_ns() + TIMEOUT;

	if (t == 0) {
		give(&word);
		return;
	}
	while (!r[0] && !r[1]) {
		os_sleep_on(&word, 0, deadline);
		r[0] = load_acquire(&word) != 0;
		r[1] = os_now_ns() >= deadline;
		r[2] |= !r[0] && !r[1];
	}
}
static bool given_in_time(void) { return r[0] && !r[1]; }
static bool given_too_late(void) { return r[0] && r[1]; }
static bool not_given(void) { return !r[0] && r[1]; }
static bool woken_for_nothing(void) { return r[2]; }
static bool clock_went_wrong(void) { return os_now_ns() != (r[1] ? 1 + TIMEOUT : 1); }

/* Nobody gives: time is over although nobody else could run. */
static void sleep_alone(unsigned t)
{
	while (t && os_now_ns() < TIMEOUT)
		os_sleep_on(&word, 0, TIMEOUT);
}
static bool time_is_over(void) { return os_now_ns() == TIMEOUT; }

static const struct litmus {
	const char *name;
	unsigned threads;
	void (*run)(unsigned thread);
	bool (*outcome)(void);
	bool allowed;
	const char *failure;
} tests[] = {
	{"SB relaxed", 2, sb_relaxed, both_zero, true, NULL},
	{"SB, a fence on one side", 2, sb_one_fence, both_zero, true, NULL},
	{"SB, fences on both sides", 2, sb_fences, both_zero, false, NULL},
	{"SB, membarrier on one side", 2, sb_membarrier, both_zero, false, NULL},
	{"MP relaxed", 2, mp_relaxed, flag_without_data, true, NULL},
	{"MP release, relaxed", 2, mp_release_only, flag_without_data, true, NULL},
	{"MP relaxed, acquire", 2, mp_acquire_only, flag_without_data, true, NULL},
	{"MP release, acquire", 2, mp_release_acquire, flag_without_data, false, NULL},
	{"MP with fences", 2, mp_fences, flag_without_data, false, NULL},
	{"release sequence through a read-modify-write", 3, release_sequence, flag_without_data, false, NULL},
	{"release sequence broken by a relaxed store", 2, broken_sequence, flag_without_data, true, NULL},
	{"CoRR", 2, corr, backwards, false, NULL},
	{"IRIW release, acquire", 4, iriw_acquire, readers_disagree, true, NULL},
	{"IRIW with fences", 4, iriw_fences, readers_disagree, false, NULL},
	{"WRC release, acquire", 3, wrc, causality_broken, false, NULL},
	{"two compare-and-swaps", 2, two_cas, both_one, false, NULL},
	{"weak compare-and-swap fails for no reason", 2, weak_cas, failed_for_nothing, true, NULL},
	{"plain data, release and acquire", 2, plain_ordered, never, false, NULL},
	{"plain data, no release", 2, plain_no_release, never, false, "data race"},
	{"plain data, no acquire", 2, plain_no_acquire, never, false, "data race"},
	{"sleep and wake", 2, sleep_woken, never, false, NULL},
	{"one wake for two", 3, sleep_woken, never, false, NULL},
	{"a forgotten wake", 2, sleep_forgotten, never, false, "deadlock"},
	{"a wake of another word", 2, sleep_other_woken, never, false, "deadlock"},
	{"a wake that comes before the sleep", 2, sleep_lost, never, false, "deadlock"},
	{"a wake with nothing in the lower half", 2, sleep_upper_half, never, false, "deadlock"},
	{"waiter and releaser, fences", 2, dekker_fences, never, false, NULL},
	{"waiter and releaser, membarrier", 2, dekker_membarrier, never, false, NULL},
	{"waiter without a fence", 2, dekker_waiter_unfenced, never, false, "deadlock"},
	{"releaser without a fence", 2, dekker_releaser_unfenced, never, false, "deadlock"},
	{"given in time", 2, sleep_deadline, given_in_time, true, NULL},
	{"given too late", 2, sleep_deadline, given_too_late, true, NULL},
	{"not given", 2, sleep_deadline, not_given, true, NULL},
	{"woken for nothing", 2, sleep_deadline, woken_for_nothing, true, NULL},
	{"the clock goes on by time-outs alone", 2, sleep_deadline, clock_went_wrong, false, NULL},
	{"the last one's time is over", 2, sleep_alone, time_is_over, true, NULL},
};

static bool seen;

static void reset(void *context)
{
	(void)context;
	x = y = datum = 0;
	memset(r, 0, sizeof(r));
	word = other_word = 0;
}

static void run(void *context, unsigned thread)
{
	((const struct litmus *)context)->run(thread);
}

static void finish(void *context)
{
	seen = seen || ((const struct litmus *)context)->outcome();
}

/* Under each strategy, and again when it is replayed. */
static bool always_fails(const struct program *program, const char *failure)
{
	static struct result result, again;

	for (enum strategy strategy = DEPTH_FIRST; strategy < REPLAY; strategy++) {
		struct search search = {.strategy = strategy, .weak = true, .preemptions = 8, .stale = 8, .spurious = 1, .depth = 4,
					.seed = 1, .executions_max = UINT64_C(100000)};

		engine_search(&search, program, &result);
		search.strategy = REPLAY;
		search.replay = result.replay;
		engine_search(&search, program, &again);
		if (!result.failed || !strstr(result.message, failure) || strcmp(result.message, again.message) != 0)
			return false;
	}
	return true;
}

static bool check(const struct litmus *test, bool verbose)
{
	struct search search = {.strategy = DEPTH_FIRST, .weak = true, .preemptions = 8, .stale = 8, .spurious = 1,
				.executions_max = UINT64_C(10000000)};
	struct program program = {test->threads, reset, run, finish, (void *)(uintptr_t)test};
	static struct result result;
	bool good;

	seen = false;
	engine_search(&search, &program, &result);
	good = test->failure ? always_fails(&program, test->failure)
			     : !result.failed && result.exhausted && seen == test->allowed;
	if (verbose || !good)
		printf("%s  %-46s %-11s %s%llu executions%s\n", good ? "ok  " : "FAIL", test->name,
		       test->failure ? test->failure : test->allowed ? "allowed" : "forbidden",
		       result.failed ? "found, " : seen ? "seen, " : "not seen, ", (unsigned long long)result.executions,
		       result.exhausted ? ", exhausted" : "");
	return good;
}

int litmus_run(bool verbose)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(&tests[i], verbose) ? passed++ : failed++;
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
