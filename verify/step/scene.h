/* SPDX-License-Identifier: MIT */
/*
 * scene.h - one operation of the library, and the pool it is to meet.
 *
 * Idea         A case is a pool's configuration, a preparation that brings the pool and the victim's cache into one
 *              exact state, and the operation, which stands between STEP_BEGIN and STEP_END.  A scene is one fresh
 *              pool prepared for a case.  Who holds what is on record in the scene, so that it is known what
 *              must be obtainable while the victim stands.
 * Proof that   `moves` of a case says which of the pool's words the operation changes when nothing disturbs it.  It is
 * it is so     compared before anything is stopped: a case that does not go the way its name says is a failed test.
 */
#ifndef LFPOOL_VERIFY_SCENE_H
#define LFPOOL_VERIFY_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lfpool/lfpool.h"
#include "lfpool/set.h"
#include "lfpool/wait.h"

#define OBJECTS_MAX 72
#define OBJECT_BYTES 64

/* An object that was acquired by priority (evictions.c). */
struct ranked {
	lfpool_handle_t handle;
	void *object;
	uint64_t priority;
	bool evicted;
};

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *mine;  /* the victim's explicit cache, or NULL: it uses its thread's own       */
	lfpool_cache_t *other; /* another cache: the driver's, once the victim stands                  */
	/* Held by the victim's caller, whatever happens. */
	void *held[OBJECTS_MAX];
	size_t held_count;
	/* What the operation is to release. */
	void *given[OBJECTS_MAX];
	size_t given_count;
	/* What the operation acquires, NULL before. */
	void *got[OBJECTS_MAX];
	size_t wanted;
	/* How many releases the operation reported as done. */
	size_t released;
	/* What the operation found: objects that it visited, or a look-up's one answer. */
	void *found[OBJECTS_MAX];
	size_t found_count;
	/* Held by the others, who release them once the victim stands. */
	void *lent[OBJECTS_MAX];
	size_t lent_count;
	bool caller_waits;      /* another thread sleeps in lfpool_acquire_wait(), and gets got[0]        */
	lfpool_ticket_t ticket; /* of a continuation that gets got[0]                                     */
	unsigned called;        /* how often it was called                                                */
	lfpool_batch_t *batch;  /* that is with a scheme which tells                                      */
	bool cancelled;         /* it was                                                                 */
	bool queued;            /* it waited before the operation began                                   */
	size_t capacity_at_end; /* when all has come back; 0: whatever it is then                         */
	lfpool_handle_t handle; /* of the first object held, or given                                     */
	lfpool_set_t *set;      /* that the pool is a class of, or NULL                                   */
	lfpool_t *beside;       /* other pools, or NULL: one that is there meanwhile ...                   */
	lfpool_t *made;         /* ... and one that the operation makes or destroys                        */
	/* A pool that evicts. */
	struct ranked ranked[2 * OBJECTS_MAX]; /* published                                        */
	size_t ranked_count;
	struct ranked evicted[OBJECTS_MAX]; /* in this order                                       */
	size_t evicted_count;
	uint64_t priority;          /* the operation's                                             */
	lfpool_handle_t got_handle; /* of got[0], which is pinned                                  */
	bool holds;                 /* the last one in `held` is the handle's object, pinned           */
	bool refilled;              /* the others have published all objects anew                  */
	const char *wrong;          /* with what the operation answered; NULL: nothing                         */
};

/* Words of the pool that an operation may change. */
enum moves {
	MOVES_NOTHING = 0,
	MOVES_CARVED = 1,
	MOVES_FULL = 2,
	MOVES_PARTIAL = 4,
	MOVES_EMPTY = 8,
	MOVES_CURRENT = 16,
	MOVES_OWN = 32,     /* a stack of a cache                                           */
	MOVES_TOP = 64,     /* an object was taken by CAS                                   */
	MOVES_CACHES = 128, /* a cache was claimed, born or given up                        */
	MOVES_COLD = 256,   /* how many objects there are, or how many of them are cold     */
	MOVES_QUEUE = 512   /* who waits, or what is owed                                   */
};

