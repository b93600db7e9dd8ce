/* SPDX-License-Identifier: MIT */
/*
 * accounts.c - see accounts.h.
 */
#include "accounts.h"
#include "faults.h"
#include "round.h"

#include <inttypes.h>
#include <time.h>

/* Between two judgements of lateness, at least. */
#define LATE_WAITS 64
#define OWN_SLEEPS 16
/* What a call may do when its time is over, however slow the machine: the shortest of LATE_WAITS. */
#define WORK_NS UINT64_C(10000000)

void accounts_open(void)
{
	current.accounts.acquires = pulse_sums().acquires;
}

/* relaxed, here and below: numbers, which must not order the threads. */
static void raise_to(_Atomic(uint64_t) *number, uint64_t value)
{
	uint64_t before = atomic_load_explicit(number, memory_order_relaxed);

	while (before < value &&
	       !atomic_compare_exchange_weak_explicit(number, &before, value, memory_order_relaxed, memory_order_relaxed))
		;
}

void accounts_hold(size_t count)
{
	_Atomic(size_t) *at_once = &current.accounts.at_once;
	size_t before = atomic_load_explicit(at_once, memory_order_relaxed);

	while (before < count &&
	       !atomic_compare_exchange_weak_explicit(at_once, &before, count, memory_order_relaxed, memory_order_relaxed))
		;
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
		stats->high_water = atomic_load_explicit(&current.accounts.at_once, memory_order_relaxed) - 1;
	else
		return;
	atomic_fetch_add_explicit(&current.cell->faults, 1, memory_order_relaxed);
}

static void judge_counts(const lfpool_stats_t *stats, const char *when)
{
	const size_t in_use = stats->active + stats->retired;
	const uint64_t acquires = pulse_sums().acquires - current.accounts.acquires;

	if (stats->unaccounted || stats->capacity != in_use + stats->cached + stats->shared + stats->untouched)
		violation("%s the statistics do not add up: of %zu objects %zu are active, %zu retired, %zu cached, "
			  "%zu shared, %zu untouched, %" PRId64 " unaccounted",
			  when, stats->capacity, stats->active, stats->retired, stats->cached, stats->shared, stats->untouched,
			  stats->unaccounted);
	if (stats->caches_in_use > stats->caches || stats->owed > stats->capacity)
		violation("%s %u of %u caches are in use, and %zu of %zu objects owed", when, stats->caches_in_use, stats->caches,
			  stats->owed, stats->capacity);
	if (stats->acquires != acquires || stats->releases != acquires - in_use)
		violation("%s the statistics count %" PRIu64 " acquires and %" PRIu64 " releases, and there were %" PRIu64
			  " and %" PRIu64,
			  when, stats->acquires, stats->releases, acquires, acquires - in_use);
}

static void judge_mark(const lfpool_stats_t *stats, const char *when)
{
	const size_t at_once = atomic_load_explicit(&current.accounts.at_once, memory_order_relaxed);

	if (stats->high_water < at_once || stats->high_water > current.most)
		violation("%s the high-water mark is %zu; at least %zu objects were in use at once, and at most %zu", when,
			  stats->high_water, at_once, current.most);
	if (random_below(&current.random, 2))
		return;
	lfpool_high_water_reset(current.pool);
	atomic_store_explicit(&current.accounts.at_once, stats->active + stats->retired, memory_order_relaxed);
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

	atomic_fetch_add_explicit(&lateness->waits, 1, memory_order_relaxed);
	/* The least, by its complement: 0 is none. */
	raise_to(&lateness->least, ~late_ns);
	if (!worker_chance(worker, LATE_WAITS / OWN_SLEEPS / 2))
		return;
	sleep_ns((uint64_t)timeout_ns);
	atomic_fetch_add_explicit(&lateness->sleeps, 1, memory_order_relaxed);
	raise_to(&lateness->latest, now_ns() - start - (uint64_t)timeout_ns);
}

void accounts_judge_lateness(void)
{
	struct lateness *lateness = &current.cell->lateness;
	const uint64_t waits = atomic_load_explicit(&lateness->waits, memory_order_relaxed);
	const uint64_t sleeps = atomic_load_explicit(&lateness->sleeps, memory_order_relaxed);
	const uint64_t least = ~atomic_load_explicit(&lateness->least, memory_order_relaxed);
	const uint64_t latest = atomic_load_explicit(&lateness->latest, memory_order_relaxed);

	if (waits < LATE_WAITS || sleeps < OWN_SLEEPS)
		return;
	if (least > latest + WORK_NS)
		violation("each of %" PRIu64 " calls that waited in vain was late, by %" PRIu64 " ns or more; of %" PRIu64
			  " sleeps of the harness's own none by more than %" PRIu64 " ns",
			  waits, least, sleeps, latest);
	atomic_store_explicit(&lateness->waits, 0, memory_order_relaxed);
	atomic_store_explicit(&lateness->sleeps, 0, memory_order_relaxed);
	atomic_store_explicit(&lateness->least, 0, memory_order_relaxed);
	atomic_store_explicit(&lateness->latest, 0, memory_order_relaxed);
}
