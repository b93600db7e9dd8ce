/* SPDX-License-Identifier: MIT */
/*
 * soak.c - scenario: one pool for hours; and is its memory in the end what it was in the beginning?
 *
 * A cycle goes through four phases.  steady: every thread holds a few objects.  burst: a large part of all that there can be,
 * and none, in turn; the pool grows by itself.  churn: threads come and go.  wait: the pool is shrunk to fewer objects than
 * there are threads, which wait for them, in calls and by continuations.  Meanwhile it is trimmed a little, now and then.
 * Then all is given back, the pool is shrunk to what it began with and trimmed, and the resident memory is compared from
 * cycle to cycle (soak_log.h).  All the while the rest of the oracle looks on; NULL is not judged.
 * A thread of its own conducts, and takes the samples.
 */
#include "meeting.h"
#include "scenario.h"
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

enum phase { STEADY, BURST, CHURN, WAIT, REST };

static const struct {
	const char *name;
	double end; /* as a part of the cycle */
} phases[] = {{"steady", 0.28}, {"burst", 0.55}, {"churn", 0.78}, {"wait", 1}, {"trimmed", 1}};

struct soaker {
	struct worker *worker;
	struct soak_timing timing;
	struct held *held; /* room for MOST of all threads together */
	size_t room, count;
	size_t goal;         /* of the burst                          */
	_Atomic(bool) asked; /* its continuation has not run yet      */
	struct worker child;
	struct held child_held[CHILD_MAX];
};

static struct {
	struct meeting meeting;
	_Atomic(unsigned) phase;
	struct soak_log *log;
	double cycle_seconds;
	size_t cycles;
	struct soaker *soakers;
	struct worker conductor;
	void *leaked; /* FAULT_LEAK: a list */
} soak;

static _Thread_local struct worker *here;

static void soak_plan(void)
{
	const unsigned threads = current.threads;

	memset(&soak, 0, sizeof(soak));
	soak.meeting.rendezvous.threads = threads + 1;
	soak.cycle_seconds = options.seconds / CYCLES_AT_LEAST;
	if (soak.cycle_seconds > CYCLE_SECONDS_MAX)
		soak.cycle_seconds = CYCLE_SECONDS_MAX;
	soak.cycles = (size_t)(options.seconds / soak.cycle_seconds + 0.5);
	soak.soakers = round_memory(threads, sizeof(struct soaker));
	for (unsigned i = 0; i < threads; i++) {
		struct soaker *s = &soak.soakers[i];

		s->room = MOST / threads;
		s->held = round_memory(s->room, sizeof(struct held));
		worker_init(&s->child, threads + 1 + i);
	}
	worker_init(&soak.conductor, 2 * threads + 1);
	soak.conductor.trusted = true;
	lfpool_config_init(&current.config);
	current.config.name = "soak";
	current.config.object_size = OBJECT_BYTES;
	current.config.hooks.misuse = round_on_misuse;
	current.config.growth_step = BASE;
	current.capacity = MOST;
	current.initial = BASE;
	current.plain = true;
	current.trims = true;
	current.demand.unjudged = true;
	current.nulls_logged = NULLS_OF_NOBODY;
	current.nanoseconds = UINT64_MAX / 2;
	/* One at a time, since each is timed. */
	current.route_count = 0;
	current.routes[current.route_count++] = ROUTE_THREAD;
	current.routes[current.route_count++] = ROUTE_INLINE;
	current.routes[current.route_count++] = ROUTE_CACHE;
	soak.log = soak_log_open(options.soak_out);
	/* Until it is warm. */
	atomic_init(&soak.phase, REST);
}

/* ---- The workers ---- */

static void acquire_up_to(struct soaker *s, size_t goal)
{
	while (s->count < goal && worker_acquire(s->worker, &s->held[s->count]))
		s->count++;
}

static void release_down_to(struct soaker *s, size_t goal)
{
	while (s->count > goal)
		worker_release(s->worker, &s->held[--s->count]);
}

static void steady(struct soaker *s)
{
	const size_t goal = random_below(&s->worker->random, STEADY_MAX + 1);

	acquire_up_to(s, goal);
	release_down_to(s, goal);
	if (worker_chance(s->worker, 64))
		worker_rescan(s->held, s->count);
}

