/* SPDX-License-Identifier: MIT */
/*
 * soak.c - scenario: one pool for hours.  Is its memory at the end the same as at the beginning?
 *
 * Cycle        Four phases.  steady: every thread holds a few objects.  burst: alternately a large part of all objects,
 *              and none; the pool grows automatically.  churn: threads start and end.  wait: the pool is shrunk to
 *              fewer objects than threads, so threads wait.  Now and then the pool is trimmed a little.  At the end of
 *              a cycle it is shrunk to its first size, and trimmed.  The rest of the oracle checks throughout; NULL is
 *              not judged.
 * Others       Every thread also uses a pool with hooks and a scheme, and one that evicts (soak_others.c).
 * Memory       Resident memory after the trim of each cycle must not grow: the median of the last third of the cycles
 *              exceeds that of the first third by at most SLACK_BYTES and 1 %. Medians, because single samples
 *              include temporary use by the C library and the kernel.  The first cycle does not count: it uses
 *              everything for the first time.
 * Samples      One line of CSV each: time, phase, resident memory, and sizes of the pool.  If the file's name ends in
 *              .json, the file is a trace of the three pools instead, in the Trace Event Format.  Thread 0 takes a
 *              sample before it calls a meeting, and writes the sample at the meeting.
 */
#include "faults.h"
#include "round.h"
#include "soak_others.h"

#include "common/resident.h"
#include "common/sanitizers.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#define OBJECT_BYTES 256
#define MOST 32768
#define BASE 1024
#define CYCLE_SECONDS_MAX 20.0
#define CYCLES_AT_LEAST 12
#define SAMPLES_IN_PHASE 3
#define SAMPLES_IN_CYCLE (SAMPLES_IN_PHASE * 4)
#define STEADY_MAX 16
#define CHILD_MAX 64
#define LEAK_BYTES ((size_t)512 << 10)
#define SLACK_BYTES (256.0 * 1024)
/* Fewer cycles are not judged. */
#define CYCLES_MIN 7

struct soaker {
	size_t goal; /* objects to hold in the burst */
	struct worker child;
};

struct phase {
	const char *name;
	void (*step)(struct worker *worker);
};

static struct {
	FILE *file;  /* NULL: no file */
	bool traces; /* the file is a trace, not CSV */
	uint64_t start_ns, step_ns;
	size_t wanted; /* number of cycles */
	struct soaker *soakers;
	/* The rest changes at meetings, or belongs to thread 0. */
	const struct phase *phase;
	uint64_t next_ns;               /* when the next sample is due */
	lfpool_stats_t stats;           /* of the pool during the work */
	lfpool_stats_t built, evicting; /* of the two other pools */
	size_t samples, cycles;
	double *trimmed; /* resident bytes after each cycle */
} soak;

/* ---- Samples ---- */

static void open_file(const char *path)
{
	soak.file = fopen(path, "w");
	if (!soak.file) {
		say("lfpool-stress: %s: %s\n", path, strerror(errno));
		exit(EXIT_USAGE);
	}
	soak.traces = strlen(path) > 5 && !strcmp(path + strlen(path) - 5, ".json");
	fputs(soak.traces ? "[\n" : "seconds,cycle,phase,resident_kib,capacity,active,waiting,built,retired,evicted\n",
	      soak.file);
}

static void take_stats(void)
{
	(void)doing(lfpool_stats)(current.pool, &soak.stats);
	others_stats(&soak.built, &soak.evicting);
}

/* Writes one counter event.  The array's last bracket may be missing. */
static void trace(const char *pool, const lfpool_stats_t *stats)
{
	fprintf(soak.file,
		"{\"name\":\"%s\",\"ph\":\"C\",\"pid\":1,\"ts\":%.1f,"
		"\"args\":{\"active\":%zu,\"cached\":%zu,\"waiting\":%" PRIu32 "}},\n",
		pool, (double)(now_ns() - soak.start_ns) / 1e3, stats->active, stats->cached, stats->waiting);
}

/* Returns the resident bytes. */
static double sample(const char *phase)
{
	const double resident = resident_bytes();

	if (!soak.file)
		return resident;
	if (soak.traces) {
		trace("soak", &soak.stats);
		trace("hooks", &soak.built);
		trace("evicting", &soak.evicting);
	} else {
		fprintf(soak.file, "%.3f,%zu,%s,%.0f,%zu,%zu,%zu,%zu,%zu,%" PRIu64 "\n",
			(double)(now_ns() - soak.start_ns) / 1e9, soak.cycles, phase, resident / 1024,
			soak.stats.capacity, soak.stats.active, (size_t)soak.stats.waiting, soak.built.capacity,
			soak.built.retired, soak.evicting.evicted);
	}
	/* A long run can be plotted while it runs. */
	(void)fflush(soak.file);
	return resident;
}

