/* SPDX-License-Identifier: MIT */
/*
 * scene.h - one operation of the library, and the pool it works on.
 *
 * Idea         A case is a pool's configuration, a preparation that brings the pool and the victim's cache into one
 *              exact state, and the operation, between STEP_BEGIN and STEP_END. A scene is one fresh pool prepared
 *              for a case.  The scene records each object's holder, so it is known which objects must be obtainable
 *              while the victim stands.
 * Proof        `moves` of a case lists the pool's words that the undisturbed operation changes.  It is compared
 *              before anything is stopped: a case that does not take the path in its name is a failed test.
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
	lfpool_cache_t *mine;  /* the victim's explicit cache; NULL: it uses its thread's own */
	lfpool_cache_t *other; /* another cache: the driver's, while the victim stands */
	/* Held by the victim's caller, throughout. */
	void *held[OBJECTS_MAX];
	size_t held_count;
	/* Objects that the operation will release. */
	void *given[OBJECTS_MAX];
	size_t given_count;
	/* Objects that the operation acquires, NULL before. */
	void *got[OBJECTS_MAX];
	size_t wanted;
	/* Releases that the operation reported as done. */
	size_t released;
	/* The operation's findings: visited objects, or a look-up's one answer. */
	void *found[OBJECTS_MAX];
	size_t found_count;
	/* Held by the others, who release them after the victim was stopped. */
	void *lent[OBJECTS_MAX];
	size_t lent_count;
	bool caller_waits;      /* another thread sleeps in lfpool_acquire_wait(), and gets got[0]        */
	lfpool_ticket_t ticket; /* of a continuation that gets got[0]                                     */
	unsigned called;        /* number of its calls */
	lfpool_batch_t *batch;  /* a batch of a scheme that is notified */
	bool cancelled;         /* the continuation was cancelled */
	bool queued;            /* the continuation waited before the operation began */
	size_t capacity_at_end; /* after everything is released; 0: any */
	lfpool_handle_t handle; /* of the first object held, or given                                     */
	lfpool_set_t *set;      /* the set that the pool is a class of, or NULL */
	lfpool_t *beside;       /* other pools, or NULL: one that exists throughout ... */
	lfpool_t *made;         /* ... and one that the operation makes or destroys */
	/* For evicting pools. */
	struct ranked ranked[2 * OBJECTS_MAX]; /* published                                        */
	size_t ranked_count;
	struct ranked evicted[OBJECTS_MAX]; /* in this order                                       */
	size_t evicted_count;
	uint64_t priority;          /* for the operation */
	lfpool_handle_t got_handle; /* of got[0], which is pinned                                  */
	bool holds;                 /* the last one in `held` is the handle's object, pinned           */
	bool refilled;              /* the others have published all objects again */
	const char *wrong;          /* a wrong answer of the operation, or NULL */
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
	MOVES_TOP = 64,     /* an object was taken by CAS */
	MOVES_CACHES = 128, /* a cache was claimed, born or given up                        */
	MOVES_COLD = 256,   /* the number of objects, or of cold ones */
	MOVES_QUEUE = 512   /* the waiters, or the closed pool */
};

/* An operation's special features. */
enum special {
	SPECIAL_NOTHING = 0,
	IN_PROGRAM = 1,   /* it spends its time in libc, where it is not stopped: text, files, the clock */
	LOCKS = 2,        /* it may hold the registry's mutex: no fork and no exit of a thread until it continues */
	AMONG_POOLS = 4,  /* the others create and destroy pools at the same time */
	RELEASES_ALL = 8, /* releases all held objects */
	ASKED = 16,       /* the pool has a scheme that is polled and consents; the others retire as well */
	EVICTS = 64,      /* the pool evicts */
	TOLD = 32,        /* the pool's scheme reclaims: the operation does, after the others have finished */
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
	unsigned in_hand; /* objects that the operation itself may hold */
};

/* ---- The tables ---- */

#define EACH 4 /* slots per magazine, for cache_capacity 8 */

/* The middle of a table's row: capacity, cache_capacity, flags, hooks, debug, special. */
#define POOL(capacity, cache_capacity, flags, hooks, debug, special) \
	0, capacity, cache_capacity, 0, 0, flags, hooks, debug, special
/* A pool that can grow to `most`; automatically if there is a `step`. */
#define GROWING(capacity, most, step) 0, capacity, 2 * EACH, most, step, 0, NULL, NULL, SPECIAL_NOTHING
#define SMALL POOL(2 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define USUAL POOL(4 * EACH, 2 * EACH, 0, NULL, NULL, SPECIAL_NOTHING)
#define WITH(flags) POOL(4 * EACH, 2 * EACH, flags, NULL, NULL, SPECIAL_NOTHING)

#define CHANGED (MOVES_CURRENT | MOVES_OWN)

/* Each ends with an operation without a name. */
extern const struct operation operations[], object_operations[], pool_operations[], resize_operations[],
	wait_operations[], retire_operations[], evict_operations[];
/* All operations; NULL beyond the last. */
const struct operation *operation_at(size_t index);

/* Notes a wrong answer of the operation. */
static inline void wrong_if(struct scene *s, bool wrong, const char *what)
{
	if (wrong)
		s->wrong = what;
}

/* ---- Scenes ---- */

