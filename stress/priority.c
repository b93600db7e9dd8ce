/* SPDX-License-Identifier: MIT */
/*
 * priority.c - scenario: a pool that evicts (lfpool/priority.h), used by all threads at once.
 *
 * Threads acquire with priorities, publish, pin, update, release, and ask; objects of their own, or whatever they come
 * across.  By what means it is checked stands in evicting.h.  The round's own pool, of as many objects, lies idle.
 */
#include "evicting.h"
#include "scenario.h"

#include <string.h>

struct evicting evicting;

/* ---- Plan ---- */

/* config.before, in rounds in which the greatest goes first. */
static bool goes_after(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a > b;
}

static void draw(struct random *random)
{
	static const uint32_t spans[] = {0, 0, 1, 2, 8, 64, 1000}, calms[] = {30, 200, 200, 2000};
	static const uint32_t capacities[] = {1, 2, 3, 15, 16, 17, 255, 256, 257, 272, 300};
	const uint32_t threads = current.threads;
	uint32_t hold;

	evicting.capacity = random_below(random, 2) ? PICK(random, capacities) : 1 + random_below(random, 300);
	evicting.reversed = random_below(random, 3) == 0;
	evicting.evict_equal = random_below(random, 2);
	evicting.own = random_below(random, 2);
	evicting.judged = random_below(random, 2);
	evicting.one_update = evicting.own || random_below(random, 2);
	evicting.contents = (enum contents)random_below(random, CONTENTS);
	evicting.span = PICK(random, spans);
	evicting.calm = PICK(random, calms);
	/* All together half as many objects as there are, up to four times. */
	hold = (uint32_t)evicting.capacity * (1 + random_below(random, 8)) / 2 / threads + 1;
	evicting.hold = hold < MINE_MAX ? hold : MINE_MAX;
	evicting.demand.counted = evicting.own && random_below(random, 2);
}

static void describe(void)
{
	static const char *const contents[] = {"once", "by the holder", "by all"};
	char span[16] = "any";

	if (evicting.span)
		(void)snprintf(span, sizeof(span), "%u", evicting.span);
	round_remark(", %s priorities%s%s%s%s%s, each holds %u, written %s", span, evicting.reversed ? ", greatest first" : "",
		     evicting.evict_equal ? ", equal ones evicted" : "", evicting.own ? ", holders only" : "",
		     evicting.demand.counted ? ", counted" : "", evicting.one_update ? "" : ", updates at once", evicting.hold,
		     contents[evicting.contents]);
}

static void create(void)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
	lfpool_status_t status;

	config.name = "stress";
	config.object_size = current.config.object_size;
	config.object_alignment = current.config.object_alignment;
	config.capacity = evicting.capacity;
	config.flags = (evicting.evict_equal ? LFPOOL_EVICT_EQUAL : 0) | (current.config.flags & LFPOOL_PREFAULT);
	config.before = evicting.reversed ? goes_after : NULL;
	config.on_evict = evicting_on_evict;
	status = lfpool_priority_create(&evicting.pool, &config);
	if (status != LFPOOL_OK) {
		say("lfpool-stress: lfpool_priority_create(): %s\n", lfpool_status_string(status));
		exit(EXIT_STUCK);
	}
}

/* The ledger, empty. */
static void open_ledger(void)
{
	const unsigned threads = current.threads;
	const size_t actors = threads + (size_t)1;

	evicting.records = 512 + 4096 / threads;
	evicting.acquisitions = round_memory(actors * evicting.records, sizeof(struct acquisition));
	evicting.unused = round_memory(actors * evicting.records, sizeof(uint32_t));
	evicting.seen = round_memory(actors * evicting.capacity, sizeof(lfpool_handle_t));
	evicting.slots = round_memory(evicting.capacity, sizeof(struct slot));
	evicting.actors = round_memory(actors, sizeof(struct actor));
	for (size_t i = 0; i < actors; i++) {
		struct actor *actor = &evicting.actors[i];

		actor->records = evicting.acquisitions + i * evicting.records;
		actor->unused = evicting.unused + i * evicting.records;
		actor->seen = evicting.seen + i * evicting.capacity;
		for (uint32_t r = 0; r < evicting.records; r++) {
			actor->records[r].holder = actor;
			actor->unused[actor->unused_count++] = r;
		}
	}
}

/* The keeper's, which no worker may get. */
static void take_decoy(void)
{
	struct actor *actor = &evicting.actors[current.threads];
	struct acquisition *a = acquisition_begin(actor, 0);
	lfpool_handle_t handle;
	void *object;

	actor->worker = &current.keeper;
	worker_init(&current.keeper, current.threads);
	current.keeper.trusted = true;
	object = lfpool_priority_acquire(evicting.pool, 0, a, &handle);
	if (acquisition_granted(actor, a, object, handle))
		evicting.decoy = a;
	actor->acquired++;
}

