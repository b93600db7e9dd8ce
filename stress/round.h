/* SPDX-License-Identifier: MIT */
/*
 * round.h - the frame: scenarios, rounds, meetings, and reports.
 *
 * Scenario     Defines what the threads do with a pool, and how large the pool must be for that.  The drawn
 *              configuration, the oracle and the count at the end are the same for all scenarios.  The threads of a
 *              scenario share static data: there is one round at a time.
 * Round        A cell (scenario x thread count) is a series of short rounds.  Each draws a configuration from the
 *              seed, lets the scenario run for a few milliseconds, and then demands conservation: no active object;
 *              exactly `capacity` different objects until NULL; exactly the provoked refusals.  Short rounds exercise
 *              create and destroy, and many configurations.  At the end the pool may be destroyed while its threads
 *              live on.
 * Meeting      A moment at which no thread is in a call.  Thread 0 decides when, and sets a flag, which orders
 *              nothing.  Every thread comes as soon as it sees the flag.  Then thread 0 may inspect the pool and the
 *              objects of all threads.
 * Report       One lock around stdout, so that lines do not mix.  The lock would order threads, so no message is
 *              printed during a correct acquire or release.
 * Hangs        Every worker counts its operations (struct pulse), and a watchdog adds them up.  When the sum does not
 *              change for too long it prints the round and each thread's last step, and ends the program with
 *              status 3. It also finds a single stuck thread: the others end their round, and then the sum stops.
 * Crashes      The same report, from a signal handler, which does not use the lock.
 */
#ifndef STRESS_ROUND_H
#define STRESS_ROUND_H

#include "demand.h"
#include "ledger.h"
#include "options.h"
#include "text.h"
#include "worker.h"

/* ---- Scenarios ---- */

struct scenario {
	const char *name;
	const char *description;              /* one line, for --list                                              */
	bool alone;                           /* not part of "all"; one thread count, and one round */
	bool needs_refusals;                  /* not with the malloc backend, which refuses nothing */
	bool unlogged;                        /* not with --history, which cannot judge its calls */
	bool evicting;                        /* its history logs victims */
	size_t hands;                         /* objects that a worker may hold; plan() may say otherwise          */
	void (*plan)(void);                   /* before the pool exists: sets its size; NULL: all hands */
	void (*open)(void);                   /* the pool and the workers exist, and no worker has begun; or NULL */
	void (*enter)(struct worker *worker); /* the worker begins; or NULL                                        */
	void (*step)(struct worker *worker);  /* repeatedly until the round ends; NULL: only meetings */
	void (*meet)(struct worker *worker);  /* a meeting, with a rendezvous in it; or NULL */
	void (*leave)(struct worker *worker); /* the worker ends; afterwards its objects are released; or NULL */
	void (*finish)(void);                 /* after the work: releases objects in shared places; or NULL */
	void (*close)(void);         /* after the pool's end: frees memory that was needed until then; or NULL */
	const struct regime *regime; /* for scenarios that retire: nodes.h */
};

#define SCENARIO(id, its_name, its_description, ...) \
	const struct scenario scenario_##id = {.name = (its_name), .description = (its_description), __VA_ARGS__}

/* Scenarios that need an installed library. */
#ifdef STRESS_RCU
#define SCENARIO_RCU(X) X(rcu)
#else
#define SCENARIO_RCU(X)
#endif
#ifdef STRESS_CK
#define SCENARIO_EPOCH(X) X(epoch)
#else
#define SCENARIO_EPOCH(X)
#endif
/* All, in the order of a run. */
/* clang-format off */
#define SCENARIOS(X)                                                                                                    \
	X(pairs) X(bursts) X(handoff_1_1) X(handoff_1_n) X(handoff_n_1) X(tables) X(exhaustion) X(over_demand)          \
	X(over_demand_free) X(churn) X(misuse) X(double_release) X(walk) X(handles) X(wait) X(resize) X(evict)          \
	X(retire) SCENARIO_RCU(X) SCENARIO_EPOCH(X) X(soak)
/* clang-format on */

#define SCENARIO_DECLARED(name) extern const struct scenario scenario_##name;
SCENARIOS(SCENARIO_DECLARED)

extern const struct scenario *const scenarios[];
extern const size_t scenario_count;

/* ---- Cells and rounds ---- */

/* Waits that timed out since the last check: accounts.c. */
struct lateness {
	_Atomic(uint64_t) waits, least;   /* their number; the least lateness, complemented */
	_Atomic(uint64_t) sleeps, latest; /* the harness's own sleeps; the most lateness */
};

struct cell {
	const struct scenario *scenario;
	unsigned threads;
	_Atomic(unsigned) violations;
	_Atomic(uint64_t) faults; /* committed on purpose */
	struct lateness lateness;
	uint64_t operations, rounds, nanoseconds; /* the main thread's; nanoseconds of the clock */
};

/* When do the threads exit? */
enum ending {
	ENDING_EXIT_FIRST,   /* before the objects are counted                        */
	ENDING_EXIT_COUNTED, /* after that, before the pool is destroyed              */
	ENDING_EXIT_LAST,    /* after the pool was destroyed                          */
	ENDING_EXIT_DURING,  /* while it is being destroyed                           */
	ENDINGS
};

/* Threads wait for each other and leave at nearly the same instant: a barrier whose waiters watch one word.  Sleeping
 * in the kernel would wake them one after the other. */
struct meeting {
	uint32_t calm; /* steps between two, about; 0: random */
	_Atomic(unsigned) arrived;
	_Atomic(unsigned) rendezvous; /* the number of rendezvous so far */
	_Atomic(bool) called;
	bool go_on; /* written by thread 0 between two rendezvous */
};

