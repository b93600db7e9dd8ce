/* SPDX-License-Identifier: MIT */
/*
 * nodes.c - what the threads do with nodes, whatever the regime; see nodes.h.
 */
#include "nodes.h"

#include "faults.h"
#include "report.h"
#include "scenario.h"
#include "watchdog.h"

#include <sched.h>

#define LINGER_BRIEF_NS 200000
#define TOGETHER_MAX 8 /* nodes that are retired by one call, or read in one section */

/* ---- Plan ---- */

void nodes_plan(struct round *round)
{
	const struct regime *regime = round->cell->scenario->regime;
	static const uint32_t keys[] = {1, 4, 16, 16, 64}, backlogs[] = {16, 64, 64, 500}, lingers[] = {16, 256, 4096};
	struct random *random = &round->random;
	struct nodes *nodes = round_memory(1, sizeof(*nodes));
	const uint32_t threads = round->cell->threads;

	nodes->regime = regime;
	nodes->keys = PICK(random, keys);
	nodes->backlog = random_below(random, 3) ? PICK(random, backlogs) : 0;
	nodes->reads = 2 + random_below(random, 12);
	nodes->linger = PICK(random, lingers);
	nodes->raced = regime->any_may_retire && random_below(random, 2);
	nodes->waits = random_below(random, 2);
	nodes->actors = round_memory(threads + 1, sizeof(struct actor));
	round->shared = nodes;
	round->head = sizeof(struct node);
	round->config.object_size += round->head;
	if (round->config.object_alignment && round->config.object_alignment < _Alignof(struct node))
		round->config.object_alignment = _Alignof(struct node);
	round->nanoseconds += regime->nanoseconds;
	if (nodes->backlog) {
		/* All nodes, and for each thread one in its hands, one for another while it waits, and those it has retired. */
		round_capacity(round, nodes->keys + (size_t)threads * (2 + nodes->backlog));
	} else {
		round->capacity = nodes->keys / 2 + threads + random_below(random, 300);
		round->demand.unjudged = true;
	}
	round_remark(round, ", %u keys, %u retired%s, %u of 16 read, linger %u%s", nodes->keys, nodes->backlog,
		     nodes->backlog ? "" : " (any)", nodes->reads, nodes->linger, nodes->raced ? ", raced" : "");
	nodes->own = regime->open(round, nodes);
}

/* ---- Sections ---- */

static void section_begin(struct actor *actor)
{
	actor->nodes->regime->begin(actor);
	actor->inside = true;
}

static void section_end(struct actor *actor)
{
	actor->inside = false;
	actor->nodes->regime->end(actor);
}

/* A reader's: it may be left out. */
static bool reading_begin(struct actor *actor)
{
	const struct regime *regime = actor->nodes->regime;

	if (!fault_strikes_often(actor->worker, FAULT_NO_SECTION, 1)) {
		section_begin(actor);
		return true;
	}
	if (regime->stray)
		regime->stray(actor, true);
	return false;
}

static void reading_end(struct actor *actor, bool sheltered)
{
	const struct regime *regime = actor->nodes->regime;

	if (sheltered)
		section_end(actor);
	else if (regime->stray)
		regime->stray(actor, false);
}

/* ---- Reading ---- */

/* A node that was found, and what was in it then. */
struct sight {
	struct node *node;
	struct held held;
	uint64_t key;
};

/* Is it what it was? */
static bool look(struct actor *actor, const struct sight *sight)
{
	struct round *round = actor->worker->round;
	const struct node *node = sight->node;

	if (!ledger_look(&round->ledger, &sight->held))
		return false;
	if (node->key == sight->key && node->held.token == sight->held.token && node->held.object == sight->held.object)
		return true;
	violation(round, "node %p with key %llu became another while it was read", (const void *)node,
		  (unsigned long long)sight->key);
	return false;
}

static bool catch_sight(struct actor *actor, uint64_t key, struct sight *sight_out)
{
	struct node *node = actor->nodes->regime->find(actor, key);

	if (!node)
		return false;
	*sight_out = (struct sight){.node = node, .held = node->held, .key = node->key};
	if ((void *)sight_out->held.object == node && sight_out->key < actor->nodes->keys)
		return look(actor, sight_out);
	violation(actor->worker->round, "a reader found %p, which says that it is %p with key %llu", (void *)node,
		  (void *)sight_out->held.object, (unsigned long long)sight_out->key);
	return false;
}

/* Stays with it until it was taken out, and then as long as another thread might need to acquire it anew if it was not
 * deferred, or until it would be free if no thread read it. */
static bool linger(struct actor *actor, const struct sight *sight)
{
	struct worker *worker = actor->worker;
	const bool brief = !worker_chance(worker, 8);
	uint64_t end = now_ns() + random_next(&worker->random) % actor->nodes->regime->linger_ns;
	bool sound, left = false;

	do {
		(void)sched_yield();
		if (brief && !left && ledger_left(&sight->held)) {
			left = true;
			end = now_ns() + LINGER_BRIEF_NS;
		}
		sound = look(actor, sight);
	} while (sound && now_ns() < end && !cell_failed(worker->round->cell));
	return sound;
}

