/* SPDX-License-Identifier: MIT */
/*
 * priority.c - scenario: a pool that evicts (lfpool/priority.h), used by all threads at once.
 *
 * Threads acquire with priorities, publish, pin, update, release, and ask; objects of their own, or whatever they come
 * across.  By what means it is checked stands in evicting.h.  At rest, when no thread is in a call, the pool must be what the
 * ledger says.  The round's own pool, of as many objects, lies idle.
 */
#include "evicting.h"
#include "faults.h"

#include <inttypes.h>
#include <string.h>

struct evicting evicting;

/* ---- Plan ---- */

static void priority_plan(void)
{
	static const uint32_t spans[] = {0, 0, 1, 2, 8, 64, 1000}, calms[] = {30, 200, 200, 2000};
	static const uint32_t capacities[] = {1, 2, 3, 15, 16, 17, 255, 256, 257, 272, 300};
	struct random *random = &current.random;
	uint32_t hold;

	memset(&evicting, 0, sizeof(evicting));
	current.capacity = random_below(random, 2) ? PICK(random, capacities) : 1 + random_below(random, CAPACITY_MAX);
	evicting.reversed = random_below(random, 3) == 0;
	evicting.evict_equal = random_below(random, 2);
	evicting.own = random_below(random, 2);
	evicting.judged = random_below(random, 2);
	evicting.one_update = evicting.own || random_below(random, 2);
	evicting.all_write = random_below(random, 2);
	evicting.span = PICK(random, spans);
	/* All together half as many objects as there are, up to four times. */
	hold = (uint32_t)current.capacity * (1 + random_below(random, 8)) / 2 / current.threads + 1;
	evicting.hold = hold < MINE_MAX ? hold : MINE_MAX;
	current.plain = true;
	current.meeting.calm = PICK(random, calms);
	current.demand.counted = evicting.own && random_below(random, 2) && options.fault != FAULT_DOUBLE_GRANT;
	text_add(&current.remark, ", %u priorities%s%s%s%s, each holds %u, written by %s", evicting.span,
		 evicting.reversed ? ", greatest first" : "", evicting.evict_equal ? ", equal ones evicted" : "",
		 evicting.own ? ", holders only" : "", evicting.one_update ? "" : ", updates at once", evicting.hold,
		 evicting.all_write ? "all" : "the holder");
}

/* ---- Begin ---- */

/* config.before, in rounds in which the greatest goes first. */
static bool goes_after(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a > b;
}

/* The keeper's, which no worker may get. */
static void take_decoy(void)
{
	struct actor *actor = actor_of(&current.keeper);
	struct acquisition *a = acquisition_begin(actor, 0);
	lfpool_handle_t handle;
	void *object = lfpool_priority_acquire(evicting.pool, 0, a, &handle);

	if (acquisition_granted(actor, a, object, handle))
		evicting.decoy = a;
	actor->acquired++;
}

static void open_actor(struct actor *actor, struct worker *worker)
{
	actor->worker = worker;
	for (; actor->unused_count < RECORDS; actor->unused_count++) {
		struct acquisition *a = &actor->records[actor->unused_count];

		a->holder = actor;
		actor->unused[actor->unused_count] = a;
	}
}

static void priority_open(void)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
	lfpool_status_t status;

	config.name = "stress";
	config.object_size = current.config.object_size;
	config.object_alignment = current.config.object_alignment;
	config.capacity = current.capacity;
	config.flags = (evicting.evict_equal ? LFPOOL_EVICT_EQUAL : 0) | (current.config.flags & LFPOOL_PREFAULT);
	config.before = evicting.reversed ? goes_after : NULL;
	config.on_evict = evicting_on_evict;
	status = lfpool_priority_create(&evicting.pool, &config);
	if (status != LFPOOL_OK)
		say_no_memory("an evicting pool");
	current.demand.capacity = (uint32_t)current.capacity;
	evicting.actors = round_memory(current.threads + (size_t)1, sizeof(struct actor));
	for (unsigned i = 0; i <= current.threads; i++)
		open_actor(&evicting.actors[i], i < current.threads ? &current.workers[i] : &current.keeper);
	if (options.fault == FAULT_DOUBLE_GRANT)
		take_decoy();
}

