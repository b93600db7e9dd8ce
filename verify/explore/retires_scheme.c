/* SPDX-License-Identifier: MIT */
/*
 * retires_scheme.c - the scheme of retires.h.
 */
#include "retires.h"

#include "verbs.h"

#include "lfpool/retire.h"

#include <string.h>

/* In the batch's room: the readers' counts when it began. */
struct noted {
	uint64_t count[THREADS_MAX];
};

/* ---- Readers ---- */

void retires_enter(void)
{
	_Atomic(uint64_t) *mine = &retires.announced[engine_thread()];

	/* relaxed: only this thread writes it.  release: a thread that sees the new count comes after our accesses of
	 * the last time.  The fence orders the count before our next reads. */
	store_release(mine, load_relaxed(mine) + 1);
	full_fence();
}

void retires_leave(void)
{
	_Atomic(uint64_t) *mine = &retires.announced[engine_thread()];

	/* release: our reads come before a reuse. */
	store_release(mine, load_relaxed(mine) + 1);
}

/* ---- The scheme ---- */

static void check_batch(lfpool_batch_t *batch)
{
	const size_t count = batch->count;
	size_t found = 0;
	uint32_t cursor = 0;

	for (const void *object; found <= count && (object = lfpool_batch_next(batch, &cursor)); found++) {
		const unsigned number = scenario_object_number(object);

		if (number >= OBJECTS_MAX || retires.object[number].fate != IS_RETIRED)
			engine_fail("object %u is in a batch but not retired", number);
	}
	if (!count || found != count)
		engine_fail("a batch claims %zu objects but has %zu", count, found);
}

/* An object that is retired while its shard is held goes to another shard. */
static void retire_inside(void)
{
	const uint64_t before = retires.batches;
	void *object = retires_take_out(1);

	if (!object)
		return;
	retires_retire(object);
	if (retires.batches == before)
		engine_fail("a retired object waits in a place that is held");
}

static void begin(void *context, lfpool_batch_t *batch)
{
	struct with *with = &retires.with[batch->place];
	struct noted *noted = (void *)batch->room;

	(void)context;
	if (with->batch)
		engine_fail("a batch begins in a place whose batch the scheme already has");
	check_batch(batch);
	full_fence();
	/* A thread of the scheme orders its own accesses to the room. */
	if (strchr(retires_kinds, 'r'))
		explore_plain(noted, true);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		/* acquire: as in is_due(), for readers that have left already. */
		noted->count[t] = load_acquire(&retires.announced[t]);
	with->batch = batch;
	with->number = ++retires.batches;
	if (engine_running())
		memory_glimpse(&with->seen);
	if (engine_running() && strchr(retires_kinds, 'n'))
		retire_inside();
}

static bool is_due(const struct noted *noted)
{
	for (unsigned t = 0; t < THREADS_MAX; t++)
		/* acquire: the reader's accesses happen before the reuse. */
		if (load_acquire(&retires.announced[t]) == noted->count[t] && noted->count[t] % 2)
			return false;
	return true;
}

static bool ready(void *context, const lfpool_batch_t *batch)
{
	const struct noted *noted = (const void *)batch->room;
	struct with *with = &retires.with[batch->place];

	(void)context;
	explore_plain(noted, false);
	if (with->batch != batch)
		engine_fail("the pool asks about a batch that the scheme does not have");
	if (!is_due(noted))
		return false;
	with->batch = NULL;
	retires_due(batch);
	return true;
}

/* Reclaims due batches, unless the scheme is asked, or another thread of the program reclaims them (w). */
static bool wait(void *context)
{
	(void)context;
	if (!strchr(retires_kinds, 'r') && !(engine_running() && strchr(retires_kinds, 'w')))
		retires_scheme_turn();
	return true;
}

lfpool_scheme_t retires_scheme(bool asked)
{
	return (lfpool_scheme_t){.begin = begin, .ready = asked ? ready : NULL, .wait = wait};
}

void retires_scheme_turn(void)
{
	for (unsigned i = 0; i < LFPOOL_PLACES_MAX; i++) {
		struct with *with = &retires.with[i];
		lfpool_batch_t *batch = with->batch;
		const uint64_t number = with->number;

		if (!batch)
			continue;
		if (engine_running())
			memory_glimpsed(&with->seen);
		if (!is_due((void *)batch->room) || !with->batch || with->number != number)
			continue;
		with->batch = NULL;
		retires_due(batch);
		lfpool_batch_reclaim(batch);
	}
}

bool retires_any_due(void)
{
	for (unsigned i = 0; retires_kinds && i < LFPOOL_PLACES_MAX; i++) {
		const struct noted *noted = retires.with[i].batch ? (void *)retires.with[i].batch->room : NULL;
		bool due = noted;

		for (unsigned t = 0; noted && t < THREADS_MAX; t++)
			due &= !(noted->count[t] % 2) ||
			       *(const uint64_t *)(const void *)&retires.announced[t] != noted->count[t];
		if (due)
			return true;
	}
	return false;
}