static void read_some(struct actor *actor)
{
	struct worker *worker = actor->worker;
	const uint32_t wanted = worker_chance(worker, 4) ? 1 + random_below(&worker->random, TOGETHER_MAX) : 1;
	const bool sheltered = reading_begin(actor);
	struct sight sights[TOGETHER_MAX];
	uint32_t count = 0;
	bool sound = true;

	for (uint32_t i = 0; i < wanted; i++)
		count += catch_sight(actor, random_below(&worker->random, actor->nodes->keys), &sights[count]);
	if (worker_chance(worker, 8))
		(void)sched_yield();
	if (count && worker_chance(worker, actor->nodes->linger))
		sound = linger(actor, &sights[0]);
	for (uint32_t i = 0; i < count && sound; i++)
		sound = look(actor, &sights[i]);
	reading_end(actor, sheltered);
	pulse_beat(worker->pulse, 1);
}

/* ---- Retiring ---- */

/* Waits until all that this thread has retired is free. */
static void drain(struct actor *actor)
{
	struct round *round = actor->worker->round;
	const lfpool_status_t status = lfpool_drain(round->pool);

	if (status != LFPOOL_OK)
		violation(round, "lfpool_drain() outside of any section: %s", lfpool_status_string(status));
	demand_lower(&round->demand, actor->retired);
	actor->retired = 0;
}

/* It has just been retired, and we are still in the section: no thread can have it. */
static void expect_retired(struct actor *actor, void *object)
{
	struct round *round = actor->worker->round;
	const lfpool_status_t status = lfpool_retire(round->pool, object);

	if (status != LFPOOL_E_NOT_IN_USE)
		violation(round, "a second retire of %p: %s", object, lfpool_status_string(status));
	if (lfpool_backend(round->pool) != LFPOOL_BACKEND_MALLOC && lfpool_in_use(round->pool, object))
		violation(round, "%p was retired and is in use", object);
	/* relaxed: read when all threads have stopped. */
	atomic_fetch_add_explicit(&round->provoked, 1, memory_order_relaxed);
}

static lfpool_status_t retire_or_not(struct actor *actor, void *object)
{
	struct worker *worker = actor->worker;

	if (fault_instead_of_release(worker, object))
		return LFPOOL_OK;
	if (fault_strikes_often(worker, FAULT_NO_DEFERRAL, 1) || fault_strikes_often(worker, FAULT_EARLY_RELEASE, 16))
		return lfpool_release(worker->round->pool, object);
	return actor->nodes->regime->retire(actor, object);
}

/* An object that is marked as free already.  Others may be retiring it as well. */
static void retire(struct actor *actor, void *object)
{
	struct worker *worker = actor->worker;
	struct round *round = worker->round;
	const lfpool_handle_t handle = lfpool_handle_of(round->pool, object);
	const lfpool_status_t status = retire_or_not(actor, object);

	pulse_beat(worker->pulse, 1);
	if (status == LFPOOL_OK) {
		actor->retires++;
		actor->retired++;
	} else if (status == LFPOOL_E_NOT_IN_USE && actor->nodes->raced) {
		/* relaxed: read when all threads have stopped. */
		atomic_fetch_add_explicit(&round->provoked, 1, memory_order_relaxed);
	} else {
		violation(round, "retire of %p: %s", object, lfpool_status_string(status));
	}
	if (round->cell->options->fault != FAULT_NONE)
		return;
	if (lfpool_resolve(round->pool, handle))
		violation(round, "%p was retired, but its handle resolves", object);
	if (actor->inside && worker_chance(worker, 8))
		expect_retired(actor, object);
}

static void retire_all(struct actor *actor, void *const *objects, uint32_t count)
{
	struct round *round = actor->worker->round;
	size_t retired;

	if (round->cell->options->fault != FAULT_NONE || worker_chance(actor->worker, 2)) {
		for (uint32_t i = 0; i < count; i++)
			retire(actor, objects[i]);
		return;
	}
	retired = lfpool_retire_bulk(round->pool, objects, count);
	if (retired != count)
		violation(round, "lfpool_retire_bulk() retired %zu of %u objects", retired, count);
	actor->retires += retired;
	actor->retired += (uint32_t)retired;
	pulse_beat(actor->worker->pulse, count);
}

/* Takes the node with this key out; its object, now to be retired, or NULL. */
static void *take_out(struct actor *actor, uint64_t key)
{
	struct round *round = actor->worker->round;
	bool ours = false;
	struct node *node = actor->nodes->regime->take_out(actor, key, &ours);
	struct held held;

	if (!node)
		return NULL;
	if (!ours) {
		/* The thread that took it out is about to retire it, in its section. */
		if (actor->nodes->raced)
			retire(actor, node);
		return NULL;
	}
	actor->taken_out++;
	held = node->held;
	if ((void *)held.object == node)
		return ledger_leave(&round->ledger, &held) ? node : NULL;
	violation(round, "%p was taken out, and says that it is %p", (void *)node, (void *)held.object);
	return NULL;
}

