/* SPDX-License-Identifier: MIT */
/* round.c - one round: draw, create, work, count, destroy. */
#include "round.h"
#include "history.h"

#include "lfpool/report.h"

#include <sched.h>
#include <string.h>

struct round current;

/* No round uses much more memory than this for objects, so that many rounds fit into a second. */
#define ROUND_BYTES_MAX ((size_t)8 << 20)
#define CACHE_LINE ((size_t)64)
#define MILLISECOND UINT64_C(1000000)

void *round_memory(size_t count, size_t bytes)
{
	/* Never 0. */
	size_t total = (count * bytes + CACHE_LINE) / CACHE_LINE * CACHE_LINE;
	void *memory = aligned_alloc(CACHE_LINE, total);

	if (!memory)
		say_no_memory("the harness");
	return memset(memory, 0, total);
}

/* ---- Drawing ---- */

static uint64_t seed_of(const struct cell *cell, uint64_t number)
{
	struct random r = {options.seed};

	/* By name, not by position: a cell draws the same alone as among others. */
	for (const char *c = cell->scenario->name; *c; c++)
		r.state = random_next(&r) + (unsigned char)*c;
	r.state = random_next(&r) + cell->threads;
	r.state = random_next(&r) + number;
	return random_next(&r);
}

static void draw_routes(void)
{
	uint32_t chosen = 1 + random_below(&current.random, (1u << ROUTES) - 1);

	for (unsigned route = 0; route < ROUTES; route++)
		if (chosen >> route & 1)
			current.routes[current.route_count++] = (enum route)route;
}

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
	count_up(&current.reported);
}

static void draw_round(struct cell *cell, uint64_t number)
{
	static const size_t sizes[] = {1,  2,  3,  7,  8,   8,   12,  16,  16,   24,  32,
				       40, 48, 64, 64, 100, 128, 200, 256, 1000, 4096};
	static const size_t alignments[] = {0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 4096};
	static const size_t caches[] = {0, 0, 0, 2, 2, 4, 16, 16, 64, 1024, LFPOOL_CACHE_NONE, LFPOOL_CACHE_NONE};
	/* Half of the rounds have none. */
	static const uint32_t flags[] = {LFPOOL_CHECK_RACES, LFPOOL_CHECK_RACES, LFPOOL_ZERO,
					 LFPOOL_ZERO | LFPOOL_CHECK_RACES, LFPOOL_PREFAULT};
	static const uint64_t milliseconds[] = {2, 5, 10, 20, 50, 100};
	struct random *random = &current.random;

	memset(&current, 0, sizeof(current));
	current.cell = cell;
	current.threads = cell->threads;
	current.number = number;
	current.hands = cell->scenario->hands;
	random->state = seed_of(cell, number);
	lfpool_config_init(&current.config);
	current.config.name = "stress";
	current.config.object_size = PICK(random, sizes);
	current.config.object_alignment = PICK(random, alignments);
	current.config.cache_capacity = PICK(random, caches);
	current.config.flags = random_below(random, 2) ? PICK(random, flags) : 0;
	current.config.depot_shards = 1 + random_below(random, 3);
	current.config.hooks.misuse = on_misuse;
	current.nanoseconds = PICK(random, milliseconds) * MILLISECOND;
	current.ending = (enum ending)random_below(random, ENDINGS);
	draw_routes();
	current.seed = random_next(random);
}

void round_capacity(size_t demand)
{
	static const size_t tiny[] = {1, 2, 3, 7, 32};
	struct random *random = &current.random;

	current.capacity = demand;
	current.roomy = true;
	switch (random_below(random, 4)) {
	case 0: current.capacity += 1 + random_below(random, 4000); break;
	case 1: current.capacity = PICK(random, tiny); break;
	}
	current.demand.counted = current.capacity < demand;
}

/* If large objects do not fit, smaller ones. */
static void limit_bytes(lfpool_config_t *config, size_t most)
{
	size_t *size = &config->object_size;

	while (config->object_alignment > 64 && config->object_alignment * most > ROUND_BYTES_MAX)
		config->object_alignment /= 2;
	while (*size >= 16 && *size * most > ROUND_BYTES_MAX)
		*size /= 2;
}

/* ---- Creating ---- */

