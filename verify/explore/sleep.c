/* SPDX-License-Identifier: MIT */
/*
 * sleep.c - os_sleep_on(), os_wake() and the clock, played.
 *
 * Idea         A thread that sleeps is woken by a wake and by nothing else: the word may change as often as it
 *              likes.  So a wake that is forgotten, or that comes before the sleep, leaves a thread asleep, and the
 *              engine finds nobody to run.
 * Clock        Virtual.  It stands still until the engine chooses a thread that sleeps with a deadline: then it is that
 *              deadline, whatever the others' deadlines are (they may be late too).
 * Early        A sleep may end for no reason: a choice like a weak CAS's failure.
 */
#include "explore.h"

#include "os/os.h"

#include <stdlib.h>

static struct {
	const void *on;
	uint32_t seen; /* there */
	uint64_t deadline;
} sleeper[THREADS_MAX];
static unsigned asleep, dozing, late;
static struct moment fell_asleep[THREADS_MAX], woke_late[THREADS_MAX];
static uint64_t now = 1;

void sleep_begin(void)
{
	asleep = dozing = late = 0;
	now = 1;
}

unsigned sleepers(bool with_deadline)
{
	return with_deadline ? dozing : asleep;
}

static void wake(unsigned thread)
{
	asleep &= ~(1u << thread);
	dozing &= ~(1u << thread);
}

void sleep_time_over(unsigned thread)
{
	wake(thread);
	now = now < sleeper[thread].deadline ? sleeper[thread].deadline : now;
}

static void is_late(unsigned thread)
{
	if (late >> thread & 1)
		return;
	late |= 1u << thread;
	woke_late[thread] = memory_moment();
}

void sleep_call(void)
{
	late &= ~(1u << engine_thread());
}

bool sleep_was_late(struct moment *since_out)
{
	if (!(late >> engine_thread() & 1))
		return false;
	*since_out = woke_late[engine_thread()];
	return true;
}

bool sleep_unserved(unsigned thread, struct moment *since_out)
{
	*since_out = fell_asleep[thread];
	return asleep >> thread & 1 && *(const uint32_t *)sleeper[thread].on == sleeper[thread].seen;
}

uint64_t os_now_ns(void)
{
	return now;
}

void os_sleep_on(_Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
{
	const unsigned self = engine_thread();

	/* The set-up and the last checks have nobody to wake them. */
	if (!engine_running())
		abort();
	/* Nobody comes between the look and the sleep: the kernel holds a lock. */
	if ((uint32_t)memory_newest(word, sizeof(*word)) != (uint32_t)seen)
		return;
	if (deadline_ns <= now) {
		is_late(self);
		return;
	}
	if (engine_choose(2, SPURIOUS))
		return;
	fell_asleep[self] = memory_moment();
	sleeper[self].on = word;
	sleeper[self].seen = (uint32_t)seen;
	sleeper[self].deadline = deadline_ns;
	asleep |= 1u << self;
	dozing |= (unsigned)(deadline_ns != UINT64_MAX) << self;
	engine_fall_asleep();
	if (deadline_ns <= now)
		is_late(self);
}

void os_wake(_Atomic(uint64_t) *word)
{
	engine_point(true);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		if (asleep >> t & 1 && sleeper[t].on == word)
			wake(t);
}
