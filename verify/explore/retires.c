/* SPDX-License-Identifier: MIT */
/* retires.c - the letters of retires.h, and the record of their actions. retires_judge.c checks the promises. */
#include "retires.h"

#include "verbs.h"

#include "lfpool/retire.h"

#include <string.h>

struct retires retires;
const char *retires_kinds;
static bool begun;
/* The address by which the oracle knows an object's contents. */
static char nothing[THREADS_MAX];

struct retire_thread *retires_self(void)
{
	return &retires.thread[engine_running() ? engine_thread() : THREADS_MAX];
}

/* ---- Calls ---- */

struct moment retires_begin_call(void)
{
	const struct moment call = oracle_call();
	struct retire_thread *self = retires_self();

	self->inside = true;
	self->disturbed = false;
	for (struct retire_thread *t = retires.thread; t < retires.thread + THREADS_MAX; t++)
		if (t != self && t->inside)
			t->disturbed = self->disturbed = true;
	return call;
}

/* Ends the call: the objects that it has reclaimed are free. */
void retires_end_call(void)
{
	struct retire_thread *self = retires_self();

	self->inside = false;
	for (; self->goings; self->goings--) {
		const unsigned number = self->going[self->goings - 1];

		if (retires.object[number].fate == IS_GOING)
			retires.object[number].fate = IS_FREE;
		oracle_released(number);
	}
}

static void check_unread(unsigned number, const char *what)
{
	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (retires.thread[t].reads == number)
			engine_fail("object %u %s while thread %u reads it", number, what, t);
}

void retires_due(const lfpool_batch_t *batch)
{
	struct retire_thread *self = retires_self();
	uint32_t cursor = 0;

	for (const void *object; (object = lfpool_batch_next(batch, &cursor));) {
		const unsigned number = scenario_object_number(object);

		if (retires.object[number].fate != IS_RETIRED)
			engine_fail("object %u is reclaimed but not retired", number);
		check_unread(number, "is reclaimed");
		retires.object[number].fate = IS_GOING;
		self->going[self->goings++] = number;
		if (self->goings == OBJECTS_MAX)
			engine_fail("the explorer's fault: too many objects are reclaimed");
	}
}

/* ---- Objects ---- */

void retires_acquired(void *object, uint64_t mark, bool was_due)
{
	if (!retires_kinds)
		return;
	if (!object) {
		if (was_due && !retires_self()->disturbed && strchr(retires_kinds, 'r') && !engine_weak())
			engine_fail("NULL although a batch was due and no other thread was inside a call");
		return;
	}

	const unsigned number = scenario_object_number(object);
	struct object *o = &retires.object[number];

	if (o->fate != IS_FREE && o->fate != IS_GOING)
		engine_fail("object %u is handed out while it is %s", number,
			    o->fate == IS_RETIRED ? "retired" : "in use");
	check_unread(number, "is handed out");
	*o = (struct object){.fate = IS_HELD, .life = mark};
}

void retires_releases(const void *object)
{
	if (retires_kinds)
		retires.object[scenario_object_number(object)].fate = IS_FREE;
}

/* Before an object is retired; after. */
static void retires_it(void *object)
{
	const unsigned number = scenario_object_number(object);

	explore_plain(object, false);
	retires.object[number].fate = IS_RETIRED;
	/* Objects of the set-up lose their holder when the set-up is over. */
	if (begun)
		oracle_releases(number, &nothing[engine_thread()]);
}

static void retired_it(void *object, uint64_t life)
{
	struct object *o = &retires.object[scenario_object_number(object)];

	if (o->life != life || o->fate != IS_RETIRED)
		return;
	if (engine_running())
		o->retired = memory_moment();
	o->all_know = true;
}

void retires_retire(void *object)
{
	const bool inside = retires_self()->inside;
	const uint64_t life = object ? retires.object[scenario_object_number(object)].life : 0;

	if (!object)
		return;
	if (!inside)
		(void)retires_begin_call();
	retires_it(object);
	if (lfpool_retire(stage.pool, object) != LFPOOL_OK)
		engine_fail("object %u cannot be retired", scenario_object_number(object));
	retired_it(object, life);
	if (!inside)
		retires_end_call();
}

void *retires_take_out(unsigned place)
{
	uint64_t old = load_acquire(&retires.place[place]);

	while (old && !cas_acq_rel(&retires.place[place], &old, 0))
		;
	return (void *)(uintptr_t)old;
}

