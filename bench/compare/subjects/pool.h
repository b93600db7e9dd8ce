/* SPDX-License-Identifier: MIT */
/*
 * pool.h - opening and closing the lfpool pools among the subjects.
 */
#ifndef LFPOOL_COMPARE_POOL_H
#define LFPOOL_COMPARE_POOL_H

#include "lfpool/lfpool.h"

/* A pool with room for all that the threads hold, and then some: nobody should run short.  Ends the program when there
 * is none. */
lfpool_t *pool_open(lfpool_backend_t backend, uint32_t flags, size_t threads, size_t held);

/* Destroys it.  Ends the program when something was not given back or a release was refused: what was measured then is
 * not what the table says. */
void pool_close(void *pool);

#endif
