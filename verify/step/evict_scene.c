/* SPDX-License-Identifier: MIT */
/*
 * evict_scene.c - see evict.h.  This is the one file of the test that looks inside the pool: to see which way a call
 * went, and to use up records.
 */
#include "evict.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "priority/evicting.h"

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

struct item *item_of(struct evict_scene *s, lfpool_handle_t handle)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->items[i].handle == handle)
			return &s->items[i];
	return NULL;
}

bool item_can_go(const struct item *item)
{
	return item->active && !item->pins && !item->evicted;
}

bool item_is_in_use(const struct item *item)
{
	return !item->evicted && (item->active || item->is_new || item->pins);
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
	struct item *item = item_of(s, evicted->handle);
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

static bool is_less(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a < b;
}

/* ---- Scenes ---- */

void evict_scene_open(struct evict_scene *s, const struct evict_operation *o)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	memset(s, 0, sizeof(*s));
	config.object_size = sizeof(struct mark);
	config.capacity = o->capacity;
	config.flags = o->flags;
	config.context = s;
	config.before = o->special & CALLER_ORDER ? is_less : NULL;
	config.on_evict = on_evict;
	if (lfpool_priority_create(&s->pool, &config) != LFPOOL_OK) {
		fprintf(stderr, "%s: no pool\n", o->name);
		exit(3);
	}
	s->operation = o;
	evict_write_down(NULL);
	evict_setup(s, o->setup);
	evict_write_down(&s->evicted);
}

void evict_scene_close(struct evict_scene *s)
{
	(void)lfpool_priority_destroy(s->pool);
	s->pool = NULL;
}

/* relaxed, all from here on: the pool is this thread's alone. */
void evict_scene_use_up_records(struct evict_scene *s)
{
	const struct tournament *t = &s->pool->tournament;

	for (uint32_t i = 0; i < t->count; i++)
		for (unsigned k = 0; k < OWN_RECORDS; k++)
			store_relaxed(&t->slots[i].used[k], 1);
	for (uint32_t i = 0; i <= t->level_at[t->levels - 1]; i++)
		for (unsigned k = 0; k < OWN_RECORDS; k++)
			store_relaxed(&t->nodes[i].used[k], 1);
}

struct reading {
	uint64_t states, nodes, root, free;
	bool record;
};

/* One call changes what it changes in one direction: tags and versions grow, pins come or go.  So sums tell. */
static struct reading read_pool(const struct evict_scene *s)
{
	const struct tournament *t = &s->pool->tournament;
	const uint32_t root = t->level_at[t->levels - 1];
	struct reading r = {.root = load_relaxed(&t->nodes[root].word), .free = load_relaxed(&s->pool->free.head)};

	r.record = tagged_number(r.root) > OWN_RECORDS;
	for (uint32_t i = 0; i < t->count; i++) {
		const uint64_t state = load_relaxed(&t->slots[i].word);

		r.states += state;
		r.record |= state_record(state) > OWN_RECORDS;
	}
	for (uint32_t i = 0; i < root; i++) {
		const uint64_t word = load_relaxed(&t->nodes[i].word);

		r.nodes += word;
		r.record |= tagged_number(word) > OWN_RECORDS;
	}
	return r;
}

unsigned evict_scene_operate(struct evict_scene *s)
{
	const struct reading before = read_pool(s);

	s->operation->operate(s);

	const struct reading after = read_pool(s);

	return (after.states != before.states ? MOVES_STATE : 0) | (after.nodes != before.nodes ? MOVES_NODE : 0) |
	       (after.root != before.root ? MOVES_ROOT : 0) | (after.free != before.free ? MOVES_FREE : 0) |
	       (after.record ? MOVES_RECORD : 0);
}
