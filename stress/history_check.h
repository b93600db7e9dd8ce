/* SPDX-License-Identifier: MIT */
/*
 * history_check.h - can these answers have come from a pool that keeps its promises?
 *
 * Idea         A call took effect somewhere in its interval [begin, end], at a moment that is not known.  What holds
 *              wherever it was is definite, and only what is definitely wrong is reported.
 *
 * Ownership    A hold is an acquire A and the release R that ends it.  The object is definitely held from A.end to
 *              R.begin.  Two holds of one object must not definitely overlap: sorted by A.end, each R.begin <= the next
 *              A.end.  This is exact: if it holds, effects at A.end and R.begin are a legal history of the object.
 *
 * NULL         The promise: NULL only if at some moment during the call every object was in use, or in the hands of the
 *              very call that was acquiring or releasing it.  At the moment t an object can be that only if some hold
 *              of it has A.begin <= t <= R.end: before A.begin its acquire had not begun, after R.end its release had
 *              returned and all its stores were visible.  Otherwise it is definitely free; so is an object that no
 *              thread ever acquired.  A NULL in [b, e] is wrong if and only if at every t in [b, e] at least one object
 *              is definitely free; it need not be the same one all the time.
 *                No slack is needed for objects that are "on their way".  The pool moves free objects between caches
 *              and depot, but the promise does not excuse a NULL because of that (C1 of docs/design.md), and no call
 *              has an object in its hands but the one that it returns or was given.  A bulk call may have all the
 *              objects in its hands that it acquires or releases, during the whole call: they are all logged with its
 *              interval.
 *                This is exact for the promise as it stands: each NULL is judged by moments of its own, and at any one
 *              moment what one object was doing says nothing about another.
 *                Objects that are counted, not known by their addresses (the malloc backend): t excuses a NULL if as
 *              many holds as there are objects have A.begin <= t <= R.end.
 *                Stamps are real times rounded down.  If the promise was kept at the real moment m, then it reads as
 *              kept at t = floor(m), because rounding down preserves <=.  So whole ticks and closed intervals are
 *              sound, and equal stamps accuse no call.
 *
 * Conservation A release ends a hold of that very object that no thread ended before, and begins after its acquire has
 *              returned; never more different objects than the capacity; in the end every hold has been ended.  That
 *              nothing was lost shows when the keeper empties the pool: an object that does not come is definitely free
 *              for ever, and the keeper's NULL is wrong.
 *
 * Victims      The promise: no object that could be evicted during the whole call had a lower priority than the victim.
 *              An object could be evicted for certain, with this rank, from STEADY.end to the begin of its next CHANGE,
 *              or of the call that evicted it.  A victim of rank r in [b, e] is wrong if for some object such a time
 *              begins before b, ends after e, and has a rank below r.  A NULL is wrong in the same way; its r is the
 *              lowest rank that does not give way to the newcomer.  Such a history has no releases, and only this is
 *              checked.
 *
 * Cost         O(n log n) for n records: sort the holds by object; sweep over their ends in the order of time to find
 *              the times at which all objects are possibly in use; a NULL must meet one of these.
 */
#ifndef STRESS_HISTORY_CHECK_H
#define STRESS_HISTORY_CHECK_H

#include "history.h"

enum history_fault {
	HISTORY_FAULT_NONE,
	HISTORY_FAULT_OVERLAP, /* two holds of one object definitely overlap                   */
	HISTORY_FAULT_RELEASE, /* a release of what was not held, or not of that hold          */
	HISTORY_FAULT_NULL,    /* NULL though at every moment some object was definitely free   */
	HISTORY_FAULT_OBJECTS, /* more objects than there can be                               */
	HISTORY_FAULT_HELD,    /* in the end an object is still held                           */
	HISTORY_FAULT_VICTIM,  /* evicted, or NULL, though one of lower rank could be evicted   */
	HISTORY_FAULTS
};

struct history_terms {
	size_t capacity; /* objects                                                             */
	bool fixed;      /* an object is known by its address, which it has for ever            */
	bool ended;      /* the round is over: nothing may be held any more                     */
	bool evicting;   /* its records are of a pool that evicts                               */
	uint32_t keeper; /* the number of the keeper's log, for messages                        */
	uint64_t origin; /* the stamp from which messages count                                 */
};

/* Told of each fault; `text` says what and names the operations, in several lines. */
typedef void history_found(void *context, enum history_fault fault, const char *text);

struct history_counts {
	size_t operations, nulls;
	size_t faults[HISTORY_FAULTS];
};

/* Checks the history in `logs`.  The messages are made for the first `messages` faults only; all are counted. */
struct history_counts history_check(const struct history_log *logs, size_t log_count, const struct history_terms *terms,
				    history_found *found, void *context, size_t messages);

#endif
