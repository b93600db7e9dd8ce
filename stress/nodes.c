/* SPDX-License-Identifier: MIT */
/*
 * nodes.c - what the threads do with nodes, whatever the regime; see nodes.h.
 */
#include "nodes.h"
#include "faults.h"
#include "scenario.h"

#include <sched.h>
#include <string.h>

#define LINGER_BRIEF_NS 200000
#define TOGETHER_MAX 8 /* nodes that are retired by one call, or read in one section */

struct nodes nodes;

/* ---- Plan ---- */

void nodes_plan(void)
{
	const struct regime *regime = current.cell->scenario->regime;
	static const uint32_t keys[] = {1, 4, 16, 16, 64}, backlogs[] = {16, 64, 64, 500}, lingers[] = {16, 256, 4096};
	struct random *random = &current.random;
	const uint32_t threads = current.threads;

	memset(&nodes, 0, sizeof(nodes));
	nodes.regime = regime;
	nodes.keys = PICK(random, keys);
	nodes.backlog = random_below(random, 3) ? PICK(random, backlogs) : 0;
	nodes.reads = 2 + random_below(random, 12);
	nodes.linger = PICK(random, lingers);
	nodes.raced = regime->any_may_retire && random_below(random, 2);
	nodes.waits = random_below(random, 2);
	nodes.actors = round_memory(threads + 1, sizeof(struct actor));
	current.head = sizeof(struct node);
	current.config.object_size += current.head;
	if (current.config.object_alignment && current.config.object_alignment < _Alignof(struct node))
		current.config.object_alignment = _Alignof(struct node);
	current.nanoseconds += regime->nanoseconds;
	if (nodes.backlog) {
		/* All nodes, and for each thread one in its hands, one for another while it waits, and those it has retired. */
		round_capacity(nodes.keys + (size_t)threads * (2 + nodes.backlog));
	} else {
		current.capacity = nodes.keys / 2 + threads + random_below(random, 300);
		current.demand.unjudged = true;
	}
	round_remark(", %u keys, %u retired%s, %u of 16 read, linger %u%s", nodes.keys, nodes.backlog,
		     nodes.backlog ? "" : " (any)", nodes.reads, nodes.linger, nodes.raced ? ", raced" : "");
	regime->open();
}

/* ---- Sections ---- */

static void section_begin(struct actor *actor)
{
	nodes.regime->begin(actor);
	actor->inside = true;
}

static void section_end(struct actor *actor)
{
	actor->inside = false;
	nodes.regime->end(actor);
}

