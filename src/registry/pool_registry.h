/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.h - a registry of lfpool/registry.h, for the files of this room and for sets.
 *
 * Idea         A layer on the public functions: a profile, and a row for each pool, sorted by name.  A row remembers
 *              the pool's configuration without the profile, so that each scenario starts from there.
 * Invariants   PR1 rows are sorted; no two have the same name.
 *              PR2 the pool of a row exists, and no other row has it.  While it is being destroyed its row has the name
 *                  alone: afterwards another pool can have its address.
 *              PR3 `scenario` is one of the profile's.
 * Concurrency  Two mutexes; a writer holds both, a reader either.  `change` is held during a whole change, also while
 *              pools are made and resized.  `look` is always taken after it, for a moment.  So find and dump do not
 *              wait for a switch, and hooks that run during a switch may call them.  Pools are destroyed without
 *              either mutex.
 * Progress     Blocking.
 */
#ifndef LFPOOL_SRC_POOL_REGISTRY_H
#define LFPOOL_SRC_POOL_REGISTRY_H

#include "api/window.h"
#include "os/os.h"
#include "registry/profile.h"

#include "lfpool/report.h"

/* The numbers of a row in the table. */
struct row_numbers {
	size_t object_size;
	uint64_t bytes; /* of all objects */
	lfpool_stats_t stats;
};

struct pool_row {
	char name[PROFILE_NAME_BYTES];
	lfpool_t *pool;   /* NULL: it is being destroyed                                              */
	const char *full; /* the result of an acquire that finds nothing, in a word                   */
	size_t object_size;
	struct policy base;         /* the configuration without the profile                        */
	struct policy made;         /* the settings that it was made with                           */
	struct policy wanted;       /* `change` alone: during a switch, the settings that it is to have */
	size_t reserved;            /* objects there is address space for                           */
	struct row_numbers numbers; /* `look` alone: during a dump */
};

struct lfpool_registry {
	os_mutex_t change, look;
	/* Written under both, read under either. */
	struct profile profile;
	uint32_t scenario;
	struct pool_row *rows;
	size_t count, room;
};

/* ---- For sets ---- */

/* As window_bytes(), for the pool that the next function would make now. */
lfpool_status_t registry_window_bytes(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
				      size_t *bytes_out);
/* As lfpool_registry_create_pool(), with the objects in the range, which limits their number; NULL: anywhere. */
lfpool_status_t registry_create_in(lfpool_registry_t *registry, const char *name, const lfpool_config_t *config,
				   const struct window_range *range, lfpool_t **pool_out);

#endif
