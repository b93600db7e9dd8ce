/* SPDX-License-Identifier: MIT */
/*
 * wait.c - scenario: more threads than objects, so they wait: in calls, with and without a timeout, and by
 * continuations.
 *
 * An untimed wait must get an object; otherwise the watchdog notices.  A timed wait may return NULL only after its
 * time, and only if the count of demand.h allows it.  No untimed wait can be hopeless: a thread starts one only when it
 * holds nothing, and a continuation leaves its object with its thread only if that thread is not about to start one.
 * The history hears of no NULL before the end: a call that serves others holds an object for them.
 *
 * Promises     Each continuation has a record, a promise, which is used once.  Its state changes from ASKED to RAN or
 *              to CANCELLED; any other change is a violation.  The state is relaxed: the library's own edge must make
 *              the caller's writes visible to the continuation.
 * Meetings     All threads release everything: then no continuation may be left waiting.  Then all take what they can
 *              get, ask for more, and meet again: then continuations may wait only if no object is free.
 * Relay        Sometimes, between the two meetings, thread 0 acquires all objects.  Then the others begin to wait, each
 *              after lfpool_stats() has shown that its predecessor waits, so the order of the queue is known.  Then
 *              thread 0 releases one object.  Each receiver releases it again, and it must reach the threads in that
 *              order.
 * Duels        Sometimes, between the two meetings, threads 0 and 1 hold all objects.  One of them releases an object,
 *              and at the same time the other asks for one by a continuation.  When both calls have returned, and
 *              before any other call, the continuation must have run: a lost wake-up is not repaired by the next
 *              release.  Before the release the thread stores to memory that is probably in no cache.  While the
 *              processor is busy with these stores, the release is invisible to the other thread, but its loads are
 *              not delayed.  So a missing fence between the release and its loads shows.
 */
#include "faults.h"
#include "history.h"
#include "round.h"

#include "lfpool/report.h"
#include "lfpool/wait.h"

#include <sched.h>
#include <string.h>

#define HOLD_MAX 4
#define LEFT_MAX 6        /* a worker with this many objects is left no more by continuations */
#define ASKED_MAX 8       /* waiting continuations of a worker, about */
#define NEST_MAX 4        /* depth of continuations that ask for continuations */
#define PROMISES_MAX 1024 /* promises of one worker, in a round           */
#define COLD_LINES ((size_t)1 << 19)

enum state { NONE, ASKED, RAN, CANCELLED };

struct promise {
	_Atomic(unsigned) state;
	bool release_at_once;   /* by the continuation */
	unsigned turn;          /* in the relay; 0: not part of it */
	lfpool_ticket_t ticket; /* the asker's                   */
	uint64_t history_begin;
};

static struct waiter {
	struct promise promises[PROMISES_MAX];
	unsigned used;    /* number of promises used */
	unsigned oldest;  /* the oldest that may be waiting */
	unsigned running; /* continuations running on this thread */
	bool for_ever;    /* is about to wait without a timeout: no object may be left with it */
	bool giving_back;
} *waiters;

static struct {
	bool on;                  /* written by thread 0 between two rendezvous */
	_Atomic(unsigned) next;   /* the thread that may begin to wait; 0: none */
	_Atomic(unsigned) served; /* threads that have had their turn */
} relay;

/* More memory than the caches of most processors have: start_and_delay_stores(). */
static struct cold_line {
	_Alignas(64) _Atomic(unsigned) number;
} cold[COLD_LINES];

static void wait_plan(void)
{
	const unsigned threads = current.threads;

	/* A page fault during a duel would end the delay. */
	/* relaxed: orders nothing. */
	for (size_t i = 0; !load_relaxed(&cold[0].number) && i < COLD_LINES; i++)
		store_relaxed(&cold[COLD_LINES - 1 - i].number, 1);

	current.capacity = 1 + random_below(&current.random, random_below(&current.random, 4) ? threads : 2 * threads);
	/* For the relay: all objects. */
	current.hands = current.capacity + LEFT_MAX + 2;
	current.meeting.calm = 200;
	waiters = round_memory(threads, sizeof(*waiters));
	current.demand.counted = random_below(&current.random, 2);
	current.demand.unjudged = !current.demand.counted;
	current.nulls_unlogged = true;
}

/* ---- Calls ---- */

static void acquire(struct worker *worker)
{
	if (worker->count < HOLD_MAX)
		(void)worker_take(worker);
}

