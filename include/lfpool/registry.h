/* SPDX-License-Identifier: MIT */
/*
 * registry.h - all pools of a program in one place: their capacities and policies come from one text, the profile; a
 * switch brings every pool to those of another scenario, at run time; a dump shows all of them as one table.  Not
 * included by lfpool.h.
 *
 *     lfpool_registry_t *registry;
 *     lfpool_profile_error_t error;
 *     lfpool_t *jobs;
 *
 *     if (lfpool_registry_create(&registry, profile_text, &error) != LFPOOL_OK)
 *             fprintf(stderr, "pools.conf:%zu:%zu: %s\n", error.line, error.column, error.text);
 *     lfpool_registry_create_pool(registry, "jobs", &config, &jobs);  // the object is the code's, the rest the text's
 *     lfpool_registry_switch(registry, "match", NULL);                // while all threads go on
 *     lfpool_registry_destroy(registry);
 *
 * Evicting pools (lfpool/priority.h) and sets (lfpool/set.h) come in by their own create, with `registry` in their config: what the
 * profile says of config.name stands over that config, and they are a row of the table until their own destroy, or the registry's.
 *
 * A profile is read line by line:
 *
 *     # Words are separated by blanks.  Empty lines mean nothing, nor does anything from a # to the end of its line.
 *     jobs      capacity=10k max_capacity=40k cache_capacity=64
 *     packets   capacity=2k flags=prefault
 *
 *     [match]
 *     jobs      capacity=40k
 *
 *     [lobby]
 *     jobs      capacity=1k trim=yes keep=500
 *
 * [name] begins a scenario.  The lines before the first are the scenario "default", and hold in every other, where a
 * pool's line overrides the keys that it names.  What no line names is as in the config of the code.  The keys:
 *
 *     capacity=N  max_capacity=N          where a switch brings the pool; 0 (max_capacity), or less than capacity, which
 *                                         one of the two from the config can make it: as capacity
 *     trim=yes  trim=no  keep=N           then a switch gives memory back, except that of N free objects (lfpool_trim())
 *     full=fail  full=grow  full=wait  full=evict
 *                                         what happens when nothing is free, when the pool is made: nothing (NULL); it grows by itself,
 *                                         by growth_step, or where that is 0 by an eighth of its capacity; it grows if it has a
 *                                         growth_step, and then lfpool_acquire() waits for ever (for code that can; instead of
 *                                         hooks.exhausted, which `fail` leaves out too); the least is evicted.  Evicting pools know
 *                                         `evict` and `fail`, others all but `evict`: else making the pool is LFPOOL_E_PROFILE
 *     growth_step=N  cache_capacity=N  cache_capacity=none  depot_shards=N
 *     flags=prefault,zero,check_races,create_all,lock,huge_pages,plain_stride
 *                                         instead of the config's, not besides; flags=none
 *     debug=poison,quarantine=1000  debug=none  backend=lockfree  backend=mutex  backend=malloc
 *                                         as in lfpool_config_t, when the pool is made: a switch does not change them
 *
 * Of a set the numbers are of each class, and go before its bytes.  An evicting pool has capacity, full, flags (prefault, zero, lock,
 * plain_stride, fenced), debug and backend; what else is said of it is passed over.
 *
 * N is a number of objects (or shards), 10000 or 10k (thousands) or 1M (millions), within the bounds of
 * lfpool_config_t.  Names of pools and scenarios have 1 to 63 letters, digits and . _ - : / of ASCII.  A pool has one
 * line in a scenario, a key is once in a line, a scenario once in the text.  Everything else is an error.
 *
 * Threads      Every function: any, at the same time (except create and destroy).  Blocking: the registry has mutexes
 *              of its own, which acquire and release never come near.  Those that change something wait for each other;
 *              lfpool_registry_find() and lfpool_registry_dump() wait for no switch.  So what a pool calls inside
 *              lfpool_registry_create_pool() or lfpool_registry_switch(), hooks and continuations, may find and dump,
 *              nothing else; what it calls elsewhere may do everything.  A child after fork must leave the registry
 *              alone, if another thread may have been in it.
 */
#ifndef LFPOOL_POOL_REGISTRY_H
#define LFPOOL_POOL_REGISTRY_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_registry lfpool_registry_t; /* a registry of pools */

/* Where a profile is wrong: its first error. */
typedef struct lfpool_profile_error {
	size_t line;    /* from 1; 0: in no line                                           */
	size_t column;  /* of the line's byte, from 1; 0: in no line                       */
	char text[232]; /* what is wrong, in English, ASCII, without a newline; "": nothing */
} lfpool_profile_error_t;

/*
 * lfpool_registry_create - a registry with a profile, in the scenario "default".
 *
 * registry_out  Receives it; set to NULL on failure.
 * profile       The text, ending with a 0; read, not kept.  NULL: as an empty one.
 * error_out     Receives what is wrong with the profile, or that nothing is; may be NULL.
 * Returns       LFPOOL_OK; LFPOOL_E_PROFILE; LFPOOL_E_NO_MEMORY; LFPOOL_E_ARGUMENT (registry_out is NULL).
 * Cost          O(bytes + lines^2): meant for hundreds of lines.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_registry_create(lfpool_registry_t **registry_out, const char *profile,
								  lfpool_profile_error_t *error_out);

/*
 * lfpool_registry_destroy - give the registry back, and every pool that it still has.
 *
 * registry  NULL is fine.  No other call on it or its pools, evicting pools and sets may be under way or follow.
 * Returns   How many objects were still active, in all of them.  SIZE_MAX: some pools were refused, as by
 *           lfpool_destroy(); these live on, and the registry with them.
 */
