/* SPDX-License-Identifier: MIT */
/* nodes.c - the threads' work with nodes, in any regime; see nodes.h. */
#include "nodes.h"
#include "faults.h"

#include "common/annotate.h"

#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/retire.h"

#include <sched.h>
#include <string.h>

#define LINGER_BRIEF_NS 200000
#define TOGETHER_MAX 8 /* nodes that are retired by one call, or read in one section */

struct nodes nodes;
const char sections;

static _Atomic(void *) *places; /* the nodes, by key */

/* A thread's counts; the keeper has one too. */
static struct account {
	bool inside;      /* inside a section */
	uint32_t retired; /* objects since the last drain  */
	size_t taken_out; /* nodes that it took out        */
	size_t retires;   /* retires that succeeded        */
} *accounts;

static struct account *own(void)
{
	return &accounts[here->index];
}

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
	accounts = round_memory(threads + 1, sizeof(*accounts));
	places = round_memory(nodes.keys, sizeof(*places));
	/* Room for a whole stamp. */
	if (current.config.object_size < sizeof(uint64_t))
		current.config.object_size = sizeof(uint64_t);
	current.nanoseconds += regime->nanoseconds;
	if (nodes.backlog) {
		/* All nodes; and for each thread one that it holds, one that it may hold for another thread while it
		 * waits, and its retired ones. */
		round_capacity(nodes.keys + (size_t)threads * (2 + nodes.backlog));
	} else {
		current.capacity = nodes.keys / 2 + threads + random_below(random, 300);
		current.demand.unjudged = true;
	}
	text_add(&current.remark, ", %u keys, %u retired%s, %u of 16 read, linger %u%s", nodes.keys, nodes.backlog,
		 nodes.backlog ? "" : " (any)", nodes.reads, nodes.linger, nodes.raced ? ", raced" : "");
	regime->open();
}

/* ---- Sections ---- */

static void section_begin(void)
{
	nodes.regime->begin();
	own()->inside = true;
}

static void section_end(void)
{
	own()->inside = false;
	ordered_before(&sections);
	nodes.regime->end();
}

/* A reader's section; a fault may omit it. */
static bool reading_begin(struct worker *worker)
{
	if (fault_strikes_often(worker, FAULT_NO_SECTION, 1))
		return false;
	section_begin();
	return true;
}

/* ---- Reading ---- */

/* Reads until the node is taken out, and then a little longer.  Without deferral another thread would acquire it by
 * then; without a section it would be free. */
static bool linger(struct worker *worker, const struct held *seen)
{
	const bool brief = !chance(worker, 8);
	uint64_t end = now_ns() + random_next(&worker->random) % nodes.regime->linger_ns;
	bool sound, left = false;

	do {
		(void)sched_yield();
		if (brief && !left && ledger_left(seen)) {
			left = true;
			end = now_ns() + LINGER_BRIEF_NS;
		}
		sound = ledger_look(seen);
	} while (sound && now_ns() < end && !cell_failed());
	return sound;
}

/* The number of nodes that are read in a section, or taken out. */
static uint32_t draw_together(struct worker *worker)
{
	return chance(worker, 4) ? 1 + draw(worker, TOGETHER_MAX) : 1;
}

static void read_some(struct worker *worker)
{
	const uint32_t wanted = draw_together(worker);
	const bool sheltered = reading_begin(worker);
	struct held seen[TOGETHER_MAX];
	uint32_t count = 0;
	bool sound = true;

	for (uint32_t i = 0; i < wanted; i++) {
		/* seq_cst, here and below: see nodes.h. */
		void *node = atomic_load(&places[draw(worker, nodes.keys)]);

		if (node)
			seen[count++] = ledger_found(node);
	}
	if (chance(worker, 8))
		(void)sched_yield();
	if (count && chance(worker, nodes.linger))
		sound = linger(worker, &seen[0]);
	for (uint32_t i = 0; i < count && sound; i++)
		sound = ledger_look(&seen[i]);
	if (sheltered)
		section_end();
	pulse_beat(worker->pulse, 1);
}

