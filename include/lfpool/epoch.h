/* SPDX-License-Identifier: MIT */
/*
 * epoch.h - objects that are released when ConcurrencyKit's ck_epoch says so.  Component lfpool-ck.
 *
 *     ck_epoch_t epoch;
 *
 *     ck_epoch_init(&epoch);
 *     lfpool_epoch_create(&config.scheme, &epoch);
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

/*
 * lfpool_epoch_create - a scheme for one pool (config.scheme), with records of the epoch for the pool's batches.
 *
 * With it objects may be reused when no section of the epoch can reach them any more.  lfpool_drain() and
 * lfpool_destroy() must not be called inside a section: they would wait for it.  Nor does lfpool_acquire_wait() get
 * there what its own section holds back.
 *
 * scheme_out  Receives it; all NULL on failure.  At most one pool at a time has it.
 * epoch       Made by ck_epoch_init().  Up to LFPOOL_PLACES_MAX records are registered with it, each when it is first
 *             needed.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: a NULL pointer; LFPOOL_E_NO_MEMORY.
 * Owner       The caller, until lfpool_epoch_destroy().
 * Threads     Any.  Allocates with the C library, which may take a lock; may enter the kernel.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_epoch_create(lfpool_scheme_t *scheme_out, struct ck_epoch *epoch);

/*
 * lfpool_epoch_destroy - free the records.
 *
 * scheme    Of lfpool_epoch_create(); one that is all NULL is fine.  The pool was destroyed before, and no thread uses
 *           the epoch any more: ck_epoch keeps each record for ever that was registered with it.
 * Threads   Any.  As lfpool_epoch_create().
 */
LFPOOL_API void lfpool_epoch_destroy(lfpool_scheme_t scheme);

LFPOOL_C_END_

#endif
