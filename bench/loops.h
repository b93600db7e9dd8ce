/* SPDX-License-Identifier: MIT */
/*
 * loops.h - the loops over pools; a template for C and C++.  Each file in subjects/ that is a pool defines
 *
 *     static inline void *acquire(void *hand);
 *     static inline void release(void *hand, void *object);
 *
 * and, if the subject has calls for many objects at once, SUBJECT_HAS_BULK and
 *
 *     static inline bool acquire_bulk(void *hand, void **objects, size_t count);          all or nothing
 *     static inline void release_bulk(void *hand, void **objects, size_t count);
 *
 * or, if it has objects of all sizes, SUBJECT_HAS_SIZES and
 *
 *     static inline void *acquire_size(void *hand, size_t bytes);
 *
 * then includes this file and names SUBJECT_LOOPS in its `struct subject`.
 *
 * Idea         The same source for all subjects, a copy of machine code for each.  A loop contains only
 *              acquire, its check, one use of the object, release, and the workload's own work.
 */
#ifndef LFPOOL_BENCH_LOOPS_H
#define LFPOOL_BENCH_LOOPS_H

#include "common/latency.h"
#include "graph.h"
#include "ring.h"
#include "subject.h"
#include "workload.h"

/* clang-format off */
#define SUBJECT_LOOPS                                                                                                  \
	{.pair = run_pair, .burst = run_burst, .bulk = run_bulk, .keep = run_keep, .produce = run_produce,             \
	 .consume = run_consume, .larson = run_larson, .jobs = run_jobs, .exhausted = run_exhausted,                   \
	 .turns = run_turns, .latency = run_latency, .work = run_work, .boundary = run_boundary, .mixed = RUN_MIXED,   \
	 .evict = NULL, .retire = NULL, .read = NULL, .fill = run_fill, .drain = run_drain, .evicting = NULL,          \
	 .retiring = NULL}
/* clang-format on */

/* The use of an object.  Without it the compiler could remove malloc and free altogether. */
static inline void object_write(void *object, uint64_t value)
{
	*(uint64_t *)object = value;
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

static inline void object_read(const void *object)
{
	__asm__ __volatile__("" : : "r"(*(const uint64_t *)object) : "memory");
}

__attribute__((always_inline)) static inline void *acquire_and_write(const struct worker *worker, void *hand,
								     uint64_t value)
{
	void *object = acquire(hand);

	if (__builtin_expect(!object, 0))
		give_up(worker->subject->name, "no object, though the pool is large enough for all");
	object_write(object, value);
	return object;
}

/* always_inline, both: with a dozen loops in one file a compiler would not inline long functions.  The
 * compiler must keep nothing in registers after a release: a program does other things before the next acquire. */
__attribute__((always_inline)) static inline void release_and_forget(void *hand, void *object)
{
	release(hand, object);
	__asm__ __volatile__("" : : : "memory");
}

/* ---- Alone ---- */

__attribute__((always_inline)) static inline size_t pairs_and_work(struct worker *worker, size_t pairs, size_t work)
{
	void *hand = worker->hand;
	uint64_t sum = 0;

	for (size_t i = 0; i < pairs; i++) {
		void *object = acquire_and_write(worker, hand, i);

		if (work)
			sum = object_work(object, work, sum);
		release_and_forget(hand, object);
	}
	return pairs;
}

static size_t run_pair(struct worker *worker, size_t pairs)
{
	return pairs_and_work(worker, pairs, 0);
}

static size_t run_work(struct worker *worker, size_t pairs)
{
	return pairs_and_work(worker, pairs, worker->work);
}

/* Pairs on the pools by turns. */
static size_t run_turns(struct worker *worker, size_t pairs)
{
	void **hands = worker->hands;
	const size_t pools = worker->pools;
	size_t done = 0;

	for (; done < pairs; done += pools)
		for (size_t i = 0; i < pools; i++)
			release_and_forget(hands[i], acquire_and_write(worker, hands[i], i));
	return done;
}

static size_t run_burst(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	void **objects = worker->objects;
	const uint32_t *order = worker->order;
	const size_t burst = worker->count;
	size_t done = 0;

	for (; done < pairs; done += burst) {
		for (size_t i = 0; i < burst; i++)
			objects[i] = acquire_and_write(worker, hand, i);
		for (size_t i = 0; i < burst; i++)
			release_and_forget(hand, objects[order[i]]);
	}
	return done;
}

#ifndef SUBJECT_HAS_BULK
static inline bool acquire_bulk(void *hand, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		objects[i] = acquire(hand);
		if (!objects[i])
			return false;
	}
	return true;
}