/* ---- Retiring ---- */

/* Waits until every object that this thread has retired is free. */
static void drain(void)
{
	const lfpool_status_t status = doing(lfpool_drain)(current.pool);

	expect(status == LFPOOL_OK, "lfpool_drain() outside of any section: %s", lfpool_status_string(status));
	demand_lower(&current.demand, own()->retired);
	own()->retired = 0;
}

static void count_retires(size_t count)
{
	own()->retires += count;
	own()->retired += (uint32_t)count;
}

/* The object has just been retired, by this thread or by another that may still be in that call.  This thread is still
 * in its section, so no thread can have acquired the object. */
static void expect_retired(void *object, bool by_us)
{
	const lfpool_status_t status = doing(lfpool_retire)(current.pool, object);

	expect(status == LFPOOL_E_NOT_IN_USE, "a second retire of %p returned: %s", object,
	       lfpool_status_string(status));
	/* While another thread retires it, lfpool_in_use() may return either answer. */
	if (by_us && options.backend != LFPOOL_BACKEND_MALLOC && lfpool_in_use(current.pool, object))
		violation("%p was retired but is in use", object);
	count_up(&current.provoked);
}

static lfpool_status_t retire_or_not(struct worker *worker, void *object)
{
	if (fault_instead_of_release(worker, object))
		return LFPOOL_OK;
	if (fault_strikes_often(worker, FAULT_NO_DEFERRAL, 1) || fault_strikes_often(worker, FAULT_EARLY_RELEASE, 16))
		return doing(lfpool_release)(current.pool, object);
	return doing(lfpool_retire)(current.pool, object);
}

/* An object that is already marked as free.  Other threads may be retiring it as well. */
static void retire(struct worker *worker, void *object)
{
	const lfpool_handle_t handle = doing(lfpool_handle_of)(current.pool, object);
	const lfpool_status_t status = retire_or_not(worker, object);

	pulse_beat(worker->pulse, 1);
	if (status == LFPOOL_OK)
		count_retires(1);
	else if (status == LFPOOL_E_NOT_IN_USE && nodes.raced)
		count_up(&current.provoked);
	else
		violation("retire of %p failed: %s", object, lfpool_status_string(status));
	if (options.fault != FAULT_NONE)
		return;
	expect(!doing(lfpool_resolve)(current.pool, handle), "%p was retired, but its handle resolves", object);
	if (own()->inside && chance(worker, 8))
		expect_retired(object, status == LFPOOL_OK);
}

static void retire_all(struct worker *worker, void *const *objects, uint32_t count)
{
	size_t retired;

	if (options.fault != FAULT_NONE || chance(worker, 2)) {
		for (uint32_t i = 0; i < count; i++)
			retire(worker, objects[i]);
		return;
	}
	retired = doing(lfpool_retire_bulk)(current.pool, objects, count);
	expect(retired == count, "lfpool_retire_bulk() retired %zu of %u objects", retired, count);
	count_retires(retired);
	pulse_beat(worker->pulse, count);
}

/* Takes the node with this key out; returns its object, to be retired, or NULL. */
static void *take_out(struct worker *worker, uint64_t key)
{
	void *node = atomic_load(&places[key]), *expected = node;
	struct held held;

	if (!node)
		return NULL;
	/* Another thread may be about to do the same. */
	if (nodes.raced && chance(worker, 8))
		(void)sched_yield();
	if (!atomic_compare_exchange_strong(&places[key], &expected, NULL)) {
		/* The thread that took it out will retire it, in its section. */
		if (nodes.raced)
			retire(worker, node);
		return NULL;
	}
	own()->taken_out++;
	held = ledger_found(node);
	return ledger_leave(&held) ? node : NULL;
}

