/* SPDX-License-Identifier: MIT */
/*
 * evict_scene.c - see evict.h.  This is the one file of the test that looks inside the pool: to see which way a call
 * went.
 */
#include "drive.h"
#include "evict.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "priority/evicting.h"
#include "words.h"

struct mark {
	uint64_t handle, priority;
};

static _Atomic(bool) faulty;
static _Thread_local struct list *list_here;

/* ---- Objects ---- */

void object_mark(void *object, lfpool_handle_t handle, uint64_t priority)
{
	const struct mark mark = {handle, priority};

	memcpy(object, &mark, sizeof(mark));
}

bool object_is_marked(const void *object, lfpool_handle_t handle)
{
	struct mark mark;

	memcpy(&mark, object, sizeof(mark));
	return mark.handle == handle;
}

struct item *item_note(struct items *items, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct item *item = &items->of[items->count++];

	object_mark(object, handle, priority);
	*item = (struct item){.handle = handle, .object = object, .priority = priority, .state = NEW};
	return item;
}

struct item *item_of(struct items *items, lfpool_handle_t handle)
{
	for (size_t i = 0; i < items->count; i++)
		if (items->of[i].handle == handle)
			return &items->of[i];
	return NULL;
}

bool item_can_go(const struct item *item)
{
	return item->state == ACTIVE && !item->pins && !item->evicted;
}

bool item_is_in_use(const struct item *item)
{
	return !item->evicted && (item->state != RELEASED || item->pins);
}

/* ---- The hook ---- */

void evict_write_down(struct list *list)
{
	list_here = list;
}

bool evict_hook_wrong(void)
{
	/* relaxed: read when the others have given the turn back. */
	return atomic_exchange_explicit(&faulty, false, memory_order_relaxed);
}

static void on_evict(void *context, const lfpool_evicted_t *evicted)
{
	struct evict_scene *s = context;
	struct item *mine = item_of(&s->items, evicted->handle), *item = mine ? mine : item_of(&s->others, evicted->handle);
	struct mark mark;

	memcpy(&mark, evicted->object, sizeof(mark));
	if (evicted->pool != s->pool || mark.handle != evicted->handle || lfpool_priority_is_active(s->pool, mark.handle) ||
	    (uintptr_t)evicted->owner != (uintptr_t)mark.priority)
		/* relaxed: as above. */
		atomic_store_explicit(&faulty, true, memory_order_relaxed);
	if (item)
		item->evicted++;
	if (list_here && list_here->count < sizeof(list_here->of) / sizeof(*list_here->of)) {
		list_here->of[list_here->count].handle = evicted->handle;
		list_here->of[list_here->count++].priority = evicted->priority;
	}
}

/* ---- Set-ups ----
 *
 * How the pool is brought into one exact state, as a text: "fill item 17 change 1".
 *
 *   fill N, alike      so many objects are published, each with another priority; all there is room for; of each two alike
 *   add N, new N       one more with this priority; the same, not published, and it is the one
 *   item N, least      that item is the one that the operation is about; the one that would be evicted is; nobody: none is
 *   change N           the operation is about to change it, to this priority, or to the one it has
 *   to N               the operation has this priority
 *   doubt N            the operation is about to change that item too
 *   drop N, pin N      that item is released; the one is pinned so often, or once; unpin: it is no more; pins: all are, once
 *
 * Idea         After a few acquires by one thread the state is exact.  Slots are taken in order, items 0 to 17; 0 to 15 are
 *              one node's, 16 and 17 the other's.  Of a full pool of these item 15 is the least (100), item 16 the first in
 *              its node (170), item 17 comes after it (240); item 3 is in the midst of the first node (160, 110, 170, 240 are
 *              the first four), and item 10 the second of all.  So 1 goes before all others, 165 before item 16, and 500
 *              after all.
 */

static struct item *add_new(struct evict_scene *s, uint64_t priority)
{
	lfpool_handle_t handle;
	void *object = lfpool_priority_acquire(s->pool, priority, owner_of(priority), &handle);

	return item_note(&s->items, object, handle, priority);
}

static void add(struct evict_scene *s, uint64_t priority)
{
	struct item *item = add_new(s, priority);

	(void)lfpool_priority_publish(s->pool, item->handle);
	item->state = ACTIVE;
}

