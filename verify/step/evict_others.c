/* SPDX-License-Identifier: MIT */
/*
 * evict_others.c - what the others do with an evicting pool while the sleeper stands.
 */
#include "evict.h"

static bool is_held(const struct items *items, const void *object)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct item *item = &items->of[i];

		if (item->object == object && item_is_in_use(item) && !item_can_go(item) && !item->uncertain)
			return true;
	}
	return false;
}

const char *others_take_all(struct evict_scene *s, struct items *items)
{
	const char *wrong = NULL;
	lfpool_handle_t handle;
	size_t evicted = 0;
	void *object;

	items->count = items->evicted.count = 0;
	evict_write_down(&items->evicted);
	while (!wrong && (object = lfpool_priority_acquire(s->pool, HIGHEST, owner_of(HIGHEST), &handle))) {
		if (items->count == SLOTS_MAX)
			wrong = "more objects than there are";
		else if (is_held(items, object) || is_held(&s->items, object) || is_held(&s->others, object))
			wrong = "the same object twice, or one that is pinned, or not published";
		else if (evicted && items->evicted.count == evicted)
			wrong = "an object was evicted while one was free";
		else if (items->evicted.count > evicted + 1)
			wrong = "an acquire has evicted two";
		evicted = items->evicted.count;
		if (!wrong)
			(void)item_note(items, object, handle, HIGHEST);
	}
	evict_write_down(NULL);
	return wrong;
}

const char *others_release_all_min(struct evict_scene *s, struct list *evicted)
{
	const char *wrong = NULL;
	lfpool_handle_t handle;

	evicted->count = 0;
	evict_write_down(evicted);
	do {
		const size_t before = evicted->count;
		uint64_t priority = 0;

		handle = lfpool_priority_peek_min(s->pool, &priority);
		if (lfpool_priority_release_min(s->pool, 1) != (handle != 0))
			wrong = "the least was seen and could not be released, or the other way round";
		else if (handle && (evicted->count != before + 1 || evicted->of[before].handle != handle ||
				    evicted->of[before].priority != priority))
			wrong = "the least that was seen is not the one that was released";
		else if (evicted->count > SLOTS_MAX)
			wrong = "more objects than there are";
	} while (handle && !wrong);
	evict_write_down(NULL);
	return wrong;
}

const char *others_find_nothing(struct evict_scene *s)
{
	lfpool_handle_t handle;

	if (lfpool_priority_acquire(s->pool, HIGHEST, NULL, &handle) || handle)
		return "one got an object when the other had been told that there is none";
	if (lfpool_priority_peek_min(s->pool, NULL) || lfpool_priority_release_min(s->pool, 1))
		return "one saw an object to be evicted, when the other had been told that there is none";
	return NULL;
}

const char *others_publish(struct evict_scene *s, struct items *items)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < items->count; i++) {
		struct item *item = &items->of[i];

		if (!object_is_marked(item->object, item->handle))
			wrong = "another thread has written to an object that is new";
		/* In another order than the slots', and of each two as many as are equal. */
		item->priority = 10 + i * 7 % SLOTS_MAX / 2;
		item->state = ACTIVE;
		if (lfpool_priority_publish(s->pool, item->handle) ||
		    lfpool_priority_update(s->pool, item->handle, item->priority))
			wrong = "a publish, or an update, is refused";
	}
	return wrong;
}

bool names_nothing(lfpool_priority_t *pool, lfpool_handle_t handle)
{
	uint64_t priority;

	return !lfpool_priority_is_active(pool, handle) && !lfpool_priority_look(pool, handle) &&
	       !lfpool_priority_pin(pool, handle) && !lfpool_priority_get(pool, handle, &priority) &&
	       lfpool_priority_update(pool, handle, 0) == LFPOOL_E_STALE &&
	       lfpool_priority_publish(pool, handle) == LFPOOL_E_STALE && lfpool_priority_unpin(pool, handle) == LFPOOL_E_STALE &&
	       lfpool_priority_release(pool, handle) == LFPOOL_E_STALE;
}

const char *give_back_all(struct evict_scene *s, struct items *items)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < items->count; i++) {
		struct item *item = &items->of[i];

		if (!item_is_in_use(item)) {
			if (!names_nothing(s->pool, item->handle))
				wrong = "a handle names something after the release, or the eviction";
			continue;
		}
		if (!object_is_marked(item->object, item->handle))
			wrong = "another thread has written to an object that is held";
		for (; item->pins; item->pins--)
			if (lfpool_priority_unpin(s->pool, item->handle))
				wrong = "an unpin is refused";
		if (item->state != RELEASED && lfpool_priority_release(s->pool, item->handle))
			wrong = "the release of an object that was not evicted is refused";
		item->state = RELEASED;
	}
	return wrong;
}

/* ---- Two changes ----
 *
 * A thread that stood while the whole pool was turned over finds every word changed, and its CAS fails.  The danger is in changes
 * that it cannot see: an object that becomes the second disturbs no node as long as the first is there, and when that is evicted
 * no node is written either.  What the thread has collected before must not get into the tree.
 */

/* What the sleeper does not change: the next one behind its own, that can be evicted. */
static struct item *neighbour(struct evict_scene *s)
{
	const size_t from = s->mine ? (size_t)(s->mine - s->items.of) : 0;

	for (size_t i = 1; i < s->items.count; i++) {
		struct item *item = &s->items.of[(from + i) % s->items.count];

		if (item_can_go(item) && !item->uncertain && item->handle != lfpool_priority_peek_min(s->pool, NULL))
			return item;
	}
	return NULL;
}

const char *others_meet(struct evict_scene *s)
{
	struct item *other = neighbour(s);
	lfpool_handle_t handle;
	uint64_t least;

	s->met = true;
	s->others.count = 0;
	if (lfpool_priority_peek_min(s->pool, &least) && other) {
		other->priority = least + 1;
		if (lfpool_priority_update(s->pool, other->handle, other->priority))
			return "an update is refused";
	}

	void *object = lfpool_priority_acquire(s->pool, HIGHEST, owner_of(HIGHEST), &handle);

	if (object)
		(void)item_note(&s->others, object, handle, HIGHEST);
	return NULL;
}
