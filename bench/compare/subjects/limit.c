/* SPDX-License-Identifier: MIT */
/*
 * limit.c - a list for each thread, linked through the objects, with no synchronisation at all: what nothing that is
 * thread-safe can beat by much. A thread cannot release what another acquired, so there is no hand-off.
 */
#include "../subject.h"

#include <stdlib.h>

struct link {
	struct link *next;
};

struct list {
	struct link *first;
	struct object objects[];
};

static inline void *acquire(void *hand)
{
	struct list *list = hand;
	struct link *link = list->first;

	if (link)
		list->first = link->next;
	return link;
}

static inline void release(void *hand, void *object)
{
	struct list *list = hand;
	struct link *link = object;

	link->next = list->first;
	list->first = link;
}

#include "../workloads.h"

/* The threads share nothing but the number of objects that each needs. */
static void *open_limit(size_t threads, size_t held)
{
	size_t *held_shared = must(malloc(sizeof(*held_shared)));

	(void)threads;
	*held_shared = held;
	return held_shared;
}

static void *join(void *shared)
{
	const size_t held = *(const size_t *)shared;
	struct list *list = must(aligned_alloc(_Alignof(struct list), sizeof(*list) + held * sizeof(list->objects[0])));

	list->first = NULL;
	for (size_t i = held; i-- > 0;)
		release(list, &list->objects[i]);
	return list;
}

const struct subject subject_limit = {
	.name = "limit",
	.what = "a list for each thread, no synchronisation",
	.workloads = 1 << PAIRS | 1 << BURSTS,
	.open = open_limit,
	.close = free,
	.join = join,
	.leave = free,
	SUBJECT_LOOPS,
};
