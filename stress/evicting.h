/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - the scenario `priority`: its threads, and a ledger of every acquisition.
 *
 * Idea         Each acquire gets a record, an acquisition, which is given to the pool as the owner.  It says what must
 *              be true of the object from then on: what its priority is, how often it is pinned, how it ended.  A
 *              record is used once between two meetings, so it always names one acquisition.  There are
 *              three files: the ledger (evicting_ledger.c), the calls, each of which goes past it (evicting_calls.c), and
 *              what the threads do, and what must be true when no thread is in a call (priority.c).
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

#include "round.h"

#include "lfpool/priority.h"

#define PINNED_MAX 4
#define MINE_MAX 256
#define DEAD_MAX 32
#define CAPACITY_MAX 300
#define RECORDS 1024 /* of each thread */
/* What a handle is made of (lfpool/priority.h). */
#define SLOT_BITS 20

enum fate { LIVE, EVICTED, RELEASED };

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
	_Atomic(unsigned) writing;   /* 1: a thread does (all_write)                                */
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

/* The call that a thread is in, for on_evict. */
struct call {
	enum { CALL_NONE, CALL_ACQUIRE, CALL_RELEASE_MIN } kind;
	uint64_t rank; /* the newcomer's                              */
	size_t evictions;
	struct order last; /* the victim that came last in the order      */
};

/* A thread of the scenario; the keeper is one. */
struct actor {
	struct worker *worker;
	struct acquisition records[RECORDS];
	struct acquisition *unused[RECORDS]; /* of them                 */
	uint32_t unused_count;
	_Atomic(struct acquisition *) mine[MINE_MAX]; /* some; others look there as well */
	struct acquisition *pinned[PINNED_MAX];
	uint32_t pinned_count;
	lfpool_handle_t dead[DEAD_MAX];
	lfpool_handle_t seen[CAPACITY_MAX]; /* by slot: in the walk that is under way */
	struct call call;
	uint64_t age; /* of its last acquisition */
	uint64_t acquired, evicted, refused;
};

/* A round of the scenario. */
extern struct evicting {
	lfpool_priority_t *pool;
	/* Drawn. */
	bool reversed; /* the greatest goes first                    */
	bool evict_equal;
	bool at_rest;    /* a meeting is on: the hook leaves the pool alone */
	bool own;        /* no thread but the holder touches an object    */
	bool judged;     /* handles that others have ended are tried; others may publish and release what is new */
	bool one_update; /* at a time, of each object                  */
	bool all_write;  /* all that pin an object, one after the other; else the holder, once */
	uint32_t span;   /* so many different priorities; 0: all       */
	uint32_t hold;   /* so many objects a thread remembers         */
	/* The ledger. */
	struct slot slots[CAPACITY_MAX];
	struct actor *actors;      /* threads + 1 */
	struct acquisition *decoy; /* FAULT_DOUBLE_GRANT: the keeper's */
} evicting;

/* The calling thread's. */
static inline struct actor *actor_of(const struct worker *worker)
{
	return &evicting.actors[worker->index];
}

/* One that this thread remembers; or NULL. */
static inline struct acquisition *remembered(const struct actor *actor, struct worker *by)
{
	/* relaxed: see Orders. */
	return load_relaxed(&actor->mine[draw(by, evicting.hold)]);
}

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

static inline struct order order_of(uint64_t priority, lfpool_handle_t handle)
{
	return (struct order){rank_of(priority), age_of(handle)};
}

/* relaxed: exact where it matters, by the edges of the library or of a meeting. */
static inline unsigned pins_of(const struct acquisition *a)
{
	return load_relaxed(&a->pins);
}

/* relaxed: to know what is worth trying. */
static inline enum fate fate_of(const struct acquisition *a)
{
	return (enum fate)load_relaxed(&a->fate);
}

/* Has it ended for certain, so that no call of ours may get at it? */
static inline enum fate fate_judged(const struct acquisition *a)
{
	/* acquire: all that came before the end.  It orders the threads, and could hide an edge that is missing: only in
	 * some rounds. */
	return evicting.judged ? (enum fate)atomic_load_explicit(&a->fate, memory_order_acquire) : LIVE;
}

/* For a thread that may be the first to tell the pool of what the holder has written; 0: no other thread may know it. */
static inline lfpool_handle_t handle_given(const struct acquisition *a)
{
	/* acquire, where it may be new. */
	return evicting.judged ? atomic_load_explicit(&a->handle, memory_order_acquire) : load_relaxed(&a->handle);
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

/* config.on_evict. */
void evicting_on_evict(void *context, const lfpool_evicted_t *evicted);

/* ---- Calls ---- */

void call_acquire(struct actor *actor);
void call_publish(struct actor *actor, struct acquisition *a);
void call_pin(struct actor *actor, struct acquisition *a);
void call_unpin(struct actor *actor, uint32_t which);
void call_update(struct actor *actor, struct acquisition *a);
void call_release(struct actor *actor, struct acquisition *a);
/* Says how many there were. */
size_t call_release_min(struct actor *actor, size_t count);
void call_peek_min(struct actor *actor);
void call_get(struct actor *actor, struct acquisition *a);
/* Says how many were visited. */
size_t call_for_each(struct actor *actor);

#endif
