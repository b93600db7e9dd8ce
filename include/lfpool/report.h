/* SPDX-License-Identifier: MIT */
/*
 * report.h - counters, sizing advice, a dump for bug reports, a check of every invariant.
 *
 * Threads    Any, concurrently with every call except lfpool_destroy().
 * Progress   Lock-free, unless a function states otherwise.
 * Cost       O(slots ever used + caches): the fast paths count nothing, so the calls read each object's state.
 */
#ifndef LFPOOL_REPORT_H
#define LFPOOL_REPORT_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/*
 * Counters of a pool, and the number of its objects in each place.  Append-only.  While no other thread is inside a
 * call on the pool,
 *
 *     capacity = active + retired + cached + shared + untouched
 */
typedef struct lfpool_stats_t {
	lfpool_backend_t backend; /* config.backend, or LFPOOL_BACKEND of the environment                       */
	uint32_t waiting;         /* calls and continuations that wait now; a call for several objects is one   */
	size_t capacity;          /* objects                                                                    */
	size_t max_capacity;      /* the capacity to which the pool can grow (lfpool_limit())                   */
	size_t owed;              /* objects that a pending lfpool_shrink() still has to remove                 */
	size_t retired;           /* retired objects that are not free yet; lfpool_active_count() includes them */
	uint64_t misuses;         /* refused releases, and findings of debug modes                              */
	uint64_t given_back;      /* bytes that lfpool_trim() has returned to the system                        */
	uint64_t refills;         /* acquires that found the magazine of their cache empty, and got another one */
	uint64_t drains;          /* releases that found the magazine of their cache full, and made room        */
	uint64_t steals;          /* objects, or whole magazines, taken from another cache                      */
	uint64_t exhausted;       /* calls that found no free object (not those that a hook refused)            */
	uint64_t retries;         /* failed compare-and-swaps on stacks of magazines                            */
	size_t active;            /* objects in use, without retired ones                                       */
	size_t cached;            /* objects free in caches, where every thread can get them                    */
	size_t shared;            /* objects free in the depot, in quarantine, or refused by hooks.activate     */
	size_t untouched;         /* objects free, never used, or taken out of use by lfpool_trim()             */
	int64_t unaccounted;      /* capacity - active - retired - cached - shared - untouched                  */
	uint64_t acquires;        /* acquires that succeeded, since the pool was created                        */
	uint64_t releases;        /* releases that succeeded, since the pool was created                        */
	uint32_t caches;          /* caches ever created                                                        */
	uint32_t caches_in_use;   /* caches of threads, and explicit caches                                     */
	uint64_t depot_trips;     /* refills and drains for which the cache went to the depot                   */
	size_t high_water;        /* most objects in use at once since lfpool_high_water_reset()                */
	uint64_t evicted;         /* objects evicted by lfpool_acquire_evicting() and lfpool_release_least()    */
	uint64_t not_evicted;     /* calls of lfpool_acquire_evicting() for which no object gave way            */
	uint64_t waits;           /* calls that waited and have ended (not continuations); 0 in embedded builds  */
	uint64_t timeouts;        /* waits that ended because their time was over                               */
	uint64_t wait_ns;         /* sum of the waits, nanoseconds; not measured in caller-provided memory      */
	uint64_t wait_ns_max;     /* the longest wait since lfpool_high_water_reset(), nanoseconds              */
} lfpool_stats_t;

/*
 * lfpool_stats_sized, lfpool_stats - read the counters of a pool.
 *
 *     lfpool_stats_t stats;
 *
 *     lfpool_stats(pool, &stats);
 *
 * stats_out  Written whole.
 * bytes      sizeof(*stats_out), as in lfpool_stats().  A binding for another language may have an older or newer
 *            version of the struct: fields that the library does not know are set to 0.
 * Returns    LFPOOL_OK; LFPOOL_E_ARGUMENT: stats_out is NULL.
 * Progress   Lock-free: each retry means that another thread read higher counts of acquires or releases.
 */
LFPOOL_API lfpool_status_t lfpool_stats_sized(const lfpool_t *pool, lfpool_stats_t *stats_out, size_t bytes);
LFPOOL_INLINE_ lfpool_status_t lfpool_stats(const lfpool_t *pool, lfpool_stats_t *stats_out)
{
	return lfpool_stats_sized(pool, stats_out, sizeof(*stats_out));
}

/*
 * lfpool_quick_stats - read the counters up to `given_back`, in O(1); the other fields are 0.
 *
 * Returns   The counters: `lfpool_quick_stats(pool).misuses`.
 * Threads   Any, also from a signal handler.
 * Progress  Wait-free.
 * Cost      O(1).
 */
