/* SPDX-License-Identifier: MIT */
/*
 * worker.h - a thread that uses the pool, and its calls: each takes a drawn route to the pool and passes the oracle.
 *
 * Idea         Scenarios acquire and release only through the functions below, so no scenario can forget to check.
 *              The route of each call is drawn: the thread's own cache, an explicit cache inlined or by call, bulk.
 *              Objects acquired by one route are released by another.  A round also has a keeper, the main thread,
 *              which empties shared places and counts at the end.
 * Hands        The objects that a worker holds.  The end of the round releases them.  Objects that move between
 *              threads have separate places, a struct held each.
 */
#ifndef STRESS_WORKER_H
#define STRESS_WORKER_H

#include "common/harness.h"
#include "ledger.h"
#include "options.h"

#include "lfpool/wait.h"

/* The ways of calling the pool. */
enum route {
	ROUTE_THREAD, /* lfpool_acquire() */
	ROUTE_INLINE, /* an explicit cache, inlined hits */
	ROUTE_CACHE,  /* the same explicit cache, by call */
	ROUTE_BULK,   /* lfpool_acquire_bulk() */
	ROUTES
};

#define BULK_MAX 64

/* Workers, the keeper, and two short-lived children for each worker. */
#define PULSES (3 * THREADS_MAX + 1)

/* A worker's counts and last step, for reports.  One writer at a time; relaxed, so that counting orders nothing. */
extern struct pulse {
	_Alignas(64) _Atomic(uint64_t) operations;
	_Atomic(uint64_t) acquires; /* successful ones, on the rounds' pools */
	_Atomic(const char *) step; /* the last step; NULL: the worker has not begun, or has ended */
} pulses[PULSES];

/* The sums of all pulses since the program began; exact while no worker runs. */
struct sums {
	uint64_t operations, acquires;
};
struct sums pulse_sums(void);

static inline void pulse_add(_Atomic(uint64_t) *count, uint64_t more)
{
	uint64_t before = load_relaxed(count);

	store_relaxed(count, before + more);
}

static inline void pulse_beat(struct pulse *pulse, uint64_t operations)
{
	pulse_add(&pulse->operations, operations);
}

struct worker {
	unsigned index;          /* 0 .. threads - 1; `threads`: the keeper; above: children of the workers */
	bool over;               /* this worker knows that the round has ended */
	unsigned ticks;          /* calls of worker_goes_on() */
	uint64_t sequence;       /* acquisitions so far, for tokens */
	struct held *hands;      /* the objects that it holds; room for current.hands */
	size_t count;            /* number of objects in `hands` */
	struct history_log *log; /* NULL without --history */
	struct random random;    /* for the worker's choices */
	struct random faults;    /* for its faults, so that they change no choice */
	lfpool_cache_t *cache;   /* its explicit cache, made on first use; NULL = not yet */
	void (*before_release)(struct worker *worker); /* called just before each single release; or NULL */
	struct pulse *pulse;
	pthread_t thread;
};

/* This thread's worker; NULL between two rounds. */
extern _Thread_local struct worker *here;

void worker_init(struct worker *worker, unsigned index);
/* The calling thread is this worker. */
void worker_enter(struct worker *worker);

/* Notes the calling thread's step, for reports of hangs and crashes. */
static inline void worker_step(const char *step)
{
	/* relaxed: orders nothing. */
	if (here)
		store_relaxed(&here->pulse->step, step);
}

/* Notes a library call as the step, and makes it: doing(lfpool_trim)(pool, 0, bytes). */
#define doing(function) (worker_step(#function), (function))

/* False once the time is over or the cell has failed.  Reads the clock once in `every` calls. */
bool worker_goes_on(struct worker *worker, unsigned every);

/* 0 .. bound - 1. */
static inline uint32_t draw(struct worker *worker, uint32_t bound)
{
	return random_below(&worker->random, bound);
}

/* True once in `times` on average. */
static inline bool chance(struct worker *worker, uint32_t times)
{
	return draw(worker, times) == 0;
}

/* ---- A worker's hands ---- */

/* Acquires one more object; false: the pool has none. */
bool worker_take(struct worker *worker);
/* Acquires until the worker holds `wanted` objects, or the pool has no more. */
void worker_hold(struct worker *worker, size_t wanted);
/* Releases all its objects but the first `kept`. */
void worker_keep(struct worker *worker, size_t kept);
/* Releases a random one of its objects, if it has any. */
void worker_release_any(struct worker *worker);
/* Acquires or releases until the worker holds `wanted` objects, or the pool has no more. */
void worker_adjust(struct worker *worker, size_t wanted);
/* Checks all its objects. */
void worker_look(const struct worker *worker);

/* ---- Single objects ---- */

/* False when the answer was NULL (which is then checked), or wrong. */
bool worker_acquire(struct worker *worker, struct held *held_out);
/* The same, but waits up to `timeout_ns`; negative: without a timeout, and false is a violation. */
bool worker_acquire_wait(struct worker *worker, int64_t timeout_ns, struct held *held_out);
/* lfpool_acquire_async(); the wish for the object stays counted until worker_receive(). */
lfpool_status_t worker_ask(lfpool_continuation_t then, void *context, lfpool_ticket_t *ticket_out);
/* A continuation was called with `object`, whose acquire began at stamp `begin`.  The wish is counted. */
bool worker_receive(struct worker *worker, void *object, uint64_t begin, struct held *held_out);

/* Checks and releases; held->object is NULL afterwards. */
void worker_release(struct worker *worker, struct held *held);
/* Another thread handed the object over: checks it, and writes this worker's token. */
void worker_take_over(struct worker *worker, struct held *held);
/* Checks objects that a worker continues to hold. */
void worker_rescan(const struct held *held, size_t count);

/* Destroys the explicit cache, if it exists. */
void worker_drop_cache(struct worker *worker);

/* Releases a held object that other threads may be releasing too.  A success is logged. */
lfpool_status_t worker_release_raced(struct worker *worker, const struct held *held);

/* Releases by a random route, unchecked: for wrong releases.  A bulk release gives no reason for a refusal: then this
 * function returns `expected`. */
lfpool_status_t worker_release_raw(struct worker *worker, void *object, lfpool_status_t expected);

#endif