/* ---- Work ---- */

/* To do something with: an own one, or one that comes along. */
static void step_target(struct actor *actor, uint32_t drawn)
{
	struct worker *worker = actor->worker;
	const bool own = evicting.own || chance(worker, 2);
	struct acquisition *a = remembered(own ? actor : &evicting.actors[draw(worker, current.threads)], worker);

	if (!a)
		return;
	switch (drawn) {
	case 0:
	case 1:
	case 2: call_update(actor, a); break;
	case 3:
	case 4:
	case 5: call_pin(actor, a); break;
	case 6: call_release(actor, a); break;
	case 7:
	case 8: call_publish(actor, a); break;
	default: call_get(actor, a);
	}
}

static void priority_step(struct worker *worker)
{
	struct actor *actor = actor_of(worker);
	const uint32_t drawn = draw(worker, 24);

	if (drawn < 8)
		call_acquire(actor);
	else if (drawn < 18)
		step_target(actor, drawn - 8);
	else if (drawn < 21 && actor->pinned_count)
		call_unpin(actor, draw(worker, actor->pinned_count));
	else if (drawn == 21)
		call_peek_min(actor);
	else if (drawn == 22 && chance(worker, 8))
		(void)call_release_min(actor, 1 + draw(worker, 3));
	else if (drawn == 23 && chance(worker, 32) && !evicting.own)
		(void)call_for_each(actor);
	else
		expect_stale(actor, actor->dead[draw(worker, DEAD_MAX)], false);
}

static void priority_leave(struct worker *worker)
{
	while (actor_of(worker)->pinned_count)
		call_unpin(actor_of(worker), 0);
}

/* ---- At rest ---- */

/* How many can be evicted, the least of them, and another one; and how many are active, in use. */
struct census {
	struct actor *actor;
	struct order order; /* of the least */
	const struct acquisition *least, *other;
	size_t count, active, in_use;
};

static void count_contender(struct census *census, const struct acquisition *a, uint64_t priority)
{
	const struct order order = order_of(priority, a->name);

	census->count++;
	if (census->least && !order_before(order, census->order)) {
		census->other = a;
		return;
	}
	census->other = census->least;
	census->least = a;
	census->order = order;
}

static void count_active(struct census *census, struct acquisition *a)
{
	const void *object = lfpool_priority_look(evicting.pool, a->name);
	uint64_t priority = 0;

	census->active++;
	contents_check(a, "before a meeting");
	if (object != a->object || !lfpool_priority_is_active(evicting.pool, a->name) ||
	    !lfpool_priority_get(evicting.pool, a->name, &priority)) {
		violation("handle %" PRIx64 " of active object %p leads to %p", a->name, (void *)a->object, object);
		return;
	}
	if (evicting.one_update ? priority != load_relaxed(&a->settled) : !priority_was_tried(a, priority))
		violation("handle %" PRIx64 " has priority %" PRIx64 ", not %" PRIx64, a->name, priority,
			  load_relaxed(&a->settled));
	if (!pins_of(a))
		count_contender(census, a, priority);
}

static void count_one(struct census *census, struct acquisition *a)
{
	const bool live = fate_of(a) == LIVE;

	if (!live && chance(census->actor->worker, 8))
		expect_stale(census->actor, a->name, pins_of(a));
	census->in_use += live || pins_of(a);
	if (live && load_relaxed(&a->releasing))
		violation("handle %" PRIx64 " is live, and was released", a->name);
	if (census->in_use > current.capacity)
		violation("more objects than %zu are in use", current.capacity);
	else if (live && load_relaxed(&a->published))
		count_active(census, a);
}

