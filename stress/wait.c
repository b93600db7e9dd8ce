/* SPDX-License-Identifier: MIT */
/*
 * wait.c - scenario: more threads than objects, and they wait: in calls, with and without a timeout, and by continuations.
 *
 * A call that waits for ever must get an object (if it does not, the watchdog sees it).  A call that waits for a time gets
 * NULL not before it is over, and only if the count of demand.h allows it.  Each continuation runs once, in turn, or is
 * cancelled (promise.h).  At a meeting each thread gives back all it has: then no continuation may be left waiting.
 * Sometimes there is a relay, whose order is known (relay.h).  Then all take what they get, ask for more, and meet again:
 * then continuations may wait only if no object is free.
 * No thread waits for ever in vain: a thread does so only when it holds nothing, and a continuation leaves its object with
 * the thread that runs it only if that one is not about to.
 * The history is told of no NULL before the end: a call that serves others has an object in its hands that is none of its own.
 */
#include "history.h"
#include "meeting.h"
#include "promise.h"
#include "relay.h"
#include "scenario.h"

#include <string.h>

#define HOLD_MAX 4
#define LEFT_MAX 6  /* with what continuations left */
#define ASKED_MAX 8 /* continuations of a worker that are waiting, about */
#define NEST_MAX 4  /* continuations that ask for continuations */

struct waiter {
	struct worker *worker;
	struct held held[LEFT_MAX + 2];
	unsigned count;
	unsigned depth;      /* of calls on the pool                            */
	unsigned running;    /* of continuations                                */
	uint64_t call_begin; /* of the outermost call                           */
	bool for_ever;       /* is about to wait so: nothing may be left with it */
	bool giving_back;
	unsigned oldest; /* of its continuations, that may be waiting        */
};

static struct {
	struct meeting meeting;
	struct promises promises;
	struct relay relay;
	struct waiter *waiters;
	_Atomic(size_t) held;
} waiting;

static _Thread_local struct waiter *here;

static void wait_plan(void)
{
	const unsigned threads = current.threads;

	memset(&waiting, 0, sizeof(waiting));
	current.capacity = 1 + random_below(&current.random, random_below(&current.random, 4) ? threads : 2 * threads);
	waiting.meeting.rendezvous.threads = threads;
	waiting.waiters = round_memory(threads, sizeof(struct waiter));
	promises_open(&waiting.promises, threads, random_below(&current.random, 2));
	relay_open(&waiting.relay);
	/* Both counts order the threads. */
	current.demand.counted = waiting.promises.stamped;
	current.demand.unjudged = !waiting.promises.stamped;
	current.nulls_logged = NULLS_OF_KEEPER;
}

/* ---- Calls ---- */

static void call_begins(struct waiter *w)
{
	if (w->depth++ == 0)
		w->call_begin = promises_now(&waiting.promises);
}

static void call_ends(struct waiter *w)
{
	w->depth--;
}

static void release_any(struct waiter *w)
{
	const unsigned any = random_below(&w->worker->random, w->count);
	struct held held = w->held[any];

	w->held[any] = w->held[--w->count];
	call_begins(w);
	worker_release(w->worker, &held);
	call_ends(w);
}

static void give_back(struct waiter *w)
{
	while (w->count)
		release_any(w);
}

static void acquire(struct waiter *w)
{
	struct held held;

	if (w->count >= HOLD_MAX)
		return;
	call_begins(w);
	if (worker_acquire(w->worker, &held))
		w->held[w->count++] = held;
	call_ends(w);
}

static void acquire_wait(struct waiter *w)
{
	struct random *random = &w->worker->random;
	/* 0, some microseconds, or for ever. */
	int64_t timeout_ns = random_below(random, 4) == 0 ? 0 : random_below(random, 1u << (8 + random_below(random, 10)));
	struct held held;

	if (w->count >= HOLD_MAX)
		return;
	w->for_ever = !w->count && random_below(random, 2);
	if (w->for_ever)
		timeout_ns = -1 - (int64_t)random_below(random, 100);
	call_begins(w);
	if (worker_acquire_wait(w->worker, timeout_ns, &held))
		w->held[w->count++] = held;
	call_ends(w);
	w->for_ever = false;
}

