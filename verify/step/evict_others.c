/* SPDX-License-Identifier: MIT */
/*
 * evict_others.c - see evict.h: what the others do with an evicting pool while the sleeper stands.
 */
#include <string.h>

#include "evict.h"

#define HANDS 3  /* objects that one has at a time, in the churn */
#define TOP 1000 /* priorities of the churn                      */

static const char *wrong_object(struct evict_scene *s, const struct share *h, const void *object)
{
	for (size_t i = 0; i < h->count; i++)
		if (h->of[i].object == object)
			return "the same object twice";
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].object == object && !s->items[i].uncertain && !item_can_go(&s->items[i]) &&
		    item_is_in_use(&s->items[i]))
			return "an object that the sleeper's caller has pinned, or not published";
	return NULL;
}

void share_add(struct share *h, void *object, lfpool_handle_t handle)
{
	object_mark(object, handle, HIGHEST);
	h->of[h->count].object = object;
	h->of[h->count].handle = handle;
	h->of[h->count].priority = HIGHEST;
	h->of[h->count].published = h->of[h->count].pinned = false;
	h->count++;
}

const char *others_take_all(struct evict_scene *s, struct share *h)
{
	const char *wrong = NULL;
	lfpool_handle_t handle;
	size_t evicted = 0;
	void *object;

	h->count = h->evicted.count = 0;
	evict_write_down(&h->evicted);
	while (!wrong && (object = lfpool_priority_acquire(s->pool, HIGHEST, owner_of(HIGHEST), &handle))) {
		if ((wrong = h->count == SLOTS_MAX ? "more objects than there are" : wrong_object(s, h, object)))
			break;
		if (evicted && h->evicted.count == evicted)
			wrong = "an object was evicted while one was free";
		if (h->evicted.count > evicted + 1)
			wrong = "an acquire has evicted two";
		evicted = h->evicted.count;
		share_add(h, object, handle);
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

const char *others_publish(struct evict_scene *s, struct share *h, bool thinned)
{
	const char *wrong = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < h->count; i++) {
		const lfpool_handle_t handle = h->of[i].handle;
		/* In another order than the slots', and of each two as many as are equal. */
		const uint64_t priority = 10 + i * 7 % SLOTS_MAX / 2;

		if (!object_is_marked(h->of[i].object, handle))
			wrong = "somebody has written to an object that is new";
		if (thinned && i % 3 == 0) {
			if (lfpool_priority_release(s->pool, handle))
				wrong = "the release of a new object is refused";
			continue;
		}
		if (lfpool_priority_publish(s->pool, handle) || lfpool_priority_update(s->pool, handle, priority))
			wrong = "a publish, or an update, is refused";
		h->of[kept] = h->of[i];
		h->of[kept].published = true;
		h->of[kept++].priority = priority;
	}
	h->count = kept;
	return wrong;
}

const char *others_keep(struct evict_scene *s, struct share *h)
{
	for (size_t i = 0; i < h->count; i += 2) {
		if (lfpool_priority_publish(s->pool, h->of[i].handle) ||
		    lfpool_priority_pin(s->pool, h->of[i].handle) != h->of[i].object)
			return "a publish, or a pin, is refused";
		h->of[i].published = h->of[i].pinned = true;
	}
	return NULL;
}

const char *others_give_back(struct evict_scene *s, struct share *h)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < h->count; i++) {
		const lfpool_handle_t handle = h->of[i].handle;

		if (!h->of[i].published || h->of[i].pinned) {
			if (!object_is_marked(h->of[i].object, handle))
				wrong = "somebody has written to another's object";
			if (h->of[i].pinned && lfpool_priority_unpin(s->pool, handle))
				wrong = "an unpin is refused";
			if (lfpool_priority_release(s->pool, handle))
				wrong = "the release of an object that is pinned, or new, is refused";
		} else {
			(void)lfpool_priority_release(s->pool, handle);
		}
	}
	h->count = 0;
	return wrong;
}

/* ---- Churn ---- */

struct visit {
	bool wrong;
};

static bool look_at(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct visit *v = context;

	(void)priority;
	v->wrong |= !object_is_marked(object, handle);
	return true;
}

/* All that can be done with an active object, which may be evicted at any time. */
static const char *use(struct evict_scene *s, lfpool_handle_t handle, uint64_t priority)
{
	const void *object;
	uint64_t found;

	(void)lfpool_priority_update(s->pool, handle, priority);
	if ((object = lfpool_priority_pin(s->pool, handle))) {
		if (!object_is_marked(object, handle))
			return "what was pinned is another's object";
		if (!lfpool_priority_is_active(s->pool, handle) || lfpool_priority_look(s->pool, handle) != object ||
		    !lfpool_priority_get(s->pool, handle, &found) || found != priority)
			return "what is pinned is not there";
		(void)lfpool_priority_update(s->pool, handle, priority / 2);
		if (lfpool_priority_unpin(s->pool, handle))
			return "an unpin is refused";
	}
	(void)lfpool_priority_peek_min(s->pool, NULL);
	return NULL;
}

const char *others_churn(struct evict_scene *s, uint64_t seed, unsigned rounds)
{
	struct visit visit = {false};
	const char *wrong = NULL;

	for (unsigned round = 0; !wrong && round < rounds; round++) {
		lfpool_handle_t mine[HANDS];
		size_t count = 0;

		for (unsigned i = 0; i < HANDS; i++) {
			/* Any numbers will do: those of Knuth's generator (MMIX). */
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);

			const uint64_t priority = (seed >> 40) % TOP;
			void *object = lfpool_priority_acquire(s->pool, priority, owner_of(priority), &mine[count]);

			if (!object)
				continue;
			object_mark(object, mine[count], priority);
			if (lfpool_priority_publish(s->pool, mine[count++]))
				wrong = "a publish is refused";
		}
		for (size_t i = 0; !wrong && i < count; i++)
			wrong = use(s, mine[i], (seed >> (20 + i)) % TOP);
		if (round % 8 == 7)
			(void)lfpool_priority_release_min(s->pool, 2);
		if (round % 16 == 15)
			(void)lfpool_priority_for_each(s->pool, look_at, &visit);
		while (count-- > 0)
			(void)lfpool_priority_release(s->pool, mine[count]);
	}
	return visit.wrong ? "a walk visited another's object" : wrong;
}
