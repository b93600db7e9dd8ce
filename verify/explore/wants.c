/* SPDX-License-Identifier: MIT */
/*
 * wants.c - see stage.h.
 */
#include "stage.h"

#include "core/cold.h"
#include "oracle.h"
#include "retires.h"
#include "waiting/waiters.h"
#include "os/os.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/wait.h"

#include <string.h>

#define CONTINUATIONS_MAX 20
#define TIMEOUT 5

/* The fate of a continuation. */
enum then { NOT_YET, CALLED, CANCELLED };

struct continuation {
	struct moment call;
	lfpool_ticket_t ticket;
	enum then fate;
	bool told; /* the call has returned: other threads may have the ticket */
	bool cancel_failed;
	bool releases, asks; /* in the continuation: releases the object; asks again */
	unsigned actor;
};

static struct wants {
	lfpool_t *pool;
	size_t added, taken, asked, forgiven;
	struct continuation continuation[CONTINUATIONS_MAX];
	unsigned continuations;
	bool room;                  /* enough objects for everything that is asked for */
	bool closing, closed;       /* lfpool_close() has begun, has returned */
	bool limited;               /* lfpool_limit() has returned */
	bool may_owe;               /* some thread shrinks, limits or closes the pool, or the set-up left a debt */
	size_t most;                /* the capacity when a call that forbids growing had returned (O4, cold.h) */
	uint64_t mark[OBJECTS_MAX]; /* the last mark in each object */
	uint64_t marks;
} wants;

static size_t capacity_at_first;

void wants_open(lfpool_t *pool)
{
	wants = (struct wants){.pool = pool, .most = SIZE_MAX};
	capacity_at_first = lfpool_capacity(pool);
	os_play_keep(&wants, sizeof(wants));
}

void wants_look_ahead(void)
{
	size_t most = lfpool_quick_stats(wants.pool).max_capacity - lfpool_capacity(wants.pool), more = 0;

	for (unsigned t = 0; t < 3 && stage.scenario->threads[t]; t++)
		for (const char *at = stage.scenario->threads[t]; *at; at++) {
			more += *at == 'G' ? 1 : *at == 'J' ? 2 : strchr("SZT", *at) ? most + 1 : 0;
			wants.may_owe |= strchr("SZNE", *at) != NULL;
		}
	wants.room = more <= most;
	wants.may_owe |= lfpool_quick_stats(wants.pool).owed > 0;
}

bool wants_any(const char *program)
{
	return program && strpbrk(program, "uvUfFjkXGJSZKTIOEN");
}

/* ---- Payload ---- */

/* In the object, after the bytes that poison and free lists might write at its start. */
uint64_t *wants_mark_in(const void *object)
{
	return (uint64_t *)(uintptr_t)object + 1;
}

uint64_t wants_mark(void *object)
{
	return *wants_mark_in(object) = wants.mark[scenario_object_number(object)] = ++wants.marks;
}

void wants_check_mark(const void *object)
{
	const unsigned number = scenario_object_number(object);

	if (*wants_mark_in(object) != wants.mark[number])
		engine_fail("the contents of object %u were lost", number);
}

/* ---- Capacity ---- */

static void grow(size_t count)
{
	(void)oracle_call();
	const size_t added = lfpool_grow(wants.pool, count);

	if (added > count)
		engine_fail("%zu objects were added, and %zu asked for", added, count);
	if (added < count && wants.room && !wants.closing)
		engine_fail("%zu objects were added, but there was room for %zu", added, count);
	wants.added += added;
	oracle_capacity(oracle_now(), (int)added);
}

static void shrink(size_t count)
{
	const struct moment call = oracle_call();

	wants.asked += count;
	oracle_capacity(call, -(int)count);

	const size_t taken = lfpool_shrink(wants.pool, count);

	if (taken > count)
		engine_fail("%zu objects were removed, not %zu", taken, count);
	wants.taken += taken;
	if (lfpool_quick_stats(wants.pool).owed)
		wants.most = lfpool_capacity(wants.pool);
	/* The call may have taken an object for a shrink that was then cancelled. */
	oracle_holds_some(call, 1);
}

static void trim(size_t keep)
{
	const struct moment call = oracle_call();

	if (lfpool_trim(wants.pool, keep, SIZE_MAX))
		engine_fail("a trim without a budget does not end");
	oracle_holds_some(call, scenario_objects());
}

static void cancel_shrink(void)
{
	(void)oracle_call();
	const size_t forgiven = lfpool_shrink_cancel(wants.pool);

	wants.forgiven += forgiven;
	oracle_capacity(oracle_now(), (int)forgiven);
}

