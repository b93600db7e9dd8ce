/* SPDX-License-Identifier: MIT */
/* operations.c - the letters of a scenario (scenario.h has the list). */
#include "stage.h"

#include "pool/slots.h"
#include "oracle.h"
#include "retires.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/walk.h"

#include <string.h>

struct stage stage;

struct core *stage_core(void)
{
	return &stage.pool->core;
}

unsigned scenario_object_number(const void *object)
{
	uint32_t slot;

	return arena_locate(&stage_core()->arena, object, &slot) == LFPOOL_OK ? slot - 1 : OBJECTS_MAX;
}

/* ---- Operations ---- */

struct moment stage_call(void)
{
	return retires_kinds ? retires_begin_call() : oracle_call();
}

void stage_end_call(void)
{
	if (retires_kinds)
		retires_end_call();
}

void stage_got(struct actor *actor, struct moment call, void *object, bool was_due)
{
	oracle_acquired(call, scenario_object_number(object), object);
	retires_acquired(object, wants_mark(object), was_due);
	actor->held[actor->held_count++] = object;
}

bool stage_acquire(struct actor *actor, bool borrowed)
{
	struct moment call = stage_call();
	const bool was_due = retires_any_due();
	void *object = borrowed ? lfpool_acquire(stage.pool) : lfpool_cache_acquire(actor->cache);

	stage.acquired += object != NULL;
	if (stage.loose)
		return false;
	void *refused = hooks_refused(engine_thread());

	if (refused)
		oracle_passed(call, scenario_object_number(refused));
	if (object) {
		stage_got(actor, call, object, was_due);
	} else if (!refused) {
		oracle_null(call);
		retires_acquired(NULL, 0, was_due);
	}
	stage_end_call();
	return object;
}

static void release(struct actor *actor, void *object, bool borrowed)
{
	unsigned number = scenario_object_number(object);

	(void)stage_call();
	wants_check_mark(object);
	oracle_releases(number, object);
	retires_releases(object);

	lfpool_status_t status = borrowed ? lfpool_release(stage.pool, object)
					  : lfpool_cache_release(actor->cache, object);

	if (status != LFPOOL_OK)
		engine_fail("releasing object %u: %s", number, lfpool_status_string(status));
	stage.released++;
	oracle_released(number);
	stage_end_call();
}