static void priority_plan(void)
{
	memset(&evicting, 0, sizeof(evicting));
	evicting.meeting.rendezvous.threads = current.threads;
	draw(&current.random);
	describe();
	evicting.demand.capacity = (uint32_t)evicting.capacity;
	create();
	open_ledger();
	current.capacity = evicting.capacity;
	current.plain = true;
	if (options.fault == FAULT_DOUBLE_GRANT) {
		evicting.demand.counted = false;
		take_decoy();
	}
}

/* ---- Work ---- */

/* An object to do something with: an own one, or one that comes along; NULL: none. */
static struct acquisition *draw_target(struct actor *actor)
{
	struct worker *worker = actor->worker;
	struct acquisition *a;

	if (evicting.own || worker_chance(worker, 2))
		return actor->mine_count ? actor->mine[random_below(&worker->random, actor->mine_count)] : NULL;
	/* relaxed, both: see evicting.h, Orders. */
	a = atomic_load_explicit(&evicting.board[random_below(&worker->random, BOARD_PLACES)], memory_order_relaxed);
	/* The record may be in use anew, which a thread that comes across it cannot know. */
	return a && atomic_load_explicit(&a->handle, memory_order_relaxed) ? a : NULL;
}

static void publish_fresh(struct actor *actor)
{
	struct acquisition *a = actor->fresh;

	actor->fresh = NULL;
	if (a)
		call_publish(actor, a);
}

static void step_target(struct actor *actor, uint32_t drawn)
{
	struct acquisition *a = draw_target(actor);

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
		if (!evicting.own)
			call_publish_again(a);
		break;
	default: call_get(actor, a);
	}
}

static void step(struct actor *actor)
{
	struct worker *worker = actor->worker;
	const uint32_t drawn = random_below(&worker->random, 24);

	if (drawn < 8)
		call_acquire(actor);
	else if (drawn < 17)
		step_target(actor, drawn - 8);
	else if (drawn < 20 && actor->pinned_count)
		call_unpin(actor, random_below(&worker->random, actor->pinned_count));
	else if (drawn == 20)
		publish_fresh(actor);
	else if (drawn == 21)
		call_peek_min(actor);
	else if (drawn == 22 && worker_chance(worker, 8))
		call_release_min(actor, 1 + random_below(&worker->random, 3));
	else if (drawn == 23 && worker_chance(worker, 32) && !evicting.own)
		call_for_each(actor);
	else
		expect_stale(actor, actor->dead[random_below(&worker->random, DEAD_MAX)], false);
}

/* Returns false when the round is over. */
static bool meet(struct actor *actor)
{
	struct worker *worker = actor->worker;

	meeting_join(&evicting.meeting);
	if (worker->index == 0)
		evicting_inspect(actor, worker_chance(worker, 4));
	meeting_join(&evicting.meeting);
	acquisitions_reclaim(actor);
	if (worker->index == 0)
		meeting_close(&evicting.meeting, worker);
	meeting_join(&evicting.meeting);
	return evicting.meeting.go_on;
}

static void priority_work(struct worker *worker)
{
	struct actor *actor = &evicting.actors[worker->index];

	actor->worker = worker;
	actor_enter(actor);
	do {
		while (!meeting_due(&evicting.meeting, worker, evicting.calm))
			step(actor);
	} while (meet(actor));
	publish_fresh(actor);
	while (actor->pinned_count)
		call_unpin(actor, 0);
}

static void priority_finish(void)
{
	struct actor *keeper = &evicting.actors[current.threads];
	size_t count, left;

	keeper->worker = &current.keeper;
	actor_enter(keeper);
	if (!cell_failed())
		evicting_inspect(keeper, worker_chance(&current.keeper, 2));
	count = lfpool_priority_count(evicting.pool);
	left = lfpool_priority_destroy(evicting.pool);
	if (left != count)
		violation("%zu objects were in use; lfpool_priority_destroy() says %zu", count, left);
	free(evicting.actors);
	free(evicting.slots);
	free(evicting.seen);
	free(evicting.unused);
	free(evicting.acquisitions);
}

const struct scenario scenario_priority = {
	.name = "priority",
	.description = "a pool that evicts: victims, pins, handles and priorities are those of a ledger of all acquires",
	.needs_refusals = true,
	.unlogged = true,
	.plan = priority_plan,
	.work = priority_work,
	.finish = priority_finish,
};
