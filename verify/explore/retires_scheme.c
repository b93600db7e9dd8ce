/* SPDX-License-Identifier: MIT */
/*
 * retires_scheme.c - the scheme of retires.h.
 */
#include "retires.h"

#include "verbs.h"

#include "lfpool/retire.h"

#include <string.h>

/* In the batch's room: what the readers had counted when it began. */
struct noted {
	uint64_t count[THREADS_MAX];
};

/* ---- Readers ---- */

void retires_enter(void)
{
	_Atomic(uint64_t) *mine = &retires.announced[engine_thread()];

	/* relaxed: our own.  release: who sees that we have come again comes after what we did the last time.  The
	 * fence orders it before what we shall look at. */
	store_release(mine, load_relaxed(mine) + 1);
	full_fence();
}

void retires_leave(void)
{
	_Atomic(uint64_t) *mine = &retires.announced[engine_thread()];

	/* release: a reuse of what we have read comes after. */
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
			engine_fail("object %u is in a batch, and not retired", number);
	}
	if (!count || found != count)
		engine_fail("a batch of %zu objects has %zu", count, found);
}

/* What is retired while its place is held goes to another. */
static void retire_inside(void)
{
	const uint64_t before = retires.batches;
	void *object = retires_take_out(1);

	if (!object)
		return;
	retires_retire(object);
	if (retires.batches == before)
		engine_fail("an object that was retired waits in a place that is held");
}

static void begin(void *context, lfpool_batch_t *batch)
{
	struct with *with = &retires.with[batch->place];
	struct noted *noted = (void *)batch->room;

	(void)context;
	if (with->batch)
		engine_fail("a batch begins where one is with the scheme already");
	check_batch(batch);
	full_fence();
	/* What a thread of its own does with the room it orders itself. */
	if (strchr(retires_kinds, 'r'))
		explore_plain(noted, true);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		/* acquire: as in is_due(), for those who have left already. */
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
		/* acquire: what a reader did happens before the reuse. */
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
		engine_fail("a batch is asked about that is not with the scheme");
	if (!is_due(noted))
		return false;
	with->batch = NULL;
	retires_due(batch);
	return true;
}

/* Unless another thread of the program takes turns. */
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