static void acquire_bulk(struct actor *actor, size_t count)
{
	struct moment call = oracle_call();
	void **objects = actor->held + actor->held_count;
	const size_t got = lfpool_cache_acquire_bulk(actor->cache, objects, count);

	for (size_t i = 0; i < got; i++)
		stage_got(actor, call, objects[i], false);
	/* The call held the objects that it got: then no other object was free. */
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
	for (unsigned i = 0; i < count; i++) {
		wants_check_mark(objects[i]);
		oracle_releases(scenario_object_number(objects[i]), objects[i]);
	}
	if (lfpool_cache_release_bulk(actor->cache, objects, count) != count)
		engine_fail("some of %u objects could not be released", count);
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

static void mark_common(struct actor *actor)
{
	(void)actor;
	(void)oracle_call();
	if (stage.loose)
		(void)lfpool_handle_of(stage.pool, stage.common);
	else
		holds_take_handle(stage.common);
	if (!stage.loose && stage.common_handle && stage.common_handle != holds_handle())
		engine_fail("one use of an object has two handles");
	stage.common_handle = holds_handle();
	/* The releasing thread waits for these marks, in one order, like a lock or a join. release: the handle. */
	uint64_t marks = load_relaxed(&stage.mailbox);

	while (!cas_weak_acq_rel(&stage.mailbox, &marks, marks + 1))
		;
}

/* Releases the common object if all makers have their handles of it. */
static void release_marked(struct actor *actor)
{
	/* acquire: the makers' handles. */
	if (load_acquire(&stage.mailbox) != stage.makers)
		return;
	const lfpool_handle_t handle = stage.common_handle;

	release(actor, stage.common, false);
	if (lfpool_resolve(stage.pool, handle))
		engine_fail("a handle resolves to an object that was released before");
}

void scenario_nested(unsigned thread)
{
	struct actor *actor = &stage.actor[thread];
	const unsigned before = actor->held_count;

	(void)stage_acquire(actor, false);
	if (actor->held_count > before)
		release(actor, actor->held[--actor->held_count], false);
}

static void mail(struct actor *actor)
{
	void *object = take_held(actor, false);

	if (object) {
		explore_plain(object, true);
		/* release: our writes to the object, for the next holder. */
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

void stage_check_high_water(void)
{
	lfpool_stats_t stats;
	const unsigned most = oracle_most(), resets = stage.resets;

	(void)lfpool_stats(stage.pool, &stats);
	/* During a reset the mark's period is unknown. */
	if (!stage.loose && resets % 2 == 0 && resets == stage.resets && stats.high_water < most)
		engine_fail("the high-water mark is %zu, though %u objects were held at once", stats.high_water, most);
}

static void pop_magazine(struct actor *actor)
{
	struct core *core = stage_core();
	struct cache *c = (struct cache *)actor->cache;

	engine_point(true);
	actor->bare = true;
	uint32_t number = stack_pop(&core->depot.shard[0].full, &core->magazines, &c->in_transit);

	if (!number)
		return;
	if (stage.magazine_out >> number & 1)
		engine_fail("magazine %u was popped twice", number);
	stage.magazine_out |= UINT32_C(1) << number;
	explore_plain(magazines_at(&core->magazines, number), true);
	actor->popped[actor->popped_count++] = number;
}

void stage_push_magazine(struct actor *actor, bool oldest)
{
	struct core *core = stage_core();

	if (!actor->popped_count)
		return;

	uint32_t number = actor->popped[oldest ? 0 : actor->popped_count - 1];

	actor->popped_count--;
	if (oldest)
		memmove(actor->popped, actor->popped + 1, actor->popped_count * sizeof(actor->popped[0]));
	stage.magazine_out &= ~(UINT32_C(1) << number);
	explore_plain(magazines_at(&core->magazines, number), true);
	stack_push(&core->depot.shard[0].full, &core->magazines, magazines_at(&core->magazines, number));
}

void stage_operate(struct actor *actor, const char **at)
{
	const char operation = *(*at)++;
	void *object;

	if (retires_kinds && retires_operate(actor, operation, at))
		return;
	switch (operation) {
	case 'a':
	case 'A': (void)stage_acquire(actor, operation == 'A'); break;
	case 'r':
	case 'R':
	case 'o':
		object = take_held(actor, operation == 'o');
		if (object)
			release(actor, object, operation == 'R');
		break;
	case 'e':
	case 'b':
	case 't': acquire_bulk(actor, operation == 'e' ? 1 : operation == 'b' ? 2 : 3); break;
	case 'B': release_bulk(actor); break;
	case 'c':
		actor->cache = lfpool_cache_create(stage.pool);
		if (!actor->cache)
			engine_fail("no cache");
		break;
	case 'C': (void)lfpool_cache_create(stage.pool); break;
	case 'd':
		lfpool_cache_destroy(actor->cache);
		actor->cache = NULL;
		break;
	case 'L': lfpool_cache_flush(stage.pool, actor->cache); break;
	case 'p': mail(actor); break;
	case 'q': collect_mail(actor); break;
	case 'x':
	case 'g': release_common(actor, operation == 'g'); break;
	case 'h':
		if (actor->held_count)
			holds_take_handle(actor->held[actor->held_count - 1]);
		break;
	case 'm': holds_take_next_handle(); break;
	case 'y': mark_common(actor); break;
	case 'Y': release_marked(actor); break;
	case 'H': holds_resolve(); break;
	case 'w':
	case 'W': holds_walk(stage.pool, operation == 'W'); break;
	case 'l':
		(void)oracle_call();
		stage.released += (unsigned)lfpool_release_all(stage.pool);
		break;
	case '+':
	case '-':
	case '*':
	case '/':
	case '(':
	case ')': finds_change(operation); break;
	case '{':
	case '}':
	case '[':
	case ']':
	case '_':
	case '=': colds_operate(operation); break;
	case '?': finds_look(); break;
	case 'M': sets_make(); break;
	case 'i': sets_look(); break;
	case 'n': count_active(); break;
	case 's': stage_check_high_water(); break;
	case 'z':
		engine_point(true);
		stage.resets++;
		lfpool_high_water_reset(stage.pool);
		oracle_high_water_reset();
		stage.resets++;
		break;
	case '<': pop_magazine(actor); break;
	case '>':
	case '^': stage_push_magazine(actor, operation == '^'); break;
	default: wants_operate(actor, operation);
	}
}