LFPOOL_INLINE_ lfpool_stats_t lfpool_quick_stats(const lfpool_t *pool)
{
	lfpool_stats_t stats;

	memset(&stats, 0, sizeof(stats));
	(void)lfpool_stats_sized(pool, &stats, offsetof(lfpool_stats_t, refills));
	return stats;
}

/*
 * lfpool_high_water_reset - restart the measuring period of `high_water`, `wait_ns_max` and lfpool_advise().
 *
 * The first period begins at creation, and its high_water counts all memory of the pool that was ever touched.  So call
 * the function after the start of the program, or between scenarios.  high_water is never too low.  It may be too high,
 * because objects in caches, in partly filled magazines and in quarantine count as in use (docs/sizing.md has the
 * bound).
 *
 * Progress  Lock-free.
 */
LFPOOL_API void lfpool_high_water_reset(lfpool_t *pool);

/* For lfpool_advise() trips to the depot are rare, and so are steals, if there is at most one in this number of
 * acquires. */
#define LFPOOL_ADVICE_SELDOM 64

/* The capacity and caches that the measured run would have needed.  Append-only. */
typedef struct lfpool_advice_t {
	size_t capacity;       /* for config.capacity: rule 1                                            */
	size_t headroom;       /* to be added to `capacity`, so that no thread has to steal: rule 3      */
	size_t cache_capacity; /* for config.cache_capacity: rule 2                                      */
	char reason[256];      /* in English, one line                                                   */
} lfpool_advice_t;

/*
 * lfpool_advise_sized, lfpool_advise - compute the capacity and caches that the run since lfpool_high_water_reset()
 * would have needed.
 *
 *   1. capacity: `high_water`.  The same run with that capacity never finds the pool empty.  If high_water is the whole
 *      capacity, and calls found the pool empty, one object is added for each such call, but the advice is at most
 *      twice high_water.  Then measure again.
 *   2. cache_capacity: unchanged if trips to the depot were rare (LFPOOL_ADVICE_SELDOM), or fewer than 1000 acquires
 *      were made; 0 in mutex mode.  Otherwise doubled until trips can be expected to be rare, up to 256 KiB of objects
 *      and 256 objects.  (256 are enough: after a trip a cache has 128 objects, and room for 128.)
 *   3. headroom: the capacity of all caches together; 0 with LFPOOL_CACHE_NONE.  With this headroom some object is
 *      always free outside the caches, so no thread steals.  `reason` reports whether frequent steals make the headroom
 *      worth its memory.
 *
 * advice_out  Written whole.
 * bytes       As for lfpool_stats_sized().
 * Returns     LFPOOL_OK; LFPOOL_E_ARGUMENT: advice_out is NULL.
 * Progress    As lfpool_stats().
 */
LFPOOL_API lfpool_status_t lfpool_advise_sized(const lfpool_t *pool, lfpool_advice_t *advice_out, size_t bytes);
LFPOOL_INLINE_ lfpool_status_t lfpool_advise(const lfpool_t *pool, lfpool_advice_t *advice_out)
{
	return lfpool_advise_sized(pool, advice_out, sizeof(*advice_out));
}

/* Formats of lfpool_dump(). */
typedef enum lfpool_format {
	LFPOOL_TEXT = 0, /* for people: to paste into a bug report            */
	LFPOOL_JSON = 1  /* for programs: one object, RFC 8259, on one line   */
} lfpool_format_t;

/*
 * lfpool_dump - describe a pool: configuration, counters, caches, debug modes; with the debug mode `owner` also how
 * many objects each thread holds, and for how long.
 *
 * format    LFPOOL_TEXT or LFPOOL_JSON.
 * text_out  Receives the text, truncated to room - 1 bytes, always terminated; may be NULL if room is 0.
 * room      Bytes at text_out.
 * Returns   Length of the whole text, without the terminating 0: call again with more room if the length is >= room.  0
 *           and an empty text if `format` is invalid.
 * Progress  As lfpool_stats(); a snapshot.  Does not allocate, except for `owner`.
 */
LFPOOL_API size_t lfpool_dump(const lfpool_t *pool, lfpool_format_t format, char *text_out, size_t room);

/*
 * lfpool_check - check every invariant of a pool, and return the first that is violated.
 *
 * pool       No other call on the pool may be in progress; objects may be in use.  (In the child of a fork, calls of
 *            the parent's other threads remain in progress.)
 * where_out  Receives the index of the object (lfpool_index_of()) or the number of the magazine in question, or
 *            SIZE_MAX; may be NULL.
 * Returns    NULL if all hold; otherwise a static string with the invariant's label and text ("A1: ...";
 *            docs/invariants.md lists the labels), or "no memory for the check".
 * Threads    Any, but one at a time.
 * Progress   Allocates one bit per slot with the C library, which may take a lock; may enter the kernel.
 */
LFPOOL_API const char *lfpool_check(const lfpool_t *pool, size_t *where_out);

LFPOOL_C_END_

#endif
