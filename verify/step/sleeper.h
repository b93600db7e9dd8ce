/* SPDX-License-Identifier: MIT */
/*
 * sleeper.h - a thread that is stopped where the driver wants it, a worker that must not mind, the watchdog.
 */
#ifndef LFPOOL_VERIFY_SLEEPER_H
#define LFPOOL_VERIFY_SLEEPER_H

#include <pthread.h>
#include <stddef.h>

#include "stepper.h"

/* ---- The one that is stopped ---- */

struct sleeper {
	pthread_t thread;
	struct stepper stepper;
	void (*act)(void); /* prepares, and runs what it is stopped in, from STEP_BEGIN to STEP_END */
	const char *name;  /* of what it does                                                      */
};

void sleeper_start(struct sleeper *s);
/* Acts undisturbed, and records its instructions if `recording`. */
void sleeper_rehearse(struct sleeper *s, bool recording);
/* Acts, and stops before instruction `at` (0 .. length); false if that was not come by, and then it has finished.  With
 * stepper.interrupt it calls that there, and finishes. */
bool sleeper_run(struct sleeper *s, long at);
/* Of a stopped one: to the end of what it does; or out of it. */
void sleeper_resume(struct sleeper *s);
void sleeper_abandon(struct sleeper *s);
void sleeper_stop(struct sleeper *s);
/* "name, stopped before instruction 17 at stack_pop+0x1c (...)": where it stands. */
void sleeper_describe(const struct sleeper *s, char *text, size_t room);

/* ---- Another ---- */

struct worker {
	pthread_t thread;
	struct turn turn;
	const char *(*work)(void); /* NULL, or what went wrong */
	const char *wrong;
};

void worker_start(struct worker *w);
/* An order, and the wait for the answer. */
void worker_order(struct worker *w);
const char *worker_answer(struct worker *w);
void worker_stop(struct worker *w);

/* ---- The watchdog ---- */

/* Ends the program with a message, or resumes the sleeper if `rescue`, when beat() was not called for `seconds`. */
void watchdog_start(struct sleeper *s, unsigned seconds, bool rescue);
/* Progress: what the driver is about to do. */
void beat(const char *doing);
/* Was the sleeper resumed by the watchdog since the last call? */
bool watchdog_rescued(void);

#endif
