/* SPDX-License-Identifier: MIT */
/*
 * victims.c - see victims.h.
 */
#include "evict/victims.h"

#include "pool/handles.h"
#include "pool/slots.h"

bool victims_evict(lfpool_t *pool, const uint64_t *newcomer, uint32_t *slot_out)
{
	struct order *order = pool->order;

	/* Repeats only after another thread pinned, released or evicted the least, or changed its priority. */
	for (;;) {
		const struct least least = order_least(order);

		if (!least.slot || (newcomer && !order_gives_way(order, least.rank.priority, *newcomer)))
			return false;
		if (order_priority(order, least.slot) != least.rank.priority ||
		    !arena_unmark(&pool->core.arena, least.slot, least.word))
			continue;

		void *object = pool_object(pool, least.slot);

		if (pool->hooks.evict)
			pool->hooks.evict(pool->hooks.context, object, handle_with(pool, least.slot, least.word),
					  least.rank.priority);
		*slot_out = slots_end(pool, least.slot, object);
		return true;
	}
}
