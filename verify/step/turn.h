/* SPDX-License-Identifier: MIT */
/*
 * turn.h - whose turn it is: one word that two threads pass to and fro.
 *
 * Idea         The driver writes an order, the other thread acts and writes an answer.  A futex, because the waiting
 *              must be possible inside a signal handler and must not burn a processor that the others need.
 * Edges        Each change is a release, each end of a wait an acquire: what one did in its turn is seen by the other.
 */
#ifndef LFPOOL_VERIFY_TURN_H
#define LFPOOL_VERIFY_TURN_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum turn_of {
	TURN_IDLE,    /* answer: nothing to do                              */
	TURN_GO,      /* order: act                                         */
	TURN_PARKED,  /* answer: stopped before the instruction asked for   */
	TURN_RESUME,  /* order: go on as if nothing had happened            */
	TURN_ABANDON, /* order: never finish the operation                  */
	TURN_QUIT     /* order: end the thread                              */
};

struct turn {
	_Atomic(uint32_t) word;
};

/* Leaves errno alone, as a signal handler must: a wait that comes too late says EAGAIN. */
static inline void turn_futex(struct turn *t, int operation, uint32_t value)
{
	const int errno_before = errno;

	(void)syscall(SYS_futex, &t->word, operation, value, NULL, NULL, 0);
	errno = errno_before;
}

static inline void turn_wake(struct turn *t)
{
	turn_futex(t, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static inline void turn_give(struct turn *t, enum turn_of next)
{
	atomic_store_explicit(&t->word, next, memory_order_release);
	turn_wake(t);
}

/* Where two may give an order to one that waits in `from`: false if the other was first. */
static inline bool turn_give_first(struct turn *t, enum turn_of from, enum turn_of next)
{
	uint32_t word = from;

	if (!atomic_compare_exchange_strong_explicit(&t->word, &word, next, memory_order_release, memory_order_relaxed))
		return false;
	turn_wake(t);
	return true;
}

/* Waits while the word says `now`; returns what it says then. */
static inline enum turn_of turn_wait(struct turn *t, enum turn_of now)
{
	uint32_t word;

	/* Spurious returns are why this is a loop; a wait ends when the other side gives the turn. */
	while ((word = atomic_load_explicit(&t->word, memory_order_acquire)) == now)
		turn_futex(t, FUTEX_WAIT_PRIVATE, now);
	return word;
}

static inline void turn_wait_idle(struct turn *t)
{
	enum turn_of now = atomic_load_explicit(&t->word, memory_order_acquire);

	while (now != TURN_IDLE)
		now = turn_wait(t, now);
}

#endif
