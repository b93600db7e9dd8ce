/* SPDX-License-Identifier: MIT */
/*
 * evict_prepare.c - how an evicting pool is brought into one exact state, for the table of operations.
 *
 * Idea         After a few acquires by one thread the state is exact.  Slots are taken in order, 1 to 18; 1 to 16 are
 *              one node's, 17 and 18 the other's.  Of a full pool slot 16 is the least (100), slot 17 the first in its node
 *              (170), and slot 18 comes after it (240).
 */
#include "evict_prepare.h"

#define MIDST_OF_FIRST 3  /* items: 160, 110, 170, 240 */
#define SECOND_OF_FULL 10
#define FIRST_OF_SECOND 16
#define LAST_OF_SECOND 17
#define LEAST_OF_FULL 15  /* 100 */
#define LOW 1      /* before all others                    */
#define MIDDLE 165 /* before FIRST_OF_SECOND, not the least */
#define HIGH 500   /* after all others                     */

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

static struct item *add(struct evict_scene *s, uint64_t priority)
{
	struct item *item = add_new(s, priority);

	(void)lfpool_priority_publish(s->pool, item->handle);
	item->is_new = false;
	item->active = true;
	return item;
}

static void drop(struct evict_scene *s, struct item *item)
{
	(void)lfpool_priority_release(s->pool, item->handle);
	item->active = item->is_new = false;
}

static void hold(struct evict_scene *s, struct item *item)
{
	(void)lfpool_priority_pin(s->pool, item->handle);
	item->pins++;
}

/* So many more, each of another priority; or of each priority `alike`. */
static void add_some(struct evict_scene *s, size_t count, size_t alike)
{
	while (count--)
		(void)add(s, 100 + 10 * ((s->count * 7 + 3) % SLOTS_MAX / alike));
}

static void fill(struct evict_scene *s)
{
	add_some(s, lfpool_priority_capacity(s->pool), 1);
}

/* The operation is about to change it. */
static void choose(struct evict_scene *s, struct item *item, uint64_t priority)
{
	s->mine = item;
	s->priority = priority;
	item->uncertain = true;
}

static void choose_least(struct evict_scene *s, uint64_t priority)
{
	const struct item *least = NULL;
	size_t at = 0;

	for (size_t i = 0; i < s->count; i++)
		if (item_can_go(&s->items[i]) && (!least || s->items[i].priority < least->priority))
			least = &s->items[at = i];
	choose(s, &s->items[at], priority);
}

void prepare_free(struct evict_scene *s)
{
	fill(s);
	drop(s, &s->items[MIDST_OF_FIRST]);
	s->priority = HIGH;
}

void prepare_fresh(struct evict_scene *s)
{
	add_some(s, lfpool_priority_capacity(s->pool) - 1, 1);
	s->priority = HIGH;
}

static void choose_as_it_is(struct evict_scene *s, struct item *item)
{
	choose(s, item, item->priority);
}

void prepare_least(struct evict_scene *s)
{
	fill(s);
	choose_least(s, 0);
	s->priority = s->mine->priority;
}

void prepare_least_untouched(struct evict_scene *s)
{
	prepare_least(s);
	s->mine->uncertain = false;
}

void prepare_other(struct evict_scene *s)
{
	fill(s);
	choose_as_it_is(s, &s->items[LAST_OF_SECOND]);
}

void prepare_full_of_ties(struct evict_scene *s)
{
	add_some(s, lfpool_priority_capacity(s->pool), SLOTS_MAX / 2);
	choose_least(s, HIGH);
}

/* The newcomer gets the priority of the least. */
void prepare_equal(struct evict_scene *s)
{
	prepare_full_of_ties(s);
	s->priority = s->mine->priority;
}

void prepare_equal_refused(struct evict_scene *s)
{
	prepare_equal(s);
	s->mine->uncertain = false;
}

/* Somebody was evicted, and nobody has come since: both nodes on the way name him. */
void prepare_stale_tree(struct evict_scene *s)
{
	fill(s);
	(void)add_new(s, HIGH);
	choose_least(s, HIGH);
}

void prepare_lower(struct evict_scene *s)
{
	fill(s);
	s->priority = LOW;
}

