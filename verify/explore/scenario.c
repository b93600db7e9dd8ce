/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - runs the programs of scenario.h on the real library.
 */
#include "scenario.h"

#include "finds.h"
#include "holds.h"
#include "oracle.h"
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_BYTES 64
#define HELD_MAX 8

struct actor {
	lfpool_cache_t *cache;
	void *held[HELD_MAX];
	unsigned held_count;
	uint32_t popped[HELD_MAX];
	unsigned popped_count;
	bool bare; /* has popped a magazine, and left the announcement in its hand */
};

static struct stage {
	const struct scenario *scenario;
	lfpool_t *pool;
	struct actor actor[THREADS_MAX];
	_Atomic(uint64_t) mailbox;
	void *common;           /* what x and g release                  */
	unsigned common_releases; /* that succeeded                      */
	uint32_t magazine_out;  /* popped magazines, one bit each        */
	bool loose;             /* there is an l: who holds what is nobody's to know */
	unsigned acquired, released; /* one by one, or by l                          */
} stage, stage_saved;

static struct core *core_of_stage(void)
{
	/* Every cache knows its core. */
	return ((struct cache *)stage.actor[3].cache)->core;
}

unsigned scenario_object_number(const void *object)
{
	uint32_t slot;

	return arena_locate(&core_of_stage()->arena, object, &slot) == LFPOOL_OK ? slot - 1 : OBJECTS_MAX;
}

/* ---- Operations ---- */

static void acquire(struct actor *actor, bool borrowed)
{
	struct moment call = oracle_call();
	void *object = borrowed ? lfpool_acquire(stage.pool) : lfpool_cache_acquire(actor->cache);

	stage.acquired += object != NULL;
	if (stage.loose)
		return;
	void *refused = hooks_refused(engine_thread());

	if (refused)
		oracle_passed(call, scenario_object_number(refused));
	if (object) {
		oracle_acquired(call, scenario_object_number(object), object);
		actor->held[actor->held_count++] = object;
	} else if (!refused) {
		oracle_null(call);
	}
}

static void release(struct actor *actor, void *object, bool borrowed)
{
	unsigned number = scenario_object_number(object);

	(void)oracle_call();
	oracle_releases(number, object);

	lfpool_status_t status =
		borrowed ? lfpool_release(stage.pool, object) : lfpool_cache_release(actor->cache, object);

	if (status != LFPOOL_OK)
		engine_fail("releasing object %u: %s", number, lfpool_status_string(status));
	stage.released++;
	oracle_released(number);
}

static void acquire_bulk(struct actor *actor, size_t count)
{
	struct moment call = oracle_call();
	void **objects = actor->held + actor->held_count;
	const size_t got = lfpool_cache_acquire_bulk(actor->cache, objects, count);

	for (size_t i = 0; i < got; i++)
		oracle_acquired(call, scenario_object_number(objects[i]), objects[i]);
	actor->held_count += (unsigned)got;
	/* Those that it got were in its hands: then no other was free. */
	if (got < count)
		oracle_null(call);
}

static void release_bulk(struct actor *actor)
{
	const unsigned count = actor->held_count < 2 ? actor->held_count : 2;
	void *objects[2];

	actor->held_count -= count;
	memcpy(objects, actor->held + actor->held_count, sizeof(*objects) * count);
	(void)oracle_call();
	for (unsigned i = 0; i < count; i++)
		oracle_releases(scenario_object_number(objects[i]), objects[i]);
	if (lfpool_cache_release_bulk(actor->cache, objects, count) != count)
		engine_fail("not all of %u objects could be released", count);
	for (unsigned i = 0; i < count; i++)
		oracle_released(scenario_object_number(objects[i]));
}

static void *take_held(struct actor *actor, bool oldest)
{
	void *object = NULL;

	if (actor->held_count) {
		object = actor->held[oldest ? 0 : actor->held_count - 1];
		actor->held_count--;
		if (oldest)
			memmove(actor->held, actor->held + 1, actor->held_count * sizeof(actor->held[0]));
	}
	return object;
}

static void release_common(struct actor *actor, bool by_handle)
{
	unsigned number = scenario_object_number(stage.common);

	(void)oracle_call();
	if ((by_handle ? lfpool_release_handle(stage.pool, holds_handle())
		       : lfpool_cache_release(actor->cache, stage.common)) == LFPOOL_OK) {
		stage.released++;
		if (++stage.common_releases > 1)
			engine_fail("two releases of object %u succeeded", number);
		oracle_released(number);
	}
}

void scenario_nested(unsigned thread)
{
	struct actor *actor = &stage.actor[thread];
	const unsigned before = actor->held_count;

	acquire(actor, false);
	if (actor->held_count > before)
		release(actor, actor->held[--actor->held_count], false);
}

