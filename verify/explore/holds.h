/* SPDX-License-Identifier: MIT */
/*
 * holds.h - when was which object active; and so, was a walk right, and was a resolve?
 *
 * Walk         Whatever is acquired before the walk begins, and whose release begins after it has ended, is visited
 *              once; nothing twice; and nothing whose every hold ended before the walk began, or began after it ended.
 * Resolve      The handle's object, if its release has not begun; nothing, if its release ended before the resolve
 *              began.
 * Before       is happens-before, or the order of operations if the search is sequentially consistent.
 * Hooks        holds_activate() writes, and whoever is given an object reads: a race unless TELL orders them.
 */
#ifndef EXPLORE_HOLDS_H
#define EXPLORE_HOLDS_H

#include "explore.h"

#include "lfpool/lfpool.h"

/* As oracle.h, which calls these. */
void holds_open(const lfpool_t *pool);
void holds_acquired(struct moment call, unsigned object);
void holds_releases(unsigned object);
void holds_released(unsigned object);

/* Walks over the active objects, or over all slots. */
void holds_walk(lfpool_t *pool, bool all_slots);
/* The handle of an active object; in the set-up: the handle that its slot's next use will have, when it is free. */
void holds_take_handle(const void *object);
void holds_take_next_handle(void);
void holds_resolve(void);
lfpool_handle_t holds_handle(void);
/* After all threads: were the walks right? */
void holds_check_walks(void);

bool holds_activate(void *context, void *object);

#endif
