/* SPDX-License-Identifier: MIT */
/*
 * round.c - one round: draw, create, work, reckon, destroy.
 */
#include "round.h"

#include "elastic.h"
#include "history_round.h"
#include "life.h"
#include "refusals.h"
#include "report.h"
#include "scenario.h"

#include <stdarg.h>
#include <string.h>

/* No round uses much more memory than this for objects, so that many rounds fit into a second. */
#define ROUND_BYTES_MAX ((size_t)8 << 20)
#define CACHE_LINE ((size_t)64)
#define MILLISECOND UINT64_C(1000000)

void *round_memory(size_t count, size_t bytes)
{
	size_t total = (count * bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	void *memory = aligned_alloc(CACHE_LINE, total);

	if (!memory) {
		say("lfpool-stress: no memory\n");
		exit(EXIT_STUCK);
	}
	return memset(memory, 0, total);
}

/* ---- Drawing ---- */

static uint64_t seed_of(const struct cell *cell, uint64_t number)
{
	struct random r = {cell->options->seed};

	/* By name, not by position: one cell alone draws what it draws among others. */
	for (const char *c = cell->scenario->name; *c; c++)
		r.state = random_next(&r) + (unsigned char)*c;
	r.state = random_next(&r) + cell->threads;
	r.state = random_next(&r) + number;
	return random_next(&r);
}

static void draw_routes(struct round *round)
{
	uint32_t chosen = 1 + random_below(&round->random, (1u << ROUTES) - 1);

	for (unsigned route = 0; route < ROUTES; route++)
		if (chosen >> route & 1)
			round->routes[round->route_count++] = (enum route)route;
}

void round_on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	struct round *round = context;

	(void)misuse;
	/* relaxed: read when all threads have stopped. */
	atomic_fetch_add_explicit(&round->reported, 1, memory_order_relaxed);
}

static void draw(struct round *round, struct cell *cell, uint64_t number)
{
	static const size_t sizes[] = {1,  2,  3,  7,  8,  8,   12,  16,  16,  24,   32,
				       40, 48, 64, 64, 100, 128, 200, 256, 1000, 4096};
	static const size_t alignments[] = {0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 4096};
	static const size_t caches[] = {0, 0, 0, 2, 2, 4, 16, 16, 64, 1024, LFPOOL_CACHE_NONE, LFPOOL_CACHE_NONE};
	static const uint32_t flags[] = {0, 0, 0, 0, 0, LFPOOL_CHECK_RACES, LFPOOL_CHECK_RACES, LFPOOL_ZERO,
					 LFPOOL_ZERO | LFPOOL_CHECK_RACES, LFPOOL_PREFAULT};
	static const uint64_t milliseconds[] = {2, 5, 10, 20, 50, 100};
	struct random *random = &round->random;

	round->cell = cell;
	round->number = number;
	random->state = seed_of(cell, number);
	lfpool_config_init(&round->config);
	round->config.name = "stress";
	round->config.object_size = PICK(random, sizes);
	round->config.object_alignment = PICK(random, alignments);
	round->config.cache_capacity = PICK(random, caches);
	round->config.flags = PICK(random, flags);
	round->config.depot_shards = 1 + random_below(random, 3);
	round->config.hooks.context = round;
	round->config.hooks.misuse = round_on_misuse;
	round->nanoseconds = PICK(random, milliseconds) * MILLISECOND;
	round->ending = (enum ending)random_below(random, ENDINGS);
	draw_routes(round);
	round->seed = random_next(random);
}

void round_capacity(struct round *round, size_t demand)
{
	static const size_t tiny[] = {1, 2, 3, 7, 32};
	struct random *random = &round->random;

	round->capacity = demand;
	round->roomy = true;
	switch (random_below(random, 4)) {
	case 0:
		round->capacity += 1 + random_below(random, 4000);
		break;
	case 1:
		round->capacity = PICK(random, tiny);
		break;
	}
	round->demand.counted = round->capacity < demand;
}

void round_remark(struct round *round, const char *format, ...)
{
	const size_t length = strlen(round->remark);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(round->remark + length, sizeof(round->remark) - length, format, arguments);
	va_end(arguments);
}

/* Without room for large objects, smaller ones, but with what the scenario has in them. */
static void limit_bytes(lfpool_config_t *config, size_t head, size_t most)
{
	size_t *size = &config->object_size;

	while (config->object_alignment > 64 && config->object_alignment * most > ROUND_BYTES_MAX)
		config->object_alignment /= 2;
	while (*size > head + 8 && *size * most > ROUND_BYTES_MAX)
		*size = head + (*size - head) / 2;
}