/* ---- Phases ---- */

static void steady(struct worker *worker)
{
	worker_adjust(worker, draw(worker, STEADY_MAX + 1));
	if (chance(worker, 64))
		worker_look(worker);
}

/* In steps, so that a new phase is noticed. */
static void burst(struct worker *worker)
{
	struct soaker *s = &soak.soakers[worker->index];
	const size_t before = worker->count;

	if (s->goal > before) {
		worker_hold(worker, s->goal - before < 64 ? s->goal : before + 64);
		/* Other threads have all objects. */
		if (worker->count == before)
			s->goal = 0;
		return;
	}
	s->goal = 0;
	worker_keep(worker, before > 64 ? before - 64 : 0);
	if (!worker->count)
		s->goal = current.hands - draw(worker, (uint32_t)current.hands / 4);
}

static void *child_main(void *argument)
{
	struct worker *child = argument;

	worker_enter(child);
	worker_hold(child, 1 + draw(child, CHILD_MAX));
	worker_keep(child, 0);
	worker_drop_cache(child);
	worker_step(NULL);
	return NULL;
}

static void churn(struct worker *worker)
{
	struct worker *child = &soak.soakers[worker->index].child;

	thread_start(&child->thread, child_main, child);
	for (int i = 0; i < 16; i++)
		steady(worker);
	(void)pthread_join(child->thread, NULL);
	if (chance(worker, 16))
		worker_drop_cache(worker);
}

static void wait_for_one(struct worker *worker)
{
	const int64_t timeout_ns = draw(worker, 4) ? -1 : (int64_t)draw(worker, 1000000);

	worker_keep(worker, 0);
	worker->count += worker_acquire_wait(worker, timeout_ns, worker->hands);
	/* The others must wait. */
	if (chance(worker, 4))
		(void)sched_yield();
	worker_keep(worker, 0);
}

static const struct phase phases[] = {{"steady", steady}, {"burst", burst}, {"churn", churn}, {"wait", wait_for_one}};

/* ---- Begin ---- */

static void soak_plan(void)
{
	const unsigned threads = current.threads;
	double cycle_seconds = options.seconds / CYCLES_AT_LEAST;

	if (cycle_seconds > CYCLE_SECONDS_MAX)
		cycle_seconds = CYCLE_SECONDS_MAX;
	memset(&soak, 0, sizeof(soak));
	soak.start_ns = now_ns();
	soak.phase = phases;
	soak.step_ns = (uint64_t)(cycle_seconds * 1e9 / SAMPLES_IN_CYCLE);
	soak.wanted = (size_t)(options.seconds / cycle_seconds + 0.5);
	soak.trimmed = round_memory(soak.wanted, sizeof(double));
	soak.soakers = round_memory(threads, sizeof(struct soaker));
	for (unsigned i = 0; i < threads; i++) {
		worker_init(&soak.soakers[i].child, threads + 1 + i);
		soak.soakers[i].child.hands = round_memory(CHILD_MAX, sizeof(struct held));
	}
	current.config.object_size = OBJECT_BYTES;
	current.config.object_alignment = current.config.cache_capacity = current.config.depot_shards = 0;
	current.config.flags = 0;
	current.config.growth_step = BASE;
	current.capacity = MOST;
	current.initial = BASE;
	current.hands = MOST / threads;
	current.plain = true;
	/* Thread 0 trims, with a sample. */
	current.trims = true;
	atomic_init(&current.trimming, 1);
	current.demand.unjudged = true;
	current.nanoseconds = 0;
	/* One object at a time. */
	for (current.route_count = 0; current.route_count < ROUTE_BULK; current.route_count++)
		current.routes[current.route_count] = (enum route)current.route_count;
	if (options.soak_out)
		open_file(options.soak_out);
	others_open();
}

static void expect_warm(struct worker *worker)
{
	const size_t most = current.threads * current.hands;

	(void)worker;
	expect(meeting_held() == most, "only %zu objects of %zu were created", meeting_held(), most);
	soak.next_ns = now_ns() + soak.step_ns;
}

/* Uses all possible objects once: afterwards no use is the first. */
static void soak_enter(struct worker *worker)
{
	worker_hold(worker, current.hands);
	meeting_alone(worker, expect_warm);
	worker_keep(worker, 0);
}

/* ---- Work ---- */

