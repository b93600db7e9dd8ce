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
/* Calls the hook; without one, prints the first misuse on stderr.  `kind`: "pool" or "set". */
COLD void misuse_say(const char *kind, const lfpool_hooks_t *hooks, const lfpool_misuse_t *misuse);
struct debug_home misuse_home(lfpool_t *pool);
/* Reports a violated invariant, and the slot or magazine in question; SIZE_MAX: no such place. */
COLD void misuse_invariant(const struct debug_home *home, const char *violated, size_t where);
/* Counts and reports any misuse: the caller fills in status, object and known details, this function the rest. */
COLD lfpool_status_t misuse_tell(lfpool_t *pool, lfpool_misuse_t *misuse);

#endif