static void take_census(struct census *census)
{
	for (unsigned i = 0; i <= current.threads; i++)
		for (size_t r = 0; r < RECORDS && !cell_failed(); r++)
			if (evicting.actors[i].records[r].name)
				count_one(census, &evicting.actors[i].records[r]);
}

static void expect_counts(const struct census *census)
{
	const size_t count = lfpool_priority_count(evicting.pool);
	uint64_t acquired = 0, evicted = 0, refused = 0;
	lfpool_priority_stats_t stats;

	for (unsigned i = 0; i <= current.threads; i++) {
		acquired += evicting.actors[i].acquired;
		evicted += evicting.actors[i].evicted;
		refused += evicting.actors[i].refused;
	}
	lfpool_priority_stats(evicting.pool, &stats);
	expect(count == census->in_use, "%zu objects are in use, says the pool; there are %zu", count, census->in_use);
	if (stats.acquired != acquired || stats.evicted != evicted || stats.refused != refused)
		violation("acquired, evicted, refused: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", says the pool; there were %" PRIu64
			  ", %" PRIu64 ", %" PRIu64,
			  stats.acquired, stats.evicted, stats.refused, acquired, evicted, refused);
}

/* A visit must be one of these, and no object's second (call_for_each()). */
static void expect_walk(const struct census *census)
{
	const size_t visited = call_for_each(census->actor);

	expect(visited == census->active, "%zu objects are active; a walk at rest visits %zu", census->active, visited);
}

static void expect_least(const struct census *census)
{
	uint64_t priority = 0;
	lfpool_handle_t handle = lfpool_priority_peek_min(evicting.pool, &priority);

	if (census->other && fault_strikes(census->actor->worker, FAULT_WRONG_LEAST))
		handle = census->other->name;
	if (census->least ? handle != census->least->name || rank_of(priority) != census->order.rank : handle != 0)
		violation("peek_min names handle %" PRIx64 ", priority %" PRIx64 "; %zu can be evicted, of which %" PRIx64
			  " is the least",
			  handle, priority, census->count, census->least ? census->least->name : 0);
}

/* Some or all of them, in order (evicting_on_evict()). */
static void release_least(const struct census *census)
{
	const size_t wanted = draw(census->actor->worker, (uint32_t)current.capacity) + (size_t)1;
	const size_t released = call_release_min(census->actor, wanted);

	expect(released == (census->count < wanted ? census->count : wanted), "release_min of %zu released %zu of %zu", wanted,
	       released, census->count);
}

static void inspect(struct worker *worker)
{
	struct census census = {
		.actor = actor_of(worker),
	};
	const char *violated;

	refusals_next(current.refusals, 0);
	violated = lfpool_priority_check(evicting.pool, NULL);
	expect(!violated, "at rest: %s", violated);
	evicting.at_rest = true;
	take_census(&census);
	if (!cell_failed()) {
		expect_counts(&census);
		expect_walk(&census);
		expect_least(&census);
	}
	if (chance(worker, 4) && !cell_failed())
		release_least(&census);
	evicting.at_rest = false;
}

static void priority_meet(struct worker *worker)
{
	meeting_alone(worker, inspect);
	acquisitions_reclaim(actor_of(worker));
}

static void priority_finish(void)
{
	size_t count, left;

	if (!cell_failed())
		inspect(here);
	count = lfpool_priority_count(evicting.pool);
	left = lfpool_priority_destroy(evicting.pool);
	expect(left == count, "%zu objects were in use; lfpool_priority_destroy() says %zu", count, left);
	free(evicting.actors);
}

SCENARIO(priority, "priority", "a pool that evicts: victims, pins, handles and priorities are those of a ledger of all acquires",
	 .needs_refusals = true, .unlogged = true, .plan = priority_plan, .open = priority_open, .step = priority_step,
	 .meet = priority_meet, .leave = priority_leave, .finish = priority_finish);
