/* SPDX-License-Identifier: MIT */
/*
 * evict_setup.c - how an evicting pool is brought into one exact state, as a text: "fill item 17 change 1".
 *
 *   fill N, alike      so many objects are published, each with another priority; all there is room for; of each two alike
 *   add N, new N       one more with this priority; the same, not published, and it is the one
 *   item N, least      that item is the one that the operation is about; the one that would be evicted is; nobody: none is
 *   change N           the operation is about to change it, to this priority, or to the one it has
 *   to N               the operation has this priority
 *   doubt N            the operation is about to change that item too
 *   drop N, pin N      that item is released; the one is pinned so often, or once; unpin: it is no more; pins: all are, once
 *   records            the records of every node and slot are in use, so that changes take theirs from the pool
 *   touch              this thread has taken a record from there before
 *
 * Idea         After a few acquires by one thread the state is exact.  Slots are taken in order, items 0 to 17; 0 to 15 are
 *              one node's, 16 and 17 the other's.  Of a full pool of these item 15 is the least (100), item 16 the first in
 *              its node (170), item 17 comes after it (240); item 3 is in the midst of the first node (160, 110, 170, 240 are
 *              the first four), and item 10 the second of all.  So 1 goes before all others, 165 before item 16, and 500
 *              after all.
 */
#include "evict.h"
#include "words.h"

struct item *item_note(struct evict_scene *s, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct item *item = &s->items[s->count];

	object_mark(object, handle, priority);
	item->handle = handle;
	item->object = object;
	item->priority = priority;
	item->is_new = true;
	s->count++;
	return item;
}

static struct item *add_new(struct evict_scene *s, uint64_t priority)
{
	lfpool_handle_t handle;
	void *object = lfpool_priority_acquire(s->pool, priority, owner_of(priority), &handle);

	return item_note(s, object, handle, priority);
}

static void add(struct evict_scene *s, uint64_t priority)
{
	struct item *item = add_new(s, priority);

	(void)lfpool_priority_publish(s->pool, item->handle);
	item->is_new = false;
	item->active = true;
}

/* So many more; of `alike` each the same priority. */
static void fill(struct evict_scene *s, size_t count, size_t alike)
{
	for (count = count ? count : lfpool_priority_capacity(s->pool); count; count--)
		add(s, 100 + 10 * ((s->count * 7 + 3) % SLOTS_MAX / alike));
}

static void choose(struct evict_scene *s, struct item *item)
{
	s->mine = item;
	s->priority = item->priority;
}

static void choose_least(struct evict_scene *s)
{
	size_t at = s->count;

	for (size_t i = 0; i < s->count; i++)
		if (item_can_go(&s->items[i]) && (at == s->count || s->items[i].priority < s->items[at].priority))
			at = i;
	choose(s, &s->items[at]);
}

static void pin(struct evict_scene *s, struct item *item, size_t times)
{
	for (; times; times--, item->pins++)
		(void)lfpool_priority_pin(s->pool, item->handle);
}

/* Words about which objects there are, and their states; false: it is none of them. */
static bool arrange_items(struct evict_scene *s, const char *word, size_t number)
{
	if (strcmp(word, "fill") == 0) {
		fill(s, number, 1);
	} else if (strcmp(word, "alike") == 0) {
		fill(s, number, SLOTS_MAX / 2);
	} else if (strcmp(word, "add") == 0) {
		add(s, number);
	} else if (strcmp(word, "new") == 0) {
		choose(s, add_new(s, number));
	} else if (strcmp(word, "drop") == 0) {
		(void)lfpool_priority_release(s->pool, s->items[number].handle);
		s->items[number].active = s->items[number].is_new = false;
	} else if (strcmp(word, "pin") == 0) {
		pin(s, s->mine, number ? number : 1);
	} else if (strcmp(word, "unpin") == 0) {
		(void)lfpool_priority_unpin(s->pool, s->mine->handle);
		s->mine->pins = 0;
	} else if (strcmp(word, "pins") == 0) {
		for (size_t i = 0; i < s->count; i++)
			pin(s, &s->items[i], 1);
	} else {
		return false;
	}
	return true;
}

/* Words about the operation. */
static bool arrange_operation(struct evict_scene *s, const char *word, size_t number)
{
	if (strcmp(word, "item") == 0) {
		choose(s, &s->items[number]);
	} else if (strcmp(word, "least") == 0) {
		choose_least(s);
	} else if (strcmp(word, "nobody") == 0) {
		s->mine = NULL;
	} else if (strcmp(word, "change") == 0) {
		s->mine->uncertain = true;
		s->priority = number ? number : s->priority;
	} else if (strcmp(word, "to") == 0) {
		s->priority = number;
	} else if (strcmp(word, "doubt") == 0) {
		s->items[number].uncertain = true;
	} else if (strcmp(word, "records") == 0) {
		evict_scene_use_up_records(s);
	} else if (strcmp(word, "touch") == 0) {
		(void)lfpool_priority_update(s->pool, s->items[0].handle, ++s->items[0].priority);
	} else {
		return false;
	}
	return true;
}

void evict_setup(struct evict_scene *s, const char *text)
{
	struct word word;

	while ((text = word_read(text, &word)))
		if (!arrange_items(s, word.name, word.number) && !arrange_operation(s, word.name, word.number))
			word_unknown(&word);
}
