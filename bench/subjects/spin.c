/* SPDX-License-Identifier: MIT */
/*
 * spin.c - one spin lock around one list, linked through the objects: what many programs have.  No caches, no checks.
 *
 * Documented   ck_spinlock(3) of Concurrency Kit: ck_spinlock_t is the fetch-and-store lock, which ck_spinlock.h says
 *              had the lowest latency on the machines they tested.  "If contention is high and there is no
 *              requirement for starvation-freedom then a centralized greedy spinlock is recommended to be used with
 *              an exponential backoff mechanism": so ck_spinlock_lock_eb().  Alone, a thread gets it by the same one
 *              exchange.
 */
#include "../objects.h"

#include <ck_cc.h>
#include <ck_md.h>
#include <ck_spinlock.h>

struct link {
	struct link *next;
};

struct list {
	/* Who has the lock wants the list: one line for both. */
	ck_spinlock_t lock CK_CC_CACHELINE;
	struct link *first;
	struct objects objects CK_CC_CACHELINE;
};

static inline void *acquire(void *hand)
{
	struct list *list = (struct list *)hand;

	ck_spinlock_lock_eb(&list->lock);

	struct link *link = list->first;

	if (link)
		list->first = link->next;
	ck_spinlock_unlock(&list->lock);
	return link;
}

static inline void release(void *hand, void *object)
{
	struct list *list = (struct list *)hand;
	struct link *link = (struct link *)object;

	ck_spinlock_lock_eb(&list->lock);
	link->next = list->first;
	list->first = link;
	ck_spinlock_unlock(&list->lock);
}

#include "../workloads.h"

static void *open_spin(const struct plan *plan)
{
	struct list *list = (struct list *)must(aligned_alloc(_Alignof(struct list), sizeof(*list)));

	*list = (struct list){.lock = CK_SPINLOCK_INITIALIZER, .objects = objects_make(plan)};
	for (size_t i = plan->capacity; i-- > 0;)
		release(list, objects_at(&list->objects, i));
	return list;
}

static void close_spin(void *shared)
{
	struct list *list = (struct list *)shared;

	objects_free(&list->objects);
	free(list);
}

static const char *version(void)
{
	return "ck " CK_VERSION;
}

const struct subject subject_spin = {
	.name = "spin",
	.group = "own",
	.what = "one spin lock (ck_spinlock, exponential backoff), one list through the objects",
	.version = version,
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_spin,
	.close = close_spin,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