void round_describe(const struct round *round, char text_out[ROUND_TEXT_BYTES])
{
	static const char *const routes[] = {"thread", "inline", "cache", "bulk"};
	static const char *const endings[] = {"threads exit first", "threads exit after the count",
					      "threads outlive the pool", "threads exit during destroy"};
	static const char *const flags[] = {"prefault", "zero", "check-races"};
	const lfpool_config_t *config = &round->config;
	char cache[24] = "none";
	size_t at;

	if (config->cache_capacity != LFPOOL_CACHE_NONE)
		(void)snprintf(cache, sizeof(cache), "%zu", config->cache_capacity);
	at = (size_t)snprintf(text_out, ROUND_TEXT_BYTES, "objects of %zu aligned to %zu, capacity %zu%s, cache %s, flags",
			      config->object_size, config->object_alignment, config->capacity,
			      round->demand.counted ? " (scarce)" : "", config->cache_capacity ? cache : "default");
	for (unsigned bit = 0; bit < sizeof(flags) / sizeof(flags[0]); bit++)
		if (config->flags >> bit & 1)
			at += (size_t)snprintf(text_out + at, ROUND_TEXT_BYTES - at, " %s", flags[bit]);
	if (!config->flags)
		at += (size_t)snprintf(text_out + at, ROUND_TEXT_BYTES - at, " 0");
	if (round->initial)
		at += (size_t)snprintf(text_out + at, ROUND_TEXT_BYTES - at, ", grows to %zu by %zu", config->max_capacity,
				       config->growth_step);
	at += (size_t)snprintf(text_out + at, ROUND_TEXT_BYTES - at, "%s%s, by", round->trims ? ", trimmed" : "",
			       round->refusals ? ", with refusals" : "");
	for (unsigned i = 0; i < round->route_count; i++)
		at += (size_t)snprintf(text_out + at, ROUND_TEXT_BYTES - at, " %s", routes[round->routes[i]]);
	(void)snprintf(text_out + at, ROUND_TEXT_BYTES - at, ", %s%s%s%s%s", endings[round->ending], round->remark,
		       round->life ? ", hooks" : "", config->debug ? ", debug " : "", config->debug ? config->debug : "");
}

/* ---- Creating ---- */

static bool create(struct round *round)
{
	bool decoy = round->cell->options->fault == FAULT_DOUBLE_GRANT;
	lfpool_config_t *config = &round->config;

	elastic_draw(round);
	round->most = round->last = round->capacity + decoy;
	config->capacity = round->initial ? round->initial + decoy : round->most;
	config->max_capacity = round->initial ? round->most : 0;
	limit_bytes(config, round->head, round->most);
	life_open(round);
	round->demand.capacity = (uint32_t)round->most;

	lfpool_status_t status = lfpool_create(&round->pool, config);
	if (status == LFPOOL_E_NO_MEMORY) {
		say("lfpool-stress: no memory for a pool of %zu objects of %zu bytes\n", config->capacity, config->object_size);
		exit(EXIT_STUCK);
	}
	if (status != LFPOOL_OK) {
		violation(round, "a valid configuration was refused: %s", lfpool_status_string(status));
		return false;
	}
	/* There every acquire asks the system. */
	round->refusals &= lfpool_backend(round->pool) != LFPOOL_BACKEND_MALLOC;
	ledger_open(&round->ledger, round, round->pool, config);
	accounts_open(round);
	worker_init(&round->keeper, round, round->cell->threads);
	round->keeper.trusted = true;
	if (decoy)
		(void)worker_acquire(&round->keeper, &round->decoy);
	return true;
}

/* ---- Working ---- */

static void *worker_main(void *argument)
{
	struct worker *worker = argument;
	struct round *round = worker->round;

	(void)pthread_barrier_wait(&round->start);
	round->cell->scenario->work(worker);
	/* Objects in a cache that is not destroyed must be found as well. */
	if (worker_chance(worker, 2))
		worker_drop_cache(worker);
	if (round->ending != ENDING_EXIT_FIRST) {
		(void)pthread_barrier_wait(&round->worked);
		(void)pthread_barrier_wait(&round->leave);
	}
	return NULL;
}

static void start_threads(struct round *round, uint64_t limit_ns)
{
	unsigned threads = round->cell->threads;

	(void)pthread_barrier_init(&round->start, NULL, threads + 1);
	(void)pthread_barrier_init(&round->worked, NULL, threads + 1);
	(void)pthread_barrier_init(&round->leave, NULL, threads + 1);
	round->workers = round_memory(threads, sizeof(*round->workers));
	for (unsigned i = 0; i < threads; i++) {
		worker_init(&round->workers[i], round, i);
		thread_start(&round->workers[i].thread, worker_main, &round->workers[i]);
	}
	round->end_ns = now_ns() + round->nanoseconds;
	if (round->end_ns > limit_ns)
		round->end_ns = limit_ns;
	(void)pthread_barrier_wait(&round->start);
}