static void take_out_some(struct worker *worker)
{
	const uint32_t wanted = draw_together(worker);
	/* If others may retire it as well, retire before the section ends: then the object cannot be reused yet. */
	const bool inside = nodes.raced || chance(worker, 2);
	void *objects[TOGETHER_MAX];
	uint32_t count = 0;

	section_begin();
	for (uint32_t i = 0; i < wanted; i++) {
		objects[count] = take_out(worker, draw(worker, nodes.keys));
		if (objects[count] && nodes.raced)
			retire(worker, objects[count]);
		else if (objects[count])
			count++;
	}
	if (inside)
		retire_all(worker, objects, count);
	section_end();
	if (!inside)
		retire_all(worker, objects, count);
}

/* ---- Putting in ---- */

static bool acquire(struct worker *worker, struct held *held_out)
{
	if (nodes.waits && chance(worker, 4))
		return worker_acquire_wait(worker, draw(worker, 2000000), held_out);
	return worker_acquire(worker, held_out);
}

static void put_in(struct worker *worker)
{
	volatile unsigned char *byte;
	struct held held;
	void *none = NULL;
	bool there;

	if (!acquire(worker, &held))
		return;
	section_begin();
	there = atomic_compare_exchange_strong(&places[draw(worker, nodes.keys)], &none, held.object);
	byte = held.object;
	/* In the section no other thread can have acquired it. */
	if (there && fault_strikes(worker, FAULT_LATE_WRITE))
		*byte = *byte;
	section_end();
	if (there)
		return;
	if (chance(worker, 2)) {
		worker_release(worker, &held);
	} else if (ledger_leave(&held)) {
		own()->taken_out++;
		retire(worker, held.object);
	}
}

/* ---- Work ---- */

static void keep_house(struct worker *worker)
{
	if (nodes.backlog ? own()->retired + TOGETHER_MAX > nodes.backlog : chance(worker, 16384))
		drain();
	if (chance(worker, 64))
		(void)doing(lfpool_retire_poll)(current.pool);
	if (chance(worker, 64) && lfpool_quick_stats(current.pool).retired > current.most)
		violation("%zu of %zu objects are retired", lfpool_quick_stats(current.pool).retired, current.most);
}

void nodes_enter(struct worker *worker)
{
	(void)worker;
	if (nodes.regime->enter)
		nodes.regime->enter();
}

void nodes_step(struct worker *worker)
{
	if (draw(worker, 16) < nodes.reads)
		read_some(worker);
	else if (chance(worker, 2))
		put_in(worker);
	else
		take_out_some(worker);
	keep_house(worker);
}

void nodes_leave(struct worker *worker)
{
	(void)worker;
	if (nodes.regime->leave)
		nodes.regime->leave();
}

/* The keeper takes out the remaining nodes. */
static void take_out_all(void)
{
	for (uint64_t key = 0; key < nodes.keys; key++) {
		void *object;

		section_begin();
		object = take_out(here, key);
		section_end();
		if (object)
			retire(here, object);
	}
}

void nodes_finish(void)
{
	size_t taken_out = 0, retires = 0, left;

	/* After a fault the pool cannot be cleaned up. */
	if (cell_failed())
		return;
	nodes_enter(here);
	take_out_all();
	drain();
	nodes_leave(here);
	for (unsigned i = 0; i <= current.threads; i++) {
		taken_out += accounts[i].taken_out;
		retires += accounts[i].retires;
	}
	left = lfpool_quick_stats(current.pool).retired;
	expect(!left, "%zu objects are retired after lfpool_drain()", left);
	expect(taken_out == retires, "%zu nodes were taken out, but %zu retires succeeded", taken_out, retires);
	for (uint32_t key = 0; key < nodes.keys; key++)
		expect(!load_relaxed(&places[key]), "a node is left with key %u", key);
}

void nodes_close(void)
{
	if (nodes.regime->close)
		nodes.regime->close();
	free(accounts);
	free(places);
}