static void burst(struct soaker *s)
{
	/* In steps, so that a new phase is noticed. */
	if (s->goal > s->count) {
		const size_t before = s->count;

		acquire_up_to(s, s->goal - before < 64 ? s->goal : before + 64);
		/* Others have it all. */
		if (s->count == before)
			s->goal = 0;
		return;
	}
	s->goal = 0;
	release_down_to(s, s->count > 64 ? s->count - 64 : 0);
	if (!s->count)
		s->goal = s->room - random_below(&s->worker->random, (uint32_t)s->room / 4);
}

static void *child_main(void *argument)
{
	struct soaker *s = argument;
	size_t count = 0;

	here = &s->child;
	for (size_t goal = 1 + random_below(&s->child.random, CHILD_MAX); count < goal; count++)
		if (!worker_acquire(&s->child, &s->child_held[count]))
			break;
	while (count)
		worker_release(&s->child, &s->child_held[--count]);
	worker_drop_cache(&s->child);
	return NULL;
}

static void churn(struct soaker *s)
{
	thread_start(&s->child.thread, child_main, s);
	for (int i = 0; i < 16; i++)
		steady(s);
	(void)pthread_join(s->child.thread, NULL);
	if (worker_chance(s->worker, 16))
		worker_drop_cache(s->worker);
}

static void run(void *context, lfpool_t *pool, void *object)
{
	struct soaker *s = context;
	struct held held;

	(void)pool;
	if (object && here && worker_receive(here, object, 0, &held))
		worker_release(here, &held);
	/* release: its asker may ask again. */
	atomic_store_explicit(&s->asked, false, memory_order_release);
}

static void ask(struct soaker *s)
{
	lfpool_status_t status;

	/* acquire: see run(). */
	if (atomic_load_explicit(&s->asked, memory_order_acquire))
		return;
	/* relaxed: the library hands it on. */
	atomic_store_explicit(&s->asked, true, memory_order_relaxed);
	status = lfpool_acquire_async(current.pool, run, s, NULL);
	if (status != LFPOOL_OK)
		violation("lfpool_acquire_async(): %s", lfpool_status_string(status));
}

static void wait_for_one(struct soaker *s)
{
	struct random *random = &s->worker->random;
	const int64_t timeout_ns = random_below(random, 4) ? -1 : (int64_t)random_below(random, 1000000);

	release_down_to(s, 0);
	if (worker_chance(s->worker, 8))
		ask(s);
	s->count += worker_acquire_wait(s->worker, timeout_ns, &s->held[s->count]);
	/* The others must wait. */
	if (worker_chance(s->worker, 4))
		(void)sched_yield();
	release_down_to(s, 0);
}

static void soak_step(struct soaker *s, enum phase phase)
{
	switch (phase) {
	case STEADY: steady(s); break;
	case BURST: burst(s); break;
	case CHURN: churn(s); break;
	default: wait_for_one(s);
	}
	soak_log_add(soak.log, &s->timing);
}

/* ---- The conductor ---- */

static void set_phase(enum phase phase)
{
	/* relaxed: to know soon is enough. */
	atomic_store_explicit(&soak.phase, phase, memory_order_relaxed);
}

static void begin_phase(enum phase phase)
{
	lfpool_t *pool = current.pool;
	const size_t few = (current.threads + 1) / 2;

	if (phase == WAIT) {
		(void)lfpool_limit(pool, few);
		(void)lfpool_shrink(pool, lfpool_capacity(pool) - few);
	}
	set_phase(phase);
}