static void take_out_some(struct actor *actor)
{
	struct worker *worker = actor->worker;
	const uint32_t wanted = worker_chance(worker, 4) ? 1 + random_below(&worker->random, TOGETHER_MAX) : 1;
	/* If others may retire it as well, before the section ends: then the object cannot be another yet. */
	const bool inside = actor->nodes->raced || worker_chance(worker, 2);
	void *objects[TOGETHER_MAX];
	uint32_t count = 0;

	section_begin(actor);
	for (uint32_t i = 0; i < wanted; i++) {
		objects[count] = take_out(actor, random_below(&worker->random, actor->nodes->keys));
		if (objects[count] && actor->nodes->raced)
			retire(actor, objects[count]);
		else if (objects[count])
			count++;
	}
	if (inside)
		retire_all(actor, objects, count);
	section_end(actor);
	if (!inside)
		retire_all(actor, objects, count);
}

/* ---- Putting in ---- */

static bool acquire(struct actor *actor, struct held *held_out)
{
	struct worker *worker = actor->worker;

	if (actor->nodes->waits && worker_chance(worker, 4))
		return worker_acquire_wait(worker, random_below(&worker->random, 2000000), held_out);
	return worker_acquire(worker, held_out);
}

static void put_in(struct actor *actor)
{
	struct worker *worker = actor->worker;
	struct held held;
	bool there;

	if (!acquire(actor, &held))
		return;

	struct node *node = (struct node *)(void *)held.object;
	volatile unsigned char *byte = held.object + sizeof(*node);
	const unsigned char is = *byte;

	node->held = held;
	node->key = random_below(&worker->random, actor->nodes->keys);
	section_begin(actor);
	there = actor->nodes->regime->insert(actor, node);
	/* In the section it cannot be another's. */
	if (there && fault_strikes(worker, FAULT_LATE_WRITE))
		*byte = is;
	section_end(actor);
	if (there)
		return;
	if (worker_chance(worker, 2)) {
		worker_release(worker, &held);
	} else if (ledger_leave(&worker->round->ledger, &held)) {
		actor->taken_out++;
		retire(actor, held.object);
	}
}

/* ---- Work ---- */

static void keep_house(struct actor *actor)
{
	const struct nodes *nodes = actor->nodes;
	struct round *round = actor->worker->round;

	if (nodes->regime->pause)
		nodes->regime->pause(actor);
	if (nodes->backlog ? actor->retired + TOGETHER_MAX > nodes->backlog : worker_chance(actor->worker, 16384))
		drain(actor);
	if (worker_chance(actor->worker, 64))
		(void)lfpool_retire_poll(round->pool);
	if (worker_chance(actor->worker, 64) && lfpool_retired_count(round->pool) > round->most)
		violation(round, "lfpool_retired_count() says %zu of %zu", lfpool_retired_count(round->pool), round->most);
}

static void enter(struct actor *actor, struct worker *worker)
{
	actor->nodes = worker->round->shared;
	actor->worker = worker;
	actor->nodes->regime->enter(actor);
}

void nodes_work(struct worker *worker)
{
	struct nodes *nodes = worker->round->shared;
	struct actor *actor = &nodes->actors[worker->index];

	enter(actor, worker);
	while (worker_goes_on(worker, 32)) {
		if (random_below(&worker->random, 16) < nodes->reads)
			read_some(actor);
		else if (worker_chance(worker, 2))
			put_in(actor);
		else
			take_out_some(actor);
		keep_house(actor);
	}
	nodes->regime->leave(actor);
}

/* The keeper takes out what is left. */
static void take_out_all(struct actor *keeper)
{
	for (uint64_t key = 0; key < keeper->nodes->keys; key++) {
		void *object;

		section_begin(keeper);
		object = take_out(keeper, key);
		section_end(keeper);
		if (object)
			retire(keeper, object);
	}
}

void nodes_finish(struct round *round)
{
	struct nodes *nodes = round->shared;
	struct actor *keeper = &nodes->actors[round->cell->threads];
	size_t taken_out = 0, retires = 0, left;

	/* What a fault has left behind cannot be cleared away. */
	if (cell_failed(round->cell))
		return;
	enter(keeper, &round->keeper);
	take_out_all(keeper);
	drain(keeper);
	nodes->regime->leave(keeper);
	for (unsigned i = 0; i <= round->cell->threads; i++) {
		taken_out += nodes->actors[i].taken_out;
		retires += nodes->actors[i].retires;
	}
	left = lfpool_retired_count(round->pool);
	if (left)
		violation(round, "%zu objects are retired after lfpool_drain()", left);
	if (taken_out != retires)
		violation(round, "%zu nodes were taken out, and %zu retires succeeded", taken_out, retires);
	if (!cell_failed(round->cell))
		nodes->regime->empty(nodes);
}

void nodes_close(struct round *round)
{
	struct nodes *nodes = round->shared;

	nodes->regime->close(nodes);
	free(nodes->actors);
	free(nodes);
	round->shared = NULL;
}