static bool create(void)
{
	bool decoy = options.fault == FAULT_DOUBLE_GRANT;
	lfpool_config_t *config = &current.config;

	elastic_draw();
	current.most = current.last = current.capacity + decoy;
	config->capacity = current.initial ? current.initial + decoy : current.most;
	config->max_capacity = current.initial ? current.most : 0;
	limit_bytes(config, current.most);
	current.demand.capacity = (uint32_t)current.most;
	report_round();

	lfpool_status_t status = doing(lfpool_create)(&current.pool, config);
	if (status == LFPOOL_E_NO_MEMORY)
		say_no_memory("a pool");
	if (status != LFPOOL_OK) {
		violation("a valid configuration was refused: %s", lfpool_status_string(status));
		return false;
	}
	ledger_open(config);
	current.acquires = pulse_sums().acquires;
	worker_init(&current.keeper, current.threads);
	worker_enter(&current.keeper);
	here->hands = round_memory(current.most, sizeof(struct held));
	if (decoy)
		(void)worker_acquire(here, &current.decoy);
	return true;
}

/* ---- Meetings ---- */

void meeting_call(void)
{
	/* relaxed, here and below: a late reader does no harm. */
	store_relaxed(&current.meeting.called, true);
}

/* After the round's end any thread calls a meeting.  If a thread does not come, all stand still, and the watchdog
 * notices. */
static bool meeting_due(struct worker *worker)
{
	struct meeting *meeting = &current.meeting;

	if (!worker_goes_on(worker, 16) || (worker->index == 0 && meeting->calm && chance(worker, meeting->calm)))
		meeting_call();
	return load_relaxed(&meeting->called);
}

/* The last to arrive advances the word that the others watch. */
void meeting_join(void)
{
	worker_step("waits for a meeting");
	struct meeting *m = &current.meeting;
	/* relaxed: cannot advance before we have arrived. */
	unsigned rendezvous = load_relaxed(&m->rendezvous);

	/* acq_rel: the last one collects what all the others did before. */
	if (atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel) + 1 == current.threads) {
		/* relaxed: published by the next line; no thread arrives again before it. */
		store_relaxed(&m->arrived, 0);
		/* release: hands it all to the waiters. */
		atomic_store_explicit(&m->rendezvous, rendezvous + 1, memory_order_release);
		return;
	}
	/* acquire: see above.  Ends when the last thread arrives. */
	for (unsigned spins = 0; atomic_load_explicit(&m->rendezvous, memory_order_acquire) == rendezvous; spins++)
		if (spins % 64 == 63)
			(void)sched_yield();
}

void meeting_alone(struct worker *worker, void (*alone)(struct worker *worker))
{
	meeting_join();
	if (worker->index == 0)
		alone(worker);
	meeting_join();
}

size_t meeting_held(void)
{
	size_t held = 0;

	for (unsigned i = 0; i < current.threads; i++)
		held += current.workers[i].count;
	return held;
}

/* Returns false when the round is over. */
static bool meeting_close(struct worker *worker)
{
	if (worker->index == 0) {
		/* relaxed: the rendezvous that follows publishes it. */
		store_relaxed(&current.meeting.called, false);
		current.meeting.go_on = worker_goes_on(worker, 1);
	}
	meeting_join();
	return current.meeting.go_on;
}

/* ---- Working ---- */

static void work(struct worker *worker)
{
	const struct scenario *scenario = current.cell->scenario;

	while (!scenario->meet && worker_goes_on(worker, 32))
		scenario->step(worker);
	if (!scenario->meet)
		return;
	do {
		while (scenario->step && !meeting_due(worker))
			scenario->step(worker);
		scenario->meet(worker);
	} while (meeting_close(worker));
}

static void *worker_main(void *argument)
{
	const struct scenario *scenario = current.cell->scenario;
	struct worker *worker = argument;

	worker_enter(worker);
	(void)pthread_barrier_wait(&current.together);
	if (scenario->enter)
		scenario->enter(worker);
	work(worker);
	if (scenario->leave)
		scenario->leave(worker);
	worker_keep(worker, 0);
	/* The pool must also find objects in caches that are not destroyed. */
	if (chance(worker, 2))
		worker_drop_cache(worker);
	worker_step("has done its work");
	if (current.ending != ENDING_EXIT_FIRST) {
		(void)pthread_barrier_wait(&current.together);
		(void)pthread_barrier_wait(&current.together);
	}
	return NULL;
}

