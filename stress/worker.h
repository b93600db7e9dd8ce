/* SPDX-License-Identifier: MIT */
/*
 * worker.h - a thread that uses the pool, and its calls: each reaches the pool by some route and past the oracle.
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
	ROUTE_THREAD, /* lfpool_acquire()                                   */
	ROUTE_INLINE, /* an explicit cache, inlined hits */
	ROUTE_CACHE,  /* the same cache, by call                            */
	ROUTE_BULK,   /* lfpool_acquire_bulk()                              */
	ROUTES
};

#define BULK_MAX 64

/* Workers, the keeper, and two short-lived children for each worker. */
#define PULSES (3 * THREADS_MAX + 1)

/* A worker's counts and last step, for reports.  One writer at a time; relaxed, so that counting orders nothing. */
extern struct pulse {
	_Alignas(64) _Atomic(uint64_t) operations;
	_Atomic(uint64_t) acquires; /* successful ones, on the rounds' pools */
	_Atomic(const char *) step; /* the last one, for reports; NULL: not begun, or ended        */
} pulses[PULSES];

/* The sums since the program began; exact while no worker runs. */
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
	unsigned index;          /* 0 .. threads - 1; threads = the keeper; above: children of the workers  */
	bool over;               /* the round has ended, as this worker knows */
	unsigned ticks;          /* calls of worker_goes_on()                                                */
	uint64_t sequence;       /* acquisitions                                                             */
	struct held *hands;      /* its objects; room for current.hands */
	size_t count;            /* number of objects in hands */
	struct history_log *log; /* NULL without --history */
	struct random random;    /* for its choices */
	struct random faults;    /* for its faults, separately */
	lfpool_cache_t *cache;   /* made on first use; NULL = not yet */
	void (*before_release)(struct worker *worker); /* called just before each release; or NULL */
	struct pulse *pulse;
	pthread_t thread;
};

/* This thread's worker; NULL between two rounds. */
extern _Thread_local struct worker *here;

void worker_init(struct worker *worker, unsigned index);
/* This thread is it. */
void worker_enter(struct worker *worker);

/* For reports of hangs and crashes. */
static inline void worker_step(const char *step)
{
	/* relaxed: orders nothing. */
	if (here)
		store_relaxed(&here->pulse->step, step);
}

/* A call of the library whose name such a report is to have: doing(lfpool_trim)(pool, 0, bytes). */
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

/* ---- Its hands ---- */

/* Acquires one more; false: there is none. */
bool worker_take(struct worker *worker);
/* Acquires until it holds `wanted`, or there are no more. */
void worker_hold(struct worker *worker, size_t wanted);
/* Releases all but the first `kept`. */
void worker_keep(struct worker *worker, size_t kept);
/* Releases one of them, if it holds any. */
void worker_release_any(struct worker *worker);
/* Acquires or releases until it holds `wanted`, as far as the pool has objects. */
void worker_adjust(struct worker *worker, size_t wanted);
/* Checks all of them. */
void worker_look(const struct worker *worker);

/* ---- Single objects ---- */

/* False when the answer was NULL (which is then checked), or wrong. */
bool worker_acquire(struct worker *worker, struct held *held_out);
/* The same, but waits up to `timeout_ns` (negative: without a timeout; then false is a violation). */
bool worker_acquire_wait(struct worker *worker, int64_t timeout_ns, struct held *held_out);
/* lfpool_acquire_async(); the wish for the object stays counted until worker_receive(). */
lfpool_status_t worker_ask(lfpool_continuation_t then, void *context, lfpool_ticket_t *ticket_out);
/* A continuation was called with the object.  Its wish is counted, and was logged as begun at `begin`. */
bool worker_receive(struct worker *worker, void *object, uint64_t begin, struct held *held_out);

/* Checks and releases; held->object is NULL afterwards. */
void worker_release(struct worker *worker, struct held *held);
/* Another thread handed the object over. */
void worker_take_over(struct worker *worker, struct held *held);
/* Checks objects that a worker continues to hold. */
void worker_rescan(const struct held *held, size_t count);

/* Destroys the explicit cache, if it exists; it is made on first use. */
void worker_drop_cache(struct worker *worker);

/* Releases a held object that other threads may be releasing too; logged if it succeeds. */
lfpool_status_t worker_release_raced(struct worker *worker, const struct held *held);

/* Releases by a random route, unchecked: for wrong releases.  A bulk call does not return the reason for a refusal:
 * then this returns `expected`. */
lfpool_status_t worker_release_raw(struct worker *worker, void *object, lfpool_status_t expected);

#endif
