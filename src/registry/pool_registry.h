/* SPDX-License-Identifier: MIT */
/*
 * pool_registry.h - what a registry of lfpool/registry.h is.
 *
 * Idea         A layer on the public functions: a profile, and a row for each pool, sorted by name.  A row remembers
 *              what the pool's config said before the profile was asked, so that each scenario starts from there.
 * Invariants   PR1 rows are sorted, no two of one name.
 *              PR2 a row's pool lives from when the row is entered until it is taken out.
 *              PR3 `scenario` is one of the profile's.
 * Concurrency  Two mutexes, both held to write, either to read.  `change` is held through whatever changes anything,
 *              and so while pools are made and resized; `look`, always after it, for a moment.  So find and dump do not
 *              wait for a switch, and hooks that run in one may ask.  Pools are destroyed without either.
 * Progress     Blocking.
 */
#ifndef LFPOOL_SRC_POOL_REGISTRY_H
#define LFPOOL_SRC_POOL_REGISTRY_H

#include "os/os.h"
#include "pool/registered.h"
#include "registry/profile.h"

/* The columns of the table.  X(name, title, title in JSON) */
#define TABLE_COLUMNS(X)                       \
	X(size, "size", "object_size")         \
	X(capacity, "capacity", "capacity")    \
	X(max, "max", "max_capacity")          \
	X(active, "active", "active")          \
	X(cached, "cached", "cached")          \
	X(shared, "shared", "shared")          \
	X(untouched, "untouched", "untouched") \
	X(owed, "owed", "owed")                \
	X(bytes, "bytes", "bytes")             \
	X(exhausted, "exhausted", "exhausted") \
	X(misuses, "misuses", "misuses")

enum table_column {
#define TABLE_COLUMN(name, title, json) COLUMN_##name,
	TABLE_COLUMNS(TABLE_COLUMN)
#undef TABLE_COLUMN
		COLUMN_COUNT
};

struct pool_row {
	char name[PROFILE_NAME_BYTES];
	void *pool;                         /* NULL `kind`: an lfpool_t                                */
	const struct registered_kind *kind; /* else                                                    */
	const char *full;                   /* what happens when nothing is free, in a word            */
	size_t object_size;
	struct policy base;           /* what the config said                                       */
	struct policy made;           /* what it was made with                                      */
	struct policy wanted;         /* `change` alone: during a switch, what it shall have         */
	size_t reserved;              /* objects there is address space for                         */
	bool leaves;                  /* it is being drained, to be destroyed: no switch touches it */
	uint64_t cells[COLUMN_COUNT]; /* `look` alone: during a dump, what the table shows  */
};

struct lfpool_registry {
	struct registry_face face; /* first: registered.h */
	os_mutex_t change, look;
	/* Written under both, read under either. */
	struct profile profile;
	uint32_t scenario;
	struct pool_row *rows;
	size_t count, room;
};
_Static_assert(offsetof(struct lfpool_registry, face) == 0, "registered.h");

extern const struct registered_calls registered;

/* ---- Rows; `change` is held ---- */

/* Where the pool's row is, or would have to go. */
size_t row_place(const lfpool_registry_t *registry, const char *name, bool *found_out);
/* Room for one more; false when the system refuses it. */
bool row_room(lfpool_registry_t *registry);
/* There is room. */
void row_insert(lfpool_registry_t *registry, size_t place, const struct pool_row *row);

/* A pool of another kind is about to be destroyed: it has no row from here on.  (Takes both mutexes.) */
void row_leave(lfpool_registry_t *registry, const void *pool);

#endif
