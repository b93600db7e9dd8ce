/* SPDX-License-Identifier: MIT */
/*
 * evict.h - a small evicting pool in one exact state, one operation on it, and what can be said of the pool while the
 * thread that runs the operation stands.
 *
 * Words        The sleeper is the thread that is stopped; a victim is an object that is evicted.  An item is an object
 *              that the sleeper's caller knows of, or that the others have acquired.
 * Idea         Each object carries its handle and the priority that it was acquired with, written before another thread could
 *              reach it: so a thread that pins one, or is told of an eviction, sees whether it is the right one.  What is
 *              evicted is written down, in order, and compared with the list of what can be evicted.
 */
#ifndef LFPOOL_VERIFY_EVICT_H
#define LFPOOL_VERIFY_EVICT_H

#include <stdbool.h>

#include "lfpool/priority.h"

#define SLOTS_MAX 18 /* the tree has two levels, with nodes of sixteen and of two slots */
#define ITEMS_MAX (SLOTS_MAX + 4)
#define HIGHEST UINT64_MAX

/* What was evicted, in order; or what is due. */
struct list {
	struct {
		lfpool_handle_t handle;
		uint64_t priority;
	} of[2 * SLOTS_MAX];
	size_t count;
};

/* As far as its holder knows. */
struct item {
	lfpool_handle_t handle;
	void *object;
	uint64_t priority;
	unsigned pins; /* its holder's */
	enum { RELEASED, NEW, ACTIVE } state;
	bool uncertain; /* the operation is about to change it: see evict_lost() */
	_Atomic(unsigned) evicted;
	unsigned visited;
};

struct items {
	struct item of[ITEMS_MAX];
	size_t count;
	struct list evicted; /* to get these */
};

struct evict_scene {
	lfpool_priority_t *pool;
	const struct evict_operation *operation;
	struct items items;  /* the caller's                          */
	struct items others; /* what they have                        */
	/* Of the operation. */
	struct item *mine;      /* what it is about                   */
	uint64_t priority;      /* for it                             */
	struct list evicted;    /* by the sleeper                     */
	size_t seen;            /* of those, before it went on        */
	struct list due;        /* of the others', when it went on    */
	struct item *got;       /* what it acquired, when it has returned */
	const char *wrong;      /* with what it answered; NULL: nothing   */
	lfpool_handle_t peeked; /* by lfpool_priority_peek_min()          */
	bool has_peeked;
	bool met; /* the others have only met it: see others_meet()  */
};

/* Words of the pool that an operation may change. */
enum evict_moves {
	EVICT_MOVES_NOTHING = 0,
	MOVES_STATE = 1, /* of a slot                                         */
	MOVES_NODE = 2,  /* of a slot's parent, if that is not the root       */
	MOVES_ROOT = 4,
	MOVES_FREE = 8 /* the stack of free slots                           */
};

struct evict_operation {
	const char *name;
	size_t capacity;
	const char *setup; /* evict_scene.c has the words */
	void (*operate)(struct evict_scene *s);
	unsigned moves;
	long lost; /* objects that cannot be had while it stands in its middle, besides what its caller holds: at most */
};

extern const struct evict_operation evict_operations[];
extern const size_t evict_operation_count;

/* ---- Scenes: evict_scene.c ---- */

/* A fresh pool, prepared by the calling thread, which is the one to operate. */
void evict_scene_open(struct evict_scene *s, const struct evict_operation *o);
/* Returns what moved, as scene_operate(). */
unsigned evict_scene_operate(struct evict_scene *s);
/* The calling thread's evictions are written down here; NULL: nowhere. */
void evict_write_down(struct list *list);
/* Was something wrong in a hook since the last call? */
bool evict_hook_wrong(void);

/* An object was acquired; it is new, and marked with its handle. */
struct item *item_note(struct items *items, void *object, lfpool_handle_t handle, uint64_t priority);
struct item *item_of(struct items *items, lfpool_handle_t handle);
/* Can it be evicted?  Is its slot in use? */
bool item_can_go(const struct item *item);
bool item_is_in_use(const struct item *item);
void object_mark(void *object, lfpool_handle_t handle, uint64_t priority);
bool object_is_marked(const void *object, lfpool_handle_t handle);

/* The owner that on_evict is told for an object acquired with this priority. */
static inline void *owner_of(uint64_t priority)
{
	return (void *)(uintptr_t)priority;
}

/* ---- The others: evict_others.c.  Each returns NULL, or what went wrong. ---- */

/* Acquires with the highest priority until that is refused.  Wrong is an object twice, one that another holds, an eviction while
 * there were free objects.  What it gets stays new. */
const char *others_take_all(struct evict_scene *s, struct items *items);
/* Releases the least again and again. */
const char *others_release_all_min(struct evict_scene *s, struct list *evicted);
/* There is nothing to acquire, nor to see. */
const char *others_find_nothing(struct evict_scene *s);
/* Publishes everything, with priorities of its own. */
const char *others_publish(struct evict_scene *s, struct items *items);
/* Releases what is in use; what is not must be named by no handle. */
const char *give_back_all(struct evict_scene *s, struct items *items);
/* An object becomes the second, and the first is evicted: that leaves most of the words alone that the sleeper has read. */
const char *others_meet(struct evict_scene *s);
/* Is nothing reached by this handle? */
bool names_nothing(lfpool_priority_t *pool, lfpool_handle_t handle);

#endif
