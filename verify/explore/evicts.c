/* SPDX-License-Identifier: MIT */
/*
 * evicts.c - what a letter of evicts.h does, and what is noted of it.  evicts_judge.c judges it afterwards.
 */
#include "evicts.h"

#include "oracle.h"
#include "verbs.h"

#include <string.h>

struct evicts evicts;
unsigned evicts_capacity;

/* The set-up is a thread of its own. */
static struct evict_thread *self(void)
{
	return &evicts.thread[engine_running() ? engine_thread() : THREADS_MAX];
}

/* ---- The pool of records, played ---- */

uint32_t spare_take(const struct spares *s)
{
	(void)s;
	for (uint32_t i = 0; i < SPARES_MAX; i++) {
		if (evicts.spare_used[i])
			continue;
		evicts.spare_used[i] = true;
		return i + 1 + OWN_RECORDS;
	}
	engine_fail("the explorer's fault: too few records");
	return 0;
}

void spare_give(const struct spares *s, uint32_t number)
{
	(void)s;
	evicts.spare_used[number - 1 - OWN_RECORDS] = false;
}

/* ---- Notes ---- */

static void begin(void)
{
	engine_point(true);
	self()->began = engine_now();
	self()->evicted = -1;
}

int evicts_life_of(lfpool_handle_t handle)
{
	for (unsigned i = 0; i < evicts.lives; i++)
		if (evicts.life[i].handle == handle)
			return (int)i;
	engine_fail("a handle that no acquire has returned");
	return -1;
}

/* Of that life, or (-1) in which that slot was free. */
static void close_span(int life, uint32_t slot, uint64_t at)
{
	for (unsigned i = 0; i < evicts.spans; i++) {
		struct span *span = &evicts.span[i];

		if (span->life == life && span->slot == slot && span->until == NEVER)
			span->until = at;
	}
}

static void open_span(int life, uint32_t slot, uint64_t key)
{
	evicts.span[evicts.spans++] = (struct span){life, slot, engine_now(), NEVER, key};
	if (evicts.spans == SPANS_MAX)
		engine_fail("the explorer's fault: too many changes");
}

/* It cannot be evicted for certain any more; it can again. */
static void close_life(const struct life *l, uint64_t at)
{
	close_span((int)(l - evicts.life), l->slot, at);
}

static void open_life(struct life *l)
{
	l->published = true;
	open_span((int)(l - evicts.life), l->slot, l->key);
}

static void decide(int victim, uint64_t key, uint64_t newcomer, uint64_t upto)
{
	self()->verdict = &evicts.verdict[evicts.verdicts++];
	*self()->verdict = (struct verdict){self()->began, upto, victim, key, newcomer};
	if (evicts.verdicts == VERDICTS_MAX)
		engine_fail("the explorer's fault: too many decisions");
}

static void write_object(const struct life *l)
{
	explore_plain(evicts.objects[l->slot - 1], true);
}

static void end_life(struct life *l, uint64_t at)
{
	if (l->gone)
		engine_fail("object %u has gone twice", l->slot);
	l->gone = true;
	l->ended = at;
	close_life(l, at);
}

static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	const int victim = evicts_life_of(evicted->handle);
	struct life *l = &evicts.life[victim];

	(void)context;
	if (l->pins)
		engine_fail("object %u is evicted, and pinned", l->slot);
	if (evicted->owner != l->owner)
		engine_fail("object %u had another owner", l->slot);
	write_object(l);
	end_life(l, engine_now());
	self()->evicted = victim;
	decide(victim, evicted->priority, NEVER, engine_now());
}

/* ---- Operations ---- */

static struct life *acquire(unsigned key)
{
	lfpool_handle_t handle;
	struct evict_thread *t = self();
	void *owner = (void *)(uintptr_t)(key + 1);
	const void *object;

	begin();
	object = lfpool_priority_acquire(&evicts.pool, key, owner, &handle);
	if (t->evicted >= 0)
		t->verdict->newcomer = key;
	if (!object) {
		decide(-1, 0, key, engine_now());
		return NULL;
	}

