/* SPDX-License-Identifier: MIT */
/*
 * accounts.h - what the pool says of itself (lfpool_stats), against what the harness knows.
 *
 * Statistics   No thread is in a call: the identity of lfpool/report.h holds exactly; acquires are as many as the harness
 *              got; releases, as many as it no longer has.
 * Mark         high_water is no less than what a thread has seen in use at once: a worker that holds so many, all of them at
 *              a meeting; and no more than there can be.  At some meetings it begins anew.
 * Lateness     A load of the machine delays a call as it delays the harness.  So once in a while a worker sleeps by itself for
 *              as long as it has waited in vain, and of LATE_WAITS calls the least late is compared with the latest such
 *              sleep.  Only what makes every call late is seen; tests/os/unit_late.c sees each.
 */
#ifndef STRESS_ACCOUNTS_H
#define STRESS_ACCOUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct worker;

/* A round's. */
struct accounts {
	uint64_t acquires;       /* of all threads, when the pool was made  */
	_Atomic(size_t) at_once; /* so many objects were in use at a moment */
};

/* A cell's, since it was judged last: nanoseconds. */
struct lateness {
	_Atomic(uint64_t) waits, least;   /* calls that waited in vain; the least late */
	_Atomic(uint64_t) sleeps, latest; /* our own sleeps; the latest                */
};

/* The pool was just made. */
void accounts_open(void);
/* A thread holds so many. */
void accounts_hold(size_t count);
/* A call came back with NULL so long after its time was over. */
void accounts_late(struct worker *worker, uint64_t late_ns, int64_t timeout_ns);

/* No thread is in a call. */
void accounts_judge(const char *when);
/* The threads have stopped. */
void accounts_judge_lateness(void);

void sleep_ns(uint64_t ns);

#endif