static void start_threads(uint64_t limit_ns)
{
	const struct scenario *scenario = current.cell->scenario;
	const unsigned threads = current.threads;

	(void)pthread_barrier_init(&current.together, NULL, threads + 1);
	current.workers = round_memory(threads, sizeof(*current.workers));
	for (unsigned i = 0; i < threads; i++) {
		struct worker *worker = &current.workers[i];

		worker_init(worker, i);
		worker->hands = round_memory(current.hands, sizeof(struct held));
		thread_start(&worker->thread, worker_main, worker);
	}
	if (scenario->open)
		scenario->open();
	current.end_ns = now_ns() + current.nanoseconds;
	if (current.end_ns > limit_ns)
		current.end_ns = limit_ns;
	if (!current.nanoseconds)
		current.end_ns = UINT64_MAX;
	worker_step("waits for the workers");
	(void)pthread_barrier_wait(&current.together);
}

/* ---- Counting ---- */

void round_expect_intact(size_t held, const char *when)
{
	const size_t active = lfpool_active_count(current.pool), available = lfpool_available_count(current.pool);
	const size_t capacity = lfpool_capacity(current.pool), expected = held + (current.decoy.object != NULL);
	size_t where = SIZE_MAX;
	const char *violated;

	refusals_next(current.refusals, 0);
	violated = doing(lfpool_check)(current.pool, &where);
	if (violated && where == SIZE_MAX)
		violation("%s: %s", when, violated);
	else if (violated)
		violation("%s, at %zu: %s", when, where, violated);
	accounts_judge(when);
	if (active != expected || available != capacity - expected || capacity > current.last ||
	    (capacity != current.last && !current.initial))
		violation("%s %zu objects of %zu are active and %zu available, not %zu and %zu", when, active, capacity,
			  available, expected, capacity - expected);
}

/* Acquires everything: exactly the capacity, with each object in order. */
static void drain(void)
{
	const size_t capacity = current.last;
	void *beyond = NULL;

	worker_hold(here, capacity);
	if (here->count != capacity)
		violation("at the end the pool gave back %zu of its %zu objects", here->count, capacity);
	else if (doing(lfpool_acquire)(current.pool) || doing(lfpool_acquire_bulk)(current.pool, &beyond, 1) != 0)
		violation("the pool gave out more objects than its capacity of %zu", capacity);
	else
		round_expect_intact(capacity, "with all objects acquired");
	worker_look(here);
	worker_keep(here, 0);
}

static void reckon(void)
{
	/* relaxed, both: the threads have stopped. */
	size_t provoked = load_relaxed(&current.provoked);
	size_t reported = load_relaxed(&current.reported);
	size_t counted = (size_t)lfpool_quick_stats(current.pool).misuses;

	if (current.decoy.object)
		worker_release(here, &current.decoy);
	round_expect_intact(0, "after the work");
	drain();
	round_expect_intact(0, "after the count");
	accounts_judge_lateness();
	if (counted != provoked || reported != provoked)
		violation("%zu wrong releases, but the pool counts %zu and called the hook for %zu", provoked, counted,
			  reported);
}

static void destroy(void)
{
	size_t active = doing(lfpool_destroy)(current.pool);

	if (active != 0 && !cell_failed())
		violation("lfpool_destroy() found %zu active objects, not 0", active);
}

/* Lets the threads exit, and joins them. */
static void dismiss(void)
{
	if (current.ending != ENDING_EXIT_FIRST)
		(void)pthread_barrier_wait(&current.together);
	if (current.ending == ENDING_EXIT_DURING)
		destroy();
	for (unsigned i = 0; i < current.threads; i++)
		(void)pthread_join(current.workers[i].thread, NULL);
}

static void clear_away(void)
{
	if (current.cell->scenario->close)
		current.cell->scenario->close();
	free(current.ledger.entries);
	(void)pthread_barrier_destroy(&current.together);
	for (unsigned i = 0; i < current.threads; i++)
		free(current.workers[i].hands);
	free(current.workers);
	free(current.keeper.hands);
	here = NULL;
}

static void run(uint64_t limit_ns)
{
	const struct scenario *scenario = current.cell->scenario;

	start_threads(limit_ns);
	if (current.ending == ENDING_EXIT_FIRST)
		dismiss();
	else
		(void)pthread_barrier_wait(&current.together);
	worker_step("counts");
	if (scenario->finish)
		scenario->finish();
	if (!cell_failed())
		reckon();
	history_close();
	if (current.ending == ENDING_EXIT_COUNTED)
		dismiss();
	if (current.ending != ENDING_EXIT_DURING)
		destroy();
	if (current.ending == ENDING_EXIT_LAST || current.ending == ENDING_EXIT_DURING)
		dismiss();
	clear_away();
}

void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns)
{
	draw_round(cell, number);
	history_open();
	if (cell->scenario->plan)
		cell->scenario->plan();
	else
		round_capacity(current.threads * current.hands);
	if (create())
		run(limit_ns);
}