/* Removes all objects, or makes them pending. */
static void close_pool(void)
{
	const struct moment call = oracle_call();

	wants.closing = true;
	wants.asked += OBJECTS_MAX;
	oracle_capacity(call, -OBJECTS_MAX);
	wants.most = lfpool_close(wants.pool, 0);
	wants.closed = true;
}

/* Limits the pool to one object. */
static void limit(void)
{
	oracle_capacity(oracle_call(), 1 - (int)scenario_objects());
	if (lfpool_limit(wants.pool, 1) != LFPOOL_OK && !wants.closing)
		engine_fail("no limit of one object");
	wants.most = lfpool_capacity(wants.pool);
	wants.limited = true;
}

/* ---- Waiting ---- */

/* Does another thread still wait, whose call came before this one? */
static void check_turn(const struct moment *call)
{
	struct moment since;

	for (unsigned t = 0; t < engine_threads(); t++)
		if (t != engine_thread() && sleep_unserved(t, &since) && moment_before(&since, call))
			engine_fail("thread %u is given an object, but thread %u has waited longer", engine_thread(),
				    t);
}

static void acquire_waiting(struct actor *actor, int64_t timeout_ns)
{
	struct moment call = stage_call();
	const bool was_due = retires_any_due();
	const uint64_t start = os_now_ns();

	sleep_call();

	void *object = lfpool_cache_acquire_wait(actor->cache, timeout_ns);

	oracle_holds_some(call, 1);
	if (object) {
		struct moment late;

		/* At its deadline a thread searches, out of turn. */
		if (!sleep_was_late(&late))
			check_turn(&call);
		stage_got(actor, call, object, was_due);
	} else {
		if (timeout_ns < 0 && !wants.closing)
			engine_fail("NULL from a wait without a timeout");
		/* If this thread has not slept, others have: the clock may have advanced at any time during the call.
		 */
		if (!wants.closing && !sleep_was_late(&call) && os_now_ns() < start + TIMEOUT)
			engine_fail("NULL before the timeout");
		if (wants.closing)
			oracle_null_of_closed(call);
		else
			oracle_null(call);
	}
	stage_end_call();
}

/* Two at once, without a timeout.  It sleeps a millisecond at a time, so its turn is not checked. */
static void acquire_two(struct actor *actor)
{
	const struct moment call = stage_call();
	const bool was_due = retires_any_due();
	void *objects[2];

	sleep_call();

	const lfpool_status_t status = lfpool_acquire_bulk_wait(wants.pool, NULL, objects, 2, -1);

	oracle_holds_some(call, 2);
	for (unsigned i = 0; status == LFPOOL_OK && i < 2; i++)
		stage_got(actor, call, objects[i], was_due);
	if (status != LFPOOL_OK && !(status == LFPOOL_E_CLOSED && wants.closing))
		engine_fail("two objects are refused: %s", lfpool_status_string(status));
	stage_end_call();
}

/* ---- Continuations ---- */

static void acquire_async(unsigned actor, bool releases, bool asks);

static void go_on(void *context, lfpool_t *pool, void *object)
{
	struct continuation *c = context;

	if (!engine_running())
		return;
	if (c->fate != NOT_YET)
		engine_fail("a continuation is called %s", c->fate == CALLED ? "twice" : "although it was cancelled");
	c->fate = CALLED;
	if (!object) {
		if (!wants.closing)
			engine_fail("a continuation is called with NULL");
		return;
	}

	const unsigned number = scenario_object_number(object);

	oracle_acquired(c->call, number, object);
	wants_mark(object);
	if (!c->releases)
		return;
	(void)oracle_call();
	wants_check_mark(object);
	oracle_releases(number, object);
	if (lfpool_release(pool, object) != LFPOOL_OK)
		engine_fail("a continuation cannot release object %u", number);
	oracle_released(number);
	if (c->asks)
		acquire_async(engine_thread(), true, false);
}

static void acquire_async(unsigned actor, bool releases, bool asks)
{
	if (wants.continuations == CONTINUATIONS_MAX) {
		engine_fail("the explorer's fault: too many continuations");
		return;
	}

	/* First, because another thread may run here. */
	const struct moment call = oracle_call();
	struct continuation *c = &wants.continuation[wants.continuations++];

	*c = (struct continuation){.call = call, .releases = releases, .asks = asks, .actor = actor};

	const lfpool_status_t status = lfpool_acquire_async(wants.pool, go_on, c, &c->ticket);

	if (status == LFPOOL_E_CLOSED && wants.closing)
		c->fate = CANCELLED;
	else if (status != LFPOOL_OK)
		engine_fail("no room for a continuation");
	c->told = true;
	oracle_holds_some(c->call, 1);
}

