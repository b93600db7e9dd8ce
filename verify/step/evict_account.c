/* SPDX-License-Identifier: MIT */
/*
 * evict_account.c - what must be true of an evicting pool, while the sleeper stands and when it has finished.
 *
 * Idea         What can be evicted, and in which order, follows from priorities and handles alone (the age is in the
 *              handle).  Of a change under way either may be seen, that it has happened or not yet, and for a moment
 *              neither: so while the sleeper stands one item, which it may be changing, is left out of the comparison.
 *              When it has finished nothing is left out.
 */
#include "evict.h"

#define AGE_SHIFT 20 /* a handle: {acquires before it, slot} */

/* ---- Lists ---- */

void list_add_items(struct list *list, const struct evict_scene *s)
{
	for (size_t i = 0; i < s->count; i++) {
		if (!item_can_go(&s->items[i]))
			continue;
		list->of[list->count].handle = s->items[i].handle;
		list->of[list->count++].priority = s->items[i].priority;
	}
}

void list_add_share(struct list *list, const struct share *h)
{
	for (size_t i = 0; i < h->count; i++) {
		if (!h->of[i].published || h->of[i].pinned)
			continue;
		list->of[list->count].handle = h->of[i].handle;
		list->of[list->count++].priority = h->of[i].priority;
	}
}

static bool goes_after(const struct list *list, size_t a, size_t b)
{
	if (list->of[a].priority != list->of[b].priority)
		return list->of[a].priority > list->of[b].priority;
	return list->of[a].handle >> AGE_SHIFT > list->of[b].handle >> AGE_SHIFT;
}

void list_sort(struct list *list)
{
	for (size_t i = 1; i < list->count; i++) {
		for (size_t k = i; k && goes_after(list, k - 1, k); k--) {
			const struct list before = *list;

			list->of[k] = before.of[k - 1];
			list->of[k - 1] = before.of[k];
		}
	}
}

/* Leaving out `skip`, wherever it stands. */
static bool are_equal(const struct list *a, const struct list *b, lfpool_handle_t skip)
{
	size_t i = 0, k = 0;

	for (;;) {
		i += i < a->count && a->of[i].handle == skip;
		k += k < b->count && b->of[k].handle == skip;
		if (i == a->count || k == b->count)
			return i == a->count && k == b->count;
		if (a->of[i].handle != b->of[k].handle || a->of[i].priority != b->of[k].priority)
			return false;
		i++, k++;
	}
}

/* Where it stands in the list, it has its old priority, or the one that it is given. */
static bool has_a_priority(const struct evict_scene *s, const struct item *item, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->of[i].handle == item->handle && list->of[i].priority != item->priority &&
		    !(item == s->mine && list->of[i].priority == s->priority))
			return false;
	return true;
}

bool list_is(const struct list *due, const struct list *evicted, const struct evict_scene *s)
{
	if (are_equal(due, evicted, 0))
		return true;
	for (size_t i = 0; s && i < s->count; i++)
		if (s->items[i].uncertain && are_equal(due, evicted, s->items[i].handle))
			return has_a_priority(s, &s->items[i], evicted);
	return false;
}

/* ---- While it stands ---- */

long lost_of(const struct evict_scene *s, const struct share *h)
{
	long lost = (long)lfpool_priority_capacity(s->pool) - (long)h->count;

	for (size_t i = 0; i < s->count; i++)
		lost -= !s->items[i].uncertain && item_is_in_use(&s->items[i]) && !item_can_go(&s->items[i]);
	return lost;
}

static bool names_nothing(lfpool_priority_t *pool, lfpool_handle_t handle)
{
	uint64_t priority;

	return !lfpool_priority_is_active(pool, handle) && !lfpool_priority_look(pool, handle) &&
	       !lfpool_priority_pin(pool, handle) && !lfpool_priority_get(pool, handle, &priority) &&
	       lfpool_priority_update(pool, handle, 0) == LFPOOL_E_STALE &&
	       lfpool_priority_publish(pool, handle) == LFPOOL_E_STALE && lfpool_priority_unpin(pool, handle) == LFPOOL_E_STALE &&
	       lfpool_priority_release(pool, handle) == LFPOOL_E_STALE;
}

