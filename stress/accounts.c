/* SPDX-License-Identifier: MIT */
/*
 * accounts.c - compares lfpool_stats() with the harness's counts, and times the calls that wait.
 *
 * Statistics   With no thread in a call, the identity of lfpool/report.h holds exactly, and the acquires and releases
 *              equal the harness's counts.
 * Mark         high_water is at least the most objects seen in use at once, by one worker or by all at a meeting, and
 *              at most the number of objects.  Some meetings reset it.
 * Lateness     A busy machine delays the harness as much as a call.  So now and then a worker sleeps for as long as
 *              it has waited in vain, and the least late of LATE_WAITS calls is compared with the latest such sleep.
 *              This finds only errors that make every call late; tests/os/unit_late.c checks single calls.
 */
#include "faults.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* The fewest waits and sleeps that are compared. */
#define LATE_WAITS 64
#define OWN_SLEEPS 16
/* On a slow machine even the least late of LATE_WAITS calls may exceed the latest sleep by this time. */
#define WORK_NS UINT64_C(10000000)

/* relaxed, here and below: counts, which must not order the threads. */
static void raise_to(_Atomic(uint64_t) *number, uint64_t value)
{
	uint64_t before = load_relaxed(number);

	while (before < value && !atomic_compare_exchange_weak_explicit(number, &before, value, memory_order_relaxed,
									memory_order_relaxed))
		;
}

void accounts_hold(size_t count)
{
	raise_to(&current.at_once, count);
}

/* ---- Statistics ---- */

/* Makes one number wrong. */
static void commit_fault(lfpool_stats_t *stats)
{
	size_t *const place = stats->cached ? &stats->cached : stats->shared ? &stats->shared : &stats->untouched;
	const enum fault fault = options.fault;

	if (fault == FAULT_LOST_COUNT)
		stats->acquires--;
	else if (fault == FAULT_MISPLACED)
		--*place;
	else if (fault == FAULT_LOW_MARK)
		stats->high_water = (size_t)load_relaxed(&current.at_once) - 1;
	else
		return;
	fault_committed();
}

static void judge_counts(const lfpool_stats_t *stats, const char *when)
{
	const size_t in_use = stats->active + stats->retired;
	const uint64_t acquires = pulse_sums().acquires - current.acquires;

	if (stats->unaccounted || stats->capacity != in_use + stats->cached + stats->shared + stats->untouched)
		violation("%s the statistics do not add up: of %zu objects %zu are active, %zu retired, %zu cached, "
			  "%zu shared, %zu untouched, %" PRId64 " unaccounted",
			  when, stats->capacity, stats->active, stats->retired, stats->cached, stats->shared,
			  stats->untouched, stats->unaccounted);
	if (stats->caches_in_use > stats->caches || stats->owed > stats->capacity)
		violation("%s %u of %u caches are in use, and %zu of %zu objects are owed", when, stats->caches_in_use,
			  stats->caches, stats->owed, stats->capacity);
	if (stats->acquires != acquires || stats->releases != acquires - in_use)
		violation("%s the statistics count %" PRIu64 " acquires and %" PRIu64
			  " releases, but there were %" PRIu64 " and %" PRIu64,
			  when, stats->acquires, stats->releases, acquires, acquires - in_use);
}

static void judge_mark(const lfpool_stats_t *stats, const char *when)
{
	const size_t at_once = (size_t)load_relaxed(&current.at_once);

	if (stats->high_water < at_once || stats->high_water > current.most)
		violation("%s the high-water mark is %zu, but at least %zu and at most %zu objects were in use at once",
			  when, stats->high_water, at_once, current.most);
	if (random_below(&current.random, 2))
		return;
	lfpool_high_water_reset(current.pool);
	store_relaxed(&current.at_once, stats->active + stats->retired);
}

void accounts_judge(const char *when)
{
	lfpool_stats_t stats;

	if (doing(lfpool_stats)(current.pool, &stats) != LFPOOL_OK) {
		violation("lfpool_stats() is refused");
		return;
	}
	accounts_hold(stats.active + stats.retired);
	commit_fault(&stats);
	judge_counts(&stats, when);
	judge_mark(&stats, when);
}

/* ---- Lateness ---- */

void sleep_ns(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

void accounts_late(struct worker *worker, uint64_t late_ns, int64_t timeout_ns)
{
	struct lateness *lateness = &current.cell->lateness;
	const uint64_t start = now_ns();

	add_relaxed(&lateness->waits, 1);
	/* Stored as the complement of the least lateness: 0 means no wait yet. */
	raise_to(&lateness->least, ~late_ns);
	if (!chance(worker, LATE_WAITS / OWN_SLEEPS / 2))
		return;
	sleep_ns((uint64_t)timeout_ns);
	add_relaxed(&lateness->sleeps, 1);
	raise_to(&lateness->latest, now_ns() - start - (uint64_t)timeout_ns);
}

void accounts_judge_lateness(void)
{
	struct lateness *lateness = &current.cell->lateness;
	const uint64_t waits = load_relaxed(&lateness->waits);
	const uint64_t sleeps = load_relaxed(&lateness->sleeps);
	const uint64_t least = ~load_relaxed(&lateness->least);
	const uint64_t latest = load_relaxed(&lateness->latest);

	if (waits < LATE_WAITS || sleeps < OWN_SLEEPS)
		return;
	expect(least <= latest + WORK_NS,
	       "all %" PRIu64 " waits that timed out were late, by at least %" PRIu64 " ns; all %" PRIu64
	       " sleeps of the harness were late by at most %" PRIu64 " ns",
	       waits, least, sleeps, latest);
	memset(lateness, 0, sizeof(*lateness));
}
