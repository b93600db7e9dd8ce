/* SPDX-License-Identifier: MIT */
/*
 * priority_duel.h - several calls on an evicting pool at the same instant.
 *
 * Idea         A duel is a scene that one thread sets up alone, calls that several threads make of it at once, and what
 *              must hold when all have returned; thousands of times.  The threads set off together, each after
 *              a random little while, so that every order of their instructions has its chance.
 */
#ifndef LFPOOL_TESTS_PRIORITY_DUEL_H
#define LFPOOL_TESTS_PRIORITY_DUEL_H

#include "pin.h"
#include "priority_support.h"

#include <stdatomic.h>

enum { ACTORS_MAX = 4, CAPACITY_MAX = 257 };

struct scene;

struct duel {
	const char *name;
	unsigned actors;
	size_t capacity;
	void (*set_up)(struct scene *s);
	void (*act[ACTORS_MAX])(struct scene *s, unsigned self);
	void (*check)(struct scene *s);
	bool filled; /* `others` stay from round to round, as many as there can be */
};

struct scene {
	const struct duel *duel;
	lfpool_priority_t *pool;
	lfpool_handle_t handle; /* of the object that all want */
	void *object;
	struct random random[ACTORS_MAX];
	/* What the calls came to; set to nothing before each round. */
	lfpool_status_t says[ACTORS_MAX];
	void *got[ACTORS_MAX];
	lfpool_handle_t new_handle[ACTORS_MAX];
	size_t released[ACTORS_MAX];
	_Atomic(unsigned) evictions;
	_Atomic(uint64_t) evicted_priority;
	/* All of the pool's, where there are more. */
	lfpool_handle_t others[CAPACITY_MAX];
	/* The round's number; how many have come so far. */
	_Atomic(unsigned) opened, closed, idled, here;
	uint32_t handicap; /* of the first actor, who knows first that a round is open */
	unsigned rounds;
};

static inline void on_evict(void *context, const lfpool_evicted_t *e)
{
	struct scene *s = context;

	if (e->handle == s->handle) {
		REQUIRE(e->object == s->object);
		atomic_store(&s->evicted_priority, e->priority);
		atomic_fetch_add(&s->evictions, 1);
	}
}

/* ---- The rounds ---- */

static inline void wait_until(_Atomic(unsigned) *word, unsigned value)
{
	/* acquire: what was done before. */
	for (unsigned spins = 1; atomic_load_explicit(word, memory_order_acquire) != value; spins++)
		if (spins % 256 == 0)
			sched_yield();
}

static inline void act(struct scene *s, unsigned self)
{
	const uint32_t idle = random_below(&s->random[self], 64) + (self ? 0 : s->handicap);

	for (uint32_t i = 0; i < idle; i++)
		(void)atomic_load_explicit(&s->idled, memory_order_relaxed);
	s->duel->act[self](s, self);
	/* Later the next time if nobody else was done yet: so they close in on the same instant. */
	if (self == 0 && atomic_load_explicit(&s->closed, memory_order_relaxed) == 0)
		s->handicap += s->handicap < 10000 ? 3 : 0;
	else if (self == 0)
		s->handicap -= s->handicap < 3 ? s->handicap : 3;
}

struct actor {
	struct scene *scene;
	unsigned self;
};

static inline void *take_part(void *argument)
{
	struct actor *a = argument;

	pin_thread(a->self);
	for (unsigned round = 1; round <= a->scene->rounds; round++) {
		atomic_fetch_add(&a->scene->here, 1);
		wait_until(&a->scene->opened, round);
		act(a->scene, a->self);
		atomic_fetch_add(&a->scene->closed, 1);
	}
	return NULL;
}

static inline void one_round(struct scene *s, unsigned round)
{
	for (unsigned i = 0; i < ACTORS_MAX; i++) {
		s->says[i] = (lfpool_status_t)1;
		s->got[i] = NULL;
		s->new_handle[i] = 0;
		s->released[i] = 0;
	}
	atomic_store(&s->evictions, 0);
	s->duel->set_up(s);
	wait_until(&s->here, round * (s->duel->actors - 1));
	atomic_store(&s->closed, 0);
	atomic_store(&s->opened, round);
	act(s, 0);
	wait_until(&s->closed, s->duel->actors - 1);
	s->duel->check(s);
	if (s->duel->filled)
		return;
	(void)lfpool_priority_release(s->pool, s->handle);
	for (unsigned i = 0; i < s->duel->actors; i++)
		(void)lfpool_priority_release(s->pool, s->new_handle[i]);
	(void)lfpool_priority_release(s->pool, s->others[0]);
	REQUIRE(lfpool_priority_count(s->pool) == 0);
}

static inline void fight(const struct duel *duel, uint64_t seed)
{
	struct actor actors[ACTORS_MAX];
	struct scene s = {.duel = duel, .rounds = TIMES(800, 80)};

	s.pool = PRIORITY_WITH(.object_size = 16, .capacity = duel->capacity, .on_evict = on_evict, .context = &s);
	pin_thread(0);
	for (unsigned i = 0; i < ACTORS_MAX; i++) {
		s.random[i] = random_for(seed, i);
		actors[i] = (struct actor){.scene = &s, .self = i};
	}
	const struct threads others = threads_start(duel->actors - 1, take_part, actors + 1, sizeof(actors[0]));

	for (unsigned round = 1; round <= s.rounds; round++)
		one_round(&s, round);
	threads_join(&others);
	REQUIRE(lfpool_priority_destroy(s.pool) == (duel->filled ? duel->capacity : 0));
}

#endif
