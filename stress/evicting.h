/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - the scenario `priority`: its threads, and the oracle, a ledger of every acquisition.
 *
 * Idea         Each acquire gets a record, an acquisition, which is given to the pool as the owner.  It says what must
 *              be true of the object from then on: what its priority is, how often it is pinned, how it ended.  A
 *              record is used once between two meetings (meeting.h), so it always names one acquisition.  There are
 *              five files: the ledger (evicting_ledger.c), the calls, each of which goes
 *              past it (evicting_acquire.c, evicting_calls.c), what must be true when no thread is in a call
 *              (evicting_meeting.c), and what the threads do (priority.c).
 * Witness      In half of the rounds no thread but the holder touches an object.  Then an object of the
 *              holder's that is active after a call, and was published and not pinned before it, could be evicted all
 *              the time.  So nothing that comes after it may have been taken, or named as the least, and no newcomer
 *              that it gives way to may have been refused.  In half of these rounds the objects that are out are
 *              counted too (demand.h): nothing is evicted or refused while an object is free.
 * Orders       Contents and stamps are plain memory, and so is what a record says of the object: a thread that pins
 *              or takes it sees them by the library's edges, or ThreadSanitizer reports it.  Handles are handed over by relaxed
 *              loads.  Stronger orders stand where they are needed: from one update to the next, where they come one at
 *              a time; from one writer to the next, where all threads that pin it write; and in half of the rounds, the
 *              judged ones, from the end of an acquisition to the thread that then tries its handle, and from the
 *              holder of a new object to the thread that publishes or releases it in its place.
 */
#ifndef STRESS_EVICTING_H
#define STRESS_EVICTING_H

#include "meeting.h"
#include "round.h"

#include "lfpool/priority.h"

#define PINNED_MAX 4
#define MINE_MAX 256
#define DEAD_MAX 32
#define BOARD_PLACES 256
/* What a handle is made of (lfpool/priority.h). */
#define SLOT_BITS 20

enum fate { LIVE, EVICTED, RELEASED };

/* Which threads write to an object that is published? */
enum contents {
	WRITTEN_ONCE,      /* none: a thread that pins it reads          */
	WRITTEN_BY_HOLDER, /* it pins it for that; no other thread reads */
	WRITTEN_BY_ALL,    /* all that pin it, one after the other       */
	CONTENTS
};

struct actor;

struct acquisition {
	/* Written by the holder, while the object is new. */
	unsigned char *object;
	lfpool_handle_t name; /* 0: the record is not in use                                       */
	/* Always. */
	struct actor *holder;
	/* Any thread's. */
	_Atomic(lfpool_handle_t) handle; /* the same; 0: no thread but the holder knows it yet             */
	_Atomic(unsigned) fate;
	_Atomic(unsigned) published; /* how often                                                   */
	_Atomic(unsigned) pins;      /* raised after a pin, lowered before the unpin                */
	_Atomic(unsigned) releasing; /* releases that were begun, and were not refused              */
	_Atomic(unsigned) updating;  /* 1: a thread does; where updates come one at a time          */
	_Atomic(unsigned) writing;   /* 1: a thread does (WRITTEN_BY_ALL)                           */
	_Atomic(uint64_t) next;      /* the priority that is being set, or was                      */
	_Atomic(uint64_t) settled;   /* the last that was set; where updates come one at a time     */
	_Atomic(uint64_t) tried;     /* a bit for each priority it may ever have had                */
};

/* What is known of an object, whichever thread has it. */
struct slot {
	_Atomic(uintptr_t) object;          /* 0: never seen                                   */
	_Atomic(struct acquisition *) last; /* the last one of it                              */
	uint64_t stamp;                     /* what its contents are; they and this go together */
};

/* Where an object stands: the least goes first. */
struct order {
	uint64_t rank, age;
};

static inline bool order_before(struct order a, struct order b)
{
	return a.rank != b.rank ? a.rank < b.rank : a.age < b.age;
}

enum call_kind { CALL_NONE, CALL_ACQUIRE, CALL_RELEASE_MIN };

/* The call that a thread is in, for on_evict. */
struct call {
	enum call_kind kind;
	uint64_t rank; /* the newcomer's                              */
	size_t evictions;
	struct order last;          /* the victim that came last in the order      */
	struct acquisition **taken; /* the victims, one after the other; may be NULL */
};

struct pinned {
	struct acquisition *of;
	bool pretended; /* FAULT_LOST_PIN */
};

/* A thread of the scenario; the keeper is one. */
struct actor {
	struct worker *worker;
	struct acquisition *records; /* `records` of the round          */
	uint32_t *unused;            /* which of them                   */
	uint32_t unused_count;
	struct acquisition *mine[MINE_MAX]; /* as far as it remembers   */
	uint32_t mine_count;
	struct pinned pinned[PINNED_MAX];
	uint32_t pinned_count;
	struct acquisition *fresh; /* new, to be published later; or NULL */
	lfpool_handle_t dead[DEAD_MAX];
	lfpool_handle_t *seen; /* by slot: in the walk that is under way */
	struct call call;
	uint64_t stamps, age; /* given out; of its last acquisition      */
	uint64_t acquired, evicted, refused;
};

