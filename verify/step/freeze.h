/* SPDX-License-Identifier: MIT */
/*
 * freeze.h - the threads of the freeze test: the victim that is stopped, the peer that must not mind.
 */
#ifndef LFPOOL_VERIFY_FREEZE_H
#define LFPOOL_VERIFY_FREEZE_H

#include "peers.h"
#include "sleeper.h"

struct victim {
	struct sleeper sleeper;
	const struct operation *operation;
	struct scene scene;
	struct scene *guest_of; /* not NULL: it prepares nothing, and operates here */
	unsigned moved;         /* by the last operation that ran to its end        */
};

/* From here on its sleeper runs `operation` in a fresh scene. */
void victim_start(struct victim *v);
/* Runs `o` in a fresh scene, undisturbed, and records its instructions and what it moved. */
void victim_record(struct victim *v, const struct operation *o);
/* Records `o` of a guest, which uses up its host's scene. */
void victim_record_guest(struct victim *v, const struct operation *o);

/* The second peer; the driver itself is the first. */
struct peer {
	struct worker worker;
	const struct scene *scene;
	unsigned rounds; /* of churn; 0: drain into `holding` */
	struct holding holding;
};

void peer_start(struct peer *p);
/* An order; worker_answer() waits for the answer. */
void peer_order(struct peer *p, const struct scene *s, unsigned rounds);

#endif