	struct life *l = &evicts.life[evicts.lives];

	*l = (struct life){.handle = handle,
			   .slot = (uint32_t)(((const char *)object - evicts.objects[0]) / 16) + 1,
			   .key = key,
			   .keys = 1u << key};
	l->owner = owner;
	if (t->evicted < 0)
		close_span(-1, l->slot, t->began);
	write_object(l);
	t->mine[t->mines++] = evicts.lives++;
	if (evicts.lives == LIVES_MAX)
		engine_fail("the explorer's fault: too many lives");
	return l;
}

static void publish(void)
{
	struct evict_thread *t = self();

	if (!t->mines)
		return;

	struct life *l = &evicts.life[t->mine[--t->mines]];

	begin();
	if (lfpool_priority_publish(&evicts.pool, l->handle) != LFPOOL_OK)
		engine_fail("object %u cannot be published", l->slot);
	else if (!l->gone && !l->pins)
		open_life(l);
}

static void release(struct life *l)
{
	const bool was_gone = l->gone;
	const unsigned pins = l->pins;

	begin();
	close_life(l, self()->began);
	if (lfpool_priority_release(&evicts.pool, l->handle) == LFPOOL_OK) {
		end_life(l, self()->began);
		if (!pins && !l->pins)
			open_span(-1, l->slot, 0);
	} else if (!l->gone) {
		engine_fail("object %u cannot be released", l->slot);
	}
	if (was_gone && l->ended > self()->began)
		engine_fail("object %u has gone twice", l->slot);
}

static void update(struct life *l, unsigned key)
{
	begin();
	close_life(l, self()->began);
	l->keys |= 1u << key;
	if (lfpool_priority_update(&evicts.pool, l->handle, key) == LFPOOL_OK) {
		l->key = key;
		if (!l->gone && !l->pins)
			open_life(l);
	} else if (!l->gone) {
		engine_fail("object %u cannot be updated", l->slot);
	}
}

static void get(const struct life *l)
{
	uint64_t key = 0;

	begin();
	if (lfpool_priority_get(&evicts.pool, l->handle, &key)) {
		/* Unless told by an edge of its own, a thread need not know yet. */
		if (l->gone && l->ended <= self()->began && !engine_weak())
			engine_fail("object %u has a priority, and is gone", l->slot);
		if (key > 9 || !(l->keys & 1u << key))
			engine_fail("object %u has priority %llu, which it never had", l->slot, (unsigned long long)key);
	} else if (!l->gone) {
		engine_fail("object %u has no priority", l->slot);
	}
}

static void pin(unsigned number)
{
	struct life *l = &evicts.life[number];

	begin();
	close_life(l, self()->began);
	if (lfpool_priority_pin(&evicts.pool, l->handle)) {
		if (l->gone && l->ended <= self()->began)
			engine_fail("object %u is pinned, and gone", l->slot);
		l->pins++;
		self()->pinned |= 1u << number;
	} else if (!l->gone) {
		engine_fail("object %u cannot be pinned", l->slot);
	}
}

static void unpin(unsigned number)
{
	struct life *l = &evicts.life[number];

	if (!(self()->pinned & 1u << number))
		return;
	self()->pinned &= ~(1u << number);
	begin();
	l->pins--;
	if (lfpool_priority_unpin(&evicts.pool, l->handle) != LFPOOL_OK)
		engine_fail("object %u cannot be unpinned", l->slot);
	else if (!l->gone && !l->pins)
		open_life(l);
}

