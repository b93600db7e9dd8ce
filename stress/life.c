/* SPDX-License-Identifier: MIT */
/*
 * life.c - see life.h.
 */
#include "life.h"

#include "report.h"
#include "round.h"

enum step { RAW, READY, USED, BUSY };

struct life {
	_Atomic(size_t) created, activated, deactivated, destroyed;
	_Atomic(unsigned) turns;
	_Atomic(unsigned) step[];      /* of the object in each slot */
};

/* The object goes from one step to the next, and no other thread is at it. */
static void go(struct round *round, const void *object, enum step from, enum step to, _Atomic(size_t) *count)
{
	const size_t index = lfpool_index_of(round->pool, object);

	if (index >= round->most) {
		violation(round, "a hook was called with %p, which is no object", object);
		return;
	}

	_Atomic(unsigned) *step = &round->life->step[index];
	/* relaxed, all: the pool orders the hooks of one object; a hook that comes too early is seen all the same. */
	const unsigned found = atomic_exchange_explicit(step, BUSY, memory_order_relaxed);

	if (found != from)
		violation(round, "a hook found object %p at step %u, not %u", object, found, from);
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_store_explicit(step, (unsigned)to, memory_order_relaxed);
}

static bool on_create(void *context, void *object)
{
	struct round *round = context;

	go(round, object, RAW, READY, &round->life->created);
	return true;
}

static bool on_activate(void *context, void *object)
{
	struct round *round = context;

	go(round, object, READY, USED, &round->life->activated);
	return true;
}

static bool on_deactivate(void *context, void *object)
{
	struct round *round = context;

	go(round, object, USED, READY, &round->life->deactivated);
	/* relaxed: how often is all that matters. */
	return atomic_fetch_add_explicit(&round->life->turns, 1, memory_order_relaxed) % 9 != 0;
}

static void on_destroy(void *context, void *object)
{
	struct round *round = context;

	go(round, object, READY, RAW, &round->life->destroyed);
}

void life_open(struct round *round)
{
	/* No quarantine: an object on its way out of it may be missing for a moment, which the oracle of NULLs does not
	 * allow (lfpool/debug.h). */
	static const char *const modes[] = {"poison", "guard,poison", "owner", "check", "poison,owner,guard,check"};
	lfpool_config_t *config = &round->config;
	/* A choice of its own, so that a seed draws what it drew before. */
	struct random random = random_for(round->seed, 1000);

	if (round->cell->options->fault != FAULT_NONE || round->plain)
		return;
	if (random_below(&random, 8) == 0)
		config->debug = modes[random_below(&random, sizeof(modes) / sizeof(modes[0]))];
	if (random_below(&random, 6) != 0)
		return;
	round->life = round_memory(1, sizeof(struct life) + round->most * sizeof(unsigned));
	config->hooks.activate = on_activate;
	config->hooks.deactivate = on_deactivate;
	config->hooks.destroy = on_destroy;
	config->hooks.create = on_create;
	/* Excluded by create. */
	config->flags &= ~LFPOOL_ZERO;
}

void life_close(struct round *round)
{
	struct life *life = round->life;

	if (!life)
		return;
	if (!cell_failed(round->cell) &&
	    (life->created != life->destroyed || life->activated != life->deactivated))
		violation(round, "%zu objects were created and %zu destroyed, %zu activated and %zu deactivated",
			  life->created, life->destroyed, life->activated, life->deactivated);
	free(life);
	round->life = NULL;
}
