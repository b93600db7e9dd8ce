/* SPDX-License-Identifier: MIT */
/*
 * hooked.h - objects with a life, and the five hooks that lead them through it and count.
 */
#ifndef LFPOOL_TESTS_HOOKED_H
#define LFPOOL_TESTS_HOOKED_H

#include "support.h"

enum { CAPACITY = 40, BUILT = 0x6275696c };

/* What a hook built, and who uses it. */
struct thing {
	unsigned built;       /* BUILT between create and destroy          */
	unsigned active;      /* 1 between activate and deactivate         */
	unsigned uses;        /* survives reuse                            */
	struct thing *friend; /* acquired in activate                  */
};

struct log {
	lfpool_t *pool;
	size_t created, activated, deactivated, destroyed, validated;
	size_t create_at_most; /* then create refuses                  */
	size_t dead;           /* how many of the next validates       */
	bool friends;          /* activate and deactivate use the pool */
};

static inline bool on_create(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built != BUILT);
	if (log->created - log->destroyed >= log->create_at_most)
		return false;
	log->created++;
	*thing = (struct thing){.built = BUILT};
	return true;
}

static inline bool on_validate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	log->validated++;
	if (!log->dead)
		return true;
	log->dead--;
	return false;
}

static inline bool on_activate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	if (log->pool)
		REQUIRE(!lfpool_in_use(log->pool, object) || lfpool_backend(log->pool) == LFPOOL_BACKEND_MALLOC);
	log->activated++;
	thing->active = 1;
	thing->uses++;
	if (log->friends) {
		log->friends = false;
		thing->friend = lfpool_acquire(log->pool);
		REQUIRE(thing->friend && thing->friend != thing);
		log->friends = true;
	}
	return true;
}

static inline bool on_deactivate(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && thing->active);
	log->deactivated++;
	thing->active = 0;
	if (thing->friend) {
		REQUIRE(lfpool_release(log->pool, thing->friend) == LFPOOL_OK);
		thing->friend = NULL;
	}
	return true;
}

static inline void on_destroy(void *context, void *object)
{
	struct log *log = context;
	struct thing *thing = object;

	REQUIRE(thing->built == BUILT && !thing->active);
	thing->built = 0;
	log->destroyed++;
}

#endif
