/* SPDX-License-Identifier: MIT */
/*
 * soak.c - scenario: one pool for hours; and is its memory in the end what it was in the beginning?
 *
 * A cycle goes through four phases.  steady: every thread holds a few objects.  burst: a large part of all that there can be,
 * and none, in turn; the pool grows by itself.  churn: threads come and go.  wait: the pool is shrunk to fewer objects than
 * there are threads, which wait for them.  Meanwhile it is trimmed a little, now and then.
 * Then all is given back, the pool is shrunk to what it began with and trimmed, and the resident memory is compared from
 * cycle to cycle (soak_log.h).  All the while the rest of the oracle looks on; NULL is not judged.
 * The main thread conducts, and takes the samples.
 */
#include "faults.h"
#include "round.h"
#include "soak_log.h"

#include <sched.h>
#include <string.h>

#define OBJECT_BYTES 256
#define MOST 32768
#define BASE 1024
#define CYCLE_SECONDS_MAX 20.0
#define CYCLES_AT_LEAST 12
#define SAMPLES_IN_CYCLE 12
#define STEADY_MAX 16
#define CHILD_MAX 64
#define LEAK_BYTES ((size_t)512 << 10)

struct soaker {
	struct soak_timing timing;
	size_t goal; /* of the burst                          */
	struct worker child;
};

static struct {
	_Atomic(unsigned) phase;
	double cycle_seconds;
	size_t cycles;
	struct soaker *soakers;
	void *leaked; /* FAULT_LEAK: a list */
} soak;

static void soak_plan(void)
{
	const unsigned threads = current.threads;

	memset(&soak, 0, sizeof(soak));
	soak.cycle_seconds = options.seconds / CYCLES_AT_LEAST;
	if (soak.cycle_seconds > CYCLE_SECONDS_MAX)
		soak.cycle_seconds = CYCLE_SECONDS_MAX;
	soak.cycles = (size_t)(options.seconds / soak.cycle_seconds + 0.5);
	soak.soakers = round_memory(threads, sizeof(struct soaker));
	for (unsigned i = 0; i < threads; i++) {
		worker_init(&soak.soakers[i].child, threads + 1 + i);
		soak.soakers[i].child.hands = round_memory(CHILD_MAX, sizeof(struct held));
	}
	lfpool_config_init(&current.config);
	current.config.name = "soak";
	current.config.object_size = OBJECT_BYTES;
	current.config.hooks.misuse = round_on_misuse;
	current.config.growth_step = BASE;
	current.capacity = MOST;
	current.initial = BASE;
	current.hands = MOST / threads;
	current.plain = true;
	/* By the conductor alone. */
	current.trims = true;
	atomic_init(&current.trimming, 1);
	current.demand.unjudged = true;
	current.nanoseconds = 0;
	current.meeting.threads = threads + 1;
	/* One at a time, since each is timed. */
	for (current.route_count = 0; current.route_count < ROUTE_BULK; current.route_count++)
		current.routes[current.route_count] = (enum route)current.route_count;
	soak_log_open(options.soak_out);
}

/* ---- The workers ---- */

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
		/* Others have it all. */
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
	struct worker *child = here = argument;

	worker_hold(child, 1 + draw(child, CHILD_MAX));
	worker_keep(child, 0);
	worker_drop_cache(child);
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

/* Of a cycle. */
static const struct phase {
	const char *name;
	double end; /* as a part of the cycle */
	void (*step)(struct worker *worker);
} phases[] = {{"steady", 0.28, steady}, {"burst", 0.55, burst}, {"churn", 0.78, churn}, {"wait", 1, wait_for_one}};
#define PHASES (sizeof(phases) / sizeof(phases[0]))

static void soak_step(struct worker *worker)
{
	/* relaxed: to know soon is enough. */
	phases[load_relaxed(&soak.phase)].step(worker);
	soak_log_add(&soak.soakers[worker->index].timing);
}

static void soak_enter(struct worker *worker)
{
	worker->timing = &soak.soakers[worker->index].timing.timing;
	/* The conductor uses all there can be. */
	meeting_join();
	meeting_join();
}

