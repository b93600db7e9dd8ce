/* SPDX-License-Identifier: MIT */
/*
 * registry.h - configure all pools of a program in one text, the profile, and switch between its scenarios while
 * threads use the pools.
 *
 *     lfpool_registry_t *registry;
 *     lfpool_profile_error_t error;
 *     lfpool_t *jobs;
 *
 *     if (lfpool_registry_create(&registry, profile_text, &error) != LFPOOL_OK)
 *             fprintf(stderr, "pools.conf: %s\n", error.text);
 *     lfpool_registry_create_pool(registry, "jobs", &config, &jobs);  // the code has the object, the text has the rest
 *     lfpool_registry_switch(registry, NULL, "match", NULL);          // while threads use the pools
 *     lfpool_registry_destroy(registry);
 *
 * A set (lfpool/set.h) with `registry` in its config makes its pools here, under the names "set/size".
 *
 * A profile is read line by line:
 *
 *     # Blanks separate words.  Empty lines, and the text from a # to the end of its line, are ignored.
 *     jobs         capacity=10k max_capacity=40k cache_capacity=64
 *     packets      capacity=2k flags=prefault
 *     messages/64  capacity=500
 *
 *     [match]
 *     jobs         capacity=40k
 *
 *     [lobby]
 *     jobs         capacity=1k trim=yes keep=500
 *
 * [name] begins a scenario.  The lines before the first scenario are the scenario "default".  They hold in every other
 * scenario too, where a pool's line overrides the keys that it names.  A key that no line names takes its value from
 * the config in the code.  The keys:
 *
 *     capacity=N  max_capacity=N   A switch gives the pool this capacity, and this limit of growth.  max_capacity=0
 *                                  means the capacity.  So does a max_capacity below the capacity, if the capacity
 *                                  is from the config, or is given as bytes=N.  capacity=0 is for pools that grow,
 *                                  as in lfpool_create().
 *     bytes=N  max_bytes=N  growth_bytes=N
 *                                  The same as capacity, max_capacity and growth_step, in bytes of objects: N divided
 *                                  by the object's size, at least one object unless N is 0.
 *     trim=yes  trim=no  keep=N    With trim=yes a switch returns the memory of all but N free objects (lfpool_trim()).
 *
 * The other keys apply only to pools that are made from now on:
 *
 *     full=fail                    An acquire that finds no free object returns NULL, even if the config has a
 *                                  growth_step, hooks.exhausted or `evict`.
 *     full=grow                    The pool grows automatically, by growth_step (if that is 0, by an eighth of its
 *                                  capacity), up to max_capacity (if that is 0, up to 8 times its capacity).  It does
 *                                  not evict.
 *     full=evict                   The pool grows if it has a growth_step.  When it cannot grow,
 *                                  lfpool_acquire_evicting() evicts the object with the lowest priority
 *                                  (lfpool/evict.h), and lfpool_acquire() returns NULL.
 *     growth_step=N  cache_capacity=N  cache_capacity=none  depot_shards=N
 *     flags=prefault,zero,check_races,create_all,lock,huge_pages,plain_stride,fenced  flags=none
 *     debug=poison,quarantine=1000  debug=none  backend=lockfree  backend=mutex  backend=malloc
 *                                  Each replaces the value of its field in the config.
 *
 * N is a number within the bounds of lfpool_config_t: 10000 or 10k (thousands), 1M (millions), 2G, 64Ki (times 1024),
 * 16Mi, 1Gi.  Names of pools and scenarios have 1 to 63 ASCII letters, digits and . _ - : / characters.  A scenario
 * may occur once in the text, a pool once in a scenario, and a key once in a line, in only one unit.  Anything else is
 * an error.
 *
 * Threads      Any thread can call any function at any time, except lfpool_registry_destroy().  Blocking: a registry
 *              has a mutex, which acquire and release never take.  A call holds it to look up a pool or to write the
 *              dump, but not to make, change or destroy a pool.  So no call waits for a switch, except
 *              lfpool_registry_destroy_pool() for a pool that the switch is just changing.  Hooks and continuations can
 *              call every function, but cannot destroy the pool whose call they run in.  After fork a child can use its
 *              registry at once.  That registry lacks the pools that other threads were just making or destroying, so
 *              their names are free.
 */
