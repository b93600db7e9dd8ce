/* SPDX-License-Identifier: MIT */
/*
 * epoch.h - deferred release by ConcurrencyKit's ck_epoch.  Component lfpool-ck.
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
 * Why not ck_epoch_call()?  A record of ck_epoch has one user at a time, and its deferred objects are released only
 * when that user polls.  While the user does something else, no thread could reuse these objects, and until they are
 * released the user could not exit.  Here the batches of a pool have separate records, which never enter a section.
 * Threads that retire an object, or find the pool empty, poll these records.
 *
 * There is one callback per batch (lfpool/retire.h), not per object, and no ck_epoch_entry_t in the object.
 */
#ifndef LFPOOL_EPOCH_H
#define LFPOOL_EPOCH_H

#include "lfpool/retire.h"

LFPOOL_C_BEGIN_

struct ck_epoch;

/*
 * lfpool_epoch_create - make a scheme for one pool (config.scheme): objects may be reused when no section of the epoch
 * can reach them.
 *
 * Do not call lfpool_drain() or lfpool_destroy() inside a section: they would wait for the end of that section.
 * lfpool_acquire_wait() inside a section cannot get objects that this section protects.
 *
 * scheme_out  Receives the scheme; all NULL on failure.  At most one pool at a time may use it.
 * epoch       From ck_epoch_init().  Up to LFPOOL_PLACES_MAX records are registered with it, each on first use.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: a NULL pointer; LFPOOL_E_NO_MEMORY.
 * Owner       The caller, until lfpool_epoch_destroy().
 * Threads     Any.  Allocates with the C library, which may take a lock; may enter the kernel.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_epoch_create(lfpool_scheme_t *scheme_out, struct ck_epoch *epoch);

/*
 * lfpool_epoch_destroy - free the records.
 *
 * scheme    From lfpool_epoch_create(); all NULL does nothing.  Destroy the pool first.  No thread may use the epoch
 *           after this call, because ck_epoch never forgets a record.
 * Threads   Any.  As lfpool_epoch_create().
 */
LFPOOL_API void lfpool_epoch_destroy(lfpool_scheme_t scheme);

LFPOOL_C_END_

#endif
