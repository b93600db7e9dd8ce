/* SPDX-License-Identifier: MIT */
/* sleeper.h - a thread that is stopped at a chosen place, a worker that must not be affected, and the watchdog. */
#ifndef LFPOOL_VERIFY_SLEEPER_H
#define LFPOOL_VERIFY_SLEEPER_H

#include <pthread.h>
#include <stddef.h>

#include "stepper.h"

/* ---- The sleeper ---- */

struct sleeper {
	pthread_t thread;
	struct stepper stepper;
	void (*act)(void); /* prepares, and runs the code to stop in, from STEP_BEGIN to STEP_END */
	const char *name;  /* of its operation */
};

void sleeper_start(struct sleeper *s);
/* Acts undisturbed, and records its instructions if `recording`. */
void sleeper_rehearse(struct sleeper *s, bool recording);
/* Acts, and stops before instruction `at` (0 .. length); false if it finished without reaching that.  With
 * stepper.interrupt it calls that there, and finishes. */
bool sleeper_run(struct sleeper *s, long at);
/* Lets a stopped one finish; or takes it out of its operation. */
void sleeper_resume(struct sleeper *s);
void sleeper_abandon(struct sleeper *s);
void sleeper_stop(struct sleeper *s);
/* Does a stopped one hold a mutex, or is it about to take one, or about to have released it? */
bool sleeper_has_mutex(void);
/* "name, stopped before instruction 17 at stack_pop+0x1c (...)": its place. */
void sleeper_describe(const struct sleeper *s, char *text, size_t room);

/* ---- The worker ---- */

struct worker {
	pthread_t thread;
	struct turn turn;
	const char *(*work)(void); /* NULL, or an error */
	const char *wrong;
};

void worker_start(struct worker *w);
/* Gives an order, and waits for the answer. */
void worker_order(struct worker *w);
const char *worker_answer(struct worker *w);
void worker_stop(struct worker *w);

/* ---- The watchdog ---- */

/* If beat() was not called for `seconds`: ends the program with a message, or resumes the sleeper if `rescue`. */
void watchdog_start(struct sleeper *s, unsigned seconds, bool rescue);
/* Reports progress: the driver's next step. */
void beat(const char *doing);
/* Has the watchdog resumed the sleeper since the last call? */
bool watchdog_rescued(void);

#endif
