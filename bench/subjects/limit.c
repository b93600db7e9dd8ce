/* SPDX-License-Identifier: MIT */
/*
 * limit.c - a list for each thread, linked through the objects, without any synchronisation or check: no thread-safe
 * pool can be faster by much.
 */
#include "link.h"

struct list {
	struct link *first;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	return link_pop(&((struct list *)hand)->first);
}

static inline void release(void *hand, void *object)
{
	link_push(&((struct list *)hand)->first, object);
}

#include "../workloads.h"

/* The threads share nothing but what each needs. */
static void *open_limit(const struct plan *plan)
{
	struct plan *own = open_plan(plan);

	own->capacity = plan->held;
	return own;
}

static void *join(void *shared)
{
	struct list *list = (struct list *)must(malloc(sizeof(*list)));

	*list = (struct list){.objects = objects_make((const struct plan *)shared)};
	for (size_t i = list->objects.count; i-- > 0;)
		release(list, objects_at(&list->objects, i));
	return list;
}

static void leave(void *hand)
{
	struct list *list = (struct list *)hand;

	objects_free(&list->objects);
	free(list);
}

const struct subject subject_limit = {
	.name = "limit",
	.group = "limit",
	.what = "a list for each thread, no synchronisation, no check",
	.traits = TRAIT_PRIVATE,
	FOR_EACH_THREAD(open_limit, free, join, leave, SUBJECT_LOOPS),
};