static void cancel(unsigned actor, bool anybodys)
{
	struct continuation *c = NULL;

	(void)oracle_call();
	for (unsigned i = 0; i < wants.continuations; i++)
		if (wants.continuation[i].fate != CANCELLED &&
		    (anybodys ? wants.continuation[i].told : wants.continuation[i].actor == actor))
			c = &wants.continuation[i];
	if (!c)
		return;
	if (!lfpool_cancel(wants.pool, c->ticket)) {
		/* A continuation that its own thread cannot cancel must be called. */
		c->cancel_failed |= !anybodys;
		return;
	}
	if (c->fate != NOT_YET)
		engine_fail("a continuation is cancelled after it was called");
	c->fate = CANCELLED;
}

/* ---- All of it ---- */

void wants_operate(struct actor *actor, char operation)
{
	const unsigned number = (unsigned)(actor - stage.actor);

	os_play_lend(actor->cache);
	switch (operation) {
	case 'u':
	case 'v': acquire_waiting(actor, operation == 'u' ? -1 : TIMEOUT); break;
	case 'U': acquire_two(actor); break;
	case 'E': close_pool(); break;
	case 'f':
	case 'F':
	case 'j': acquire_async(number, operation != 'f', operation == 'j'); break;
	case 'k':
	case 'X': cancel(number, operation == 'X'); break;
	case 'G':
	case 'J': grow(operation == 'G' ? 1 : 2); break;
	case 'S':
	case 'Z': shrink(operation == 'S' ? 1 : 2); break;
	case 'K': cancel_shrink(); break;
	case 'N': limit(); break;
	case 'T': trim(0); break;
	case 'I': trim(LFPOOL_IDLE); break;
	case 'O':
		(void)oracle_call();
		os_play_refuse();
		break;
	default: engine_fail("the scenario's fault: no operation %c", operation);
	}
	os_play_lend(NULL);
}

void wants_check(void)
{
	const size_t owed = lfpool_quick_stats(wants.pool).owed, capacity = lfpool_capacity(wants.pool);
	/* Threads that ask for more than there is get less. */
	const bool too_much = wants.asked > capacity_at_first + wants.added;
	const size_t maximum = lfpool_quick_stats(wants.pool).max_capacity,
		     most = wants.limited && wants.most > maximum ? wants.most : maximum;
	const size_t should = capacity_at_first + wants.added + owed + wants.forgiven - wants.asked;
	unsigned waiting = 0;

	if (owed > capacity)
		engine_fail("at the end %zu of %zu objects are owed", owed, capacity);
	if (owed && !wants.may_owe)
		engine_fail("at the end %zu objects are owed, although no call removed any", owed);
	if (wants.closed                  ? false
	    : stage.scenario->growth_step ? capacity > most + owed || (capacity < should && !wants.limited)
					  : capacity != should && !too_much)
		engine_fail("at the end there are %zu objects, %zu of them owed, but there should be %zu", capacity,
			    owed, should);
	for (unsigned i = 0; i < wants.continuations; i++) {
		const struct continuation *c = &wants.continuation[i];

		waiting += c->fate == NOT_YET;
		if (c->cancel_failed && c->fate != CALLED)
			engine_fail("a continuation was not cancelled but is never called");
	}
	if (wants.closed && (waiting || capacity != owed))
		engine_fail("after close %u continuations wait, %zu of %zu objects are owed", waiting, owed, capacity);
	/* No program ends a limit; a growth that the limit overtook is owed again.  When a shrink is no longer pending,
	 * `owed` says so. */
	if ((owed || !wants.asked) && !wants.added && !wants.forgiven &&
	    capacity - (wants.limited ? owed : 0) > wants.most)
		engine_fail("at the end there are %zu objects, %zu when growth was forbidden", capacity, wants.most);
	if (*wants.pool->waiters.wanted !=
	    (unsigned)cold_owes(&wants.pool->core.cold) + waiting + (wants.pool->waiters.full != FULL_UNKNOWN))
		engine_fail("at the end %u objects are wanted, %zu owed, %u continuations wait",
			    (unsigned)*wants.pool->waiters.wanted, owed, waiting);
	if ((owed || waiting) && lfpool_available_count(wants.pool))
		engine_fail("at the end %zu objects are free, although %zu are owed and %u continuations wait",
			    lfpool_available_count(wants.pool), owed, waiting);
}