static void soak_meet(struct worker *worker)
{
	worker_keep(worker, 0);
	soak.soakers[worker->index].goal = 0;
	soak_log_add(&soak.soakers[worker->index].timing);
	/* The conductor looks at the pool. */
	meeting_join();
	meeting_join();
}

/* ---- The conductor ---- */

static void begin(const struct phase *phase)
{
	lfpool_t *pool = current.pool;
	const size_t few = (current.threads + 1) / 2;

	if (phase->step == wait_for_one) {
		(void)lfpool_limit(pool, few);
		(void)lfpool_shrink(pool, lfpool_capacity(pool) - few);
	}
	/* relaxed: see soak_step(). */
	store_relaxed(&soak.phase, (unsigned)(phase - phases));
}

/* Samples until then. */
static void stay(size_t cycle, const struct phase *phase, uint64_t until_ns)
{
	const uint64_t step_ns = (uint64_t)(soak.cycle_seconds * 1e9 / SAMPLES_IN_CYCLE);

	while (now_ns() < until_ns && !cell_failed()) {
		const uint64_t left_ns = until_ns - now_ns();

		sleep_ns(left_ns < step_ns + step_ns / 2 ? left_ns : step_ns);
		if (chance(here, 2))
			(void)lfpool_trim(current.pool, STEADY_MAX, (size_t)256 << 10);
		(void)soak_log_sample(current.pool, cycle, phase->name);
	}
}

static void leak(void)
{
	void **memory;

	if (options.fault != FAULT_LEAK)
		return;
	memory = round_memory(1, LEAK_BYTES);
	*memory = soak.leaked;
	soak.leaked = memory;
	fault_committed();
}

/* All have given back what they had, and stand by. */
static void rest(size_t cycle)
{
	lfpool_t *pool = current.pool;
	const size_t decoys = current.decoy.object != NULL, base = BASE + decoys;

	if (lfpool_active_count(pool) != decoys || lfpool_shrink_owed(pool))
		violation("with everything given back %zu objects are active, and %zu owed", lfpool_active_count(pool) - decoys,
			  lfpool_shrink_owed(pool));
	(void)lfpool_limit(pool, current.most);
	if (lfpool_capacity(pool) > base)
		(void)lfpool_shrink(pool, lfpool_capacity(pool) - base);
	(void)lfpool_reserve(pool, base);
	expect(lfpool_capacity(pool) == base, "made to have %zu objects, the pool has %zu", base, lfpool_capacity(pool));
	while (lfpool_trim(pool, 0, (size_t)1 << 20))
		;
	round_expect_intact("after the trim");
	leak();
	soak_log_trimmed(soak_log_sample(pool, cycle, "trimmed"));
	if (cycle + 1 == soak.cycles)
		current.end_ns = 0;
}

/* Uses all there can be, once: afterwards nothing is used for the first time. */
static void warm_up(void)
{
	worker_hold(here, MOST);
	expect(here->count >= MOST, "only %zu objects of %d came to be", here->count, MOST);
	worker_keep(here, 0);
}

static void soak_conduct(void)
{
	size_t cycle = 0;

	meeting_join();
	warm_up();
	meeting_join();
	do {
		const uint64_t start_ns = now_ns();

		for (const struct phase *phase = phases; phase < phases + PHASES; phase++) {
			begin(phase);
			stay(cycle, phase, start_ns + (uint64_t)(phase->end * soak.cycle_seconds * 1e9));
		}
		meeting_call();
		meeting_join();
		rest(cycle++);
		begin(phases);
		meeting_join();
		/* Thread 0 closes the meeting. */
		meeting_join();
	} while (current.meeting.go_on);
}

static void soak_finish(void)
{
	if (!cell_failed())
		soak_log_judge();
	soak_log_close();
	while (soak.leaked) {
		void **memory = soak.leaked;

		soak.leaked = *memory;
		free(memory);
	}
	for (unsigned i = 0; i < current.threads; i++)
		free(soak.soakers[i].child.hands);
	free(soak.soakers);
}

SCENARIO(soak, "soak", "one pool for long: it grows, shrinks, is waited for and trimmed; its memory must stay what it was",
	 .alone = true, .unlogged = true, .plan = soak_plan, .enter = soak_enter, .step = soak_step, .meet = soak_meet,
	 .conduct = soak_conduct, .finish = soak_finish);
