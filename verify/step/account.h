/* SPDX-License-Identifier: MIT */
/*
 * account.h - what must be true when the victim has finished its operation after all.
 */
#ifndef LFPOOL_VERIFY_ACCOUNT_H
#define LFPOOL_VERIFY_ACCOUNT_H

#include "peers.h"

/* The driver holds `h`, nobody is in a call.  Uses up the scene.  NULL, or what is wrong. */
const char *account(struct scene *s, const struct operation *o, struct holding *h);

#endif