static void acquire_wait(struct worker *worker)
{
	struct waiter *w = &waiters[worker->index];
	/* 0, some microseconds, or no timeout. */
	int64_t timeout_ns = draw(worker, 4) == 0 ? 0 : draw(worker, 1u << (8 + draw(worker, 10)));
	struct held held;

	if (worker->count >= HOLD_MAX)
		return;
	w->for_ever = !worker->count && draw(worker, 2);
	if (w->for_ever)
		timeout_ns = -1 - (int64_t)draw(worker, 100);
	if (worker_acquire_wait(worker, timeout_ns, &held))
		worker->hands[worker->count++] = held;
	w->for_ever = false;
}

/* ---- Continuations ---- */

static unsigned state_of(const struct promise *promise)
{
	/* relaxed: see Promises. */
	return load_relaxed(&promise->state);
}

static bool become(struct promise *promise, enum state from, enum state to)
{
	static const char *const names[] = {"not asked for", "asked for", "run", "cancelled"};
	/* relaxed: see Promises. */
	const unsigned found = exchange_relaxed(&promise->state, to);

	expect(found == from, "a continuation becomes %s, but was %s", names[to], names[found]);
	return found == from;
}

static void ask(struct worker *worker, unsigned turn);

/* The waiter with number `turn` has got the object, and passes it on. */
static void take_turn(struct worker *worker, unsigned turn, struct held *held)
{
	/* relaxed: the pool must provide the order. */
	const unsigned served = add_relaxed(&relay.served, 1) + 1;

	expect(served == turn, "number %u in the queue was served as number %u", turn, served);
	worker_release(worker, held);
}

static struct {
	bool on;           /* written by thread 0 between two rendezvous */
	unsigned releaser; /* 0 or 1: holds an object, and releases it in the next duel */
	struct promise promise;
	struct {
		_Alignas(64) _Atomic(unsigned) arrived;
	} thread[2];
} duel;

static void run(void *context, lfpool_t *pool, void *object)
{
	struct promise *promise = context;
	struct worker *worker = here;
	struct waiter *w;
	struct held held;

	/* After a failure the main thread may call this. */
	if (worker == &current.keeper)
		return;
	w = &waiters[worker->index];
	if (pool != current.pool || !object)
		violation("a continuation is called with object %p of pool %p", object, (void *)pool);
	if (!become(promise, ASKED, RAN) || !object || !worker_receive(worker, object, promise->history_begin, &held))
		return;
	if (promise->turn) {
		take_turn(worker, promise->turn, &held);
		return;
	}
	if (promise == &duel.promise) {
		duel.releaser = worker->index;
		worker->hands[worker->count++] = held;
		return;
	}
	w->running++;
	if (w->running < NEST_MAX && chance(worker, 8))
		ask(worker, 0);
	if (promise->release_at_once || w->for_ever || w->giving_back || worker->count >= LEFT_MAX)
		worker_release(worker, &held);
	else
		worker->hands[worker->count++] = held;
	w->running--;
}

static void ask_with(struct worker *worker, struct promise *promise)
{
	lfpool_status_t status;

	promise->history_begin = history_begin(worker->log);
	/* relaxed: see Promises. */
	store_relaxed(&promise->state, ASKED);
	status = worker_ask(run, promise, &promise->ticket);
	if (status == LFPOOL_E_NO_MEMORY && current.refusals && become(promise, ASKED, NONE))
		demand_lower(&current.demand, 1);
	else if (status != LFPOOL_OK)
		violation("lfpool_acquire_async(): %s", lfpool_status_string(status));
	else if (!promise->ticket && state_of(promise) != RAN)
		violation("a continuation has no ticket, but did not run");
}

static void ask(struct worker *worker, unsigned turn)
{
	struct waiter *w = &waiters[worker->index];
	struct promise *promise = &w->promises[w->used];

	if (w->used == PROMISES_MAX)
		return;
	w->used++;
	promise->release_at_once = chance(worker, 2);
	promise->turn = turn;
	ask_with(worker, promise);
}

/* One of this thread's latest; it may have run, or been cancelled. */
static void cancel_any(struct worker *worker)
{
	struct waiter *w = &waiters[worker->index];
	struct promise *promise;

	if (!w->used)
		return;
	promise = &w->promises[w->used - 1 - draw(worker, w->used < 2 * ASKED_MAX ? w->used : 2 * ASKED_MAX)];
	if (state_of(promise) != NONE && doing(lfpool_cancel)(current.pool, promise->ticket) &&
	    become(promise, ASKED, CANCELLED))
		demand_lower(&current.demand, 1);
}