#ifndef LFPOOL_POOL_REGISTRY_H
#define LFPOOL_POOL_REGISTRY_H

#include "lfpool/lfpool.h"
#include "lfpool/report.h"

LFPOOL_C_BEGIN_

typedef struct lfpool_registry_t lfpool_registry_t; /* a registry of pools */

/* The first error of a profile. */
typedef struct lfpool_profile_error_t {
	size_t line;    /* from 1; 0: no error, or an error that is not in a line             */
	size_t column;  /* the byte in that line, from 1; 0 if `line` is 0                    */
	char text[232]; /* printable ASCII, such as "line 3, column 9: unknown key \"colour\"";
	                   "": no error                                                       */
} lfpool_profile_error_t;

/*
 * lfpool_registry_create - make a registry with a profile, in the scenario "default".
 *
 * registry_out  Receives the registry; set to NULL on failure.
 * profile       The text, ending with a 0; read, not kept.  NULL: an empty one.
 * error_out     Receives the error of the profile, or line 0 and an empty text; may be NULL.
 * Returns       LFPOOL_OK; LFPOOL_E_PROFILE; LFPOOL_E_NO_MEMORY; LFPOOL_E_ARGUMENT (registry_out is NULL).
 * Cost          O(bytes + lines^2), so meant for hundreds of lines.
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_registry_create(lfpool_registry_t **registry_out, const char *profile,
								  lfpool_profile_error_t *error_out);

/*
 * lfpool_registry_destroy - destroy the registry and all of its pools.
 *
 * registry  NULL does nothing.  Destroy the registry's sets first.  No other call on the registry or its pools may be
 *           in progress or follow.
 * Returns   The number of objects that were still active, in all pools.  SIZE_MAX: lfpool_destroy() refused some pools;
 *           these stay, and the registry with them.
 */
LFPOOL_API size_t lfpool_registry_destroy(lfpool_registry_t *registry);

/*
 * lfpool_registry_create_pool - make a pool, as lfpool_create(), from `config` with the settings of the profile for
 * `name` in the present scenario.
 *
 * name      The pool's name, instead of config.name; copied.
 * config    Has the object size, the hooks, and all settings that the profile does not have.
 * pool_out  Receives the pool; set to NULL on failure.  Address space is reserved for the largest capacity in any
 *           scenario of the profile.
 * Returns   As lfpool_create(); also LFPOOL_E_CONFIG_NAME if the name is not valid in a profile (see above), and
 *           LFPOOL_E_EXISTS if the registry has a pool of that name, or another call is making one.
 * Owner     The caller, until lfpool_registry_destroy_pool() (never lfpool_destroy()).
 * Cost      As lfpool_create(), and O(pools + scenarios * lines).
 */
LFPOOL_API LFPOOL_MUST_USE lfpool_status_t lfpool_registry_create_pool(lfpool_registry_t *registry, const char *name,
								       const lfpool_config_t *config,
								       lfpool_t **pool_out);

/*
 * lfpool_registry_destroy_pool - as lfpool_destroy(), for a pool of this registry.  Afterwards its name is free.
 *
 * pool      A pool that is not in this registry, and NULL, are ignored.  No other call on the pool may be in progress
 *           or follow.
 * Returns   As lfpool_destroy(); 0 for a pool that is ignored.  After SIZE_MAX the pool stays in the registry.
 */
LFPOOL_API size_t lfpool_registry_destroy_pool(lfpool_registry_t *registry, lfpool_t *pool);

