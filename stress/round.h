/* SPDX-License-Identifier: MIT */
/*
 * round.h - the frame: a scenario, a round of it, its meetings, and what is said of it.
 *
 * Scenario     Says what the threads do with a pool, and how large the pool must be for that.  Everything else, the
 *              drawn configuration, the oracle, the count at the end, is the same for all of them.  What the threads of
 *              a scenario share is static: there is one round at a time.
 * Round        A cell (scenario x thread count) is a row of short rounds.  Each draws a configuration from the seed,
 *              lets the scenario run for a few milliseconds, and then demands conservation: nothing active; exactly
 *              `capacity` different objects until NULL; as many refusals as were provoked.  Short rounds exercise
 *              create and destroy, and meet many configurations; the last thing tested is that the pool can be
 *              destroyed while its threads live on.
 * Meeting      A moment at which no thread is in a call.  Thread 0 decides when it is time, and says so in a flag,
 *              which orders nothing.  Every thread comes as soon as it has seen it.  Then thread 0 may look at the pool
 *              as no other thread can, and at what the others hold.
 * Report       One lock around stdout, so that lines of several threads do not mix.  The lock would order threads, so
 *              nothing prints on the way of a healthy acquire or release.
 * Hangs        A hang is a finding too.  Every worker counts its operations (struct pulse).  One thread adds them up
 *              from time to time; when the sum has not moved for too long it names the cell and ends the program with
 *              status 3.  A single stuck thread is seen as well: the others end their round, and then the sum stands
 *              still.
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
	const char *description; /* one line, for --list                                              */
	bool alone;              /* not one of "all"; one thread count, and one round                 */
	bool needs_refusals;     /* the pool must know what is active: not with the malloc backend    */
	bool unlogged;           /* the history does not know its calls: it does not run with --history */
	bool evicting;           /* its history is of victims                                           */
	size_t hands;            /* objects that a worker may hold; plan() may say otherwise          */
	void (*plan)(void);      /* before the pool exists: says how large it must be; NULL: for all hands */
	void (*open)(void);      /* the pool and the workers are there, and none of them has begun; or NULL */
	void (*enter)(struct worker *worker); /* the worker begins; or NULL                                        */
	void (*step)(struct worker *worker);  /* again and again, until the round is over; NULL: only meetings     */
	void (*meet)(struct worker *worker);  /* a meeting, with a rendezvous in it; NULL: there are none          */
	void (*leave)(struct worker *worker); /* the worker ends, and then releases what it holds; or NULL         */
	void (*finish)(void);                 /* after the work: releases what lies in shared places; or NULL      */
	void (*close)(void);         /* when the pool was destroyed: frees what it needed until then; or NULL */
	const struct regime *regime; /* of those that retire: nodes.h                                     */
};

#define SCENARIO(id, its_name, its_description, ...) \
	const struct scenario scenario_##id = {.name = (its_name), .description = (its_description), __VA_ARGS__}

/* Those for which a library must be installed. */
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
/* All, in the order in which they run. */
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

/* Calls that waited in vain, since they were judged last: accounts.c. */
struct lateness {
	_Atomic(uint64_t) waits, least;   /* how many; nanoseconds that the least late was late */
	_Atomic(uint64_t) sleeps, latest; /* the harness's own sleeps; the latest               */
};

struct cell {
	const struct scenario *scenario;
	unsigned threads;
	_Atomic(unsigned) violations;
	_Atomic(uint64_t) faults; /* committed on purpose */
	struct lateness lateness;
	uint64_t operations; /* the main thread's    */
};

/* When do the threads exit? */
enum ending {
	ENDING_EXIT_FIRST,   /* before the objects are counted                        */
	ENDING_EXIT_COUNTED, /* after that, before the pool is destroyed              */
	ENDING_EXIT_LAST,    /* after the pool was destroyed                          */
	ENDING_EXIT_DURING,  /* while it is being destroyed                           */
	ENDINGS
};

/* Threads wait for each other, and leave at nearly the same instant: a barrier whose waiters watch one word instead of
 * sleeping in the kernel, which would wake them one after the other. */
struct meeting {
	uint32_t calm; /* steps between two, about; 0: any number     */
	_Atomic(unsigned) arrived;
	_Atomic(unsigned) rendezvous; /* so many were                     */
	_Atomic(bool) called;
	bool go_on; /* thread 0's, between two rendezvous          */
};

