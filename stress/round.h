/* SPDX-License-Identifier: MIT */
/*
 * round.h - the frame: scenarios, rounds, meetings, and reports.
 *
 * Scenario     Defines what the threads do with a pool, and how large the pool must be for that.  The drawn
 *              configuration, the oracle and the count at the end are the same for all scenarios.  The threads of a
 *              scenario share static data: there is one round at a time.
 * Round        A cell (scenario x thread count) is a series of short rounds.  Each draws a configuration from the
 *              seed, lets the scenario run for a few milliseconds, and then demands conservation: no active object;
 *              exactly `capacity` different objects before NULL; exactly the provoked refusals.  Short rounds exercise
 *              create and destroy, and many configurations.  At the end the pool may be destroyed while its threads
 *              live on.
 * Meeting      A moment at which no thread is in a call.  Thread 0 decides when, and sets a flag, which orders
 *              nothing.  Every thread comes as soon as it sees the flag.  Then thread 0 may inspect the pool and the
 *              objects of all threads.
 * Report       One lock around stdout, so that lines do not mix.  The lock would order threads, so no message is
 *              printed during a correct acquire or release.
 * Hangs        Every worker counts its operations (struct pulse), and a watchdog adds them up.  When the sum does not
 *              change for too long, the watchdog prints the round and each thread's last step, and ends the program
 *              with status 3. It also finds a single stuck thread: the others end their round, and then the sum stops.
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
	bool unlogged;                        /* not with --history, which cannot judge this scenario's calls */
	bool evicting;                        /* the history logs victims */
	size_t hands;                         /* objects that a worker may hold; plan() may change it */
	void (*plan)(void);                   /* before the pool exists: sets its size; NULL: room for all hands */
	void (*open)(void);                   /* the pool and the workers exist, and no worker has begun; or NULL */
	void (*enter)(struct worker *worker); /* the worker begins; or NULL */
	void (*step)(struct worker *worker);  /* called until the round ends or a meeting is due; NULL: only meetings */
	void (*meet)(struct worker *worker);  /* a meeting; calls meeting_join() at least once; or NULL */
	void (*leave)(struct worker *worker); /* the worker ends; afterwards its objects are released; or NULL */
	void (*finish)(void);                 /* after the work: releases objects in shared places; or NULL */
	void (*close)(void);         /* after the pool's end: frees memory that was needed until then; or NULL */
	const struct regime *regime; /* for scenarios that retire: nodes.h */
};

#define SCENARIO(id, its_name, its_description, ...) \
	const struct scenario scenario_##id = {.name = (its_name), .description = (its_description), __VA_ARGS__}

/* Scenarios that need liburcu or ConcurrencyKit. */
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
/* All scenarios, in the order of a run. */
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
	_Atomic(uint64_t) waits, least;   /* number of waits; ~ of their least lateness */
	_Atomic(uint64_t) sleeps, latest; /* number of the harness's own sleeps; their greatest lateness */
};

struct cell {
	const struct scenario *scenario;
	unsigned threads;
	_Atomic(unsigned) violations;
	_Atomic(uint64_t) faults; /* bugs committed on purpose */
	struct lateness lateness;
	uint64_t operations, rounds, nanoseconds; /* written by the main thread; nanoseconds: real time */
};

/* When do the threads exit? */
enum ending {
	ENDING_EXIT_FIRST,   /* before the objects are counted */
	ENDING_EXIT_COUNTED, /* after the count, before the pool is destroyed */
	ENDING_EXIT_LAST,    /* after the pool was destroyed */
	ENDING_EXIT_DURING,  /* while the pool is being destroyed */
	ENDINGS
};

/* Threads wait for each other and leave at nearly the same instant: a barrier whose waiters watch one word.  Sleeping
 * in the kernel would wake them one after the other. */
struct meeting {
	uint32_t calm; /* average steps of thread 0 between meetings; 0: the scenario calls them */
	_Atomic(unsigned) arrived;
	_Atomic(unsigned) rendezvous; /* how often all threads have met in meeting_join() */
	_Atomic(bool) called;
	bool go_on; /* the round continues; written by thread 0 before the meeting's last rendezvous */
};

