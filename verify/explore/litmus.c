/* SPDX-License-Identifier: MIT */
/*
 * litmus.c - the explorer's own tests: small programs whose outcomes C11 settles.
 *
 * Idea         Each thread records the values it read.  An exhausted search must not show an outcome that C11
 *              forbids, and must show each outcome that C11 allows and the model claims to cover.  The names are
 *              those of the literature (Alglave, Maranget, Tautschnig 2014). Failing programs must fail under each
 *              strategy, and again when replayed.
 *
 * A program is a text for each thread, of words.  x and y are locations, 0 to 3 registers, d is plain data:
 *
 *   x=1, x=1r   stores, relaxed or release         0=x, 0=xa   loads into register 0, relaxed or acquire
 *   x+1         adds 1                             0=x?1       compare-and-swap from 0 to 1; register 0: success
 *                                                  0=x~1       the weak one; register 0: failure
 *   F, M        a fence; membarrier                d!, d?      writes, reads the plain data
 *   then        continues if the last load read a nonzero value
 *
 * An outcome: "0=1 1=0", registers and values, = or > (another register's).
 */
#include "explore.h"

#include "verbs.h"

#include <stdio.h>
#include <string.h>

static uint32_t x, y, datum;
static uint64_t r[4];

static const struct litmus {
	const char *name;
	const char *threads[THREADS_MAX];
	const char *outcome; /* NULL: none is looked for */
	bool allowed;
	const char *failure;
} tests[] = {
	{"SB relaxed", {"x=1 0=y", "y=1 1=x"}, "0=0 1=0", true, NULL},
	{"SB, a fence on one side", {"x=1 0=y", "y=1 F 1=x"}, "0=0 1=0", true, NULL},
	{"SB, fences on both sides", {"x=1 F 0=y", "y=1 F 1=x"}, "0=0 1=0", false, NULL},
	{"SB, membarrier on one side", {"x=1 0=y", "y=1 M 1=x"}, "0=0 1=0", false, NULL},
	{"MP relaxed", {"x=1 y=1", "0=y 1=x"}, "0=1 1=0", true, NULL},
	{"MP release, relaxed", {"x=1 y=1r", "0=y 1=x"}, "0=1 1=0", true, NULL},
	{"MP relaxed, acquire", {"x=1 y=1", "0=ya 1=x"}, "0=1 1=0", true, NULL},
	{"MP release, acquire", {"x=1 y=1r", "0=ya 1=x"}, "0=1 1=0", false, NULL},
	{"MP with fences", {"x=1 F y=1", "0=y F 1=x"}, "0=1 1=0", false, NULL},
	{"release sequence through a read-modify-write", {"x=1 y=1r", "y+1", "0=ya 1=x"}, "0=2 1=0", false, NULL},
	{"release sequence broken by a relaxed store", {"x=1 y=1r y=2", "0=ya 1=x"}, "0=2 1=0", true, NULL},
	{"CoRR", {"x=1 x=2", "0=x 1=x"}, "0>1", false, NULL},
	{"IRIW release, acquire", {"x=1r", "y=1r", "0=xa 1=ya", "2=ya 3=xa"}, "0=1 1=0 2=1 3=0", true, NULL},
	{"IRIW with fences", {"x=1r", "y=1r", "0=xa F 1=ya", "2=ya F 3=xa"}, "0=1 1=0 2=1 3=0", false, NULL},
	/* Write-to-read causality: the second thread reads the first one's write, and releases; the third acquires. */
	{"WRC release, acquire", {"x=1", "2=x y=1r", "0=ya 1=x"}, "2=1 0=1 1=0", false, NULL},
	{"two compare-and-swaps", {"0=x?1", "1=x?2"}, "0=1 1=1", false, NULL},
	{"weak compare-and-swap fails for no reason", {"0=x~1", "1=x"}, "0=1", true, NULL},
	/* A race unless the flag is release and acquire. */
	{"plain data, release and acquire", {"d! y=1r", "0=ya then d?"}, NULL, false, NULL},
	{"plain data, no release", {"d! y=1", "0=ya then d?"}, NULL, false, "data race"},
	{"plain data, no acquire", {"d! y=1r", "0=y then d?"}, NULL, false, "data race"},
};

