/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.h - the struct of a registry (lfpool/registry.h), for the files of this folder and for sets.
 *
 * Idea         A registry is a layer on the public functions.  It has a profile, and a row for each pool, sorted by
 *              name.  A row remembers the pool's configuration without the profile, so that each scenario starts from
 *              there.
 * Invariants   PR1 rows are sorted; no two have the same name.
 *              PR2 the pool of a row exists, and no other row has it.  While a pool is being made or destroyed, its row
 *                  has only the name, because another pool can get the address of a destroyed one.
 *              PR3 `scenario` is the number of a scenario of the profile.
 *              PR4 a call has a row while it makes or destroys the row's pool, or while it has set `busy` for the row.
 *                  During that time no other call removes the row or changes its pool.  A switch that meets the row
 *                  sets `again`, and does not wait.  The call that has the row checks `again` under the mutex before it
 *                  gives up the row.  So some call brings each pool to the newest scenario.
 * Concurrency  A registry has one mutex, which is held for look-ups and for changes of rows.  A thread that holds the
 *              mutex makes, changes or destroys no pool.  So hooks and continuations run without the mutex, and can
 *              call every function.
 *                 A destroy waits for the call that has the row of its pool; no other call waits.  The child of a fork
 *                 takes back the rows that calls of the parent's other threads had (PR4).
 * Progress     Blocking.
 */
#ifndef LFPOOL_SRC_POOL_REGISTRY_H
#define LFPOOL_SRC_POOL_REGISTRY_H

#include "api/api.h"
#include "api/window.h"
#include "base/atomics.h"
#include "os/os.h"
#include "registry/profile.h"

#include "lfpool/report.h"

struct row_numbers {
	size_t object_size;
	uint64_t bytes; /* of all objects */
	lfpool_stats_t stats;
};

struct pool_row {
	char name[PROFILE_NAME_BYTES];
	lfpool_t *pool;             /* NULL: the pool is being made or destroyed                   */
	const char *full;           /* the word in the column "full"                               */
	size_t object_size;         /* bytes                                                       */
	struct policy base;         /* the configuration without the profile                       */
	struct policy made;         /* the settings that the pool was made with                    */
	size_t reserved;            /* objects for which there is address space                    */
	bool busy;                  /* a switch changes the pool: PR4                              */
	uintptr_t user;             /* the thread of the call that has the row, or had it last     */
	bool again;                 /* another switch found the row busy (PR4)                     */
	struct row_numbers numbers; /* used during a dump                                          */
};

struct lfpool_registry_t {
	struct fork_mutex mutex;
	uint32_t forks; /* process_forks() when the mutex was taken last */
	/* Used only with the mutex held. */
	struct profile profile;
	uint32_t scenario;
	struct pool_row *rows;
	size_t count, room;
	size_t sleepers;           /* destroys that wait for a row        */
	_Atomic(uint64_t) brought; /* while a destroy waits: changes when a row is no longer busy */
};

/* Called in the child of a fork, with the mutex held.  Takes back the rows of calls whose threads are not in the
 * child. */
COLD void registry_inherit(lfpool_registry_t *registry);

static inline void registry_lock(lfpool_registry_t *registry)
{
	os_mutex_lock(&registry->mutex.mutex);
	if (unlikely(registry->forks != process_forks()))
		registry_inherit(registry);
}

static inline void registry_unlock(lfpool_registry_t *registry)
{
	os_mutex_unlock(&registry->mutex.mutex);
}

/* ---- For sets ---- */

/* Like window_bytes(), but for the pool that registry_create_in() would make now. */
lfpool_status_t registry_window_bytes(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
				      size_t *bytes_out);
/* Like lfpool_registry_create_pool(), but places the objects in the range, which limits their number.  If `range` is
 * NULL, the objects may be anywhere. */
lfpool_status_t registry_create_in(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
				   const struct window_range *range, lfpool_t **pool_out);

#endif