LFPOOL_API size_t lfpool_registry_destroy(lfpool_registry_t *registry);

/*
 * lfpool_registry_load - replace the profile.
 *
 * Pools stay as they are until the next lfpool_registry_switch().  The scenario stays if the new profile has one of
 * that name, else it is "default".  On failure everything is as it was.
 *
 * profile, error_out   As for lfpool_registry_create().
 * Returns   As lfpool_registry_create().
 */
LFPOOL_API lfpool_status_t lfpool_registry_load(lfpool_registry_t *registry, const char *profile,
						lfpool_profile_error_t *error_out);

/*
 * lfpool_registry_create_pool - make a pool, as lfpool_create(): `config`, with what the profile says of `name` in the
 * present scenario instead.
 *
 * name      The pool's name, instead of config.name; copied.
 * config    Object size, hooks and whatever the profile leaves open.
 * pool_out  Receives the pool; set to NULL on failure.  Address space is reserved for the most that any scenario of
 *           the profile asks for.
 * Returns   As lfpool_create(), and LFPOOL_E_CONFIG_NAME if `name` is none that a profile could have (see above),
 *           LFPOOL_E_EXISTS if the registry has a pool of that name.
 * Owner     The caller, until lfpool_registry_destroy_pool() (never lfpool_destroy()).
 * Cost      As lfpool_create(), and O(pools + lines).
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name,
								       const lfpool_config_t *config, lfpool_t **pool_out);

/*
 * lfpool_registry_destroy_pool - as lfpool_destroy(), for a pool of this registry.
 *
 * Its name is free again, unless it is refused: then the pool stays the registry's.
 *
 * pool      NULL, and a pool that is none of this registry's, are passed over.  Else no other call on it may be under way
 *           or follow.
 * Returns   As lfpool_destroy(); 0 for what is passed over.
 */
LFPOOL_API size_t lfpool_registry_destroy_pool(lfpool_registry_t *registry, lfpool_t *pool);

/*
 * lfpool_registry_find - the pool of that name.
 *
 * name      Any string.
 * Returns   The pool, or NULL, also for the name of an evicting pool or a set.  It is the caller's to see that it is not being destroyed.
 * Cost      O(log pools).
 */
LFPOOL_API lfpool_t *lfpool_registry_find(lfpool_registry_t *registry, const char *name);

/* What a switch has come to.  Append-only. */
typedef struct lfpool_registry_report {
	size_t struct_size;     /* sizeof(lfpool_registry_report_t), set by the caller: the struct may grow   */
	size_t pools;           /* of the registry                                                            */
	size_t pools_owing;     /* of these, still too large: so many objects are in use                      */
	size_t pools_short;     /* too small: memory was refused, or less is reserved than a new profile says */
	size_t pools_fixed;     /* with other values of keys that a switch cannot change than were it made now;
	                           of an evicting pool, and of a set, it can change none                      */
	size_t objects_owed;    /* by all pools: `owed` of lfpool_stats_t                                     */
	size_t objects_added;   /* by this switch                                                             */
	size_t objects_removed; /* likewise                                                                   */
	size_t bytes_trimmed;   /* likewise, given back to the system                                         */
} lfpool_registry_report_t;
#define LFPOOL_REGISTRY_REPORT_INIT {sizeof(lfpool_registry_report_t), 0, 0, 0, 0, 0, 0, 0, 0}

/*
 * lfpool_registry_switch - bring every pool to its capacity in this scenario, while threads go on using the pools.
 *
 * First those pools that are to become smaller shrink and are trimmed, then the others grow.  Objects in use are left
 * alone: they are owed, and go when they are released.  A pool that neither the profile nor its config gives a
 * capacity keeps the one it has.  Calling it again with the same scenario tells how far things are, and takes back
 * what pools have grown by themselves since.
 *
 * scenario    Its name; "default": the lines before the first.
 * report_out  Its struct_size is set; may be NULL.
 * Returns     LFPOOL_OK, also when not every pool is there yet (see the report); LFPOOL_E_SCENARIO: the profile has
 *             none of that name; LFPOOL_E_ARGUMENT: `scenario` is NULL, or report_out's struct_size is no
 *             size.  Nothing was changed then.
 * Progress    Blocking for calls on the registry only, see above.
 * Cost        Of lfpool_grow(), lfpool_shrink(), lfpool_trim() for each pool.
 */
LFPOOL_API lfpool_status_t lfpool_registry_switch(lfpool_registry_t *registry, const char *scenario,
						  lfpool_registry_report_t *report_out);

/*
 * lfpool_registry_dump - all pools as one table, by name, and their sum.
 *
 * Columns: object size, capacity, max_capacity, what lfpool_stats() knows (active, cached, shared, untouched, owed,
 * exhausted, misuses), bytes: those of all objects, and what happens when nothing is free: fail, grow, wait, evict, or hook
 * (hooks.exhausted of the code's).  Of a set the size is its largest class's, and the rest is the sum; of an evicting pool what is free
 * is `shared`, and `exhausted` are acquires that it refused.
 *
 * format, text_out, room   As for lfpool_dump().
 * Returns   As lfpool_dump().
 * Cost      Of lfpool_stats() for each pool.  Does not allocate.
 */
LFPOOL_API size_t lfpool_registry_dump(lfpool_registry_t *registry, lfpool_format_t format, char *text_out, size_t room);

LFPOOL_C_END_

#endif