/* Samples until then. */
static void stay(size_t cycle, enum phase phase, uint64_t until_ns)
{
	const uint64_t step_ns = (uint64_t)(soak.cycle_seconds * 1e9 / SAMPLES_IN_CYCLE);
	lfpool_t *pool = current.pool;

	while (now_ns() < until_ns && !cell_failed()) {
		const uint64_t left_ns = until_ns - now_ns(), wait_ns = left_ns < step_ns + step_ns / 2 ? left_ns : step_ns;
		const struct timespec pause = {(time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000)};

		(void)nanosleep(&pause, NULL);
		if (worker_chance(&soak.conductor, 2))
			(void)lfpool_trim(pool, STEADY_MAX, (size_t)256 << 10);
		(void)soak_log_sample(soak.log, pool, cycle, phases[phase].name);
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
	/* relaxed: a statistic. */
	atomic_fetch_add_explicit(&current.cell->faults, 1, memory_order_relaxed);
}

/* All have given back what they had, and stand by. */
static void rest(size_t cycle)
{
	lfpool_t *pool = current.pool;
	const size_t decoys = current.decoy.object != NULL, base = BASE + decoys;

	for (unsigned i = 0; i < current.threads; i++)
		/* relaxed: the meeting orders it. */
		if (atomic_load_explicit(&soak.soakers[i].asked, memory_order_relaxed))
			violation("a continuation waits though all objects are free");
	if (lfpool_active_count(pool) != decoys || lfpool_shrink_owed(pool))
		violation("with everything given back %zu objects are active, and %zu owed", lfpool_active_count(pool) - decoys,
			  lfpool_shrink_owed(pool));
	(void)lfpool_limit(pool, current.most);
	if (lfpool_capacity(pool) > base)
		(void)lfpool_shrink(pool, lfpool_capacity(pool) - base);
	(void)lfpool_reserve(pool, base);
	if (lfpool_capacity(pool) != base)
		violation("made to have %zu objects, the pool has %zu", base, lfpool_capacity(pool));
	while (lfpool_trim(pool, 0, (size_t)1 << 20))
		;
	round_expect_intact("after the trim");
	leak();
	soak_log_trimmed(soak.log, soak_log_sample(soak.log, pool, cycle, phases[REST].name));
}

/* Uses all there can be, once: afterwards nothing is used for the first time. */
static void warm_up(void)
{
	struct held *held = round_memory(MOST, sizeof(*held));
	size_t count = 0;

	while (count < MOST && worker_acquire(&soak.conductor, &held[count]))
		count++;
	if (count < MOST)
		violation("only %zu objects of %d came to be", count, MOST);
	while (count)
		worker_release(&soak.conductor, &held[--count]);
	free(held);
}

static void *conduct(void *unused)
{
	size_t cycle = 0;

	(void)unused;
	here = &soak.conductor;
	meeting_join(&soak.meeting);
	warm_up();
	soak.meeting.go_on = true;
	set_phase(STEADY);
	meeting_join(&soak.meeting);
	do {
		const uint64_t start_ns = now_ns();

		for (enum phase phase = STEADY; phase < REST; phase++) {
			begin_phase(phase);
			stay(cycle, phase, start_ns + (uint64_t)(phases[phase].end * soak.cycle_seconds * 1e9));
		}
		set_phase(REST);
		meeting_join(&soak.meeting);
		rest(cycle++);
		soak.meeting.go_on = cycle < soak.cycles && !cell_failed();
		set_phase(STEADY);
		meeting_join(&soak.meeting);
	} while (soak.meeting.go_on);
	return NULL;
}

static void soak_work(struct worker *worker)
{
	struct soaker *s = &soak.soakers[worker->index];

	s->worker = here = worker;
	worker->timing = &s->timing.timing;
	if (worker->index == 0)
		thread_start(&soak.conductor.thread, conduct, NULL);
	do {
		enum phase phase;

		/* relaxed: see set_phase(). */
		while ((phase = atomic_load_explicit(&soak.phase, memory_order_relaxed)) != REST)
			soak_step(s, phase);
		release_down_to(s, 0);
		s->goal = 0;
		soak_log_add(soak.log, &s->timing);
		meeting_join(&soak.meeting);
		meeting_join(&soak.meeting);
	} while (soak.meeting.go_on);
	worker->timing = NULL;
	if (worker->index == 0)
		(void)pthread_join(soak.conductor.thread, NULL);
}

static void soak_finish(void)
{
	if (!cell_failed())
		soak_log_judge(soak.log);
	soak_log_close(soak.log);
	while (soak.leaked) {
		void **memory = soak.leaked;

		soak.leaked = *memory;
		free(memory);
	}
	for (unsigned i = 0; i < current.threads; i++)
		free(soak.soakers[i].held);
	free(soak.soakers);
}

const struct scenario scenario_soak = {
	.name = "soak",
	.description = "one pool for long: it grows, shrinks, is waited for and trimmed; its memory must stay what it was",
	.alone = true,
	.unlogged = true,
	.plan = soak_plan,
	.work = soak_work,
	.finish = soak_finish,
};