const char *account_handles(struct evict_scene *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct item *item = &s->items[i];
		uint64_t priority;

		if (item->evicted > 1)
			return "an object was evicted twice";
		if (item->evicted && !names_nothing(s->pool, item->handle))
			return "the handle of an object that was evicted names something";
		if (!item_is_in_use(item) || item_can_go(item) || item->uncertain)
			continue;
		if (!object_is_marked(item->object, item->handle))
			return "somebody has written to an object that is pinned, or new";
		if (item != s->mine && item->active &&
		    (lfpool_priority_look(s->pool, item->handle) != item->object ||
		     !lfpool_priority_get(s->pool, item->handle, &priority) || priority != item->priority))
			return "the handle of a pinned object does not name it";
	}
	return NULL;
}

/* ---- When it has finished ---- */

static void remove_from(struct share *h, lfpool_handle_t handle)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->of[i].handle == handle)
			h->of[i] = h->of[--h->count];
}

/* What it has evicted since it went on was the least, each time, of what the driver had published. */
static const char *account_its_evictions(const struct evict_scene *s, struct share *h)
{
	struct list due = {.count = 0};
	size_t next = 0;

	list_add_share(&due, h);
	list_sort(&due);
	for (size_t i = s->seen; i < s->evicted.count; i++) {
		const lfpool_handle_t handle = s->evicted.of[i].handle;
		bool told_late = false;

		/* Taken before it stood. */
		for (size_t k = 0; k < s->count; k++)
			told_late |= s->items[k].uncertain && s->items[k].handle == handle;
		if (told_late)
			continue;
		if (next == due.count || due.of[next++].handle != handle)
			return "when it went on, it evicted what was not the least";
		remove_from(h, handle);
	}
	if (s->has_peeked && s->peeked != s->mine->handle && s->peeked != (due.count ? due.of[0].handle : 0))
		return "it was told of a least that never was the least";
	return NULL;
}

/* All that the sleeper's caller has. */
static const char *release_items(struct evict_scene *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct item *item = &s->items[i];

		if (!item_is_in_use(item)) {
			if (!names_nothing(s->pool, item->handle))
				return "a handle names something after the release, or the eviction";
			continue;
		}
		for (; item->pins; item->pins--)
			if (lfpool_priority_unpin(s->pool, item->handle))
				return "an unpin by the sleeper's caller is refused";
		if ((item->active || item->is_new) && lfpool_priority_release(s->pool, item->handle))
			return "a release by the sleeper's caller is refused";
		item->active = item->is_new = false;
	}
	return NULL;
}

/* Nobody has anything: all objects are there, each once, and go in the right order. */
static const char *account_empty(struct evict_scene *s)
{
	struct share h = {.count = 0};
	struct list due = {.count = 0};
	const char *wrong;

	if (lfpool_priority_count(s->pool))
		return "all has come back, and something is in use";
	if ((wrong = others_take_all(s, &h)))
		return wrong;
	if (h.count != lfpool_priority_capacity(s->pool) || h.evicted.count)
		return "objects are missing at the end, or something was left to be evicted";
	wrong = others_publish(s, &h, false);
	list_add_share(&due, &h);
	list_sort(&due);
	if (wrong || (wrong = others_release_all_min(s, &h.evicted)))
		return wrong;
	return list_is(&due, &h.evicted, NULL) ? NULL : "in the end objects do not go in the right order";
}

const char *account_at_rest(struct evict_scene *s, struct share *h)
{
	struct share rest = {.count = 0};
	struct list due = {.count = 0};
	const char *wrong = s->wrong;
	size_t kept = 0;

	if (wrong || (!s->met && (wrong = account_its_evictions(s, h))))
		return wrong;
	list_add_items(&due, s);
	list_add_share(&due, h);
	list_sort(&due);
	for (size_t i = 0; i < h->count; i++)
		kept += !h->of[i].published || h->of[i].pinned;
	for (size_t i = 0; i < s->count; i++) {
		s->items[i].uncertain = false;
		kept += item_is_in_use(&s->items[i]) && !item_can_go(&s->items[i]);
	}
	if ((wrong = others_take_all(s, &rest)))
		return wrong;
	if (!list_is(&due, &rest.evicted, NULL))
		return "at rest, objects do not go in the right order";
	if (rest.count + kept != lfpool_priority_capacity(s->pool))
		return "at rest, objects are missing";
	if ((wrong = account_handles(s)) || (wrong = others_give_back(s, &rest)) || (wrong = others_give_back(s, h)) ||
	    (wrong = release_items(s)))
		return wrong;
	return account_empty(s);
}