/* A round of the scenario. */
extern struct evicting {
	struct meeting meeting;
	lfpool_priority_t *pool;
	size_t capacity;
	/* Drawn. */
	bool reversed; /* the greatest goes first                    */
	bool evict_equal;
	bool at_rest;    /* a meeting is on: the hook leaves the pool alone */
	bool own;        /* no thread but the holder touches an object    */
	bool judged;     /* handles that others have ended are tried; others may publish and release what is new */
	bool one_update; /* at a time, of each object                  */
	enum contents contents;
	uint32_t span; /* so many different priorities; 0: all       */
	uint32_t hold; /* so many objects a thread wants             */
	uint32_t calm; /* so many steps between two meetings         */
	struct demand demand;
	/* The ledger. */
	uint32_t records; /* of each actor */
	struct acquisition *acquisitions;
	uint32_t *unused;
	lfpool_handle_t *seen;
	struct slot *slots;
	struct actor *actors; /* threads + 1 */
	_Atomic(struct acquisition *) board[BOARD_PLACES];
	struct acquisition *decoy; /* FAULT_DOUBLE_GRANT: the keeper's */
} evicting;

/* ---- Ledger ---- */

static inline uint64_t rank_of(uint64_t priority)
{
	return evicting.reversed ? ~priority : priority;
}

static inline size_t slot_of(lfpool_handle_t handle)
{
	return (size_t)(handle & ((UINT64_C(1) << SLOT_BITS) - 1));
}

static inline uint64_t age_of(lfpool_handle_t handle)
{
	return handle >> SLOT_BITS;
}

static inline unsigned pins_of(const struct acquisition *a)
{
	/* relaxed: exact where it matters, by the edges of the library or of a meeting. */
	return atomic_load_explicit(&a->pins, memory_order_relaxed);
}

static inline enum fate fate_of(const struct acquisition *a)
{
	/* relaxed: to know what is worth trying. */
	return (enum fate)atomic_load_explicit(&a->fate, memory_order_relaxed);
}

/* Has it ended for certain, so that no call of ours may get at it? */
static inline enum fate fate_judged(const struct acquisition *a)
{
	/* acquire: all that came before the end.  It orders the threads, and could hide an edge that is missing: only in
	 * some rounds. */
	return evicting.judged ? (enum fate)atomic_load_explicit(&a->fate, memory_order_acquire) : LIVE;
}

/* Does any thread but the holder know of it? */
static inline bool is_shown(const struct acquisition *a)
{
	/* relaxed: see Orders. */
	return atomic_load_explicit(&a->handle, memory_order_relaxed);
}

/* For a thread that may be the first to tell the pool of what the holder has written; 0: no other thread may know it. */
static inline lfpool_handle_t handle_given(const struct acquisition *a)
{
	/* acquire, where it may be new. */
	return evicting.judged ? atomic_load_explicit(&a->handle, memory_order_acquire)
			       : atomic_load_explicit(&a->handle, memory_order_relaxed);
}

/* A record for an acquire of the caller's; NULL: there is none before the next meeting.  And back, if nothing came of
 * it. */
struct acquisition *acquisition_begin(struct actor *actor, uint64_t priority);
void acquisition_drop(struct actor *actor, struct acquisition *a);
/* The pool gave the actor this: no other may have it.  False (reported): it must not be touched. */
bool acquisition_granted(struct actor *actor, struct acquisition *a, void *object, lfpool_handle_t handle);
/* It has ended; reported if it had before. */
void acquisition_end(struct acquisition *a, enum fate fate);
/* At a meeting: those that have ended may be used again. */
void acquisitions_reclaim(struct actor *actor);

/* Is this its last priority, the object having been taken?  May it have had it at some time? */
bool priority_is_last(const struct acquisition *a, uint64_t priority);
bool priority_was_tried(const struct acquisition *a, uint64_t priority);
void priority_try(struct acquisition *a, uint64_t priority);

/* The caller has the object, or no thread does. */
void contents_check(const struct acquisition *a, const char *when);
void contents_write(struct actor *actor, struct acquisition *a);

/* The handle has ended, so no call may find anything by it. */
void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned);

/* From here on this thread is that actor. */
void actor_enter(struct actor *actor);
/* config.on_evict. */
void evicting_on_evict(void *context, const lfpool_evicted_t *evicted);

/* ---- Calls ---- */

struct witness {
	struct acquisition *of; /* NULL: not known */
	struct order order;
};

/* An own object that goes before most others of ours. */
struct witness witness_draw(struct actor *actor);
/* What came last in the order of all that was taken or named, did it go before the witness? */
void witness_expect(const struct witness *witness, struct order last, const char *what);

uint64_t draw_priority(struct actor *actor);

void call_acquire(struct actor *actor);
/* An own one that is new; any. */
void call_publish(struct actor *actor, struct acquisition *a);
void call_publish_again(struct acquisition *a);
void call_pin(struct actor *actor, struct acquisition *a);
void call_unpin(struct actor *actor, uint32_t which);
void call_update(struct actor *actor, struct acquisition *a);
void call_release(struct actor *actor, struct acquisition *a);
void call_release_min(struct actor *actor, size_t count);
void call_peek_min(struct actor *actor);
void call_get(struct actor *actor, struct acquisition *a);
void call_for_each(struct actor *actor);

/* ---- Meetings ---- */

/* No thread is in a call. */
void evicting_inspect(struct actor *actor, bool drained);

#endif