/* The round that is under way: there is one at a time. */
extern struct round {
	struct cell *cell;
	unsigned threads; /* of the cell                                                     */
	uint64_t number;
	uint64_t seed;        /* of the workers' choices                                         */
	struct random random; /* the main thread's choices, for drawing and planning             */
	lfpool_config_t config;
	size_t capacity;           /* objects the workers may hold together; set by the scenario      */
	size_t initial;            /* so many of them there are at first; 0: all                      */
	size_t hands;              /* room in those of each worker                                    */
	bool roomy;                /* may be more than the scenario asked for                         */
	bool plain;                /* no growth and no trims that the scenario did not ask for */
	bool refusals;             /* the system refuses now and then: extras.c                       */
	bool trims;                /* now and then a worker trims the pool: extras.c                  */
	size_t most;               /* objects there can be: those, and the decoy                      */
	size_t last;               /* objects there are in the end: most, unless the scenario knows better */
	enum route routes[ROUTES]; /* the ways of calling the pool that are used                      */
	unsigned route_count;
	enum ending ending;
	uint64_t nanoseconds; /* how long the workers work; 0: until they are told            */
	uint64_t end_ns;
	lfpool_t *pool;
	struct ledger ledger;
	struct demand demand;
	struct meeting meeting;
	uint64_t acquires;          /* of all threads, when the pool was made: accounts.c              */
	_Atomic(uint64_t) at_once;  /* so many objects were in use at a moment                         */
	uint64_t origin;            /* the stamp at which the history begins                           */
	_Atomic(bool) history_full; /* a log is: the round must end                                    */
	bool nulls_unlogged;        /* the history hears of no NULL but the keeper's                   */
	struct text remark;         /* what the scenario has drawn, for the description                */
	struct worker *workers;     /* one for each thread                                             */
	struct worker keeper;       /* the main thread's                                               */
	struct held decoy;          /* held by the keeper, for FAULT_DOUBLE_GRANT                      */
	_Atomic(size_t) provoked;   /* refusals that the scenario asked for                            */
	_Atomic(size_t) reported;   /* refusals that the misuse hook was told of                       */
	_Atomic(unsigned) trimming; /* 1: a thread does (not a bool: riscv64 exchanges no bytes)         */
	pthread_barrier_t together; /* start, have worked, leave: all threads and the main thread                   */
} current;

/* Runs the number-th round of a cell, at most until `limit_ns`. */
void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns);

/* For plan(): a capacity for threads that may hold `demand` objects together, carried ones included: often just that,
 * sometimes far more, sometimes tiny. */
void round_capacity(size_t demand);

/* Any of an array. */
#define PICK(random, array) ((array)[random_below((random), sizeof(array) / sizeof((array)[0]))])

/* No thread is in a call, and so many objects are held, beside the decoy: every invariant must hold.  From here on the
 * system refuses nothing, until a scenario asks. */
void round_expect_intact(size_t held, const char *when);

/* Describes the configuration in one line. */
void round_describe(struct text *text);

/* Zeroed memory for the harness, aligned to a cache line, for free(); ends the program when there is none. */
void *round_memory(size_t count, size_t bytes);

/* Is there no more room in the history? */
static inline bool round_full(void)
{
	/* relaxed: to know soon is enough, the logs have a reserve. */
	return load_relaxed(&current.history_full);
}

static inline bool cell_failed(void)
{
	/* relaxed: to know soon is enough. */
	return load_relaxed(&current.cell->violations) != 0;
}

/* A scenario's count: relaxed, since it is read at a meeting, or when all threads have stopped. */
static inline void count_up(_Atomic(size_t) *count)
{
	add_relaxed(count, 1);
}

/* ---- Meetings ---- */

/* It is time for one, says the caller. */
void meeting_call(void);
/* Waits for all threads.  What any of them did before is visible to all of them after it. */
void meeting_join(void);
/* All stand by while thread 0 does this. */
void meeting_alone(struct worker *worker, void (*alone)(struct worker *worker));
/* Thread 0, alone: how many objects do the workers hold? */
size_t meeting_held(void);

/* ---- What some rounds have besides: extras.c ---- */

/* Before the pool is created, when the scenario has planned. */
void elastic_draw(void);
/* A call of lfpool_trim(), if no other thread is making one. */
void elastic_trim(struct worker *worker);

/* Of the calls from now on the n-th is refused; 0: none. */
void refusals_next(bool wanted, unsigned long n);

/* ---- What the pool says of itself: accounts.c ---- */

/* A thread holds so many. */
void accounts_hold(size_t count);
/* A call came back with NULL so long after its time was over. */
void accounts_late(struct worker *worker, uint64_t late_ns, int64_t timeout_ns);
/* No thread is in a call. */
void accounts_judge(const char *when);
/* The threads have stopped. */
void accounts_judge_lateness(void);

void sleep_ns(uint64_t ns);

/* ---- Report ---- */

/* One or more whole lines. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* There is no memory for this: ends the program. */
_Noreturn void say_no_memory(const char *for_what);

/*
 * The pool broke a promise.  Says what, in which round, with which configuration, and how to replay it;
 * counts it; and makes the cell stop.  Any thread.  Prints at most three of a cell's.  Silent with --history-only.
 */
__attribute__((format(printf, 1, 2))) void violation(const char *format, ...);

/* The pool has promised this; if it does not hold, that is a violation, which the rest describes. */
#define expect(promise, ...) ((promise) ? (void)0 : violation(__VA_ARGS__))

/* The same, also with --history-only: for what the history shows. */
void violation_found(const char *what);

/* From now on this cell must make progress; NULL: the run is over. */
void watchdog_watch(const struct cell *cell);

#endif