static void ask_if_few_wait(struct worker *worker)
{
	struct waiter *w = &waiters[worker->index];

	while (w->oldest < w->used && state_of(&w->promises[w->oldest]) != ASKED)
		w->oldest++;
	if (w->used - w->oldest < ASKED_MAX)
		ask(worker, 0);
}

/* ---- Relay ---- */

/* Not with refusals, because a refused call has no place in the queue.  Only with faults that touch no object. */
static bool allows_relays_and_duels(void)
{
	const enum fault fault = options.fault;

	return current.threads > 1 && !current.refusals && (fault == FAULT_NONE || fault >= FAULT_LOST_COUNT);
}

static void decide_relay(struct worker *worker)
{
	relay.on = allows_relays_and_duels() && chance(worker, 4);
	/* relaxed, here and below: the meeting orders it, or a late reader does no harm. */
	store_relaxed(&relay.next, 0);
	store_relaxed(&relay.served, 0);
}

static unsigned read_soon(const _Atomic(unsigned) *number)
{
	(void)sched_yield();
	return load_relaxed(number);
}

static void wait_in_turn(struct worker *worker)
{
	const unsigned turn = worker->index;
	unsigned place = turn;
	struct held held;

	/* The fault: the first two swap places. */
	if (place <= 2 && current.threads > 2 && fault_strikes_often(worker, FAULT_WRONG_TURN, 1))
		place = 3 - place;
	while (read_soon(&relay.next) != place)
		if (cell_failed())
			return;
	if (waiters[turn].used < PROMISES_MAX && chance(worker, 3))
		ask(worker, turn);
	else if (worker_acquire_wait(worker, -1, &held))
		take_turn(worker, turn, &held);
}

static bool await_waiting(size_t count)
{
	lfpool_stats_t stats;

	do {
		if (doing(lfpool_stats)(current.pool, &stats) != LFPOOL_OK || cell_failed())
			return false;
		(void)sched_yield();
	} while (stats.waiting != count);
	return true;
}

/* Thread 0's part. */
static void conduct(struct worker *worker)
{
	const unsigned others = current.threads - 1;

	while (worker->count < current.most && worker_take(worker))
		;
	for (unsigned place = 1; place <= others; place++) {
		store_relaxed(&relay.next, place);
		if (!await_waiting(place))
			break;
	}
	worker_release_any(worker);
	while (read_soon(&relay.served) < others && !cell_failed())
		;
	worker_keep(worker, 0);
}

/* ---- Duels ---- */

#define COLD_STORES 64 /* about the length of a store buffer */
#define PAUSE_MAX 8000

static void decide_duels(struct worker *worker)
{
	/* Not at the meeting of a relay: a log has room for one of the two (HISTORY_RESERVE). */
	duel.on = !relay.on && allows_relays_and_duels() && chance(worker, 2);
	duel.releaser = 0;
	for (unsigned i = 0; i < 2; i++)
		/* relaxed: the meeting orders it. */
		store_relaxed(&duel.thread[i].arrived, 0);
}

/* Waits for the other thread; false after a failure.  Makes the stores of each thread visible to the other. */
static bool duel_join(struct worker *worker)
{
	_Atomic(unsigned) *mine = &duel.thread[worker->index].arrived, *other = &duel.thread[1 - worker->index].arrived;
	/* relaxed: ours. */
	const unsigned number = load_relaxed(mine) + 1;

	atomic_store_explicit(mine, number, memory_order_release);
	for (unsigned spins = 1; atomic_load_explicit(other, memory_order_acquire) < number; spins++)
		if (spins % 64 == 0) {
			if (cell_failed())
				return false;
			(void)sched_yield();
		}
	return true;
}

/* Called just before the release.  Stores to lines that are probably in no cache.  The state of the random numbers is
 * in a register, because it must cause no other stores. */
static void start_and_delay_stores(struct worker *worker)
{
	struct random at = {random_next(&worker->random)};

	(void)duel_join(worker);
	for (unsigned i = 0; i < COLD_STORES; i++)
		/* relaxed: orders nothing. */
		store_relaxed(&cold[random_next(&at) % COLD_LINES].number, 1);
}

static void duel_release(struct worker *worker)
{
	struct held held = worker->hands[--worker->count];

	worker->before_release = start_and_delay_stores;
	worker_release(worker, &held);
	worker->before_release = NULL;
}

