/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - runs the programs of scenario.h on the real library.
 */
#include "stage.h"

#include "evicts.h"
#include "follow.h"
#include "oracle.h"
#include "retires.h"

#include "lfpool/report.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 64

unsigned scenario_objects(void)
{
	const struct scenario *s = stage.scenario;

	return s->max_capacity ? s->max_capacity : s->capacity;
}

void scenario_discarded(const void *address, size_t bytes)
{
	const struct arena *arena = &stage_core()->arena;

	for (uint32_t slot = 1; slot <= scenario_objects(); slot++) {
		const char *object = arena_object(arena, slot);

		if (object >= (const char *)address && object < (const char *)address + bytes)
			explore_plain(object, true);
	}
}

/* ---- The program that the engine runs ---- */

static void reset(void *context)
{
	(void)context;
	os_play_restore();
	retires_begin();
}

static void run(void *context, unsigned thread)
{
	(void)context;
	if (stage.scenario->evicting) {
		os_play_lend(stage.actor[thread].cache);
		evicts_run(stage.scenario->threads[thread]);
		return;
	}
	if (stage.scenario->retiring && !strchr(stage.scenario->retiring, 'c'))
		os_play_lend(stage.actor[thread].cache);
	for (const char *at = stage.scenario->threads[thread]; *at;)
		stage_operate(&stage.actor[thread], &at);
}

/* A new thread can acquire everything that is not held. */
static void check_conservation(void)
{
	const unsigned reserved = scenario_objects();
	unsigned held = stage.loose ? stage.acquired - stage.released : 0, found = 0, capacity;
	bool seen[OBJECTS_MAX] = {false};
	lfpool_cache_t *cache = lfpool_cache_create(stage.pool);

	for (unsigned i = 0; !stage.loose && i < reserved; i++)
		held += oracle_held(i);
	if (lfpool_active_count(stage.pool) != held)
		engine_fail("%zu objects counted active, %u are held", lfpool_active_count(stage.pool), held);
	capacity = (unsigned)lfpool_capacity(stage.pool);
	/* A closed pool does not grow, nor one that owes objects. */
	if (stage.scenario->growth_step && !lfpool_quick_stats(stage.pool).owed &&
	    lfpool_quick_stats(stage.pool).max_capacity > capacity)
		capacity = (unsigned)lfpool_quick_stats(stage.pool).max_capacity;
	for (void *object; found <= reserved && (object = lfpool_cache_acquire(cache)); found++) {
		unsigned number = scenario_object_number(object);

		if (number >= reserved || seen[number] || (!stage.loose && oracle_held(number))) {
			engine_fail("at the end object %u is handed out but is not free", number);
			return;
		}
		seen[number] = true;
	}
	if (found != capacity - held)
		engine_fail("at the end %u objects are free, but %u can be acquired", capacity - held, found);
}

/* A magazine in two places, a slot in two magazines: such errors do no harm at once. */
static void check_invariants(void)
{
	size_t where;
	const char *violated;

	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (stage.actor[t].bare)
			tagged_set(&((struct cache *)stage.actor[t].cache)->in_transit, 0);
	violated = lfpool_check(stage.pool, &where);
	if (violated)
		engine_fail("afterwards, at %zu, %s", where, violated);
}

/* TR2: a page that counts as clean has no contents of a cold object: no trim would give them back. */
static void check_clean_pages(void)
{
	const struct core *core = stage_core();
	const struct arena *arena = &core->arena;

	for (uint32_t slot = 1; arena->dirty && slot <= scenario_objects(); slot++) {
		const char *object = arena_object(arena, slot);
		const size_t page = (size_t)(object - arena->objects) / os_page_bytes();
		const uint64_t cold = cold_look(&core->cold, (slot - 1) / 64) >> (slot - 1) % 64 & 1;

		if (cold && !arena->dirty[page] && *wants_mark_in(object))
			engine_fail("object %u is cold and has contents, but its page passes for clean", slot - 1);
	}
}

static void finish(void *context)
{
	(void)context;
	follow_finish();
	if (stage.common && stage.common_releases != 1 && !stage.makers && !stage.loose)
		engine_fail("%u releases of one object succeeded", stage.common_releases);
	oracle_check_nulls();
	hooks_check(scenario_objects());
	holds_check_walks();
	for (unsigned t = 0; t < THREADS_MAX; t++)
		while (stage.actor[t].popped_count)
			stage_push_magazine(&stage.actor[t], false);
	check_invariants();
	wants_check();
	colds_check();
	check_clean_pages();
	evicts_check();
	retires_check();
	stage_check_high_water();
	check_conservation();
}

