/* SPDX-License-Identifier: MIT */
/*
 * heirs.h - a fork while a thread stands and others wait: what the child must find.
 *
 * Idea         Before the fork the driver takes all there is, hands in two continuations, and releases one object: for whoever
 *              came first, the victim perhaps.  The child has no thread but the driver's.  What waits there must have
 *              been served when fork() returns, as far as there is anything free; when all has been released each
 *              continuation has been called once, in order, whatever the victim was doing with it; and every object
 *              is there but those in the victim's hands.  What it was given and had not fetched is in nobody's.
 */
#ifndef LFPOOL_VERIFY_HEIRS_H
#define LFPOOL_VERIFY_HEIRS_H

#include "peers.h"

/* In the parent, just before the fork.  NULL, or what went wrong. */
const char *heirs_prepare(struct scene *s, const struct operation *o, struct holding *h);
/* In the child: NULL and the objects lost, or what is wrong.  Destroys the pool. */
const char *heirs_inherit(struct scene *s, const struct operation *o, struct holding *h, long *lost_out);

#endif