/*
 * lfpool_registry_find - look up a pool by its name.
 *
 * name      Any string.
 * Returns   The pool; NULL if there is none, or it is just being made or destroyed.
 * Cost      O(log pools).
 */
LFPOOL_API lfpool_t *lfpool_registry_find(lfpool_registry_t *registry, const char *name);

/* The result of a switch.  Append-only. */
typedef struct lfpool_registry_report_t {
	size_t pools;                 /* pools in the registry                                                       */
	size_t pools_owing;           /* pools that are still too large, because objects are in use                  */
	size_t pools_short;           /* pools that are too small: the system refused memory, or too little address
	                           space was reserved when the pool was made                                   */
	size_t pools_fixed;           /* pools with a setting that differs from this scenario and that a switch cannot
	                           change                                                                      */
	size_t objects_owed;          /* sum of `owed` of lfpool_stats_t                                             */
	size_t objects_added;         /* objects that this switch added                                              */
	size_t objects_removed;       /* objects that this switch removed                                            */
	size_t bytes_trimmed;         /* bytes that this switch returned to the system                               */
	lfpool_profile_error_t error; /* the error of the profile that the call was given                      */
	size_t pools_busy;            /* pools that another call is just changing; that call brings them to this
	                           scenario                                                                    */
} lfpool_registry_report_t;

/*
 * lfpool_registry_switch_sized, lfpool_registry_switch - bring every pool to its capacity in a scenario, while
 * threads use the pools.
 *
 * First the pools that are too large shrink and are trimmed, then the others grow.  Objects in use are owed: they leave
 * the pool when they are released.  If neither the profile nor the pool's config gives a capacity, the pool keeps its
 * present one.  A second call with the same scenario reports the progress, and undoes automatic growth.
 *
 * If several threads switch at once, all pools get the scenario of the last call, and no call waits.  While one call
 * changes a pool, the other calls leave that pool to it (pools_busy).
 *
 * profile     The text of a new profile, which replaces the present one; read, not kept.  NULL: keeps the present one.
 * scenario    The name of a scenario in that profile; "default": the lines before the first.
 * report_out  Written whole; may be NULL.
 * bytes       As for lfpool_stats_sized().
 * Returns     LFPOOL_OK, also if some pools have not reached their capacity (see the report).  LFPOOL_E_PROFILE: the
 *             new profile has an error (report_out->error); LFPOOL_E_SCENARIO: the profile has no such scenario;
 *             LFPOOL_E_NO_MEMORY; LFPOOL_E_ARGUMENT: `scenario` is NULL.  After an error nothing has changed.
 * Cost        That of lfpool_grow(), lfpool_shrink() and lfpool_trim() for each pool.
 */
LFPOOL_API lfpool_status_t lfpool_registry_switch_sized(lfpool_registry_t *registry, const char *profile,
							const char *scenario, lfpool_registry_report_t *report_out,
							size_t bytes);
LFPOOL_INLINE_ lfpool_status_t lfpool_registry_switch(lfpool_registry_t *registry, const char *profile,
						      const char *scenario, lfpool_registry_report_t *report_out)
{
	return lfpool_registry_switch_sized(registry, profile, scenario, report_out, sizeof(*report_out));
}

/*
 * lfpool_registry_dump - describe all pools in one table, sorted by name, with their sums.
 *
 * Columns: object size, capacity, max_capacity, fields of lfpool_stats_t (active, cached, shared, untouched, owed,
 * exhausted, misuses), the bytes of all objects, and `full`: fail, grow, evict, or hook (hooks.exhausted).
 *
 * format, text_out, room   As for lfpool_dump().
 * Returns   As lfpool_dump().
 * Cost      That of lfpool_stats() for each pool.  Does not allocate.
 */
LFPOOL_API size_t lfpool_registry_dump(lfpool_registry_t *registry, lfpool_format_t format, char *text_out,
				       size_t room);

LFPOOL_C_END_

#endif