static void duel_ask(struct worker *worker)
{
	/* Until then the other thread may read the state of the previous duel. */
	(void)duel_join(worker);
	duel.promise = (struct promise){.state = NONE};
	/* The calls overlap in different ways.  relaxed: only takes time. */
	for (unsigned pause = draw(worker, PAUSE_MAX); pause; pause--)
		(void)load_relaxed(&duel.thread[worker->index].arrived);
	if (!fault_strikes(worker, FAULT_NOT_SERVED))
		ask_with(worker, &duel.promise);
}

/* Called by threads 0 and 1. */
static void fight_duels(struct worker *worker)
{
	/* With more threads than processors each duel takes long. */
	const unsigned duels = current.threads > 2 ? 16 : 128;

	while (worker->index == 0 && worker->count < current.most && worker_take(worker))
		;
	if (worker->index == 0 && !worker->count)
		violation("no object for a duel though all are free");
	for (unsigned i = 0; i < duels && !cell_failed(); i++) {
		const bool releases = duel.releaser == worker->index;

		if (releases)
			duel_release(worker);
		else
			duel_ask(worker);
		if (!duel_join(worker))
			break;
		if (state_of(&duel.promise) == RAN)
			continue;
		if (!releases)
			violation("a continuation waits though an object was released, and no call is in progress");
		/* The releaser makes no other call before the asker has read the state. */
		(void)duel_join(worker);
		break;
	}
	worker_keep(worker, 0);
}

/* ---- Meetings ---- */

static size_t count_asked(void)
{
	size_t asked = 0;

	for (unsigned i = 0; i < current.threads; i++)
		for (unsigned p = 0; p < waiters[i].used; p++)
			asked += state_of(&waiters[i].promises[p]) == ASKED;
	return asked;
}

static void expect_quiet(struct worker *worker)
{
	const size_t asked = count_asked(), available = lfpool_available_count(current.pool);
	lfpool_stats_t stats;

	round_expect_intact(meeting_held(), "at a meeting");
	if (doing(lfpool_stats)(current.pool, &stats) != LFPOOL_OK || stats.waiting != asked)
		violation("at a meeting lfpool_stats() reports %zu waiting continuations, not %zu",
			  (size_t)stats.waiting, asked);
	/* Objects that can still be added count as free. */
	if (asked && (available || (lfpool_capacity(current.pool) < current.most && !current.refusals)))
		violation("%zu continuations wait though %zu of %zu objects are free", asked, available,
			  lfpool_capacity(current.pool));
	decide_relay(worker);
	decide_duels(worker);
}

static void give_back(struct worker *worker)
{
	waiters[worker->index].giving_back = true;
	while (worker->count)
		worker_release_any(worker);
}

static void wait_meet(struct worker *worker)
{
	give_back(worker);
	meeting_alone(worker, expect_quiet);
	waiters[worker->index].giving_back = false;
	if (relay.on) {
		if (worker->index == 0)
			conduct(worker);
		else
			wait_in_turn(worker);
		meeting_join();
	}
	if (duel.on) {
		if (worker->index < 2)
			fight_duels(worker);
		meeting_join();
	}
	for (uint32_t wanted = draw(worker, HOLD_MAX + 1); wanted > 0; wanted--)
		acquire(worker);
	for (uint32_t wanted = draw(worker, 3); wanted > 0; wanted--)
		ask_if_few_wait(worker);
	meeting_alone(worker, expect_quiet);
}

/* ---- Work ---- */

static void wait_step(struct worker *worker)
{
	switch (draw(worker, 8)) {
	case 0: acquire(worker); break;
	case 1:
	case 2: acquire_wait(worker); break;
	case 3: ask_if_few_wait(worker); break;
	case 4: cancel_any(worker); break;
	case 5: worker_look(worker); break;
	default: worker_release_any(worker);
	}
}

static void wait_finish(void)
{
	/* After a failure some may be left, which lfpool_destroy() would call. */
	for (unsigned i = 0; i < current.threads; i++)
		for (unsigned p = 0; p < waiters[i].used; p++)
			if (state_of(&waiters[i].promises[p]) == ASKED)
				(void)doing(lfpool_cancel)(current.pool, waiters[i].promises[p].ticket);
	if (state_of(&duel.promise) == ASKED)
		(void)doing(lfpool_cancel)(current.pool, duel.promise.ticket);
	duel.promise = (struct promise){.state = NONE};
	free(waiters);
}

SCENARIO(wait, "wait", "more threads than objects, so they wait: with a timeout, without, and by continuations",
	 .plan = wait_plan, .step = wait_step, .meet = wait_meet, .leave = give_back, .finish = wait_finish);