static inline void release_bulk(void *hand, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		release(hand, objects[i]);
}
#endif

static size_t run_bulk(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	void **objects = worker->objects;
	const size_t bulk = worker->count;
	size_t done = 0;

	for (; done < pairs; done += bulk) {
		if (!acquire_bulk(hand, objects, bulk))
			give_up(worker->subject->name, "no objects, though the pool is large enough for all");
		for (size_t i = 0; i < bulk; i++)
			object_write(objects[i], i);
		release_bulk(hand, objects, bulk);
	}
	return done;
}

static size_t run_fill(struct worker *worker, size_t pairs)
{
	size_t got = 0;

	for (; got < pairs; got++) {
		void *object = acquire(worker->hand);

		if (!object)
			break;
		object_write(object, got);
		worker->objects[worker->held++] = object;
	}
	return got;
}

static size_t run_drain(struct worker *worker, size_t pairs)
{
	for (size_t i = 0; i < pairs; i++)
		release(worker->hand, worker->objects[--worker->held]);
	return pairs;
}

/* Up and down between 0 and `count` objects, to a new random level each time; `timed`: every call is timed. */
__attribute__((always_inline)) static inline size_t up_and_down(struct worker *worker, size_t pairs, bool timed)
{
	void *hand = worker->hand;
	void **objects = worker->objects;
	size_t held = worker->held, done = 0;

	while (done < pairs) {
		const size_t level = random_below(&worker->random, (uint32_t)worker->count + 1);

		for (; held < level; held++) {
			const uint64_t start = timed ? clock_read() : 0;
			void *object = acquire(hand);

			if (timed)
				histogram_add(worker->acquire_times, clock_read() - start);
			if (__builtin_expect(!object, 0))
				give_up(worker->subject->name, "no object, though the pool is large enough for all");
			object_write(object, held);
			objects[held] = object;
		}
		for (; held > level; done++) {
			const uint64_t start = timed ? clock_read() : 0;

			release_and_forget(hand, objects[--held]);
			if (timed)
				histogram_add(worker->release_times, clock_read() - start);
		}
	}
	worker->held = held;
	return done;
}

static size_t run_keep(struct worker *worker, size_t pairs)
{
	return up_and_down(worker, pairs, false);
}

static size_t run_latency(struct worker *worker, size_t pairs)
{
	return up_and_down(worker, pairs, true);
}

/* Acquires two objects and releases them, AROUND_PAIRS / 2 times; timed as a whole. */
__attribute__((always_inline)) static inline void around_a_level(struct worker *worker, void *hand)
{
	const uint64_t start = clock_read();

	for (size_t i = 0; i < AROUND_PAIRS / 2; i++) {
		void *one = acquire_and_write(worker, hand, i), *other = acquire_and_write(worker, hand, i);

		release_and_forget(hand, other);
		release_and_forget(hand, one);
	}
	histogram_add(worker->acquire_times, clock_read() - start);
}

/* Up to `count` objects and down again, and around each level on the way.  So at some levels two objects cross the end
 * of a magazine or batch. */
static size_t run_boundary(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	size_t done = 0;

	for (; done < pairs; done += worker->count * (2 * AROUND_PAIRS + 1)) {
		for (size_t level = 0; level < worker->count; level++) {
			around_a_level(worker, hand);
			worker->objects[level] = acquire_and_write(worker, hand, level);
		}
		for (size_t level = worker->count; level-- > 0;) {
			release_and_forget(hand, worker->objects[level]);
			around_a_level(worker, hand);
		}
	}
	return done;
}

/* While every object is out: how long does the pool take to return NULL? Here a pair is one refused acquire. */
static size_t run_exhausted(struct worker *worker, size_t pairs)
{
	for (size_t i = 0; i < pairs; i++)
		if (acquire(worker->hand))
			give_up(worker->subject->name, "an object, though all objects are in use");
	return pairs;
}

/* ---- Between threads ---- */

/* Acquires `pairs` objects for each ring, and pushes them. */
static size_t run_produce(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;

	for (size_t i = 0; i < pairs; i++)
		for (unsigned r = 0; r < worker->ring_count; r++)
			ring_push(worker->rings[r], acquire_and_write(worker, hand, i));
	for (unsigned r = 0; r < worker->ring_count; r++)
		ring_publish_pushed(worker->rings[r]);
	return 0; /* the consumers count the pairs */
}