void prepare_all_pinned(struct evict_scene *s)
{
	fill(s);
	for (size_t i = 0; i < s->count; i++)
		hold(s, &s->items[i]);
	s->mine = &s->items[0];
	s->priority = HIGH;
}

static void prepare_new(struct evict_scene *s, uint64_t priority)
{
	add_some(s, lfpool_priority_capacity(s->pool) - 1, 1);
	choose(s, add_new(s, priority), priority);
}

void prepare_new_low(struct evict_scene *s)
{
	prepare_new(s, LOW);
}

void prepare_new_middle(struct evict_scene *s)
{
	prepare_new(s, MIDDLE);
}

void prepare_new_high(struct evict_scene *s)
{
	prepare_new(s, HIGH);
}

void prepare_new_alone(struct evict_scene *s)
{
	choose(s, add_new(s, HIGH), HIGH);
}

/* A handle that names nothing any more, though its slot is in use. */
void prepare_stale(struct evict_scene *s)
{
	fill(s);
	drop(s, &s->items[MIDST_OF_FIRST]);
	(void)add(s, HIGH);
	s->mine = &s->items[MIDST_OF_FIRST];
	s->priority = LOW;
}

void prepare_up(struct evict_scene *s)
{
	fill(s);
	choose_least(s, HIGH);
}

void prepare_up_among_ties(struct evict_scene *s)
{
	prepare_full_of_ties(s);
	s->priority = s->mine->priority + 10;
}

void prepare_down(struct evict_scene *s)
{
	fill(s);
	choose(s, &s->items[LAST_OF_SECOND], LOW);
}

void prepare_up_records_used(struct evict_scene *s)
{
	prepare_up(s);
	evict_scene_use_up_records(s);
}

/* By a thread that has taken a record before. */
void prepare_down_records_used(struct evict_scene *s)
{
	prepare_down(s);
	evict_scene_use_up_records(s);
	(void)lfpool_priority_update(s->pool, s->items[0].handle, ++s->items[0].priority);
}

void prepare_new_records_used(struct evict_scene *s)
{
	prepare_new_low(s);
	evict_scene_use_up_records(s);
	(void)lfpool_priority_update(s->pool, s->items[0].handle, ++s->items[0].priority);
}

void prepare_least_down(struct evict_scene *s)
{
	fill(s);
	choose_least(s, LOW);
}

void prepare_aside(struct evict_scene *s)
{
	fill(s);
	choose(s, &s->items[MIDST_OF_FIRST], HIGH);
}

/* All others are pinned. */
static void prepare_only_one(struct evict_scene *s, uint64_t priority)
{
	prepare_all_pinned(s);
	choose(s, &s->items[FIRST_OF_SECOND], priority);
	(void)lfpool_priority_unpin(s->pool, s->mine->handle);
	s->mine->pins = 0;
}

void prepare_only_one_up(struct evict_scene *s)
{
	prepare_only_one(s, HIGH);
}

void prepare_only_one_down(struct evict_scene *s)
{
	prepare_only_one(s, LOW);
}

/* One that is pinned already, and stays so. */
void prepare_pinned(struct evict_scene *s)
{
	fill(s);
	s->mine = &s->items[LEAST_OF_FULL];
	s->priority = HIGH;
	hold(s, s->mine);
}

void prepare_pinned_twice(struct evict_scene *s)
{
	prepare_pinned(s);
	hold(s, s->mine);
}

void prepare_pinned_most(struct evict_scene *s)
{
	prepare_pinned(s);
	while (s->mine->pins < PINS_MOST)
		hold(s, s->mine);
}

/* Its last pin is about to go. */
void prepare_last_pin(struct evict_scene *s)
{
	prepare_least(s);
	hold(s, s->mine);
}

void prepare_last_pin_aside(struct evict_scene *s)
{
	prepare_other(s);
	hold(s, s->mine);
}

void prepare_last_pin_of_released(struct evict_scene *s)
{
	prepare_last_pin(s);
	drop(s, s->mine);
}

void prepare_few(struct evict_scene *s)
{
	add_some(s, 3, 1);
	hold(s, &s->items[1]);
	s->items[0].uncertain = s->items[2].uncertain = true;
}

void prepare_two_least(struct evict_scene *s)
{
	prepare_least(s);
	s->items[SECOND_OF_FULL].uncertain = true;
}