/* What is different with an operation. */
enum special {
	SPECIAL_NOTHING = 0,
	IN_PROGRAM = 1,   /* it spends its time in libc, where it is not stopped: text, files, the clock            */
	LOCKS = 2,        /* it may stand in the registry's mutex: no fork, no exit of a thread, until it goes on   */
	AMONG_POOLS = 4,  /* the others create and destroy pools meanwhile                                          */
	RELEASES_ALL = 8, /* whatever is held                                                                 */
	ASKED = 16,       /* the pool has a scheme that is asked, and says yes; the others retire as well           */
	EVICTS = 64,      /* the pool evicts                                                                  */
	TOLD = 32,        /* it has one that reclaims: the operation does, once the others are through              */
	IN_SET = 128,     /* the pool is a class of a set                                                          */
	CLOSES = 256      /* the operation closes the pool                                                         */
};

struct operation {
	const char *name;
	size_t object_bytes;              /* config.object_size; 0 = OBJECT_BYTES                */
	size_t capacity, cache_capacity;  /* config                                              */
	size_t max_capacity, growth_step; /* config                                             */
	uint32_t flags;                   /* config                                              */
	const lfpool_hooks_t *hooks;      /* config; NULL: none                                  */
	const char *debug;                /* config                                              */
	unsigned special;
	const char *setup; /* setup.h */
	void (*operate)(struct scene *s);
	unsigned moves;
	unsigned in_hand; /* objects that the operation itself may hold, out of sight */
};

/* ---- The tables ---- */

#define EACH 4 /* slots per magazine, for cache_capacity 8 */

/* The middle of a table's row: capacity, cache_capacity, flags, hooks, debug, special. */
#define POOL(capacity, cache_capacity, flags, hooks, debug, special) \
	0, capacity, cache_capacity, 0, 0, flags, hooks, debug, special
/* One that can grow to `most`, by itself if there is a `step`. */
#define GROWING(capacity, most, step) 0, capacity, 2 * EACH, most, step, 0, NULL, NULL, SPECIAL_NOTHING
#define SMALL POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define USUAL POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define WITH(flags) POOL(4 * EACH, 2 * EACH, flags, NULL, NULL, SPECIAL_NOTHING)

#define CHANGED (MOVES_CURRENT | MOVES_OWN)

/* Each ends with an operation without a name. */
extern const struct operation operations[], object_operations[], pool_operations[], resize_operations[],
	wait_operations[], retire_operations[], evict_operations[];
/* All of them; NULL beyond the last. */
const struct operation *operation_at(size_t index);

/* The operation's answer does not fit. */
static inline void wrong_if(struct scene *s, bool wrong, const char *what)
{
	if (wrong)
		s->wrong = what;
}

/* ---- Scenes ---- */

/*
 * Brings the pool into one exact state, which a text says: "mine +8 -8 +4 want 1".  Ends the program when it has no
 * such word.
 *
 *   mine, other, own   from here on through that cache of the scene, or through the thread's own; that at first
 *   +N, -N, all        acquires so many, for the operation's caller to hold; releases the last; acquires all there are
 *   want N             so many the operation is to acquire
 *   hand N, older      the last N of what is held, or the first one, is what the operation is to release
 *   lend N             the last N are the others' to hold, who release them once the victim stands
 *   retire N, bundle N  retires the last N, one by one or at once
 *   handle             of the first object to be released, or else held
 *   ask                acquires through `mine`, in vain
 *   renew, spread N    `other` is given up for a new one; N times, each with one object released
 *   caches N, leave    N more caches are made; `mine` is given up
 *   beside, made       there is one more pool; and one, which the operation may destroy; `active`: with an object in
 *   use grow N, shrink N   lfpool_grow(), lfpool_shrink();   limit   the maximum is the capacity;   trim N   N KiB get
 *   cold crowd N            N places of the queue are taken, so that those who come next are behind the first lot
 *   (cells.h) async, call        a continuation waits; a call sleeps rank N, fill N     publishes an object of priority
 *   N; N objects, each with another priority about N, to N      the operation is about the N-th of them; it has
 *   priority N pin, hold, gone N  pins that object, for the operation or for its caller; the N-th is released end N
 *            when all has come back the capacity is N less than now
 */