/* A reader's: it may be left out. */
static bool reading_begin(struct actor *actor)
{
	const struct regime *regime = nodes.regime;

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
	const struct regime *regime = nodes.regime;

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
static bool look(const struct sight *sight)
{
	const struct node *node = sight->node;

	if (!ledger_look(&sight->held))
		return false;
	if (node->key == sight->key && node->held.token == sight->held.token && node->held.object == sight->held.object)
		return true;
	violation("node %p with key %llu became another while it was read", (const void *)node, (unsigned long long)sight->key);
	return false;
}

static bool catch_sight(struct actor *actor, uint64_t key, struct sight *sight_out)
{
	struct node *node = nodes.regime->find(actor, key);

	if (!node)
		return false;
	*sight_out = (struct sight){.node = node, .held = node->held, .key = node->key};
	if ((void *)sight_out->held.object == node && sight_out->key < nodes.keys)
		return look(sight_out);
	violation("a reader found %p, which says that it is %p with key %llu", (void *)node, (void *)sight_out->held.object,
		  (unsigned long long)sight_out->key);
	return false;
}

/* Stays with it until it was taken out, and then as long as another thread might need to acquire it anew if it was not
 * deferred, or until it would be free if no thread read it. */
static bool linger(struct actor *actor, const struct sight *sight)
{
	struct worker *worker = actor->worker;
	const bool brief = !worker_chance(worker, 8);
	uint64_t end = now_ns() + random_next(&worker->random) % nodes.regime->linger_ns;
	bool sound, left = false;

	do {
		(void)sched_yield();
		if (brief && !left && ledger_left(&sight->held)) {
			left = true;
			end = now_ns() + LINGER_BRIEF_NS;
		}
		sound = look(sight);
	} while (sound && now_ns() < end && !cell_failed());
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
		count += catch_sight(actor, random_below(&worker->random, nodes.keys), &sights[count]);
	if (worker_chance(worker, 8))
		(void)sched_yield();
	if (count && worker_chance(worker, nodes.linger))
		sound = linger(actor, &sights[0]);
	for (uint32_t i = 0; i < count && sound; i++)
		sound = look(&sights[i]);
	reading_end(actor, sheltered);
	pulse_beat(worker->pulse, 1);
}

/* ---- Retiring ---- */

/* Waits until all that this thread has retired is free. */
static void drain(struct actor *actor)
{
	const lfpool_status_t status = lfpool_drain(current.pool);

	if (status != LFPOOL_OK)
		violation("lfpool_drain() outside of any section: %s", lfpool_status_string(status));
	demand_lower(&current.demand, actor->retired);
	actor->retired = 0;
}

/* It has just been retired, and we are still in the section: no thread can have it. */
static void expect_retired(void *object)
{
	const lfpool_status_t status = lfpool_retire(current.pool, object);

	if (status != LFPOOL_E_NOT_IN_USE)
		violation("a second retire of %p: %s", object, lfpool_status_string(status));
	if (lfpool_backend(current.pool) != LFPOOL_BACKEND_MALLOC && lfpool_in_use(current.pool, object))
		violation("%p was retired and is in use", object);
	/* relaxed: read when all threads have stopped. */
	atomic_fetch_add_explicit(&current.provoked, 1, memory_order_relaxed);
}

static lfpool_status_t retire_or_not(struct actor *actor, void *object)
{
	struct worker *worker = actor->worker;

	if (fault_instead_of_release(worker, object))
		return LFPOOL_OK;
	if (fault_strikes_often(worker, FAULT_NO_DEFERRAL, 1) || fault_strikes_often(worker, FAULT_EARLY_RELEASE, 16))
		return lfpool_release(current.pool, object);
	return nodes.regime->retire(actor, object);
}

/* An object that is marked as free already.  Others may be retiring it as well. */
static void retire(struct actor *actor, void *object)
{
	struct worker *worker = actor->worker;
	const lfpool_handle_t handle = lfpool_handle_of(current.pool, object);
	const lfpool_status_t status = retire_or_not(actor, object);

	pulse_beat(worker->pulse, 1);
	if (status == LFPOOL_OK) {
		actor->retires++;
		actor->retired++;
	} else if (status == LFPOOL_E_NOT_IN_USE && nodes.raced) {
		/* relaxed: read when all threads have stopped. */
		atomic_fetch_add_explicit(&current.provoked, 1, memory_order_relaxed);
	} else {
		violation("retire of %p: %s", object, lfpool_status_string(status));
	}
	if (options.fault != FAULT_NONE)
		return;
	if (lfpool_resolve(current.pool, handle))
		violation("%p was retired, but its handle resolves", object);
	if (actor->inside && worker_chance(worker, 8))
		expect_retired(object);
}

static void retire_all(struct actor *actor, void *const *objects, uint32_t count)
{
	size_t retired;

	if (options.fault != FAULT_NONE || worker_chance(actor->worker, 2)) {
		for (uint32_t i = 0; i < count; i++)
			retire(actor, objects[i]);
		return;
	}
	retired = lfpool_retire_bulk(current.pool, objects, count);
	if (retired != count)
		violation("lfpool_retire_bulk() retired %zu of %u objects", retired, count);
	actor->retires += retired;
	actor->retired += (uint32_t)retired;
	pulse_beat(actor->worker->pulse, count);
}

/* Takes the node with this key out; its object, now to be retired, or NULL. */
static void *take_out(struct actor *actor, uint64_t key)
{
	bool ours = false;
	struct node *node = nodes.regime->take_out(actor, key, &ours);
	struct held held;

	if (!node)
		return NULL;
	if (!ours) {
		/* The thread that took it out is about to retire it, in its section. */
		if (nodes.raced)
			retire(actor, node);
		return NULL;
	}
	actor->taken_out++;
	held = node->held;
	if ((void *)held.object == node)
		return ledger_leave(&held) ? node : NULL;
	violation("%p was taken out, and says that it is %p", (void *)node, (void *)held.object);
	return NULL;
}

static void take_out_some(struct actor *actor)
{
	struct worker *worker = actor->worker;
	const uint32_t wanted = worker_chance(worker, 4) ? 1 + random_below(&worker->random, TOGETHER_MAX) : 1;
	/* If others may retire it as well, before the section ends: then the object cannot be another yet. */
	const bool inside = nodes.raced || worker_chance(worker, 2);
	void *objects[TOGETHER_MAX];
	uint32_t count = 0;

	section_begin(actor);
	for (uint32_t i = 0; i < wanted; i++) {
		objects[count] = take_out(actor, random_below(&worker->random, nodes.keys));
		if (objects[count] && nodes.raced)
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

	if (nodes.waits && worker_chance(worker, 4))
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
	node->key = random_below(&worker->random, nodes.keys);
	section_begin(actor);
	there = nodes.regime->insert(actor, node);
	/* In the section it cannot be another's. */
	if (there && fault_strikes(worker, FAULT_LATE_WRITE))
		*byte = is;
	section_end(actor);
	if (there)
		return;
	if (worker_chance(worker, 2)) {
		worker_release(worker, &held);
	} else if (ledger_leave(&held)) {
		actor->taken_out++;
		retire(actor, held.object);
	}
}

/* ---- Work ---- */

static void keep_house(struct actor *actor)
{
	if (nodes.regime->pause)
		nodes.regime->pause(actor);
	if (nodes.backlog ? actor->retired + TOGETHER_MAX > nodes.backlog : worker_chance(actor->worker, 16384))
		drain(actor);
	if (worker_chance(actor->worker, 64))
		(void)lfpool_retire_poll(current.pool);
	if (worker_chance(actor->worker, 64) && lfpool_retired_count(current.pool) > current.most)
		violation("lfpool_retired_count() says %zu of %zu", lfpool_retired_count(current.pool), current.most);
}

static void enter(struct actor *actor, struct worker *worker)
{
	actor->worker = worker;
	nodes.regime->enter(actor);
}

void nodes_work(struct worker *worker)
{
	struct actor *actor = &nodes.actors[worker->index];

	enter(actor, worker);
	while (worker_goes_on(worker, 32)) {
		if (random_below(&worker->random, 16) < nodes.reads)
			read_some(actor);
		else if (worker_chance(worker, 2))
			put_in(actor);
		else
			take_out_some(actor);
		keep_house(actor);
	}
	nodes.regime->leave(actor);
}

/* The keeper takes out what is left. */
static void take_out_all(struct actor *keeper)
{
	for (uint64_t key = 0; key < nodes.keys; key++) {
		void *object;

		section_begin(keeper);
		object = take_out(keeper, key);
		section_end(keeper);
		if (object)
			retire(keeper, object);
	}
}

void nodes_finish(void)
{
	struct actor *keeper = &nodes.actors[current.threads];
	size_t taken_out = 0, retires = 0, left;

	/* What a fault has left behind cannot be cleared away. */
	if (cell_failed())
		return;
	enter(keeper, &current.keeper);
	take_out_all(keeper);
	drain(keeper);
	nodes.regime->leave(keeper);
	for (unsigned i = 0; i <= current.threads; i++) {
		taken_out += nodes.actors[i].taken_out;
		retires += nodes.actors[i].retires;
	}
	left = lfpool_retired_count(current.pool);
	if (left)
		violation("%zu objects are retired after lfpool_drain()", left);
	if (taken_out != retires)
		violation("%zu nodes were taken out, and %zu retires succeeded", taken_out, retires);
	if (!cell_failed())
		nodes.regime->empty();
}

void nodes_close(void)
{
	if (nodes.regime->close)
		nodes.regime->close();
	free(nodes.actors);
}
