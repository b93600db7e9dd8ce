/* SPDX-License-Identifier: MIT */
/* evict.h - shared by the two files of the scenario `evict`. evict.c acts; evict_judge.c holds the rules. */
#ifndef STRESS_EVICT_H
#define STRESS_EVICT_H

#include "round.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"

#define MINE_MAX 128
#define PINNED_MAX 4
#define PLACES 16

/* The object of a slot. */
struct use {
	_Atomic(unsigned) pins; /* raised after a pin, lowered before the unpin */
	/* Written only while it is pinned. */
	struct held held;
	lfpool_handle_t handle;  /* 0: the slot's object was never acquired by priority          */
	lfpool_handle_t offered; /* equal to the handle: any thread may release it */
	uint64_t begin, end;     /* of its acquire, in evicting.ticks */
	bool published;
	/* By any thread, even late. */
	_Atomic(uint64_t) tried; /* one bit for each priority that it may have had */
	/* By hooks.evict. */
	lfpool_handle_t evicted; /* the last handle                                   */
};

/* An object that this thread acquired and that may be gone by now. */
struct claim {
	struct held held;
	lfpool_handle_t handle; /* 0: none */
	uint64_t settled;       /* the priority set last */
	bool published;
};

/* The call in progress on a thread, for the hook. */
struct call {
	enum { CALL_NONE, CALL_ACQUIRE, CALL_RELEASE_LEAST } kind;
	uint64_t rank;  /* the newcomer's           */
	uint64_t began; /* a stamp of the history  */
	size_t evictions;
	uint64_t last;     /* the highest rank evicted */
	struct use victim; /* at rest: the last one */
};

struct actor {
	struct worker *worker;
	struct claim mine[MINE_MAX];
	struct pinned {
		lfpool_handle_t handle;
		struct use *use;
	} pinned[PINNED_MAX];
	uint32_t pinned_count;
	struct call call;
	uint64_t evicted, refused;
};

struct evicting {
	/* Drawn. */
	bool reversed; /* the greatest priority is evicted first                        */
	bool equal;    /* LFPOOL_EVICT_LESS_OR_EQUAL                                    */
	bool own;      /* only the holder touches an object                             */
	bool judged;   /* handles of ended objects are tried, which orders the threads */
	uint32_t span; /* different priorities; 0: all                                  */
	uint32_t hold; /* objects that a thread remembers                               */
	bool at_rest;
	struct use *uses;
	struct actor *actors; /* threads + 1 */
	lfpool_handle_t decoy;
	_Atomic(uint64_t) ticks;
	_Atomic(size_t) offers; /* offered objects that are still active */
	_Atomic(lfpool_handle_t) shown[PLACES], offered[PLACES], dead[PLACES];
};

extern struct evicting evicting;

static inline uint64_t rank_of(uint64_t priority)
{
	return evicting.reversed ? ~priority : priority;
}

static inline uint64_t bit_of(uint64_t priority)
{
	return UINT64_C(1) << (priority * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

static inline _Atomic(lfpool_handle_t) *place(struct worker *worker, _Atomic(lfpool_handle_t) *places)
{
	return &places[draw(worker, PLACES)];
}

struct use *use_of(const void *object);

/* ---- evict_judge.c ---- */

/* hooks.evict. */
void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
/* The handle's object has ended.  `pinned`: another thread may have it pinned, so an unpin would undo that pin. */
void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned);
/* The object is gone: other threads may try its handle. */
void show_dead(struct actor *actor, lfpool_handle_t handle);
/* Does this thread have it pinned? */
bool is_pinned(const struct actor *actor, lfpool_handle_t handle);
/* An own object that could be evicted before the call. */
struct claim witness_draw(struct actor *actor);
/* The call chose `rank`: wrong if the witness ranks below it and is still there. */
void witness_expect(const struct claim *witness, uint64_t rank, const char *what);
/* At a meeting, with no call in progress; and the release of the least, by evict.c. */
void evict_inspect(struct worker *worker);
size_t release_least(struct actor *actor, size_t count);

#endif
