/* SPDX-License-Identifier: MIT */
/*
 * evict_prepare.h - the states that evicting pools are prepared in: each chooses what the operation is about.
 */
#ifndef LFPOOL_VERIFY_EVICT_PREPARE_H
#define LFPOOL_VERIFY_EVICT_PREPARE_H

#include "evict.h"

#define PINS_MOST 125

/* The owner that on_evict is to be told for an object acquired with this priority. */
static inline void *owner_of(uint64_t priority)
{
	return (void *)(uintptr_t)priority;
}

/* An object was acquired; it is new. */
struct item *item_note(struct evict_scene *s, void *object, lfpool_handle_t handle, uint64_t priority);

void prepare_free(struct evict_scene *s);
void prepare_fresh(struct evict_scene *s);
void prepare_least(struct evict_scene *s);
void prepare_least_untouched(struct evict_scene *s);
void prepare_other(struct evict_scene *s);
void prepare_full_of_ties(struct evict_scene *s);
void prepare_equal(struct evict_scene *s);
void prepare_equal_refused(struct evict_scene *s);
void prepare_stale_tree(struct evict_scene *s);
void prepare_lower(struct evict_scene *s);
void prepare_all_pinned(struct evict_scene *s);
void prepare_new_low(struct evict_scene *s);
void prepare_new_middle(struct evict_scene *s);
void prepare_new_high(struct evict_scene *s);
void prepare_new_alone(struct evict_scene *s);
void prepare_new_records_used(struct evict_scene *s);
void prepare_stale(struct evict_scene *s);
void prepare_up(struct evict_scene *s);
void prepare_up_among_ties(struct evict_scene *s);
void prepare_up_records_used(struct evict_scene *s);
void prepare_down_records_used(struct evict_scene *s);
void prepare_down(struct evict_scene *s);
void prepare_least_down(struct evict_scene *s);
void prepare_aside(struct evict_scene *s);
void prepare_only_one_up(struct evict_scene *s);
void prepare_only_one_down(struct evict_scene *s);
void prepare_pinned(struct evict_scene *s);
void prepare_pinned_twice(struct evict_scene *s);
void prepare_pinned_most(struct evict_scene *s);
void prepare_last_pin(struct evict_scene *s);
void prepare_last_pin_aside(struct evict_scene *s);
void prepare_last_pin_of_released(struct evict_scene *s);
void prepare_few(struct evict_scene *s);
void prepare_two_least(struct evict_scene *s);

#endif
