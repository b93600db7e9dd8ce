/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - scenarios: releases that must be refused.
 */
#include "faults.h"
#include "round.h"

/* ---- misuse: wrong releases amid honest work ---- */

/* Each wrong release must be refused with the right status and change nothing.  (An object just released may already
 * belong to another thread, so double releases are tested below, and in tests/object/test_misuse.c.) */

#define HOLD_MAX 8

static lfpool_t *other;
static void *theirs; /* an object of `other` */

static void open_other(void)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.object_size = current.config.object_size;
	config.capacity = 1;
	if (doing(lfpool_create)(&other, &config) != LFPOOL_OK)
		say_no_memory("another pool");
	theirs = doing(lfpool_acquire)(other);
}

/* A pointer that is no object of the round's pool. */
static void *draw_foreign(struct worker *worker)
{
	static char somewhere;
	void *const foreign[] = {theirs, worker, &somewhere, worker->hands, (void *)(uintptr_t)1, (void *)UINTPTR_MAX};

	return PICK(&worker->random, foreign);
}

static void release_wrongly(struct worker *worker, void *pointer, lfpool_status_t expected)
{
	const lfpool_status_t status = worker_release_raw(worker, pointer, expected);

	expect(status == expected, "release of %p: \"%s\", not \"%s\"", pointer, lfpool_status_string(status),
	       lfpool_status_string(expected));
	if (expected != LFPOOL_OK)
		count_up(&current.provoked);
}

static void release_interior(struct worker *worker)
{
	const size_t size = current.config.object_size;
	const struct held *held = &worker->hands[draw(worker, (uint32_t)worker->count + 1)];

	if (held < worker->hands + worker->count && size > 1)
		release_wrongly(worker, held->object + 1 + draw(worker, (uint32_t)size - 1), LFPOOL_E_INTERIOR);
}

static void misuse_step(struct worker *worker)
{
	worker_hold(worker, 1 + draw(worker, HOLD_MAX));
	switch (draw(worker, 4)) {
	case 0: release_wrongly(worker, draw_foreign(worker), LFPOOL_E_FOREIGN); break;
	case 1: release_interior(worker); break;
	/* Allowed, and not misuse. */
	default: release_wrongly(worker, NULL, LFPOOL_OK);
	}
	worker_look(worker);
	worker_keep(worker, 0);
}

static void misuse_finish(void)
{
	if (doing(lfpool_release)(other, theirs) != LFPOOL_OK || doing(lfpool_destroy)(other) != 0)
		violation("wrong releases changed the active objects of another pool");
}

SCENARIO(misuse, "misuse",
	 "correct work amid releases of foreign and interior pointers, and NULL: all refused, nothing damaged",
	 .needs_refusals = true, .hands = HOLD_MAX, .open = open_other, .step = misuse_step, .finish = misuse_finish);

/* ---- double-release: all threads release the same object at the same instant ---- */

/* With LFPOOL_CHECK_RACES exactly one release succeeds.  No thread acquires until all have tried, so no other thread
 * can have got the object.  In between, the threads' caches fill with other objects. */

static struct {
	struct held held;         /* the object they race for; thread 0's between two meetings; or empty */
	_Atomic(size_t) accepted; /* how many releases succeeded                               */
} race;

static void race_plan(void)
{
	current.config.flags |= LFPOOL_CHECK_RACES;
	/* One object for each thread, and the contested one. */
	current.capacity = current.threads + 1 + random_below(&current.random, 64);
}

static void prepare(struct worker *worker)
{
	if (!worker_acquire(worker, &race.held))
		return;
	(void)ledger_leave(&race.held);
	/* relaxed, here and below: the meeting orders it. */
	store_relaxed(&race.accepted, 0);
}

static void release_raced(struct worker *worker)
{
	lfpool_status_t status = worker_release_raced(worker, &race.held);

	if (status == LFPOOL_OK)
		count_up(&race.accepted);
	else if (status == LFPOOL_E_NOT_IN_USE)
		count_up(&current.provoked);
	else
		violation("a racing release of %p was refused as \"%s\"", (void *)race.held.object,
			  lfpool_status_string(status));
}

static void expect_one(struct worker *worker)
{
	const size_t accepted = load_relaxed(&race.accepted);

	(void)worker;
	expect(accepted == 1, "%zu of %u racing releases of %p succeeded, not 1", accepted, current.threads,
	       (void *)race.held.object);
}

static void race_meet(struct worker *worker)
{
	if (worker_take(worker))
		worker_keep(worker, 0);
	meeting_alone(worker, prepare);
	if (!race.held.object)
		return;
	release_raced(worker);
	if (current.threads == 1)
		release_raced(worker);
	meeting_alone(worker, expect_one);
}

SCENARIO(double_release, "double-release",
	 "all threads release the same object at once: with LFPOOL_CHECK_RACES exactly one succeeds",
	 .needs_refusals = true, .hands = 1, .plan = race_plan, .meet = race_meet);
