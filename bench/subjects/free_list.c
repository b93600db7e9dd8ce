/* SPDX-License-Identifier: MIT */
/*
 * free_list.c - one pthread mutex around one list, linked through the objects: the pool that somebody would write.  No
 * caches, no checks.
 */
#include "../objects.h"

struct link {
	struct link *next;
};

struct list {
	/* Who has the mutex wants the list: one line for both. */
	_Alignas(64) pthread_mutex_t mutex;
	struct link *first;
	struct objects objects;
};

static inline void *acquire(void *hand)
{
	struct list *list = (struct list *)hand;

	(void)pthread_mutex_lock(&list->mutex);

	struct link *link = list->first;

	if (link)
		list->first = link->next;
	(void)pthread_mutex_unlock(&list->mutex);
	return link;
}

static inline void release(void *hand, void *object)
{
	struct list *list = (struct list *)hand;
	struct link *link = (struct link *)object;

	(void)pthread_mutex_lock(&list->mutex);
	link->next = list->first;
	list->first = link;
	(void)pthread_mutex_unlock(&list->mutex);
}

#include "../workloads.h"

static void *open_list(const struct plan *plan)
{
	struct list *list = (struct list *)must(aligned_alloc(_Alignof(struct list), sizeof(*list)));

	list->first = NULL;
	list->objects = objects_make(plan);
	(void)pthread_mutex_init(&list->mutex, NULL);
	for (size_t i = plan->capacity; i-- > 0;)
		release(list, objects_at(&list->objects, i));
	return list;
}

static void close_list(void *shared)
{
	struct list *list = (struct list *)shared;

	(void)pthread_mutex_destroy(&list->mutex);
	objects_free(&list->objects);
	free(list);
}

const struct subject subject_free_list = {
	.name = "free-list",
	.group = "own",
	.what = "one pthread mutex, one list through the objects: no checks",
	.traits = TRAIT_BOUNDED | TRAIT_POOL,
	.open = open_list,
	.close = close_list,
	.join = join_shared,
	.leave = leave_nothing,
	.loops = SUBJECT_LOOPS,
};
