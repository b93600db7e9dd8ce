/* SPDX-License-Identifier: MIT */
/*
 * misuse.h - a refused call is counted and reported.
 */
#ifndef LFPOOL_MISUSE_H
#define LFPOOL_MISUSE_H

#include "base/base.h"
#include "object/debugging.h"
#include "pool/pool.h"

/* Counts and reports a refused release; returns `status`. */
COLD lfpool_status_t misuse_report(lfpool_t *pool, const void *object, lfpool_status_t status);
/* Tells the hook; or stderr, if there is none and it is the first.  `kind` of pool: "pool", "set". */
COLD void misuse_say(const char *kind, const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse);
/* For the pool's debug modes. */
struct debug_home misuse_home(lfpool_t *pool);
/* The pool is not intact: tells which invariant is violated, and at which slot or node; SIZE_MAX: at none. */
COLD void misuse_invariant(const struct debug_home *home, const char *violated, size_t where);
/* Counts and reports anything: status, object, and what else is known are the caller's; the rest is filled in. */
COLD lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse);

#endif
