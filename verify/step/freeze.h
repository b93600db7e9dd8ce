/* SPDX-License-Identifier: MIT */
/*
 * freeze.h - the threads of the freeze test: the victim that is stopped, the peer that must not mind, the watchdog.
 */
#ifndef LFPOOL_VERIFY_FREEZE_H
#define LFPOOL_VERIFY_FREEZE_H

#include <pthread.h>

#include "peers.h"
#include "stepper.h"

/* What becomes of the victim after the others have emptied the pool. */
enum pass {
	PASS_GIVE_BACK, /* they give all back; it goes on                                    */
	PASS_HOLD,      /* they keep it; it goes on, in a pool that is exhausted             */
	PASS_NEVER,     /* it never finishes its call                                        */
	PASS_FORK,      /* the process forks, the child empties the pool again; then never   */
	PASS_CONTROL    /* PASS_GIVE_BACK in a pool that blocks: some places must be stuck   */
};

struct victim {
	pthread_t thread;
	struct stepper stepper;
	const struct operation *operation;
	struct scene scene;
	struct scene *guest_of; /* not NULL: it prepares nothing, and operates here */
	unsigned moved;         /* by the last operation that ran to its end        */
};

void victim_start(struct victim *v);
/* Runs `o` in a fresh scene, undisturbed, and records its instructions and what it moved. */
void victim_record(struct victim *v, const struct operation *o);
/* Records `o` of a guest, which uses up its host's scene. */
void victim_record_guest(struct victim *v, const struct operation *o);
/* A fresh scene of the operation recorded last, stopped before instruction `at` (0 .. length); false if that was not
 * come by, and then the operation is done. */
bool victim_run(struct victim *v, long at);
/* Of a stopped one: to the end of its operation; or out of it. */
void victim_resume(struct victim *v);
void victim_abandon(struct victim *v);
void victim_stop(struct victim *v);

/* The second peer; the driver itself is the first. */
struct peer {
	pthread_t thread;
	struct turn turn;
	const struct scene *scene;
	unsigned rounds; /* of churn; 0: drain into `holding` */
	struct holding holding;
	const char *wrong;
};

void peer_start(struct peer *p);
/* Orders, and the wait for the answer. */
void peer_order(struct peer *p, const struct scene *s, unsigned rounds);
const char *peer_answer(struct peer *p);
void peer_stop(struct peer *p);

/* Ends the program with a message, or resumes the victim if `rescue`, when beat() was not called for `seconds`. */
void watchdog_start(struct victim *v, unsigned seconds, bool rescue);
/* Progress: what the driver is about to do. */
void beat(const char *doing);
/* Was the victim resumed by the watchdog since the last call? */
bool watchdog_rescued(void);

/* "operation, stopped before instruction 17 at stack_pop+0x1c (...)": where the victim stands. */
void victim_describe(const struct victim *v, char *text, size_t room);

#endif