/* The current round: there is one at a time. */
extern struct round {
	struct cell *cell;
	unsigned threads; /* cell->threads */
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
	size_t most;               /* the most objects possible, including the decoy */
	size_t last;               /* objects at the end: `most`, unless the scenario changes it */
	enum route routes[ROUTES]; /* the ways of calling the pool in this round */
	unsigned route_count;
	enum ending ending;
	uint64_t nanoseconds; /* length of the work; 0: until the end is announced */
	uint64_t end_ns;
	lfpool_t *pool;
	struct ledger ledger;
	struct demand demand;
	struct meeting meeting;
	uint64_t acquires;          /* all threads' acquires before this pool was created: accounts.c */
	_Atomic(uint64_t) at_once;  /* the most objects seen in use at once */
	uint64_t origin;            /* the first stamp of the history */
	_Atomic(bool) history_full; /* a log is full: the round must end */
	bool nulls_unlogged;        /* the history logs only the keeper's NULLs */
	struct text remark;         /* the scenario's choices, for the description */
	struct worker *workers;     /* one for each thread */
	struct worker keeper;       /* the main thread's worker */
	struct held decoy;          /* held by the keeper, for FAULT_DOUBLE_GRANT */
	_Atomic(size_t) provoked;   /* wrong calls by the scenario, which the pool refused */
	_Atomic(size_t) reported;   /* refused calls that the misuse hook reported */
	_Atomic(unsigned) trimming; /* 1: a thread is trimming (no bool: riscv64 cannot exchange bytes) */
	pthread_barrier_t together; /* the workers and the main thread: start; have worked; leave */
} current;

/* Runs the number-th round of a cell, at most until `limit_ns`. */
void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns);

/* For plan(): draws a capacity for threads that hold up to `demand` objects together, including objects in transit.
 * Often exactly `demand`, sometimes far more, sometimes tiny. */
void round_capacity(size_t demand);

/* A random element of an array. */
#define PICK(random, array) ((array)[random_below((random), sizeof(array) / sizeof((array)[0]))])

/* With no thread in a call and `held` objects held, in addition to the decoy: checks every invariant.  From here on the
 * system refuses no request, until refusals_next() asks for it. */
void round_expect_intact(size_t held, const char *when);

/* Zeroed memory for the harness, aligned to a cache line, for free().  Ends the program if none is left. */
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

/* Calls a meeting now. */
void meeting_call(void);
/* Waits for all threads.  All threads' writes before this call are visible to all threads after it. */
void meeting_join(void);
/* Thread 0 runs `alone` while the others wait. */
void meeting_alone(struct worker *worker, void (*alone)(struct worker *worker));
/* For thread 0 in meeting_alone(): the number of objects in the workers' hands. */
size_t meeting_held(void);

/* ---- Extras of some rounds: extras.c ---- */

/* After the scenario's plan(), before the pool is created: draws the round's extras. */
void elastic_draw(void);
/* Calls lfpool_trim(), unless another thread is doing so. */
void elastic_trim(struct worker *worker);

/* If `wanted`: the system refuses the n-th request from now on; n = 0: none. */
void refusals_next(bool wanted, unsigned long n);

/* ---- The pool's own counts: accounts.c ---- */

/* `count` objects are in use at once. */
void accounts_hold(size_t count);
/* A call returned NULL `late_ns` after its timeout. */
void accounts_late(struct worker *worker, uint64_t late_ns, int64_t timeout_ns);
/* With no thread in a call: checks the statistics. */
void accounts_judge(const char *when);
/* After the threads have stopped: checks the cell's lateness. */
void accounts_judge_lateness(void);

void sleep_ns(uint64_t ns);

/* ---- Report ---- */

/* Prints one or more whole lines. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* There is no memory for `for_what`: ends the program. */
_Noreturn void say_no_memory(const char *for_what);

/* The pool broke a promise.  Prints the text, with round, configuration and replay command; counts the violation; and
 * stops the cell.  Any thread may call it.  Prints at most three per cell.  Silent with --history-only. */
__attribute__((format(printf, 1, 2))) void violation(const char *format, ...);

/* If `promise` is false: a violation, which the other arguments describe. */
#define expect(promise, ...) ((promise) ? (void)0 : violation(__VA_ARGS__))

/* violation(), even with --history-only: for the history's findings. */
void violation_found(const char *what);

/* Once the round's configuration is known: composes its description, for all reports. */
void report_round(void);

/* From now on a crash is reported. */
void report_crashes(void);
/* For the calling thread: then even an overrun of its stack is reported. */
void report_crashes_of(const struct worker *worker);

/* From now on this cell must make progress; NULL: the run has ended. */
void watchdog_watch(const struct cell *cell);

#endif
