/* SPDX-License-Identifier: MIT */
/*
 * continuations.h - continuations that remember how they were called.
 */
#ifndef LFPOOL_TESTS_CONTINUATIONS_H
#define LFPOOL_TESTS_CONTINUATIONS_H

#include "kinds.h"

/* A continuation's context: what it was called with. */
struct call {
	struct stage *stage;
	void *object;
	unsigned calls;
	size_t order; /* the how-manieth it was */
	lfpool_ticket_t ticket;
};

static size_t calls_so_far;

static inline void keep(void *context, lfpool_t *pool, void *object)
{
	struct call *c = context;

	REQUIRE(pool == c->stage->pool);
	REQUIRE(!object || lfpool_in_use(pool, object));
	c->object = object;
	c->calls++;
	c->order = calls_so_far++;
}

static inline void give_back(void *context, lfpool_t *pool, void *object)
{
	keep(context, pool, object);
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
}

static inline void ask(struct stage *s, struct call *c, lfpool_continuation_t then)
{
	*c = (struct call){.stage = s, .ticket = 77};
	assert_int_equal(lfpool_acquire_async(s->pool, then, c, &c->ticket), LFPOOL_OK);
}

#endif
