/* SPDX-License-Identifier: MIT */
/*
 * relay.c - see relay.h.
 */
#include "relay.h"
#include "faults.h"
#include "history.h"
#include "round.h"

#include <sched.h>

/* The thread that a continuation finds itself on. */
static _Thread_local struct worker *here;

void relay_open(struct relay *relay)
{
	relay->all = round_memory(current.capacity + 1, sizeof(*relay->all));
	relay->runners = round_memory(current.threads, sizeof(*relay->runners));
}

void relay_close(struct relay *relay)
{
	free(relay->all);
	free(relay->runners);
}

void relay_decide(struct relay *relay, struct worker *worker)
{
	const enum fault fault = options.fault;

	/* A call that is refused a place in the queue has none.  Of the faults only those that touch no object. */
	relay->on = current.threads > 1 && !current.refusals && (fault == FAULT_NONE || fault >= FAULT_LOST_COUNT) &&
		    worker_chance(worker, 4);
	/* relaxed, here and below: the meeting orders it, or to know soon is enough. */
	atomic_store_explicit(&relay->next, 0, memory_order_relaxed);
	atomic_store_explicit(&relay->served, 0, memory_order_relaxed);
}

/* ---- The threads that wait ---- */

static void take_turn(const struct runner *runner, struct worker *worker, struct held *held)
{
	const unsigned served = atomic_fetch_add_explicit(&runner->relay->served, 1, memory_order_relaxed) + 1;

	if (served != runner->turn)
		violation("number %u in the queue was served as number %u", runner->turn, served);
	worker_release(worker, held);
}

static void then(void *context, lfpool_t *pool, void *object)
{
	const struct runner *runner = context;
	struct held held;

	(void)pool;
	/* When the round has failed, the main thread may come here. */
	if (here && object && worker_receive(here, object, runner->history_begin, &held))
		take_turn(runner, here, &held);
}

static void ask(struct runner *runner, struct worker *worker)
{
	lfpool_status_t status;

	runner->history_begin = history_begin(worker->log);
	status = worker_ask(then, runner, NULL);
	if (status != LFPOOL_OK)
		violation("lfpool_acquire_async(): %s", lfpool_status_string(status));
}

static unsigned read_soon(const _Atomic(unsigned) *number)
{
	(void)sched_yield();
	return atomic_load_explicit(number, memory_order_relaxed);
}

static void run(struct relay *relay, struct worker *worker)
{
	struct runner *runner = &relay->runners[worker->index];
	unsigned place = worker->index;
	struct held held;

	*runner = (struct runner){.relay = relay, .turn = place};
	/* The first two change places. */
	if (place <= 2 && current.threads > 2 && fault_strikes_often(worker, FAULT_WRONG_TURN, 1))
		place = 3 - place;
	while (read_soon(&relay->next) != place)
		if (cell_failed())
			return;
	if (worker_chance(worker, 3))
		ask(runner, worker);
	else if (worker_acquire_wait(worker, -1, &held))
		take_turn(runner, worker, &held);
}

/* ---- Thread 0 ---- */

static bool await_waiting(size_t count)
{
	lfpool_stats_t stats = LFPOOL_STATS_INIT;

	do {
		if (lfpool_stats(current.pool, &stats) != LFPOOL_OK || cell_failed())
			return false;
		(void)sched_yield();
	} while (stats.waiting != count);
	return true;
}

static void conduct(struct relay *relay, struct worker *worker)
{
	const unsigned others = current.threads - 1;
	size_t count = 0;

	while (count < current.most && worker_acquire(worker, &relay->all[count]))
		count++;
	for (unsigned place = 1; place <= others; place++) {
		atomic_store_explicit(&relay->next, place, memory_order_relaxed);
		if (!await_waiting(place))
			break;
	}
	if (count)
		worker_release(worker, &relay->all[--count]);
	while (read_soon(&relay->served) < others && !cell_failed())
		;
	worker_release_many(worker, relay->all, count);
}

void relay_run(struct relay *relay, struct worker *worker)
{
	here = worker;
	if (worker->index == 0)
		conduct(relay, worker);
	else
		run(relay, worker);
}