static void retire_both(unsigned one, unsigned other)
{
	void *objects[3] = {retires_take_out(one), NULL, retires_take_out(other)};
	uint64_t life[3] = {0};
	size_t count = 0;

	(void)retires_begin_call();
	for (unsigned i = 0; i < 3; i++)
		if (objects[i]) {
			life[i] = retires.object[scenario_object_number(objects[i])].life;
			retires_it(objects[i]);
			count++;
		}
	if (lfpool_retire_bulk(stage.pool, objects, 3) != count)
		engine_fail("some of %zu objects could not be retired", count);
	for (unsigned i = 0; i < 3; i++)
		if (objects[i])
			retired_it(objects[i], life[i]);
	retires_end_call();
}

static void retire_common(void)
{
	(void)retires_begin_call();
	retires.common_tries++;
	explore_plain(retires.common, false);
	if (lfpool_retire(stage.pool, retires.common) == LFPOOL_OK && ++retires.common_retires > 1)
		engine_fail("one object was retired twice");
	retires_end_call();
}

static void share(unsigned place, void *object)
{
	struct object *o = &retires.object[scenario_object_number(object)];
	uint64_t old = load_acquire(&retires.place[place]);

	o->fate = IS_SHARED;
	o->first = place == 0;
	while (!cas_acq_rel(&retires.place[place], &old, (uint64_t)(uintptr_t)object))
		;
	retires_retire((void *)(uintptr_t)old);
}

static void look(unsigned place)
{
	const void *object;

	retires_enter();
	object = (const void *)(uintptr_t)load_acquire(&retires.place[place]);
	if (object) {
		struct object *o = &retires.object[scenario_object_number(object)];
		const uint64_t life = o->life;

		retires_self()->reads = (unsigned)(o - retires.object);
		for (unsigned i = 0; i < 2; i++) {
			if (o->life != life || *wants_mark_in(object) != life ||
			    (o->fate != IS_SHARED && o->fate != IS_RETIRED))
				engine_fail("object %u has changed while it was read", retires_self()->reads);
			explore_plain(object, false);
			engine_point(true);
		}
		retires_self()->reads = NOBODY_READS;
	}
	retires_leave();
}

/* ---- Hooks ---- */

static bool on_deactivate(void *context, void *object)
{
	const unsigned number = scenario_object_number(object);
	struct object *o = &retires.object[number];

	(void)context;
	/* The last one that the pool destroys. */
	if (!engine_running() && o->fate == IS_SHARED)
		return true;
	if (o->fate != IS_GOING && o->fate != IS_FREE)
		engine_fail("object %u is deactivated at the wrong time", number);
	explore_plain(object, true);
	if (o->first) {
		o->first = false;
		retires_retire(retires_take_out(1));
	}
	return true;
}

/* ---- Programs ---- */

bool retires_operate(struct actor *actor, char operation, const char **at)
{
	unsigned place;

	switch (operation) {
	case 's':
		place = scenario_digit(at);
		if (stage_acquire(actor, strchr(retires_kinds, 'c')))
			share(place, actor->held[--actor->held_count]);
		break;
	case 't': retires_retire(retires_take_out(scenario_digit(at))); break;
	case 'b':
		place = scenario_digit(at);
		retire_both(place, scenario_digit(at));
		break;
	case 'l': look(scenario_digit(at)); break;
	case 'k':
		retires.common = retires_take_out(scenario_digit(at));
		retires_it(retires.common);
		break;
	case 'x': retire_common(); break;
	case 'p': retires_poll(); break;
	case 'D': retires_drain(); break;
	case 'F': retires_finish(); break;
	case 'y': retires_turn(); break;
	default: return false;
	}
	return true;
}

uint32_t retires_hint(void)
{
	if (!retires_kinds || !strchr(retires_kinds, 'h'))
		return 0;
	return engine_running() ? engine_thread() : THREADS_MAX;
}

void retires_configure(const struct scenario *scenario, lfpool_config_t *config)
{
	retires_kinds = scenario->retiring;
	if (!retires_kinds)
		return;
	config->scheme = retires_scheme(strchr(retires_kinds, 'r') != NULL);
	if (strchr(retires_kinds, 'd'))
		config->hooks.deactivate = on_deactivate;
}

void retires_open(void)
{
	begun = false;
	memset(&retires, 0, sizeof(retires));
	os_play_keep(&retires, sizeof(retires));
	for (unsigned t = 0; t <= THREADS_MAX; t++)
		retires.thread[t].reads = NOBODY_READS;
}

void retires_begin(void)
{
	begun = true;
	for (unsigned i = 0; i < OBJECTS_MAX; i++)
		if (retires.object[i].fate == IS_RETIRED)
			oracle_releases(i, &nothing[0]);
}
