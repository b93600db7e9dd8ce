/* SPDX-License-Identifier: MIT */
/*
 * handoff.c - scenarios: producers acquire, consumers release, and the objects cross a bounded queue in between.
 *
 * All slots wander to the consumers' caches, so the producers live on what the pool brings back.  A worker without a
 * partner is both: it fills its queue, then empties it.
 * Capacity: what the queues hold, what each producer carries, and what each consumer keeps for a while.
 */
#include "queue.h"
#include "scenario.h"

#include <sched.h>

#define KEEP 8

enum role { PRODUCER = 1, CONSUMER = 2 };

struct handoff {
	unsigned queue_count;
	struct queue *queues;
};

static void handoff_plan(struct round *round, unsigned queue_count)
{
	struct handoff *handoff = round_memory(1, sizeof(*handoff));
	size_t length = (size_t)2 << random_below(&round->random, 9);

	handoff->queue_count = queue_count;
	handoff->queues = round_memory(queue_count, sizeof(*handoff->queues));
	for (unsigned i = 0; i < queue_count; i++)
		queue_open(&handoff->queues[i], length);
	round->shared = handoff;
	round_capacity(round, queue_count * length + (size_t)round->cell->threads * (1 + KEEP));
}

static void handoff_finish(struct round *round)
{
	struct handoff *handoff = round->shared;
	struct held held;

	for (unsigned i = 0; i < handoff->queue_count; i++) {
		while (queue_pop(&handoff->queues[i], &held))
			worker_release(&round->keeper, &held);
		queue_close(&handoff->queues[i]);
	}
	free(handoff->queues);
	free(handoff);
}

/* Acquires and pushes until the queue is full; `held` is what could not be pushed yet. */
static void produce(struct worker *worker, struct queue *queue, struct held *held)
{
	while (worker_goes_on(worker, 32)) {
		if (!held->object && !worker_acquire(worker, held))
			return;
		if (!queue_push(queue, held))
			return;
		held->object = NULL;
	}
}

/* Pops until the queue is empty; keeps the last few in a ring, and releases the oldest of them. */
static void consume(struct worker *worker, struct queue *queue, struct held kept[KEEP], unsigned *turn)
{
	struct held held;

	while (worker_goes_on(worker, 32) && queue_pop(queue, &held)) {
		struct held *place = &kept[(*turn)++ % KEEP];

		worker_take_over(worker, &held);
		if (place->object)
			worker_release(worker, place);
		*place = held;
		if (worker_chance(worker, 64))
			for (unsigned i = 0; i < KEEP; i++)
				worker_rescan(worker, &kept[i], kept[i].object != NULL);
	}
}

static void handoff_work(struct worker *worker, struct queue *queue, unsigned roles)
{
	struct held carried = {.object = NULL}, kept[KEEP] = {{.object = NULL}};
	unsigned turn = 0;

	while (worker_goes_on(worker, 32)) {
		if (roles & PRODUCER)
			produce(worker, queue, &carried);
		if (roles & CONSUMER)
			consume(worker, queue, kept, &turn);
		/* Full or empty: the other side needs a processor. */
		(void)sched_yield();
	}
	if (carried.object)
		worker_release(worker, &carried);
	for (unsigned i = 0; i < KEEP; i++)
		if (kept[i].object)
			worker_release(worker, &kept[i]);
}

/* ---- One to one: a queue for each two threads ---- */

static void one_to_one_plan(struct round *round)
{
	handoff_plan(round, (round->cell->threads + 1) / 2);
}

static void one_to_one_work(struct worker *worker)
{
	struct handoff *handoff = worker->round->shared;
	unsigned role = worker->index % 2 ? CONSUMER : PRODUCER;
	bool alone = (worker->index ^ 1) >= worker->round->cell->threads;

	handoff_work(worker, &handoff->queues[worker->index / 2], alone ? PRODUCER | CONSUMER : role);
}

const struct scenario scenario_handoff_1_1 = {
	.name = "handoff-1-1",
	.description = "pairs of threads: one acquires, the other releases, a queue between them",
	.plan = one_to_one_plan,
	.work = one_to_one_work,
	.finish = handoff_finish,
};

/* ---- One to many, many to one: one queue, and thread 0 alone at one end of it ---- */

static void one_queue_plan(struct round *round)
{
	handoff_plan(round, 1);
}

static void one_queue_work(struct worker *worker, unsigned first, unsigned others)
{
	struct handoff *handoff = worker->round->shared;
	unsigned role = worker->index == 0 ? first : others;

	handoff_work(worker, handoff->queues, worker->round->cell->threads == 1 ? first | others : role);
}

static void one_to_many_work(struct worker *worker)
{
	one_queue_work(worker, PRODUCER, CONSUMER);
}

static void many_to_one_work(struct worker *worker)
{
	one_queue_work(worker, CONSUMER, PRODUCER);
}

const struct scenario scenario_handoff_1_n = {
	.name = "handoff-1-n",
	.description = "one thread acquires, all others release",
	.plan = one_queue_plan,
	.work = one_to_many_work,
	.finish = handoff_finish,
};

const struct scenario scenario_handoff_n_1 = {
	.name = "handoff-n-1",
	.description = "all threads but one acquire, one releases",
	.plan = one_queue_plan,
	.work = many_to_one_work,
	.finish = handoff_finish,
};