/* ---- Words ---- */

/* "x=1r" and "x+1". */
static void change(uint32_t *location, const char *at)
{
	const uint32_t value = (uint32_t)(at[2] - '0');

	if (at[1] == '+')
		(void)explore_add(location, sizeof(*location), value);
	else
		explore_store(location, sizeof(*location), value, at[3] == 'r' ? EXPLORE_RELEASE : EXPLORE_RELAXED);
}

/* "0=xa" and "0=x?1". */
static uint64_t look(uint32_t *location, const char *at)
{
	uint32_t expected = 0;

	if (at[3] != '?' && at[3] != '~')
		return explore_load(location, sizeof(*location), at[3] == 'a' ? EXPLORE_ACQUIRE : EXPLORE_RELAXED);

	const bool weak = at[3] == '~';

	return explore_cas(location, sizeof(*location), &expected, (uint64_t)(at[4] - '0'), weak, EXPLORE_RELAXED,
			   EXPLORE_RELAXED) != weak;
}

/* False: the rest of the program is skipped. */
static bool do_word(const char *at, uint64_t *loaded)
{
	if (at[1] == '=' && *at >= '0' && *at <= '3')
		*loaded = r[*at - '0'] = look(at[2] == 'x' ? &x : &y, at);
	else if (*at == 'x' || *at == 'y')
		change(*at == 'x' ? &x : &y, at);
	else if (*at == 'F')
		explore_fence();
	else if (*at == 'M')
		memory_barrier_everywhere();
	else if (*at == 'd')
		explore_plain(&datum, at[1] == '!');
	else
		return *loaded != 0;
	return true;
}

static bool outcome_seen(const char *at)
{
	bool all = at != NULL;

	for (; all && at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
		const uint64_t left = r[*at - '0'], right = (uint64_t)(at[2] - '0');

		all = at[1] == '=' ? left == right : left > r[right];
	}
	return all;
}

/* ---- Searches ---- */

static bool seen;

static void reset(void *context)
{
	(void)context;
	x = y = datum = 0;
	memset(r, 0, sizeof(r));
}

static void run(void *context, unsigned thread)
{
	uint64_t loaded = 0;

	for (const char *at = ((const struct litmus *)context)->threads[thread]; at && *at && do_word(at, &loaded);)
		at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL;
}

static void finish(void *context)
{
	seen = seen || outcome_seen(((const struct litmus *)context)->outcome);
}

static const struct search exhaustive = {.strategy = DEPTH_FIRST,
					 .weak = true,
					 .preemptions = 8,
					 .stale = 8,
					 .spurious = 1,
					 .depth = 4,
					 .seed = 1,
					 .executions_max = UINT64_C(10000000)};

/* Does it fail with `failure` under each strategy, and again when replayed? */
static bool always_fails(const struct program *program, const char *failure)
{
	static struct result result, again;

	for (enum strategy strategy = DEPTH_FIRST; strategy < REPLAY; strategy++) {
		struct search search = exhaustive;

		search.strategy = strategy;
		search.executions_max = 100000;
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
	struct program program = {0, reset, run, finish, (void *)(uintptr_t)test};
	static struct result result;
	bool good;

	seen = false;
	while (program.threads < THREADS_MAX && test->threads[program.threads])
		program.threads++;
	engine_search(&exhaustive, &program, &result);
	good = test->failure ? always_fails(&program, test->failure)
			     : !result.failed && result.exhausted && seen == test->allowed;
	if (verbose || !good)
		printf("%s  %-46s %-11s %s%llu executions%s\n", good ? "ok  " : "FAIL", test->name,
		       test->failure   ? test->failure
		       : test->allowed ? "allowed"
				       : "forbidden",
		       result.failed ? "found, "
		       : seen        ? "seen, "
				     : "not seen, ",
		       (unsigned long long)result.executions, result.exhausted ? ", exhausted" : "");
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