static void soak_step(struct worker *worker)
{
	if (worker->index == 0 && now_ns() >= soak.next_ns) {
		if (chance(worker, 2))
			(void)doing(lfpool_trim)(current.pool, STEADY_MAX, (size_t)256 << 10);
		take_stats();
		meeting_call();
	}
	soak.phase->step(worker);
	if (chance(worker, 4))
		others_step(worker);
}

/* ---- Meetings ---- */

/* Thread 0, alone: an interval has ended. */
static void advance(struct worker *worker)
{
	lfpool_t *pool = current.pool;
	const struct phase *before = soak.phase;
	const size_t few = (current.threads + 1) / 2;

	(void)worker;
	(void)sample(before->name);
	soak.samples++;
	soak.phase = &phases[soak.samples % SAMPLES_IN_CYCLE / SAMPLES_IN_PHASE];
	soak.next_ns += soak.step_ns;
	if (soak.phase != before && soak.phase->step == wait_for_one) {
		(void)doing(lfpool_limit)(pool, few);
		(void)doing(lfpool_shrink)(pool, lfpool_capacity(pool) - few);
	}
}

/* Thread 0, alone: a cycle has ended, and all threads have released their objects. */
static void rest(struct worker *worker)
{
	lfpool_t *pool = current.pool;
	const size_t base = BASE + (current.decoy.object != NULL);

	(void)worker;
	expect(!lfpool_quick_stats(pool).owed, "everything was released, but %zu objects are owed",
	       lfpool_quick_stats(pool).owed);
	(void)doing(lfpool_limit)(pool, current.most);
	if (lfpool_capacity(pool) > base)
		(void)doing(lfpool_shrink)(pool, lfpool_capacity(pool) - base);
	(void)doing(lfpool_reserve)(pool, base);
	expect(lfpool_capacity(pool) == base, "resized to %zu objects, the pool has %zu", base, lfpool_capacity(pool));
	while (doing(lfpool_trim)(pool, 0, (size_t)1 << 20))
		;
	round_expect_intact(0, "after the trim");
	others_rest();
	if (options.fault == FAULT_LEAK) {
		(void)round_memory(1, LEAK_BYTES);
		fault_committed();
	}
	take_stats();
	soak.trimmed[soak.cycles] = sample("trimmed");
	soak.cycles++;
	soak.next_ns = now_ns() + soak.step_ns;
	if (soak.cycles == soak.wanted)
		current.end_ns = 0;
}

static void soak_meet(struct worker *worker)
{
	meeting_alone(worker, advance);
	worker_keep(worker, 0);
	soak.soakers[worker->index].goal = 0;
	if (soak.samples % SAMPLES_IN_CYCLE == 0)
		meeting_alone(worker, rest);
}

/* ---- The verdict ---- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the `count` values, and returns their median. */
static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void judge_memory(void)
{
	const char *why_not = NULL;
	/* Without the first cycle. */
	const size_t cycles = soak.cycles, third = (cycles - 1) / 3;
	double first, last, allowed;

	if (cycles < CYCLES_MIN)
		why_not = "too few cycles";
	else if (UNDER_TSAN || UNDER_ASAN)
		why_not = "a sanitizer uses memory too";
	else if (options.backend == LFPOOL_BACKEND_MALLOC)
		why_not = "the malloc backend is not trimmed";
	if (why_not) {
		say("soak: %zu cycles; memory not judged: %s\n", cycles, why_not);
		return;
	}
	first = median(soak.trimmed + 1, third);
	last = median(soak.trimmed + cycles - third, third);
	allowed = SLACK_BYTES + first / 100;
	say("soak: %zu cycles; resident after the trim %.0f KiB in the first third of them and %.0f KiB in the last "
	    "(medians; "
	    "%.0f KiB more are allowed)\n",
	    cycles, first / 1024, last / 1024, allowed / 1024);
	expect(last <= first + allowed,
	       "the resident memory grows: %.0f KiB after the trim in the first third of %zu cycles, %.0f KiB in the "
	       "last",
	       first / 1024, cycles, last / 1024);
}

static void soak_finish(void)
{
	if (!cell_failed())
		judge_memory();
	others_close();
	if (soak.file && fclose(soak.file) != 0)
		say("lfpool-stress: the samples could not be written: %s\n", strerror(errno));
	for (unsigned i = 0; i < current.threads; i++)
		free(soak.soakers[i].child.hands);
	free(soak.soakers);
	free(soak.trimmed);
}

SCENARIO(soak, "soak", "one pool for hours: it grows, shrinks, is waited for and trimmed; its memory must not grow",
	 .alone = true, .unlogged = true, .plan = soak_plan, .enter = soak_enter, .step = soak_step, .meet = soak_meet,
	 .finish = soak_finish);
