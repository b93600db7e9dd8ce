/* SPDX-License-Identifier: MIT */
/*
 * places.c - when all threads have ended, every magazine is in one place: on one of the depot's stacks, or a cache's
 * current or previous; and none is missing.
 *
 * A magazine in two places does no harm at once.  The next who needs one does it.
 */
#include "scenario.h"

#include "cache.h"

#include <string.h>

#define NUMBERS_MAX 512

static bool seen[NUMBERS_MAX], made[NUMBERS_MAX];

static bool note(uint32_t number, const char *where)
{
	if (number >= NUMBERS_MAX) {
		engine_fail("%s names magazine %u, which there is not", where, number);
		return false;
	}
	if (seen[number]) {
		engine_fail("magazine %u is in two places, the second is %s", number, where);
		return false;
	}
	seen[number] = true;
	return true;
}

static bool note_stack(const struct core *core, const struct stack *stack, const char *where)
{
	uint32_t number = tagged_number(load_relaxed(&stack->head));

	while (number) {
		if (!note(number, where))
			return false;
		number = load_relaxed(&magazines_at(&core->magazines, number)->next);
	}
	return true;
}

void places_check(struct core *core)
{
	const struct magazines *ms = &core->magazines;
	const uint32_t caches = load_relaxed(&core->table.count);

	memset(seen, 0, sizeof(seen));
	memset(made, 0, sizeof(made));
	for (uint32_t i = 0; i < core->depot.shards; i++) {
		const struct shard *shard = &core->depot.shard[i];

		if (!note_stack(core, &shard->full, "a stack of full ones") ||
		    !note_stack(core, &shard->partial, "a stack of partial ones") ||
		    !note_stack(core, &shard->empty, "a stack of empty ones"))
			return;
	}
	for (uint32_t index = 0; index < caches; index++) {
		uint32_t left, previous;
		const struct cache *c = cache_at(core, index, &left);

		if (!load_relaxed(&c->born))
			continue;
		previous = tagged_number(load_relaxed(&c->previous));
		if (!note(tagged_number(load_relaxed(&c->current_word)), "a cache's current") ||
		    (previous && !note(previous, "a cache's previous")))
			return;
		for (uint32_t which = 0; which < EXTRA_PER_CACHE; which++)
			made[magazines_extra_number(ms, index, which)] = true;
	}
	for (uint32_t number = 1; number <= load_relaxed(&core->depot.carved); number++)
		made[number] = true;
	for (uint32_t number = 1; number < NUMBERS_MAX; number++)
		if (seen[number] != made[number]) {
			engine_fail("magazine %u %s", number, seen[number] ? "came from nowhere" : "is nowhere");
			return;
		}
}