/* ---- Continuations ---- */

static void ask(struct waiter *w);

static void run(void *context, lfpool_t *pool, void *object)
{
	struct promise *promise = context;
	struct waiter *w = here;
	struct held held;

	/* When the round has failed, the main thread may come here. */
	if (!w)
		return;
	promise->served_in = w->call_begin;
	promise->ran = promises_now(&waiting.promises);
	if (pool != current.pool || !object)
		violation("a continuation is called with object %p of pool %p", object, (void *)pool);
	if (!promise_turn(promise, PROMISE_ASKED, PROMISE_RAN) || !object ||
	    !worker_receive(w->worker, object, promise->history_begin, &held))
		return;
	w->running++;
	if (w->running < NEST_MAX && worker_chance(w->worker, 8))
		ask(w);
	if (promise->release_at_once || w->for_ever || w->giving_back || w->count >= LEFT_MAX) {
		w->depth++;
		worker_release(w->worker, &held);
		w->depth--;
	} else {
		w->held[w->count++] = held;
	}
	w->running--;
}

static void ask(struct waiter *w)
{
	struct promise *promise = promise_next(&waiting.promises, w->worker->index);
	lfpool_status_t status;

	if (!promise)
		return;
	promise->release_at_once = worker_chance(w->worker, 2);
	promise->history_begin = history_begin(w->worker->log);
	call_begins(w);
	promise->begin = w->depth == 1 ? w->call_begin : promises_now(&waiting.promises);
	/* relaxed: see promise.h. */
	atomic_store_explicit(&promise->state, PROMISE_ASKED, memory_order_relaxed);
	status = worker_ask(run, promise, &promise->ticket);
	promise->end = promises_now(&waiting.promises);
	call_ends(w);
	if (status == LFPOOL_E_NO_MEMORY && current.refusals && promise_turn(promise, PROMISE_ASKED, PROMISE_NONE))
		demand_lower(&current.demand, 1);
	else if (status != LFPOOL_OK)
		violation("lfpool_acquire_async(): %s", lfpool_status_string(status));
	else if (!promise->ticket && promise_state(promise) != PROMISE_RAN)
		violation("a continuation has no ticket, and did not run");
}

static void cancel(struct promise *promise)
{
	const uint64_t begin = promises_now(&waiting.promises);

	if (!lfpool_cancel(current.pool, promise->ticket))
		return;
	if (!promise_turn(promise, PROMISE_ASKED, PROMISE_CANCELLED))
		return;
	promise->served_in = begin;
	demand_lower(&current.demand, 1);
}

/* One of our latest; also one that has run, or was cancelled. */
static void cancel_any(struct waiter *w)
{
	struct promises *promises = &waiting.promises;
	const unsigned count = promises->count[w->worker->index];
	struct promise *promise;

	if (!count)
		return;
	promise = &promises->of[w->worker->index * PROMISES_MAX + count - 1 -
				random_below(&w->worker->random, count < 2 * ASKED_MAX ? count : 2 * ASKED_MAX)];
	if (promise_state(promise) != PROMISE_NONE)
		cancel(promise);
}

/* Are fewer than ASKED_MAX of ours waiting? */
static bool may_ask(struct waiter *w)
{
	struct promises *promises = &waiting.promises;
	const struct promise *mine = &promises->of[w->worker->index * PROMISES_MAX];
	const unsigned count = promises->count[w->worker->index];

	while (w->oldest < count && promise_state(&mine[w->oldest]) != PROMISE_ASKED)
		w->oldest++;
	return count - w->oldest < ASKED_MAX;
}