/*
 * Brings the pool into one exact state, described by a text: "mine +8 -8 +4 want 1". Ends the program at an unknown
 * word.
 *
 *   mine, other, own   from here on through that cache of the scene, or through the thread's own, which is the default
 *   +N, -N, all        acquires N, for the operation's caller to hold; releases the last N; acquires all objects
 *   want N             the operation will acquire N
 *   hand N, older      the operation will release the last N of the held objects, or the first one
 *   lend N             the others hold the last N, and release them after the victim was stopped
 *   retire N, bundle N retires the last N, singly or at once
 *   handle             the handle of the first object to be released, or else held
 *   ask                acquires through `mine`, in vain
 *   renew, spread N    replaces `other` by a new cache; N times, each with one object released
 *   caches N, leave    makes N more caches; destroys `mine`
 *   beside, made       makes another pool; and one that the operation may destroy; `active`: with an object in use
 *   grow N, shrink N   lfpool_grow(), lfpool_shrink();   limit   the maximum is the capacity;   trim N   N KiB become
 *                      cold
 *   crowd N            N cells of the queue are taken, so that later waiters are behind the first lot (cells.h)
 *   async, call        a continuation waits; a call sleeps
 *   rank N, fill N     publishes an object of priority N; N objects, each with a different priority
 *   about N, to N      the operation is about the N-th of them; it has priority N
 *   pin, hold, gone N  pins that object, for the operation or for its caller; the N-th is released
 *   end N              after everything is released, the capacity is N less than now
 */
void setup(struct scene *s, const char *text);
/* A fresh pool, prepared by the calling thread, which then operates. */
void scene_open(struct scene *s, const struct operation *o);
/* Makes another, small pool; without memory it ends the program. */
lfpool_t *scene_pool(void);
/* The number of calls and continuations that wait now. */
size_t scene_waiting(const struct scene *s);
/* Continuations in the queue, including those that a stopped thread is about to call; and calls that were given an
 * object.  `claimed`: also a continuation whose cell is claimed, which only a faulty call claims. */
void scene_look_at_queue(const struct scene *s, bool claimed, size_t *continuations_out, size_t *given_out);
bool scene_closed(const struct scene *s);
/* Reports of damage by the debug modes since the last call. */
unsigned scene_damages(void);
/* waits.c: begins the call that sleeps; returns when it has been served, if there is one; the continuation of every
 * lfpool_acquire_async(), got[0] of the scene. */
void caller_begin(struct scene *s);
void scene_await_caller(struct scene *s);
void keep_object(void *scene, lfpool_t *pool, void *object);
/* evictions.c: the hooks of an evicting pool; handles a word of a set-up, false if it is unknown. */
const lfpool_hooks_t *evictions_hooks(struct scene *s);
bool evictions_arrange(struct scene *s, const char *word, size_t count);
/* Releases the ranked objects; acquires and publishes all objects; checks the operation's evictions, and unpins its
 * object.  NULL, or an error. */
const char *evictions_empty(struct scene *s);
void evictions_refill(struct scene *s);
const char *evictions_settle(struct scene *s);
/* Destroys the pools; returns the number of objects of the first one that were active. */
size_t scene_close(struct scene *s);
/* Runs the operation; returns the words that moved, which is meaningful if no other thread used the pool. */
unsigned scene_operate(struct scene *s, const struct operation *o);

/* ---- Hooks that do almost nothing, but notice a call in the wrong order by an object's last word: hooks.c ---- */

extern const lfpool_hooks_t hooks_all;      /* the four hooks of an object's life */
extern const lfpool_hooks_t hooks_refusing; /* deactivate always refuses: destroy, then create again */
extern const lfpool_hooks_t hooks_building; /* create and destroy alone                             */
/* Was a hook called in the wrong order since the last call? */
bool hooks_wrong(void);

/* ---- The others' part while the victim stands: peers.c ----
 *
 * Each object that a peer holds carries the peer's stamp, so a second holder is noticed at once.  A peer's objects
 * are compared with the record of the victim's caller.  A text is NULL, or an error.
 */

/* Everything one peer holds. */
struct holding {
	void *objects[OBJECTS_MAX + 1];
	size_t count;
};

/* `rounds` times: acquires up to three objects, stamps them, and releases them; now and then makes and destroys a
 * cache. */
const char *peer_churn(lfpool_t *pool, uint64_t stamp, unsigned rounds);

/* Makes a few pools, and destroys them. */
const char *peer_make_pools(const struct scene *s);

/* Acquires all free objects, through `cache` or the thread's own (NULL).  Errors: the same object twice, or one that
 * the victim's caller holds. */
const char *peer_drain(struct scene *s, lfpool_cache_t *cache, struct holding *h);

/* Releases the others' objects; a sleeping call must get an object by that. */
const char *peer_return_lent(struct scene *s);

/* Releases everything. */
const char *peer_give_back(lfpool_t *pool, struct holding *h);

/* The number of objects that neither the victim's caller nor `h` holds. */
long lost(const struct scene *s, const struct holding *h);

/* The most objects that may be lost while the operation is stopped. */
long lost_at_most(const struct scene *s, const struct operation *o, const struct holding *h);

/* The operation has finished after all, the driver holds `h`, and no thread is in a call.  Compares the operation's
 * results with the driver's objects.  Then everything is released and gathered: the whole pool, each object once, and
 * each magazine in one place.  Uses up the scene.  NULL, or an error. */
const char *account(struct scene *s, const struct operation *o, struct holding *h);

#endif
