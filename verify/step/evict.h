/* SPDX-License-Identifier: MIT */
/*
 * evict.h - a small evicting pool in one exact state, one operation on it, and what can be said of the pool while the
 * thread that runs the operation stands.
 *
 * Words        The sleeper is the thread that is stopped; a victim is an object that is evicted.  An item is an object
 *              that the sleeper's caller knows of; the others hold what they have acquired themselves.
 * Idea         Each object carries its handle and the priority that it was acquired with, written before anybody could
 *              get at it: so who pins one, or is told of an eviction, sees whether it is the right one.  What is evicted
 *              is written down, in order, and held against the list of what can be evicted.
 */
#ifndef LFPOOL_VERIFY_EVICT_H
#define LFPOOL_VERIFY_EVICT_H

#include <stdbool.h>

#include "lfpool/priority.h"

#define SLOTS_MAX 18 /* the tree has two levels, with nodes of sixteen and of two slots */
#define ITEMS_MAX (SLOTS_MAX + 4)
#define HIGHEST UINT64_MAX
#define PINS_MOST 125

/* What was evicted, in order; or what is to be. */
struct list {
	struct {
		lfpool_handle_t handle;
		uint64_t priority;
	} of[2 * SLOTS_MAX];
	size_t count;
};

struct item {
	lfpool_handle_t handle;
	void *object;
	uint64_t priority;
	unsigned pins;  /* its caller's                                        */
	bool is_new;    /* not published yet                                   */
	bool active;    /* neither of both: released                           */
	bool uncertain; /* the operation is about to change it: see lost_of()  */
	_Atomic(unsigned) evicted;
	unsigned visited;
};

struct evict_scene {
	lfpool_priority_t *pool;
	const struct evict_operation *operation;
	struct item items[ITEMS_MAX];
	size_t count;
	/* Of the operation. */
	struct item *mine;      /* what it is about                             */
	uint64_t priority;      /* for it                                       */
	struct list evicted;    /* by the sleeper                               */
	size_t seen;            /* of those, before it went on                  */
	struct item *got;       /* what it acquired, when it has returned       */
	const char *wrong;      /* with what it answered; NULL: nothing         */
	lfpool_handle_t peeked; /* by lfpool_priority_peek_min()                */
	bool has_peeked;
	bool met; /* the others have only met it: see others_meet() */
};

/* Words of the pool that an operation may change. */
enum evict_moves {
	EVICT_MOVES_NOTHING = 0,
	MOVES_STATE = 1, /* of a slot                                         */
	MOVES_NODE = 2,  /* of a slot's parent, if that is not the root       */
	MOVES_ROOT = 4,
	MOVES_FREE = 8,   /* the stack of free slots                           */
	MOVES_RECORD = 16 /* a word names a record of the pool of records      */
};

/* What is different with a pool. */
enum evict_special { USUAL_ORDER = 0, CALLER_ORDER = 1 /* config.before */ };

struct evict_operation {
	const char *name;
	size_t capacity;
	uint32_t flags; /* config */
	enum evict_special special;
	const char *setup; /* evict_setup.c */
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
void evict_scene_close(struct evict_scene *s);
/* The calling thread's evictions are written down here; NULL: nowhere. */
void evict_write_down(struct list *list);
/* Was something wrong in a hook since the last call? */
bool evict_hook_wrong(void);
/* Writes into an object, which is new, what it must say. */
void object_mark(void *object, lfpool_handle_t handle, uint64_t priority);
bool object_is_marked(const void *object, lfpool_handle_t handle);
struct item *item_of(struct evict_scene *s, lfpool_handle_t handle);
/* Can it be evicted, as far as its caller knows? */
bool item_can_go(const struct item *item);
/* Is its slot in use, as far as its caller knows? */
bool item_is_in_use(const struct item *item);
/* For evict_setup(), which does what the text says: of `records`. */
void evict_scene_use_up_records(struct evict_scene *s);
void evict_setup(struct evict_scene *s, const char *text);
/* An object was acquired; it is new. */
struct item *item_note(struct evict_scene *s, void *object, lfpool_handle_t handle, uint64_t priority);

/* The owner that on_evict is to be told for an object acquired with this priority. */
static inline void *owner_of(uint64_t priority)
{
	return (void *)(uintptr_t)priority;
}

/* ---- The others: evict_others.c ---- */

/* Everything that one of the others holds. */
struct share {
	struct {
		void *object;
		lfpool_handle_t handle;
		uint64_t priority;
		bool published, pinned;
	} of[SLOTS_MAX + 1];
	size_t count;
	struct list evicted; /* to come by that */
};

/* It has acquired an object, with the highest priority. */
void share_add(struct share *h, void *object, lfpool_handle_t handle);
/* Acquires with the highest priority until that is refused.  NULL, or what went wrong: an object twice, one that the
 * sleeper's caller holds, an eviction while there were free objects.  What it gets stays new. */
const char *others_take_all(struct evict_scene *s, struct share *h);
/* Releases the least again and again; the priorities are those of `list`. */
const char *others_release_all_min(struct evict_scene *s, struct list *evicted);
/* There is nothing to be had, nor to be seen. */
const char *others_find_nothing(struct evict_scene *s);
/* Publishes everything, with priorities of its own; every third object is released instead if `thinned`. */
const char *others_publish(struct evict_scene *s, struct share *h, bool thinned);
/* Publishes and pins every other one. */
const char *others_keep(struct evict_scene *s, struct share *h);
/* Releases everything, be it evicted meanwhile. */
const char *others_give_back(struct evict_scene *s, struct share *h);
/* `rounds` times everything that can be done with a few objects. */
const char *others_churn(struct evict_scene *s, uint64_t seed, unsigned rounds);

/*
 * A change or two, of one of METS kinds, which may leave most of the words alone that the sleeper has read: what was
 * least is evicted; or another becomes the second first; or the least itself; it is pinned and unpinned; or released; or
 * a newcomer takes its slot.  What they acquire is in `h`, or among the items.
 */
#define METS 6
const char *others_meet(struct evict_scene *s, struct share *h, unsigned kind);

/* ---- What must be true: evict_account.c ---- */

/* Adds what can be evicted of the items; of a share. */
void list_add_items(struct list *list, const struct evict_scene *s);
void list_add_share(struct list *list, const struct share *h);
/* In the order in which it goes. */
void list_sort(struct list *list);
/* Is `evicted` what was due, in this order?  If `s` is not NULL one uncertain item may be missing, or stand anywhere. */
bool list_is(const struct list *due, const struct list *evicted, const struct evict_scene *s);
/* Objects that are neither in `h` nor used by an item that nobody changes. */
long lost_of(const struct evict_scene *s, const struct share *h);
/* Handles of items that were evicted name nothing; those of pinned ones name what they named.  NULL, or what is wrong. */
const char *account_handles(struct evict_scene *s);
/* The sleeper has finished, nobody is in a call, the driver has `h`.  Uses up the scene.  NULL, or what is wrong. */
const char *account_at_rest(struct evict_scene *s, struct share *h);

#endif
