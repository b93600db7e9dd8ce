/* SPDX-License-Identifier: MIT */
/*
 * round.h - one round: a new pool, threads that use it, and the reckoning.
 *
 * Idea         A cell (scenario x thread count) is a row of short rounds.  Each draws a configuration from the seed,
 *              lets the scenario run for a few milliseconds, and then demands conservation: nothing active; exactly
 *              `capacity` different objects until NULL; as many refusals as were provoked.  Short rounds exercise
 *              create and destroy, and meet many configurations; the last thing tested is that the pool can be
 *              destroyed while its threads live on.
 */
#ifndef STRESS_ROUND_H
#define STRESS_ROUND_H

#include "accounts.h"
#include "common/harness.h"
#include "demand.h"
#include "ledger.h"
#include "options.h"
#include "report.h"
#include "worker.h"

#define ROUND_TEXT_BYTES 512

struct cell {
	const struct scenario *scenario;
	unsigned threads;
	_Atomic(unsigned) violations;
	_Atomic(uint64_t) faults; /* committed on purpose */
	struct lateness lateness;
	/* The main thread's: */
	uint64_t operations;
	bool skipped;
};

/* When do the threads exit? */
enum ending {
	ENDING_EXIT_FIRST,   /* before the objects are counted                        */
	ENDING_EXIT_COUNTED, /* after that, before the pool is destroyed              */
	ENDING_EXIT_LAST,    /* after the pool was destroyed                          */
	ENDING_EXIT_DURING,  /* while it is being destroyed                           */
	ENDINGS
};

/* Whose NULLs does the history hear of? */
enum nulls_logged { NULLS_OF_ALL, NULLS_OF_KEEPER, NULLS_OF_NOBODY };

/* The round that is under way: there is one at a time. */
extern struct round {
	struct cell *cell;
	unsigned threads; /* of the cell                                                     */
	uint64_t number;
	uint64_t seed;        /* of the workers' choices                                         */
	struct random random; /* the main thread's choices, for drawing and planning             */
	lfpool_config_t config;
	size_t head;               /* bytes at the start of each object that the scenario writes itself   */
	size_t capacity;           /* objects the workers may hold together; set by the scenario      */
	size_t initial;            /* so many of them there are at first; 0: all                      */
	bool roomy;                /* may be more than the scenario asked for                         */
	bool plain;                /* no hooks, no debug modes, no growth that the scenario did not ask for */
	bool refusals;             /* the system refuses now and then: extras.h                       */
	bool trims;                /* the workers trim the pool now and then                          */
	size_t most;               /* objects there can ever be                                       */
	size_t last;               /* objects there must be in the end; set by finish() if not `most` */
	enum route routes[ROUTES]; /* the ways of calling the pool that are used                      */
	unsigned route_count;
	enum ending ending;
	uint64_t nanoseconds; /* how long the workers work                                       */
	uint64_t end_ns;
	lfpool_t *pool;
	struct ledger ledger;
	struct demand demand;
	struct accounts accounts;
	uint64_t origin;            /* the stamp at which the history begins                           */
	_Atomic(bool) history_full; /* a log is: the round must end                                    */
	enum nulls_logged nulls_logged;
	char remark[160];           /* what it has drawn, for the description                          */
	struct life *life;          /* what the hooks have seen; NULL: the pool has none               */
	struct worker *workers;     /* one for each thread                                             */
	struct worker keeper;       /* the main thread's                                               */
	struct held decoy;          /* held by the keeper, for FAULT_DOUBLE_GRANT                      */
	_Atomic(size_t) provoked;   /* refusals that the scenario asked for                            */
	_Atomic(size_t) reported;   /* refusals that the misuse hook was told of                       */
	_Atomic(unsigned) trimming; /* 1: a thread does (not a bool: riscv64 exchanges no bytes)         */
	pthread_barrier_t start, worked, leave;
} current;

/* Runs the number-th round of a cell, at most until `limit_ns`. */
void round_run(struct cell *cell, uint64_t number, uint64_t limit_ns);

/* For plan(): a capacity for threads that may hold `demand` objects together, carried ones included: often just that,
 * sometimes far more, sometimes tiny. */
void round_capacity(size_t demand);

/* For plan(): what it has drawn, appended to the description. */
__attribute__((format(printf, 1, 2))) void round_remark(const char *format, ...);

/* Any of an array. */
#define PICK(random, array) ((array)[random_below((random), sizeof(array) / sizeof((array)[0]))])

/* The hook that counts refusals; its context is the round. */
void round_on_misuse(void *context, const lfpool_misuse_t *misuse);

/* No thread is in a call: every invariant must hold.  From here on the system refuses nothing, until a scenario asks. */
void round_expect_intact(const char *when);

/* Describes the configuration in one line. */
void round_describe(char text_out[ROUND_TEXT_BYTES]);

/* Zeroed memory for the harness, aligned to a cache line, for free(); ends the program when there is none. */
void *round_memory(size_t count, size_t bytes);

/* Is there no more room in the history? */
static inline bool round_full(void)
{
	/* relaxed: to know soon is enough, the logs have a reserve. */
	return atomic_load_explicit(&current.history_full, memory_order_relaxed);
}

static inline bool cell_failed(void)
{
	/* relaxed: to know soon is enough. */
	return atomic_load_explicit(&current.cell->violations, memory_order_relaxed) != 0;
}

#endif