void setup(struct scene *s, const char *text);
/* A fresh pool, prepared by the calling thread, which is the one to operate. */
void scene_open(struct scene *s, const struct operation *o);
/* Makes one more, small pool; ends the program when that fails. */
lfpool_t *scene_pool(void);
/* Calls and continuations that wait now. */
size_t scene_waiting(const struct scene *s);
/* Continuations in the queue, also those that a thread stands about to call; calls that were given an object.
 * `claimed`: also a continuation whose cell is claimed, which no call but a faulty one claims. */
void scene_look_at_queue(const struct scene *s, bool claimed, size_t *continuations_out, size_t *given_out);
bool scene_closed(const struct scene *s);
/* Findings of the debug modes, since the last call, that say that something was damaged. */
unsigned scene_damages(void);
/* waits.c: the call that sleeps begins; returns when it has been served, if there is one; the continuation of every
 * lfpool_acquire_async(), got[0] of the scene. */
void caller_begin(struct scene *s);
void scene_await_caller(struct scene *s);
void keep_object(void *scene, lfpool_t *pool, void *object);
/* evictions.c: the hooks of a pool that evicts; a word of a set-up, false if it is unknown. */
const lfpool_hooks_t *evictions_hooks(struct scene *s);
bool evictions_arrange(struct scene *s, const char *word, size_t count);
/* Releases the ranked objects; acquires and publishes all objects; checks the operation's evictions, and unpins its
 * object.  NULL, or an error. */
const char *evictions_empty(struct scene *s);
void evictions_refill(struct scene *s);
const char *evictions_settle(struct scene *s);
/* Destroys the pools; returns how many objects of the first one were active. */
size_t scene_close(struct scene *s);
/* Runs the operation; returns what moved, which means something if no other used the pool meanwhile. */
unsigned scene_operate(struct scene *s, const struct operation *o);

/* ---- Hooks that do next to nothing, but notice by an object's last word when one is called out of turn: hooks.c ----
 * */

extern const lfpool_hooks_t hooks_all;      /* the four of an object's life                         */
extern const lfpool_hooks_t hooks_refusing; /* deactivate always says no: destroy, and create again */
extern const lfpool_hooks_t hooks_building; /* create and destroy alone                             */
/* Was a hook called out of turn since the last call? */
bool hooks_wrong(void);

/* ---- What the others do while the victim stands: peers.c ----
 *
 * Each object that a peer holds carries the peer's stamp, so an object that two of them hold is noticed at once; and
 * what a peer got is compared with what the victim's caller holds on record.  A text is NULL, or what went wrong.
 */

/* Everything one peer holds. */
struct holding {
	void *objects[OBJECTS_MAX + 1];
	size_t count;
};

/*
 * `rounds` times: acquires up to three objects, stamps them, and releases them; now and then makes and destroys a
 * cache.
 */
const char *peer_churn(lfpool_t *pool, uint64_t stamp, unsigned rounds);

/* Makes a few pools, and destroys them. */
const char *peer_make_pools(const struct scene *s);

/* Takes all that is free, through `cache` or the thread's own (NULL).  Wrong is the same object twice, or one that the
 * victim's caller holds. */
const char *peer_drain(struct scene *s, lfpool_cache_t *cache, struct holding *h);

/* Releases what the others hold, and a call that sleeps must get an object by that. */
const char *peer_return_lent(struct scene *s);

/* Gives back everything. */
const char *peer_give_back(lfpool_t *pool, struct holding *h);

/* Objects that the victim's caller does not hold and that are not in `h` either. */
long lost(const struct scene *s, const struct holding *h);

/* At most so many may be lost while the operation stands in its middle. */
long lost_at_most(const struct scene *s, const struct operation *o, const struct holding *h);

/*
 * The operation has finished after all, the driver holds `h`, and no thread is in a call: what it returned is held
 * against what the driver holds; then everything is given back and gathered, and must be the whole pool, each object
 * once, and each magazine in one place.  Uses up the scene.  NULL, or what is wrong.
 */
const char *account(struct scene *s, const struct operation *o, struct holding *h);

#endif