static void mail(struct actor *actor)
{
	void *object = take_held(actor, false);

	if (object) {
		explore_plain(object, true);
		/* release: the next holder sees what we wrote. */
		store_release(&stage.mailbox, (uint64_t)(uintptr_t)object);
	}
}

static void collect_mail(struct actor *actor)
{
	/* acquire: as above. */
	void *object = (void *)(uintptr_t)load_acquire(&stage.mailbox);

	if (object) {
		explore_plain(object, true);
		actor->held[actor->held_count++] = object;
	}
}

static void count_active(void)
{
	unsigned held = 0;
	size_t counted;

	engine_point(true);
	for (unsigned i = 0; i < stage.scenario->capacity; i++)
		held += oracle_held(i);
	counted = lfpool_active_count(stage.pool);
	if (counted != held)
		engine_fail("%zu objects counted active, %u are held", counted, held);
}

static void pop_magazine(struct actor *actor)
{
	struct core *core = core_of_stage();
	struct cache *c = (struct cache *)actor->cache;

	engine_point(true);
	actor->bare = true;
	uint32_t number = stack_pop(&core->depot.shard[0].full, &core->magazines, &c->hand);

	if (!number)
		return;
	if (stage.magazine_out >> number & 1)
		engine_fail("magazine %u was popped twice", number);
	stage.magazine_out |= UINT32_C(1) << number;
	explore_plain(magazines_at(&core->magazines, number), true);
	actor->popped[actor->popped_count++] = number;
}

static void push_magazine(struct actor *actor, bool oldest)
{
	struct core *core = core_of_stage();

	if (!actor->popped_count)
		return;

	uint32_t number = actor->popped[oldest ? 0 : actor->popped_count - 1];

	actor->popped_count--;
	if (oldest)
		memmove(actor->popped, actor->popped + 1, actor->popped_count * sizeof(actor->popped[0]));
	stage.magazine_out &= ~(UINT32_C(1) << number);
	explore_plain(magazines_at(&core->magazines, number), true);
	stack_push(&core->depot.shard[0].full, magazines_at(&core->magazines, number));
}

static void operate(struct actor *actor, char operation)
{
	void *object;

	switch (operation) {
	case 'a':
	case 'A':
		acquire(actor, operation == 'A');
		break;
	case 'r':
	case 'R':
	case 'o':
		object = take_held(actor, operation == 'o');
		if (object)
			release(actor, object, operation == 'R');
		break;
	case 'e':
	case 'b':
	case 't':
		acquire_bulk(actor, operation == 'e' ? 1 : operation == 'b' ? 2 : 3);
		break;
	case 'B':
		release_bulk(actor);
		break;
	case 'c':
		actor->cache = lfpool_cache_create(stage.pool);
		if (!actor->cache)
			engine_fail("no cache");
		break;
	case 'C':
		(void)lfpool_cache_create(stage.pool);
		break;
	case 'd':
		lfpool_cache_destroy(actor->cache);
		actor->cache = NULL;
		break;
	case 'p':
		mail(actor);
		break;
	case 'q':
		collect_mail(actor);
		break;
	case 'x':
	case 'g':
		release_common(actor, operation == 'g');
		break;
	case 'h':
		holds_take_handle(actor->held[actor->held_count - 1]);
		break;
	case 'm':
		holds_take_next_handle();
		break;
	case 'y':
		/* relaxed: nobody else is there. */
		store_relaxed(&core_of_stage()->arena.face.state[1], LFPOOL_GENERATION_LAST);
		break;
	case 'H':
		holds_resolve();
		break;
	case 'w':
	case 'W':
		holds_walk(stage.pool, operation == 'W');
		break;
	case 'l':
		(void)oracle_call();
		stage.released += (unsigned)lfpool_release_all(stage.pool);
		break;
	case '+':
	case '-':
	case '*':
	case '/':
		finds_change(operation);
		break;
	case '?':
		finds_look();
		break;
	case 'n':
		count_active();
		break;
	case 's':
		(void)lfpool_stats(stage.pool, &(lfpool_stats_t)LFPOOL_STATS_INIT);
		break;
	case '<':
		pop_magazine(actor);
		break;
	case '>':
	case '^':
		push_magazine(actor, operation == '^');
		break;
	default:
		engine_fail("the scenario's fault: no operation %c", operation);
	}
}

/* ---- The program that the engine runs ---- */

static void reset(void *context)
{
	(void)context;
	os_play_restore();
	stage = stage_saved;
	oracle_begin();
	hooks_begin();
	holds_begin();
	finds_begin();
}

