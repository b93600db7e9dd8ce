/* SPDX-License-Identifier: MIT */
/*
 * accounts.c - what the pool says of itself (lfpool_stats), against what the harness knows.
 *
 * Statistics   No thread is in a call: the identity of lfpool/report.h holds exactly; acquires are as many as the
 *              harness got; releases, as many as it no longer has.
 * Mark         high_water is no less than what a thread has seen in use at once: a worker that holds so many, all of
 *              them at a meeting; and no more than there can be.  At some meetings it begins anew.
 * Lateness     A load of the machine delays a call as it delays the harness.  So once in a while a worker sleeps by
 *              itself for as long as it has waited in vain, and of LATE_WAITS calls the least late is compared with the
 *              latest such sleep.  Only what makes every call late is seen; tests/os/unit_late.c sees each.
 */
#include "faults.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Between two judgements of lateness, at least. */
#define LATE_WAITS 64
#define OWN_SLEEPS 16
/* What a call may do when its time is over, however slow the machine: the shortest of LATE_WAITS. */
#define WORK_NS UINT64_C(10000000)

/* relaxed, here and below: numbers, which must not order the threads. */
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

/* One number wrong, on purpose. */
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
		violation("%s %u of %u caches are in use, and %zu of %zu objects owed", when, stats->caches_in_use,
			  stats->caches, stats->owed, stats->capacity);
	if (stats->acquires != acquires || stats->releases != acquires - in_use)
		violation("%s the statistics count %" PRIu64 " acquires and %" PRIu64
			  " releases, and there were %" PRIu64 " and %" PRIu64,
			  when, stats->acquires, stats->releases, acquires, acquires - in_use);
}

static void judge_mark(const lfpool_stats_t *stats, const char *when)
{
	const size_t at_once = (size_t)load_relaxed(&current.at_once);

	if (stats->high_water < at_once || stats->high_water > current.most)
		violation("%s the high-water mark is %zu; at least %zu objects were in use at once, and at most %zu",
			  when, stats->high_water, at_once, current.most);
	if (random_below(&current.random, 2))
		return;
	lfpool_high_water_reset(current.pool);
	store_relaxed(&current.at_once, stats->active + stats->retired);
}

void accounts_judge(const char *when)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	if (lfpool_stats(current.pool, &stats) != LFPOOL_OK) {
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
	/* The least, by its complement: 0 is none. */
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
	       "each of %" PRIu64 " calls that waited in vain was late, by %" PRIu64 " ns or more; of %" PRIu64
	       " sleeps of the harness's own none by more than %" PRIu64 " ns",
	       waits, least, sleeps, latest);
	memset(lateness, 0, sizeof(*lateness));
}
