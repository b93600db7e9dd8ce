/* SPDX-License-Identifier: MIT */
/*
 * epoch.h - objects that are released when ConcurrencyKit's ck_epoch says so.  Component lfpool-ck.
 *
 *     ck_epoch_t epoch;
 *     lfpool_epoch_t *gate;
 *
 *     ck_epoch_init(&epoch);
 *     lfpool_epoch_create(&gate, &epoch);
 *     config.scheme = lfpool_epoch_scheme(gate);
 *     ...
 *     ck_epoch_begin(record, NULL);                            // the caller's own record
 *     ... take the node out ...
 *     lfpool_retire(pool, node);
 *     ck_epoch_end(record, NULL);
 *
 * A record of ck_epoch has one user at a time, and what it defers comes back only when that user polls it.  So objects
 * would be lost for as long as the thread that deferred them does something else, and a thread that exits would have to
 * wait for its own.  Here the batches of a pool have records of their own, never active.  Any thread that retires, or
 * finds the pool empty, polls them: no object depends on one thread's polling, and threads come and go.
 *
 * One callback for each batch of objects, not for each object, and no ck_epoch_entry_t in the object: lfpool/retire.h
 * says how objects wait, how many they can be, and what happens when the pool runs dry.
 */
#ifndef LFPOOL_EPOCH_H
#define LFPOOL_EPOCH_H

#include "lfpool/retire.h"

LFPOOL_C_BEGIN_

struct ck_epoch;

typedef struct lfpool_epoch lfpool_epoch_t; /* what ties one pool to an epoch */

/*
 * lfpool_epoch_create - records for the batches of one pool.
 *
 * gate_out  Receives it; NULL on failure.
 * epoch     Made by ck_epoch_init().  Up to LFPOOL_PLACES_MAX records are registered with it, each when it is first
 *           needed.
 * Returns   LFPOOL_OK; LFPOOL_E_ARGUMENT: a NULL pointer; LFPOOL_E_NO_MEMORY.
 * Owner     The caller, until lfpool_epoch_destroy().
 * Threads   Any.  Allocates with the C library, which may take a lock; may enter the kernel.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_epoch_create(lfpool_epoch_t **gate_out, struct ck_epoch *epoch);

/*
 * lfpool_epoch_destroy - give the records back.
 *
 * gate      NULL is fine.  The pool was destroyed before, and nobody uses the epoch any more: ck_epoch keeps every
 * record
 *           for ever that was registered with it.
 * Threads   Any.  As lfpool_epoch_create().
 */
LFPOOL_API void lfpool_epoch_destroy(lfpool_epoch_t *gate);

/*
 * lfpool_epoch_scheme - for config.scheme: objects may be reused when no section of the epoch can reach them any more.
 *
 * lfpool_drain() and lfpool_destroy() must not be called inside a section: they would wait for it.  Nor does
 * lfpool_acquire_wait() get there what its own section holds back.
 *
 * gate      Of one pool at a time.  NULL: no scheme.
 * Returns   The scheme.
 * Threads   Any.  Wait-free.
 */
LFPOOL_API lfpool_scheme_t lfpool_epoch_scheme(lfpool_epoch_t *gate);

LFPOOL_C_END_

#endif