/* ---- Meetings ---- */

/* Thread 0, while the others stand by. */
static void expect_quiet(size_t held)
{
	const size_t decoys = current.decoy.object != NULL, pending = promises_pending(&waiting.promises);
	const size_t active = lfpool_active_count(current.pool), available = lfpool_available_count(current.pool);
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	round_expect_intact("at a meeting");
	if (lfpool_stats(current.pool, &stats) != LFPOOL_OK || stats.waiting != pending)
		violation("at a meeting %zu continuations wait, says lfpool_stats(), and it should be %zu", stats.waiting,
			  pending);
	if (active != held + decoys)
		violation("at a meeting %zu objects are held, and %zu active", held + decoys, active);
	/* What can still be added is as good as free. */
	if (pending && (available || (lfpool_capacity(current.pool) < current.most && !current.refusals)))
		violation("%zu continuations wait though %zu of %zu objects are free", pending, available,
			  lfpool_capacity(current.pool));
}

/* Returns false when the round is over. */
static bool meet(struct waiter *w)
{
	struct worker *worker = w->worker;

	w->giving_back = true;
	give_back(w);
	meeting_join(&waiting.meeting);
	if (worker->index == 0) {
		expect_quiet(0);
		/* relaxed, here and below: the meetings order it. */
		atomic_store_explicit(&waiting.held, 0, memory_order_relaxed);
		relay_decide(&waiting.relay, worker);
		meeting_close(&waiting.meeting, worker);
	}
	meeting_join(&waiting.meeting);
	w->giving_back = false;
	if (!waiting.meeting.go_on)
		return false;
	if (waiting.relay.on) {
		relay_run(&waiting.relay, worker);
		meeting_join(&waiting.meeting);
	}
	for (uint32_t wanted = random_below(&worker->random, HOLD_MAX + 1); wanted > 0; wanted--)
		acquire(w);
	for (uint32_t wanted = random_below(&worker->random, 3); wanted > 0 && may_ask(w); wanted--)
		ask(w);
	meeting_join(&waiting.meeting);
	atomic_fetch_add_explicit(&waiting.held, w->count, memory_order_relaxed);
	meeting_join(&waiting.meeting);
	if (worker->index == 0)
		expect_quiet(atomic_load_explicit(&waiting.held, memory_order_relaxed));
	meeting_join(&waiting.meeting);
	return true;
}

static void step(struct waiter *w)
{
	switch (random_below(&w->worker->random, 8)) {
	case 0: acquire(w); break;
	case 1:
	case 2: acquire_wait(w); break;
	case 3:
		if (may_ask(w))
			ask(w);
		break;
	case 4: cancel_any(w); break;
	case 5: worker_rescan(w->held, w->count); break;
	default:
		if (w->count)
			release_any(w);
	}
}

static void wait_work(struct worker *worker)
{
	struct waiter *w = &waiting.waiters[worker->index];

	w->worker = worker;
	here = w;
	do {
		while (!meeting_due(&waiting.meeting, worker, 200))
			step(w);
	} while (meet(w));
}

/* When the round has failed some may be left, which lfpool_destroy() would call. */
static void cancel_all(struct promises *promises)
{
	for (unsigned i = 0; i < promises->workers * PROMISES_MAX; i++)
		if (promise_state(&promises->of[i]) == PROMISE_ASKED)
			(void)lfpool_cancel(current.pool, promises->of[i].ticket);
}

static void wait_finish(void)
{
	if (!cell_failed())
		promises_check_order(&waiting.promises);
	cancel_all(&waiting.promises);
	promises_close(&waiting.promises);
	relay_close(&waiting.relay);
	free(waiting.waiters);
}

const struct scenario scenario_wait = {
	.name = "wait",
	.description = "more threads than objects: they wait, with and without a timeout, and by continuations",
	.plan = wait_plan,
	.work = wait_work,
	.finish = wait_finish,
};
