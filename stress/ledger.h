/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - the oracle: which thread holds which object, kept where the library cannot reach.
 *
 * Idea         A thread that acquires an object writes a token, its thread and a running number, over the whole
 *              object (the stamp) and into a table outside it (the mark). The mark says "held" or "free"; the stamp
 *              says what the object must contain:
 *                - granted while the mark says held: two holders at once;
 *                - at acquire, contents that are not the last holder's stamp: touched while free, or the release was
 *                  not visible;
 *                - while held, contents that are not the holder's stamp: another thread writes, or two objects overlap;
 *                - in a round that trims, contents of a free object that are neither the stamp nor, page by page, zero;
 *                - more marks than the capacity: objects that do not exist.
 * Orders       Stamps are plain memory, so ThreadSanitizer demands that the library orders the release before the
 *              acquire.  Marks are relaxed atomics, so they add no order.  They are still exact: the mark is cleared
 *              before the release and set after the acquire, and the library promises an edge from release to acquire.
 * Table        Open addressing by the object's address, filled and never emptied.  The malloc backend has no fixed
 *              addresses: it gets stamps, but no marks.
 */
#ifndef STRESS_LEDGER_H
#define STRESS_LEDGER_H

#include "history.h"
#include "relaxed.h"

#include "lfpool/lfpool.h"

/* An object a thread holds.  Handing this struct over, properly synchronised, hands the object over. */
struct held {
	unsigned char *object;   /* NULL = none                               */
	uint64_t token;          /* its stamp */
	_Atomic(uint64_t) *mark; /* in the table; NULL: the round has no marks */
	struct hold hold;        /* its acquire in the history                */
};

struct ledger_entry {
	_Atomic(uintptr_t) object; /* 0 = unused; written once                                               */
	_Atomic(uint64_t) mark;    /* the last token (0 = never held); its lowest bit is set while held       */
};

struct ledger {
	size_t object_size; /* bytes                                                         */
	size_t alignment;   /* bytes                                                         */
	size_t capacity;    /* objects                                                       */
	bool kept;          /* free objects keep their contents (not with LFPOOL_ZERO)        */
	bool zeroed;        /* LFPOOL_ZERO                                                   */
	bool trimmed;       /* whole pages of free objects may have become zero */
	size_t page_bytes;
	bool off; /* --history-only: nothing is written, every check passes */
	struct ledger_entry *entries;
	size_t entry_count; /* a power of two, at least twice the capacity; 0 = no marks     */
	_Atomic(size_t) distinct;
};

void ledger_open(const lfpool_config_t *config);

/* The token of a thread's sequence-th acquisition.  Even and not 0. */
static inline uint64_t ledger_token(unsigned thread, uint64_t sequence)
{
	return (uint64_t)(thread + 1) << 48 | (sequence << 1 & ((UINT64_C(1) << 48) - 1));
}

/* Writes a stamp over all of an object. */
void stamp_write(unsigned char *object, size_t size, uint64_t token);

/* Unless their comments differ, the bool functions below return true if all is well, and else report a violation. */

/* Does the object have these contents?  `when` completes "damaged ...". */
bool ledger_stamped(const unsigned char *object, uint64_t token, const char *when);

/* The object was just acquired: marks and stamps it.  On false it must not be touched. */
bool ledger_take(void *object, uint64_t token, struct held *held_out);
/* Does this thread still hold the object, with its stamp? */
bool ledger_check(const struct held *held, const char *when);
/* Returns the token and mark of the holder of an object that this thread has found. */
struct held ledger_found(void *object);
/* For a reader that does not hold the object.  `seen` describes the object when the read began, when it was in use:
 * since then its holder may have retired it, but no thread may have acquired it. */
bool ledger_look(const struct held *seen);
/* Has the object been marked as free, or acquired, since `seen`?  Without marks: false. */
bool ledger_left(const struct held *seen);
/* The object came from another thread: checks it and stamps it again. */
bool ledger_take_over(struct held *held, uint64_t token);
/* The object is about to be released: checks it and marks it free. */
bool ledger_leave(struct held *held);
/* As ledger_leave(), for an object that may have been evicted: checks no contents, reports nothing.  False: the object
 * is not marked as held under this token.  Without marks: true. */
bool ledger_end(const struct held *held);
/* The number of objects that are marked as held. */
size_t ledger_held(void);

#endif
