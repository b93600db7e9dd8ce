/* SPDX-License-Identifier: MIT */
/*
 * history_check.h - can the answers in a history have come from a pool that keeps its promises?
 *
 * Idea         A call took effect at some unknown moment in its interval [begin, end]. A fact is definite if it holds
 *              wherever that moment was.  The checker reports only definite errors.
 *
 * Ownership    A hold is an acquire A and the release R that ends it.  The object is definitely held from A.end to
 *              R.begin.  Two holds of one object must not definitely overlap: sorted by A.end, each R.begin <= the
 *              next A.end.  This is exact: if it holds, effects at A.end and R.begin are a legal history of the
 *              object.
 *
 * NULL         The promise: NULL only if at some moment during the call every object was in use, or held by the call
 *              that was acquiring or releasing it.  An object can be so at a moment t only if some hold of it has
 *              A.begin <= t <= R.end: before A.begin its acquire had not begun, after R.end its release had returned
 *              and all its stores were visible.  Otherwise it is definitely free; so is an object that no thread ever
 *              acquired.  A NULL in [b, e] is wrong if and only if at every t in [b, e] at least one object, not
 *              always the same, is definitely free.
 *              No slack is needed for objects that move.  The pool moves free objects between caches and depot, but
 *              that does not excuse a NULL (C1 of docs/design.md), and a call holds no object except the one that it
 *              returns or was given.  A bulk call may hold all its objects during the whole call: they are logged
 *              with its interval.
 *              This is exact for the promise: each NULL may choose its own moment, and one object's state at a moment
 *              does not restrict another object's.
 *              The malloc backend's objects have no fixed addresses, so only their number counts: a moment t excuses
 *              a NULL if at least `capacity` holds have A.begin <= t <= R.end.
 *              Stamps are real times rounded down.  If the promise was kept at the real moment m, it is also kept at
 *              t = floor(m), because rounding down preserves <=. So whole ticks and closed intervals are sound, and
 *              equal stamps blame no call.
 *
 * Conservation A release ends an unended hold of its object, and begins after the hold's acquire has returned.  There
 *              are never more different objects than the capacity.  At the end every hold has been ended.  A lost
 *              object shows when the keeper empties the pool: it is then definitely free for ever, and the keeper's
 *              NULL is wrong.
 *
 * Victims      The promise: no object that could be evicted during the whole call had a lower priority than the
 *              victim.  An object is definitely evictable, with this rank, from STEADY.end to the begin of its next
 *              CHANGE, or of the call that evicted it.  A victim of rank r in [b, e] is wrong if some object of a rank
 *              below r was definitely evictable from before b until after e.  A NULL is judged in the same way; its r
 *              is the lowest rank that does not give way to the newcomer.  An evicting pool's history has no
 *              releases, and nothing else is checked.
 *
 * Cost         O(n log n) for n records: sort the holds by object; sweep over their ends in the order of time to find
 *              the times at which all objects are possibly in use; a NULL's interval must include such a time.
 */
#ifndef STRESS_HISTORY_CHECK_H
#define STRESS_HISTORY_CHECK_H

#include "history.h"

enum history_fault {
	HISTORY_FAULT_NONE,
	HISTORY_FAULT_OVERLAP, /* two holds of one object definitely overlap                   */
	HISTORY_FAULT_RELEASE, /* a release that ends no unended hold of its object, or begins too early */
	HISTORY_FAULT_NULL,    /* NULL though at every moment some object was definitely free   */
	HISTORY_FAULT_OBJECTS, /* more different objects than the capacity */
	HISTORY_FAULT_HELD,    /* at the end an object is still held */
	HISTORY_FAULT_VICTIM,  /* a victim, or NULL, though an object of lower rank could be evicted */
	HISTORY_FAULTS
};

struct history_terms {
	size_t capacity; /* objects                                                             */
	bool fixed;      /* each object has one address for ever */
	bool ended;      /* the round is over: no object may be held */
	bool evicting;   /* the records are of an evicting pool */
	uint32_t keeper; /* the number of the keeper's log, for messages                        */
	uint64_t origin; /* the stamp from which messages count                                 */
};

/* Called for each fault; `text` describes the fault and its operations, in several lines. */
typedef void history_found(void *context, enum history_fault fault, const char *text);

struct history_counts {
	size_t operations, nulls;
	size_t faults[HISTORY_FAULTS];
};

/* Checks the history in `logs`. Only the first `messages` faults get a message; all are counted. */
struct history_counts history_check(const struct history_log *logs, size_t log_count, const struct history_terms *terms,
				    history_found *found, void *context, size_t messages);

#endif