/* ---- The set-up ---- */

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	if (misuse->status == LFPOOL_E_WRITTEN_WHEN_FREE || misuse->status == LFPOOL_E_GUARD)
		engine_fail("%s: %s", lfpool_status_string(misuse->status), misuse->detail);
}

/* Does only the number of free objects count, not which are free?  Yes, if slots come out of the cold store: a call
 * takes one from its count, and then any slot. */
static bool counts(const struct scenario *scenario)
{
	bool any = scenario->hooks || scenario->max_capacity ||
		   (scenario->debug && strstr(scenario->debug, "quarantine"));

	for (unsigned t = 0; t < 3; t++)
		any |= scenario->retiring ? scenario->threads[t] && strchr(scenario->threads[t], 'u')
					  : wants_any(scenario->threads[t]);
	return any;
}

/* Objects that are not in the pool, or will leave it.  A pool that grows automatically counts as having all objects. */
static unsigned outside(const struct scenario *scenario)
{
	const size_t owed = lfpool_quick_stats(stage.pool).owed;

	return scenario->growth_step ? 0 : scenario_objects() - (unsigned)(lfpool_capacity(stage.pool) - owed);
}

static void set_up(const struct scenario *scenario, bool asymmetric)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	struct actor *actor = scenario->retiring ? &stage.actor[3] : NULL;

	os_play_open(asymmetric);
	stage = (struct stage){.scenario = scenario};
	os_play_keep(&stage, sizeof(stage));
	config.name = scenario->name;
	config.object_size = scenario->object_bytes ? scenario->object_bytes : OBJECT_BYTES;
	config.capacity = scenario->capacity;
	config.max_capacity = scenario->max_capacity;
	config.growth_step = scenario->growth_step;
	config.cache_capacity = scenario->slots ? 2 * scenario->slots : LFPOOL_CACHE_NONE;
	config.flags = scenario->flags & ~SCENARIO_HOOKS;
	config.depot_shards = scenario->shards ? scenario->shards : 1;
	config.hooks.misuse = on_misuse;
	config.debug = scenario->debug;
	hooks_open(scenario->hooks, &config);
	if (scenario->flags & SCENARIO_HOOKS)
		config.hooks.activate = holds_activate;
	retires_configure(scenario, &config);
	if (scenario->evicting)
		evicts_configure(&config);
	if (lfpool_create(&stage.pool, &config) != LFPOOL_OK)
		abort();
	oracle_open(scenario_objects(), counts(scenario));
	wants_open(stage.pool);
	colds_open();
	sets_open();
	holds_open(stage.pool);
	/* The ranges grow while the threads run, but not before. */
	finds_open(strchr(scenario->setup, '*') ? 5 : 4);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (t == 3 ? scenario->setup[0] != '-' : scenario->threads[t] && scenario->threads[t][0] != 'c')
			stage.actor[t].cache = lfpool_cache_create(stage.pool);
	retires_open();
	if (scenario->evicting)
		evicts_open(scenario->setup);
	for (const char *at = scenario->evicting ? "" : scenario->setup; *at;) {
		if (*at >= '0' && *at <= '3')
			actor = &stage.actor[*at++ - '0'];
		else if (*at == ' ' || *at == '-')
			at++;
		else
			stage_operate(actor, &at);
	}
	oracle_save(outside(scenario));
	bool has_handles = false;

	for (unsigned t = 0; t < 3 && !scenario->retiring && !scenario->evicting; t++) {
		stage.makers += scenario->threads[t] && strchr(scenario->threads[t], 'y');
		has_handles |= scenario->threads[t] && strpbrk(scenario->threads[t], "gH");
	}
	for (unsigned t = 0; t < 3 && !scenario->retiring && !scenario->evicting; t++) {
		stage.loose |= scenario->threads[t] && strchr(scenario->threads[t], 'l');
		if (!stage.common && scenario->threads[t] && strpbrk(scenario->threads[t], "xgy")) {
			stage.common = stage.actor[3].held[0];
			if (stage.makers && !stage.loose)
				continue;
			/* Only if necessary: an object that has a handle is released in a different way. */
			if (!stage.makers && has_handles)
				holds_take_handle(stage.common);
			oracle_releases_any(scenario_object_number(stage.common));
		}
	}
	wants_look_ahead();
	os_play_save();
}

void scenario_search(const struct scenario *scenario, bool asymmetric, const struct search *search,
		     struct result *result_out)
{
	struct program program = {.reset = reset, .run = run, .finish = finish};

	while (program.threads < 3 && scenario->threads[program.threads])
		program.threads++;
	set_up(scenario, asymmetric);
	engine_search(search, &program, result_out);
	os_play_restore();
	retires_begin();
	(void)lfpool_destroy(stage.pool);
}