/* Pops `pairs` objects from each ring, and releases them. */
static size_t run_consume(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;

	for (size_t i = 0; i < pairs; i++) {
		for (unsigned r = 0; r < worker->ring_count; r++) {
			void *object = ring_pop(worker->rings[r]);

			object_read(object);
			release_and_forget(hand, object);
		}
	}
	return pairs * worker->ring_count;
}

/* Swaps the table for another thread's. */
static inline void exchange_table(struct worker *worker)
{
	/* acq_rel: the tables and their objects, in both directions. */
	worker->objects = __atomic_exchange_n(worker->mailbox, worker->objects, __ATOMIC_ACQ_REL);
}

/* Replaces random objects in a table, then exchanges the table for another thread's (Larson and Krishnan 1998). */
static size_t run_larson(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;
	void **table = worker->objects;

	for (size_t i = 0; i < pairs; i++) {
		void **place = &table[random_below(&worker->random, (uint32_t)worker->count)];

		release_and_forget(hand, *place);
		*place = acquire_and_write(worker, hand, i);
	}
	exchange_table(worker);
	return pairs;
}

#ifdef SUBJECT_HAS_SIZES
/* As run_larson(), with objects of many sizes.  Both ends of an object must hold its size. */
static size_t run_mixed(struct worker *worker, size_t pairs)
{
	void *hand = worker->hand;

	for (size_t i = 0; i < pairs; i++) {
		void **place = &worker->objects[random_below(&worker->random, (uint32_t)worker->count)];
		const size_t bytes = mixed_bytes(random_next(&worker->random));

		if (!mixed_is_whole(*place))
			give_up(worker->subject->name, "an object changed while it was held");
		release_and_forget(hand, *place);
		*place = acquire_size(hand, bytes);
		if (__builtin_expect(!*place, 0))
			give_up(worker->subject->name, "no object, though the set is large enough for all");
		mixed_write(*place, bytes);
	}
	exchange_table(worker);
	return pairs;
}
#define RUN_MIXED run_mixed
#else
#define RUN_MIXED NULL
#endif

/* ---- A job system, see graph.h ---- */

static inline struct job *job_make(struct worker *worker, struct job *parent, uint32_t depth)
{
	struct job *job = (struct job *)acquire_and_write(worker, worker->hand, 0);

	job->parent = parent;
	job->pending = 0;
	job->depth = depth;
	return job;
}

static inline void job_finish(struct worker *worker, struct job *job)
{
	for (;;) {
		struct job *parent = job->parent;

		release_and_forget(worker->hand, job);
		/* acq_rel: the children's writes, for the worker that finishes the parent. */
		if (__atomic_sub_fetch(&parent->pending, 1, __ATOMIC_ACQ_REL) || parent->depth == TREE_ROOT)
			return;
		job = parent;
	}
}

/* Executes one job; false if the worker has none now. */
static inline bool job_step(struct worker *worker)
{
	struct graph *graph = worker->graph;
	struct job *job = graph->stacked ? graph->stack[--graph->stacked] : NULL;

	if (!job && graph->inbox)
		job = (struct job *)ring_try_pop(graph->inbox);
	if (!job)
		return false;
	if (job->depth == 0) {
		job_finish(worker, job);
		return true;
	}
	/* A plain store: published with the children. */
	job->pending = 2;
	graph->stack[graph->stacked++] = job_make(worker, job, job->depth - 1);
	job = job_make(worker, job, job->depth - 1);
	if (!graph->outbox || !ring_try_push(graph->outbox, job))
		graph->stack[graph->stacked++] = job;
	return true;
}

/* Makes and finishes whole trees, one after the other.  Meanwhile the worker also executes the neighbour's jobs, and
 * afterwards goes on until all workers have finished their trees. */
static size_t run_jobs(struct worker *worker, size_t pairs)
{
	struct graph *graph = worker->graph;
	const size_t all = ++graph->rounds * worker->threads;
	unsigned spins = 0;
	size_t done = 0;

	for (; done < pairs; done += TREE_JOBS) {
		graph->root.pending = 1;
		graph->stack[graph->stacked++] = job_make(worker, &graph->root, TREE_DEPTH);
		/* acquire: the tree's records are all released. */
		while (__atomic_load_n(&graph->root.pending, __ATOMIC_ACQUIRE))
			if (!job_step(worker))
				ring_pause(&spins);
	}
	/* release: our trees are finished; acquire: the others' are. */
	(void)__atomic_add_fetch(graph->finished, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(graph->finished, __ATOMIC_ACQUIRE) < all)
		if (!job_step(worker))
			ring_pause(&spins);
	return done;
}

#endif
