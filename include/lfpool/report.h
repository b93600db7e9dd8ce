/* SPDX-License-Identifier: MIT */
/*
 * report.h - what a pool says of itself: counters with an identity, how large it should have been, a dump for a bug
 * report, a check of every invariant.  Included by lfpool.h.
 */
#ifndef LFPOOL_REPORT_H
#define LFPOOL_REPORT_H

#include "lfpool/lfpool.h"

LFPOOL_C_BEGIN_

/*
 * What a pool has counted, and where its objects are.  Append-only.
 *
 *     capacity = active + retired + cached + shared + untouched
 *
 * exactly, while no other thread is inside a call on the pool; else `unaccounted` says by how much it does not hold.
 */
typedef struct {
	size_t struct_size;     /* sizeof(lfpool_stats_t), set by the caller: the struct may grow                       */
	uint64_t refills;       /* an acquire found its cache's magazine empty and got another one                     */
	uint64_t drains;        /* a release found it full and made room                                               */
	uint64_t steals;        /* objects, or whole magazines, that were taken from another cache                     */
	uint64_t exhausted;     /* calls that found no free object left (not those that a hook refused)                */
	uint64_t retries;       /* compare-and-swaps on the shared stacks that another thread's made fail              */
	size_t capacity;        /* objects                                                                             */
	size_t active;          /* in use; retired ones are not among them, but in lfpool_active_count() they are      */
	size_t cached;          /* free, in a cache: any thread can get them                                           */
	size_t shared;          /* free, in the depot (or in quarantine, see LFPOOL_DEBUG)                             */
	size_t untouched;       /* free, in memory that was never used, or was taken out of use by lfpool_trim()       */
	int64_t unaccounted;    /* capacity - active - retired - cached - shared - untouched                           */
	uint64_t acquires;      /* that succeeded, since the pool was made                                             */
	uint64_t releases;      /* likewise                                                                            */
	uint64_t misuses;       /* lfpool_misuse_count()                                                               */
	uint32_t caches;        /* that were ever made                                                                 */
	uint32_t caches_in_use; /* by a thread, or a handle                                                        */
	size_t max_capacity;    /* lfpool_max_capacity()                                                              */
	size_t owed;            /* lfpool_shrink_owed()                                                                */
	size_t waiting;         /* calls and continuations that wait now                                               */
	uint64_t given_back;    /* bytes that lfpool_trim() has given back to the system                               */
	uint64_t depot_trips;   /* refills and drains that another magazine of the cache, or a chunk never used, could
	                         not serve: they moved a magazine in or out of the depot                           */
	size_t high_water;      /* so many objects at most were in use at once: see lfpool_high_water_reset()          */
	size_t retired;         /* lfpool_retired_count(); they count as in use in high_water                          */
} lfpool_stats_t;
#define LFPOOL_STATS_INIT {sizeof(lfpool_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/*
 * lfpool_stats - what the pool has counted.
 *
 * stats_out  Its struct_size is set; what the library does not know is set to 0.  The mutex backend has
 *            no caches: its free objects are `shared` or `untouched`, and of the counters of misses only `exhausted`
 *            counts.
 * Returns    LFPOOL_OK; LFPOOL_E_ARGUMENT: stats_out is NULL, or its struct_size is no size.
 * Threads    Any, concurrently with everything but lfpool_destroy().  Wait-free (the mutex backend: blocking).
 * Cost       O(slots ever used + caches): the states are read, because nothing is counted on a hit.
 */
LFPOOL_API lfpool_status_t lfpool_stats(const lfpool_t *pool, lfpool_stats_t *stats_out);

/*
 * lfpool_high_water_reset - from here on: what `high_water` and lfpool_advise() tell of begins now.  (If it is never
 * called: when the pool was made.)
 *
 * high_water is never less than the most objects that were in use at one moment since.  Nothing is counted on a hit, so
 * it may be more: what lay in caches counts as in use, and what lay in partly filled magazines or in quarantine;
 * docs/sizing.md says exactly how much that can be.  The mutex backend has no caches; there it is exact, except for the
 * quarantine, and for objects that other threads are just taking out (lfpool_shrink(), lfpool_trim()).  Call it between
 * scenarios, or when what only happens at the start is over: until then it is the most of the pool's memory that was ever
 * touched.
 *
 * Threads    Any, concurrently with everything but lfpool_destroy().  Lock-free (the mutex backend: blocking).  If two
 *            call it at once, it begins with the later one.
 * Cost       As lfpool_stats().
 */