static void run(void *context, unsigned thread)
{
	(void)context;
	for (const char *at = stage.scenario->threads[thread]; *at; at++)
		operate(&stage.actor[thread], *at);
}

/* Everything that is not held can be acquired, by one who has not been there before. */
static void check_conservation(void)
{
	unsigned held = stage.loose ? stage.acquired - stage.released : 0, found = 0;
	bool seen[OBJECTS_MAX] = {false};
	lfpool_cache_t *cache = lfpool_cache_create(stage.pool);

	for (unsigned i = 0; !stage.loose && i < stage.scenario->capacity; i++)
		held += oracle_held(i);
	if (lfpool_active_count(stage.pool) != held)
		engine_fail("%zu objects counted active, %u are held", lfpool_active_count(stage.pool), held);
	for (void *object; found <= stage.scenario->capacity && (object = lfpool_cache_acquire(cache)); found++) {
		unsigned number = scenario_object_number(object);

		if (number >= stage.scenario->capacity || seen[number] || (!stage.loose && oracle_held(number))) {
			engine_fail("afterwards object %u is handed out that is not free", number);
			return;
		}
		seen[number] = true;
	}
	if (found != stage.scenario->capacity - held)
		engine_fail("afterwards %u objects are free, %u can be acquired", stage.scenario->capacity - held, found);
}

/* A magazine in two places, a slot in two magazines: such things do no harm at once. */
static void check_invariants(void)
{
	size_t where;
	const char *violated;

	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (stage.actor[t].bare)
			tagged_set(&((struct cache *)stage.actor[t].cache)->hand, 0);
	violated = lfpool_check(stage.pool, &where);
	if (violated)
		engine_fail("afterwards, at %zu, %s", where, violated);
}

static void finish(void *context)
{
	(void)context;
	if (stage.common && stage.common_releases != 1 && !stage.loose)
		engine_fail("%u releases of one object succeeded", stage.common_releases);
	oracle_check_nulls();
	hooks_check(stage.scenario->capacity);
	holds_check_walks();
	for (unsigned t = 0; t < THREADS_MAX; t++)
		while (stage.actor[t].popped_count)
			push_magazine(&stage.actor[t], false);
	check_invariants();
	check_conservation();
}

/* ---- The set-up ---- */

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	if (misuse->status == LFPOOL_E_WRITTEN_WHEN_FREE || misuse->status == LFPOOL_E_GUARD)
		engine_fail("%s: %s", lfpool_status_string(misuse->status), misuse->detail);
}

static void set_up(const struct scenario *scenario, bool asymmetric)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;
	struct actor *actor = NULL;

	os_play_open(asymmetric);
	stage = (struct stage){.scenario = scenario};
	config.name = scenario->name;
	config.object_size = OBJECT_BYTES;
	config.capacity = scenario->capacity;
	config.cache_capacity = 2 * scenario->slots;
	config.flags = scenario->flags & ~SCENARIO_HOOKS;
	config.depot_shards = scenario->shards ? scenario->shards : 1;
	config.hooks.misuse = on_misuse;
	config.debug = scenario->debug;
	hooks_open(scenario->hooks, &config);
	if (scenario->flags & SCENARIO_HOOKS)
		config.hooks.activate = holds_activate;
	if (lfpool_create(&stage.pool, &config) != LFPOOL_OK)
		abort();
	oracle_open(scenario->capacity, scenario->debug && strstr(scenario->debug, "quarantine"));
	holds_open(stage.pool);
	/* They grow while the threads run, but not before. */
	finds_open(strchr(scenario->setup, '*') ? 5 : 4);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (t == 3 || (scenario->threads[t] && scenario->threads[t][0] != 'c'))
			stage.actor[t].cache = lfpool_cache_create(stage.pool);
	struct cache *keeps_core = (struct cache *)stage.actor[3].cache;

	for (const char *at = scenario->setup; *at; at++) {
		if (*at >= '0' && *at <= '3')
			actor = &stage.actor[*at - '0'];
		else if (*at != ' ')
			operate(actor, *at);
	}
	/* A cache that was given up is still a way to the core. */
	stage.actor[3].cache = &keeps_core->handle.face;
	oracle_save();
	for (unsigned t = 0; t < 3; t++) {
		stage.loose |= scenario->threads[t] && strchr(scenario->threads[t], 'l');
		if (!stage.common && scenario->threads[t] && strpbrk(scenario->threads[t], "xg")) {
			stage.common = stage.actor[3].held[0];
			holds_take_handle(stage.common);
			oracle_releases_any(scenario_object_number(stage.common));
		}
	}
	hooks_save();
	holds_save();
	finds_save();
	stage_saved = stage;
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
	stage = stage_saved;
	hooks_begin();
	(void)lfpool_destroy(stage.pool);
}