static void name_least(bool releases)
{
	uint64_t key;
	lfpool_handle_t handle;

	begin();
	if (releases) {
		if (!lfpool_priority_release_min(&evicts.pool, 1))
			decide(-1, 0, NEVER, engine_now());
		else
			open_span(-1, evicts.life[self()->evicted].slot, 0);
		return;
	}
	handle = lfpool_priority_peek_min(&evicts.pool, &key);
	decide(handle ? evicts_life_of(handle) : -1, key, NEVER, engine_now());
}

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context, (void)object, (void)priority;

	const struct life *l = &evicts.life[evicts_life_of(handle)];

	if (l->gone && l->ended <= self()->began)
		engine_fail("object %u is visited, and gone", l->slot);
	explore_plain(evicts.objects[l->slot - 1], false);
	return true;
}

/* Others may pass over what is visited: its changes are under way. */
static void walk(void)
{
	begin();
	for (unsigned i = 0; i < evicts.lives; i++)
		close_life(&evicts.life[i], self()->began);
	(void)lfpool_priority_for_each(&evicts.pool, visit, NULL);
	for (unsigned i = 0; i < evicts.lives; i++)
		if (!evicts.life[i].gone && evicts.life[i].published)
			open_life(&evicts.life[i]);
}

static void count_held(unsigned least)
{
	begin();
	if (lfpool_priority_count(&evicts.pool) < least)
		engine_fail("fewer than %u objects are counted, and %u are held", least, least);
}

/* Threads that are stopped are filling both own records of the slot. */
static void fill_own(uint32_t slot)
{
	evicts.filled[slot - 1] = true;
	for (unsigned i = 0; i < OWN_RECORDS; i++)
		evicts.slots[slot - 1].used[i] = 1;
}

void evicts_run(unsigned thread, const char *at)
{
	(void)thread;
	while (*at) {
		const char operation = *at++;
		struct evict_thread *t = self();
		struct life *l = strchr("uriogx", operation) ? &evicts.life[scenario_digit(&at)] : NULL;

		switch (operation) {
		case 'a':
			if (acquire(scenario_digit(&at)))
				publish();
			break;
		case 'n': (void)acquire(scenario_digit(&at)); break;
		case 'p': publish(); break;
		case 'q':
			if (t->mines)
				release(&evicts.life[t->mine[--t->mines]]);
			break;
		case 'u': update(l, scenario_digit(&at)); break;
		case 'r': release(l); break;
		case 'g': get(l); break;
		case 'i': pin((unsigned)(l - evicts.life)); break;
		case 'o': unpin((unsigned)(l - evicts.life)); break;
		case 'm':
		case 'k': name_least(operation == 'm'); break;
		case 'w': walk(); break;
		case 'c': count_held(scenario_digit(&at)); break;
		case 'x': fill_own(l->slot); break;
		default: engine_fail("no operation %c", operation);
		}
	}
}

/* ---- The set-up ---- */

void evicts_open(const struct scenario *scenario)
{
	evicts_capacity = scenario->evicting;
	memset(&evicts, 0, sizeof(evicts));
	if (!evicts_capacity)
		return;
	os_play_keep(&evicts, sizeof(evicts));
	(void)tournament_measure(&evicts.pool.tournament, evicts_capacity);
	evicts.pool.tournament.slots = evicts.slots;
	evicts.pool.tournament.nodes = evicts.nodes;
	evicts.pool.tournament.spares.zero = (uintptr_t)evicts.spares - sizeof(evicts.spares[0]);
	evicts.pool.tournament.spares.stride = sizeof(evicts.spares[0]);
	evicts.pool.objects = evicts.objects[0];
	evicts.pool.stride = sizeof(evicts.objects[0]);
	evicts.pool.owners = evicts.owners;
	evicts.pool.on_evict = on_evict;
	free_slots_open(&evicts.pool.free, evicts.links, evicts_capacity);
	evicts_run(THREADS_MAX, scenario->setup);
	/* What was done by then was done before the first operation. */
	for (unsigned i = 0; i < evicts.lives; i++)
		evicts.life[i].ended = 0;
	for (unsigned i = 0; i < evicts.spans; i++) {
		struct span *span = &evicts.span[i];

		span->from = 0;
		span->until = span->until == NEVER ? NEVER : 0;
	}
	evicts.verdicts = 0;
}