/* So many more; of `alike` each the same priority. */
static void fill(struct evict_scene *s, size_t count, size_t alike)
{
	for (count = count ? count : lfpool_priority_capacity(s->pool); count; count--)
		add(s, 100 + 10 * ((s->items.count * 7 + 3) % SLOTS_MAX / alike));
}

static void drop(struct evict_scene *s, struct item *item)
{
	(void)lfpool_priority_release(s->pool, item->handle);
	item->state = RELEASED;
}

static void pin(struct evict_scene *s, struct item *item, size_t times)
{
	for (; times; times--, item->pins++)
		(void)lfpool_priority_pin(s->pool, item->handle);
}

static void choose(struct evict_scene *s, struct item *item)
{
	s->mine = item;
	s->priority = item->priority;
}

static struct item *least(struct evict_scene *s)
{
	struct item *found = NULL;

	for (size_t i = 0; i < s->items.count; i++) {
		struct item *item = &s->items.of[i];

		if (item_can_go(item) && (!found || item->priority < found->priority))
			found = item;
	}
	return found;
}

#define IS(text) (strcmp(word->name, text) == 0)

static void arrange(struct evict_scene *s, const struct word *word)
{
	const size_t number = word->number;
	struct item *items = s->items.of;

	if (IS("fill")) {
		fill(s, number, 1);
	} else if (IS("alike")) {
		fill(s, number, SLOTS_MAX / 2);
	} else if (IS("add")) {
		add(s, number);
	} else if (IS("new")) {
		choose(s, add_new(s, number));
	} else if (IS("drop")) {
		drop(s, &items[number]);
	} else if (IS("pin")) {
		pin(s, s->mine, number ? number : 1);
	} else if (IS("unpin")) {
		(void)lfpool_priority_unpin(s->pool, s->mine->handle);
		s->mine->pins = 0;
	} else if (IS("pins")) {
		for (size_t i = 0; i < s->items.count; i++)
			pin(s, &items[i], 1);
	} else if (IS("item")) {
		choose(s, &items[number]);
	} else if (IS("least")) {
		choose(s, least(s));
	} else if (IS("nobody")) {
		s->mine = NULL;
	} else if (IS("change")) {
		s->mine->uncertain = true;
		s->priority = number ? number : s->priority;
	} else if (IS("to")) {
		s->priority = number;
	} else if (IS("doubt")) {
		items[number].uncertain = true;
	} else {
		word_unknown(word);
	}
}

static void setup_evicting(struct evict_scene *s, const char *text)
{
	struct word word;

	while ((text = word_read(text, &word)))
		arrange(s, &word);
}

/* ---- Scenes ---- */

void evict_scene_open(struct evict_scene *s, const struct evict_operation *o)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	memset(s, 0, sizeof(*s));
	config.object_size = sizeof(struct mark);
	config.capacity = o->capacity;
	config.context = s;
	config.on_evict = on_evict;
	if (lfpool_priority_create(&s->pool, &config) != LFPOOL_OK) {
		fprintf(stderr, "%s: no pool\n", o->name);
		exit(3);
	}
	s->operation = o;
	evict_write_down(NULL);
	setup_evicting(s, o->setup);
	evict_write_down(&s->evicted);
}

/* Tags and versions grow, pins come or go: sums tell.  In the order of enum evict_moves.
 * relaxed, all: the pool is this thread's alone. */
static struct reading read_pool(const struct evict_scene *s)
{
	const struct tournament *t = &s->pool->tournament;
	const uint32_t root = t->level_at[t->levels - 1];
	const uint64_t root_word = load_relaxed(&t->nodes[root].word);
	uint64_t states = 0, nodes = 0;

	for (uint32_t i = 0; i < t->count; i++)
		states += load_relaxed(&t->slots[i].word);
	for (uint32_t i = 0; i < root; i++)
		nodes += load_relaxed(&t->nodes[i].word);
	return (struct reading){{states, nodes, root_word, load_relaxed(&s->pool->free.head)}};
}

unsigned evict_scene_operate(struct evict_scene *s)
{
	const struct reading before = read_pool(s);

	s->operation->operate(s);

	const struct reading after = read_pool(s);

	return drive_changes(&before, &after);
}
