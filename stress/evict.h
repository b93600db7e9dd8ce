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

/* The object of one slot. */
struct use {
	_Atomic(unsigned) pins; /* raised after each pin, lowered before its unpin */
	/* These six are written only by a thread that has the object pinned. */
	struct held held;
	lfpool_handle_t handle;  /* 0: no object of the slot was acquired by priority yet */
	lfpool_handle_t offered; /* if equal to `handle`, any thread may release the object */
	uint64_t begin, end;     /* evicting.ticks before and after the object's acquire */
	bool published;
	/* Written by any thread, even after the object has ended. */
	_Atomic(uint64_t) tried; /* bit_of() each priority that the object may have had */
	/* Written by hooks.evict. */
	lfpool_handle_t evicted; /* handle of the last victim in this slot */
};

/* An object that this thread acquired and that may be gone by now. */
struct claim {
	struct held held;
	lfpool_handle_t handle; /* 0: none */
	uint64_t settled;       /* the priority that this thread set last */
	bool published;
};

/* A thread's call in progress, for hooks.evict. */
struct call {
	enum { CALL_NONE, CALL_ACQUIRE, CALL_RELEASE_LEAST } kind;
	uint64_t rank;  /* the newcomer's rank */
	uint64_t began; /* a stamp of the history */
	size_t evictions;
	uint64_t last;     /* the highest rank evicted so far */
	struct use victim; /* at rest: the last victim */
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
	/* Drawn for the round, up to `hold`. */
	bool reversed; /* the greatest priority is evicted first                        */
	bool equal;    /* LFPOOL_EVICT_LESS_OR_EQUAL                                    */
	bool own;      /* only the holder touches an object                             */
	bool judged;   /* threads share ended handles to try them, which orders the threads */
	uint32_t span; /* number of different priorities; 0: all 64-bit numbers */
	uint32_t hold; /* claims that a thread remembers */
	bool at_rest;  /* in evict_inspect() */
	struct use *uses;
	struct actor *actors; /* the threads', then the keeper's */
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

/* The pool's hooks.evict. */
void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority);
/* The handle's object has ended.  `pinned`: another thread may have it pinned, so an unpin would undo that pin. */
void expect_stale(struct actor *actor, lfpool_handle_t handle, bool pinned);
/* The object is gone: other threads may try its handle. */
void show_dead(struct actor *actor, lfpool_handle_t handle);
/* Does this thread have the handle's object pinned? */
bool is_pinned(const struct actor *actor, lfpool_handle_t handle);
/* Before a call: one of this thread's claims whose object can be evicted; handle 0: none found. */
struct claim witness_draw(struct actor *actor);
/* After a call that evicted or refused `rank`: wrong if the witness ranks below `rank` and is still active. */
void witness_expect(const struct claim *witness, uint64_t rank, const char *what);
/* At a meeting, with no call in progress: checks the pool. */
void evict_inspect(struct worker *worker);
/* Of evict.c: lfpool_release_least(), checked. */
size_t release_least(struct actor *actor, size_t count);

#endif