LFPOOL_API void lfpool_high_water_reset(lfpool_t *pool);

/* Trips to the depot, and thefts, are seldom if there is at most one in so many acquires. */
#define LFPOOL_ADVICE_SELDOM 64

/* What a run would have needed.  Append-only. */
typedef struct {
	size_t struct_size;    /* sizeof(lfpool_advice_t), set by the caller: the struct may grow                  */
	size_t capacity;       /* for config.capacity: rule 1                                                     */
	size_t headroom;       /* to be added to it, so that caches are not robbed: rule 3                         */
	size_t cache_capacity; /* for config.cache_capacity: rule 2                                                */
	char reason[256];      /* in English, one line                                                             */
} lfpool_advice_t;
#define LFPOOL_ADVICE_INIT {sizeof(lfpool_advice_t), 0, 0, 0, {0}}

/*
 * lfpool_advise - what capacity and what caches the run would have needed since lfpool_high_water_reset().
 *
 *   1. capacity: `high_water`; the same run with it never finds the pool empty.  If calls did find it empty, and
 *      high_water is all there are, one more for each of them, but at most twice that: measure again.
 *   2. cache_capacity: as it is, if at most one acquire in LFPOOL_ADVICE_SELDOM made a trip to the depot (or fewer than
 *      1000 were made).  Else doubled until that may be expected, up to 256, which is always enough: after a trip
 *      a cache has 128 objects, and room for 128.  Threads that come and go make trips of their own.
 *      The mutex backend has no caches: 0.
 *   3. headroom: what all caches there were can hold, with `cache_capacity`.  In a pool of capacity + headroom objects
 *      there is always something free outside of the caches.  Worth it if caches were robbed (`steals`) more often than
 *      once in LFPOOL_ADVICE_SELDOM acquires; `reason` says so.
 *
 * advice_out  Its struct_size is set.
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: advice_out is NULL, or its struct_size is no size.
 * Threads, progress, cost  As lfpool_stats().
 */
LFPOOL_API lfpool_status_t lfpool_advise(const lfpool_t *pool, lfpool_advice_t *advice_out);

/* Formats of lfpool_dump(). */
typedef enum lfpool_format {
	LFPOOL_TEXT = 0, /* for people: to paste into a bug report            */
	LFPOOL_JSON = 1  /* for programs: one object, RFC 8259, on one line   */
} lfpool_format_t;

/*
 * lfpool_dump - describe a pool: configuration, counters, caches, debug modes; with the debug mode `owner`, who holds
 * what, for how long, ranked by how many objects each holds.
 *
 * format    LFPOOL_TEXT or LFPOOL_JSON.
 * text_out  Receives the text, cut off after room - 1 bytes, always terminated; may be NULL if room is 0.
 * room      Bytes there are at text_out.
 * Returns   The bytes that the whole text has, without the terminating 0: call again with more room if it is >= room.
 *           0 and an empty text if `format` is none.
 * Threads   Any, concurrently with everything but lfpool_destroy(); a snapshot.  Does not allocate, except for `owner`.
 * Progress  As lfpool_stats().
 * Cost      As lfpool_stats().
 */
LFPOOL_API size_t lfpool_dump(const lfpool_t *pool, lfpool_format_t format, char *text_out, size_t room);

/*
 * lfpool_check - is the pool intact?  Walks every invariant and names the first that is violated.
 *
 * pool       No other call on it may be under way; caches and objects may be out.  (In a child after fork, calls that
 *            other threads of the parent were in are under way for ever.)
 * where_out  Receives the number of the slot (index, see lfpool_index_of()) or of the magazine in question; SIZE_MAX
 *            if there is none; may be NULL.
 * Returns    NULL if all hold; else a string that lives for ever: the name of the invariant and what it says ("A1:
 *            ..."). "no memory for the check" if the system refuses the bit for each slot that it needs.
 * Threads    Any, but one at a time.  Allocates with the C library, which may take a lock; may enter the kernel.
 * Cost       O(slots ever used + caches).
 */
LFPOOL_API const char *lfpool_check(const lfpool_t *pool, size_t *where_out);

LFPOOL_C_END_

#endif