static void join_threads(struct round *round)
{
	for (unsigned i = 0; i < round->cell->threads; i++)
		(void)pthread_join(round->workers[i].thread, NULL);
}

/* ---- Reckoning ---- */

static void expect_active(struct round *round, size_t expected, const char *when)
{
	size_t active = lfpool_active_count(round->pool), available = lfpool_available_count(round->pool);

	size_t capacity = lfpool_capacity(round->pool);

	if (active != expected || available != capacity - expected || capacity > round->last ||
	    (capacity != round->last && !round->initial))
		violation(round, "%s %zu objects of %zu are active and %zu available, not %zu and %zu", when, active,
			  capacity, available, expected, capacity - expected);
}

/* Takes out all there is: it must be exactly the capacity, and every object in order. */
static void drain(struct round *round)
{
	size_t capacity = round->last;
	struct held *held = round_memory(capacity, sizeof(*held));
	size_t got = worker_acquire_many(&round->keeper, held, capacity);
	void *beyond = NULL;

	if (got != capacity)
		violation(round, "in the end the pool gave back %zu of its %zu objects", got, capacity);
	else if (lfpool_acquire(round->pool) || lfpool_acquire_bulk(round->pool, &beyond, 1) != 0)
		violation(round, "the pool gave out more objects than its capacity of %zu", capacity);
	else
		expect_active(round, capacity, "with all objects acquired");
	worker_rescan(&round->keeper, held, got);
	worker_release_many(&round->keeper, held, got);
	free(held);
}

void round_expect_intact(struct round *round, const char *when)
{
	const char *violated;
	size_t where = SIZE_MAX;

	refusals_next(round->refusals, 0);
	violated = lfpool_check(round->pool, &where);
	if (violated && where == SIZE_MAX)
		violation(round, "%s: %s", when, violated);
	else if (violated)
		violation(round, "%s, at %zu: %s", when, where, violated);
	accounts_judge(round, when);
}

static void reckon(struct round *round)
{
	/* relaxed, both: the threads have stopped. */
	size_t provoked = atomic_load_explicit(&round->provoked, memory_order_relaxed);
	size_t reported = atomic_load_explicit(&round->reported, memory_order_relaxed);
	size_t counted = lfpool_misuse_count(round->pool);

	if (round->decoy.object)
		worker_release(&round->keeper, &round->decoy);
	round_expect_intact(round, "after the work");
	expect_active(round, 0, "after the work");
	drain(round);
	expect_active(round, 0, "after the count");
	round_expect_intact(round, "after the count");
	accounts_judge_lateness(round);
	if (counted != provoked || reported != provoked)
		violation(round, "%zu wrong releases: lfpool_misuse_count() says %zu, the hook was told of %zu", provoked,
			  counted, reported);
}

static void destroy(struct round *round)
{
	size_t active = lfpool_destroy(round->pool);

	if (active != 0 && !cell_failed(round->cell))
		violation(round, "lfpool_destroy() found %zu active objects, not 0", active);
}

void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns)
{
	struct round *round = round_memory(1, sizeof(*round));

	draw(round, cell, number);
	history_open(round);
	cell->scenario->plan(round);
	if (create(round)) {
		start_threads(round, limit_ns);
		if (round->ending == ENDING_EXIT_FIRST)
			join_threads(round);
		else
			(void)pthread_barrier_wait(&round->worked);
		if (cell->scenario->finish)
			cell->scenario->finish(round);
		else
			free(round->shared);
		if (!cell_failed(cell))
			reckon(round);
		history_close(round);
		switch (round->ending) {
		case ENDING_EXIT_FIRST:
			destroy(round);
			break;
		case ENDING_EXIT_COUNTED:
			(void)pthread_barrier_wait(&round->leave);
			join_threads(round);
			destroy(round);
			break;
		case ENDING_EXIT_LAST:
			destroy(round);
			(void)pthread_barrier_wait(&round->leave);
			join_threads(round);
			break;
		default:
			(void)pthread_barrier_wait(&round->leave);
			destroy(round);
			join_threads(round);
		}
		if (cell->scenario->close)
			cell->scenario->close(round);
		life_close(round);
		ledger_close(&round->ledger);
		(void)pthread_barrier_destroy(&round->start);
		(void)pthread_barrier_destroy(&round->worked);
		(void)pthread_barrier_destroy(&round->leave);
		free(round->workers);
	}
	free(round);
}
