/* SPDX-License-Identifier: MIT */
/*
 * evict_meet.c - see others_meet() in evict.h.
 *
 * Idea         Whoever stood while the whole pool was turned over finds every word changed, and his CAS fails.  The
 *              danger is in changes that he cannot see: an object that becomes the second disturbs no node as long as
 *              the first is there, and when that is evicted no node is written either.  What he has collected before
 *              must not get into the tree.
 */
#include "evict.h"

/* What the sleeper does not change: the next one behind its own, that can be evicted. */
static struct item *neighbour(struct evict_scene *s)
{
	const size_t from = s->mine ? (size_t)(s->mine - s->items) : 0;

	for (size_t i = 1; i < s->count; i++) {
		struct item *item = &s->items[(from + i) % s->count];

		if (item_can_go(item) && !item->uncertain && item->handle != lfpool_priority_peek_min(s->pool, NULL))
			return item;
	}
	return NULL;
}

static const char *change(struct evict_scene *s, struct item *item, uint64_t priority)
{
	item->priority = priority;
	return lfpool_priority_update(s->pool, item->handle, priority) ? "an update is refused" : NULL;
}

/* Stays new, in `h`; or is published with the lowest priority, and an item. */
static const char *acquire(struct evict_scene *s, struct share *h, bool published)
{
	lfpool_handle_t handle;
	void *object = lfpool_priority_acquire(s->pool, HIGHEST, owner_of(HIGHEST), &handle);

	if (!object)
		return NULL;
	if (published) {
		struct item *item = item_note(s, object, handle, HIGHEST);

		if (lfpool_priority_publish(s->pool, handle))
			return "a publish is refused";
		item->is_new = false;
		item->active = true;
		return change(s, item, 0);
	}
	share_add(h, object, handle);
	return NULL;
}

static const char *pin_for_a_moment(struct evict_scene *s, lfpool_handle_t handle)
{
	const void *object = lfpool_priority_pin(s->pool, handle);

	if (!object)
		return "a pin is refused";
	if (!object_is_marked(object, handle))
		return "what was pinned is another's object";
	return lfpool_priority_unpin(s->pool, handle) ? "an unpin is refused" : NULL;
}

static const char *release(struct evict_scene *s, struct item *item)
{
	item->active = false;
	return lfpool_priority_release(s->pool, item->handle) ? "a release is refused" : NULL;
}

const char *others_meet(struct evict_scene *s, struct share *h, unsigned kind)
{
	struct item *other = neighbour(s);
	const char *wrong = NULL;
	uint64_t least;

	s->met = true;
	h->count = 0;

	const lfpool_handle_t first = lfpool_priority_peek_min(s->pool, &least);

	switch (first && other ? kind % METS : 0) {
	case 1: wrong = change(s, other, least + 1); return wrong ? wrong : acquire(s, h, false);
	case 2: return change(s, other, 0);
	case 3: return pin_for_a_moment(s, first);
	case 4: return release(s, other);
	case 5: return acquire(s, h, true);
	default: return acquire(s, h, false);
	}
}