/* The current round: there is one at a time. */
extern struct round {
	struct cell *cell;
	unsigned threads; /* of the cell                                                     */
	uint64_t number;
	uint64_t seed;        /* for the workers' choices */
	struct random random; /* for the main thread's choices: drawing and planning */
	lfpool_config_t config;
	size_t capacity;           /* objects the workers may hold together; set by the scenario */
	size_t initial;            /* objects at first; 0: all */
	size_t hands;              /* room for each worker's objects */
	bool roomy;                /* the capacity may exceed the scenario's demand */
	bool plain;                /* no extra growth or trims */
	bool refusals;             /* the system refuses some requests: extras.c */
	bool trims;                /* some workers trim the pool: extras.c */
	size_t most;               /* the most objects possible, with the decoy */
	size_t last;               /* objects at the end: most, unless the scenario changes it */
	enum route routes[ROUTES]; /* the ways of calling the pool in this round */
	unsigned route_count;
	enum ending ending;
	uint64_t nanoseconds; /* length of the work; 0: until the end is announced */
	uint64_t end_ns;
	lfpool_t *pool;
	struct ledger ledger;
	struct demand demand;
	struct meeting meeting;
	uint64_t acquires;          /* of all threads, at the pool's creation: accounts.c */
	_Atomic(uint64_t) at_once;  /* the most objects seen in use at once */
	uint64_t origin;            /* the first stamp of the history */
	_Atomic(bool) history_full; /* a log is full: the round must end */
	bool nulls_unlogged;        /* the history logs only the keeper's NULLs */
	struct text remark;         /* the scenario's choices, for the description */
	struct worker *workers;     /* one for each thread                                             */
	struct worker keeper;       /* the main thread's                                               */
	struct held decoy;          /* held by the keeper, for FAULT_DOUBLE_GRANT                      */
	_Atomic(size_t) provoked;   /* refusals that the scenario asked for                            */
	_Atomic(size_t) reported;   /* refusals reported to the misuse hook */
	_Atomic(unsigned) trimming; /* 1: a thread is trimming (no bool: riscv64 cannot exchange bytes) */
	pthread_barrier_t together; /* start, have worked, leave: all threads and the main thread                   */
} current;

/* Runs the number-th round of a cell, at most until `limit_ns`. */
void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns);

/* For plan(): a capacity for threads that hold up to `demand` objects together, with those in transit.  Often exactly
 * that, sometimes far more, sometimes tiny. */
void round_capacity(size_t demand);

/* A random element of an array. */
#define PICK(random, array) ((array)[random_below((random), sizeof(array) / sizeof((array)[0]))])

/* With no thread in a call and `held` objects held, without the decoy: checks every invariant.  From here on the
 * system refuses nothing, until a scenario asks for it. */
void round_expect_intact(size_t held, const char *when);

/* Zeroed memory for the harness, aligned to a cache line, for free(); without memory it ends the program. */
void *round_memory(size_t count, size_t bytes);

/* Is the history full? */
static inline bool round_full(void)
{
	/* relaxed: a late reader does no harm, the logs have a reserve. */
	return load_relaxed(&current.history_full);
}

static inline bool cell_failed(void)
{
	/* relaxed: a late reader does no harm. */
	return load_relaxed(&current.cell->violations) != 0;
}

/* A scenario's count: relaxed, because it is read at a meeting or after all threads have stopped. */
static inline void count_up(_Atomic(size_t) *count)
{
	add_relaxed(count, 1);
}

/* ---- Meetings ---- */

/* Calls a meeting: the caller decides that it is time. */
void meeting_call(void);
/* Waits for all threads.  Their writes before it are visible to all of them after it. */
void meeting_join(void);
/* Thread 0 runs `alone` while the others wait. */
void meeting_alone(struct worker *worker, void (*alone)(struct worker *worker));
/* Thread 0, alone: the objects that the workers hold. */
size_t meeting_held(void);

/* ---- Extras of some rounds: extras.c ---- */

/* Before the pool is created, after the scenario's plan. */
void elastic_draw(void);
/* Calls lfpool_trim(), unless another thread is doing so. */
void elastic_trim(struct worker *worker);

/* The n-th request from now on is refused; 0: none. */
void refusals_next(bool wanted, unsigned long n);

/* ---- The pool's own counts: accounts.c ---- */

/* A thread holds `count` objects. */
void accounts_hold(size_t count);
/* A call returned NULL `late_ns` after its timeout. */
void accounts_late(struct worker *worker, uint64_t late_ns, int64_t timeout_ns);
/* No thread is in a call. */
void accounts_judge(const char *when);
/* The threads have stopped. */
void accounts_judge_lateness(void);

void sleep_ns(uint64_t ns);

/* ---- Report ---- */

/* One or more whole lines. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* No memory for this: ends the program. */
_Noreturn void say_no_memory(const char *for_what);

/* The pool broke a promise.  Prints it, with round, configuration and replay command; counts it; and stops the cell.
 * Any thread.  Prints at most three per cell.  Silent with --history-only. */
__attribute__((format(printf, 1, 2))) void violation(const char *format, ...);

/* A promise of the pool; if it does not hold, that is a violation, which the rest describes. */
#define expect(promise, ...) ((promise) ? (void)0 : violation(__VA_ARGS__))

/* The same, even with --history-only: for the history's findings. */
void violation_found(const char *what);

/* Composes the description of the round, for all reports on it: its configuration is known. */
void report_round(void);

/* From now on a crash is reported. */
void report_crashes(void);
/* A crash of this thread, even one of its stack. */
void report_crashes_of(const struct worker *worker);

/* From now on this cell must make progress; NULL: the run has ended. */
void watchdog_watch(const struct cell *cell);

#endif
