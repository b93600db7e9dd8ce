/* SPDX-License-Identifier: MIT */
/*
 * evicting_meeting.c - the scenario `priority` at rest: no thread is in a call, so the pool must be what the ledger says;
 * see evicting.h.
 */
#include "evicting.h"
#include "faults.h"
#include "report.h"

#include <inttypes.h>

/* What can be evicted, and where it stands. */
struct contender {
	struct order order;
	struct acquisition *of;
};

struct census {
	struct actor *actor;
	struct contender *contenders;
	size_t count, active, in_use, visited;
};

static int compare(const void *a, const void *b)
{
	const struct contender *left = a, *right = b;

	return order_before(left->order, right->order) ? -1 : order_before(right->order, left->order);
}

/* ---- Each acquisition ---- */

static void count_active(struct census *census, struct acquisition *a)
{
	const void *object = lfpool_priority_look(evicting.pool, a->name);
	uint64_t priority = 0;

	census->active++;
	contents_check(a, "before a meeting");
	if (object != a->object || !lfpool_priority_is_active(evicting.pool, a->name) ||
	    !lfpool_priority_get(evicting.pool, a->name, &priority)) {
		violation("handle %" PRIx64 " of active object %p leads to %p", a->name, (void *)a->object, object);
		return;
	}
	/* relaxed, here and below: no thread is in a call. */
	if (evicting.one_update ? priority != atomic_load_explicit(&a->settled, memory_order_relaxed)
				: !priority_was_tried(a, priority))
		violation("handle %" PRIx64 " has priority %" PRIx64 ", not %" PRIx64, a->name, priority,
			  atomic_load_explicit(&a->settled, memory_order_relaxed));
	if (!pins_of(a))
		census->contenders[census->count++] = (struct contender){{rank_of(priority), age_of(a->name)}, a};
}

static void count_one(struct census *census, struct acquisition *a)
{
	const bool live = fate_of(a) == LIVE;

	if (!live && worker_chance(census->actor->worker, 8))
		expect_stale(census->actor, a->name, pins_of(a));
	census->in_use += live || pins_of(a);
	if (live && atomic_load_explicit(&a->releasing, memory_order_relaxed))
		violation("handle %" PRIx64 " is live, and was released", a->name);
	if (census->in_use > evicting.capacity)
		violation("more objects than %zu are in use", evicting.capacity);
	else if (live && atomic_load_explicit(&a->published, memory_order_relaxed))
		count_active(census, a);
}

/* All there are, the least first. */
static void take_census(struct census *census)
{
	const size_t all = evicting.records * (current.threads + (size_t)1);

	for (size_t i = 0; i < all && !cell_failed(); i++)
		if (evicting.acquisitions[i].name)
			count_one(census, &evicting.acquisitions[i]);
	qsort(census->contenders, census->count, sizeof(*census->contenders), compare);
}

/* ---- The pool ---- */

static void expect_counts(const struct census *census)
{
	const size_t count = lfpool_priority_count(evicting.pool);
	uint64_t acquired = 0, evicted = 0, refused = 0;
	lfpool_priority_stats_t stats;

	for (unsigned i = 0; i <= current.threads; i++) {
		acquired += evicting.actors[i].acquired;
		evicted += evicting.actors[i].evicted;
		refused += evicting.actors[i].refused;
	}
	lfpool_priority_stats(evicting.pool, &stats);
	if (count != census->in_use)
		violation("%zu objects are in use, says the pool; there are %zu", count, census->in_use);
	if (stats.acquired != acquired || stats.evicted != evicted || stats.refused != refused)
		violation("acquired, evicted, refused: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", says the pool; it were %" PRIu64
			  ", %" PRIu64 ", %" PRIu64,
			  stats.acquired, stats.evicted, stats.refused, acquired, evicted, refused);
}

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct census *census = context;
	const struct slot *slot = &evicting.slots[slot_of(handle) < evicting.capacity ? slot_of(handle) : 0];
	const struct acquisition *a = atomic_load_explicit(&slot->last, memory_order_relaxed);

	census->visited++;
	if (!a || a->name != handle || a->object != object || fate_of(a) != LIVE || !priority_was_tried(a, priority))
		violation("a walk at rest visits handle %" PRIx64 ", which is not active", handle);
	return true;
}

static void expect_walk(struct census *census)
{
	const size_t visited = lfpool_priority_for_each(evicting.pool, visit, census);

	if (visited != census->visited || visited != census->active)
		violation("%zu objects are active; a walk at rest visits %zu, and says %zu", census->active, census->visited,
			  visited);
}

/* The pool's least must be contender `at`, the others before it being gone. */
static void expect_least(const struct census *census, size_t at)
{
	uint64_t priority = 0;
	const lfpool_handle_t handle = lfpool_priority_peek_min(evicting.pool, &priority);
	const struct contender *least = &census->contenders[at];

	if (at + 1 < census->count && fault_strikes(census->actor->worker, FAULT_WRONG_LEAST))
		least++;
	if (at == census->count ? handle != 0 : handle != least->of->name || rank_of(priority) != least->order.rank)
		violation("peek_min names handle %" PRIx64 ", priority %" PRIx64 "; %zu can be evicted, of which %" PRIx64
			  " is the least",
			  handle, priority, census->count - at, at == census->count ? 0 : least->of->name);
}

/* release_min() takes some or all of them, in order. */
static void drain(struct census *census)
{
	struct actor *actor = census->actor;
	struct random *random = &actor->worker->random;
	struct acquisition **taken = round_memory(evicting.capacity, sizeof(struct acquisition *));
	const uint32_t wanted = random_below(random, (uint32_t)evicting.capacity) + 1;
	const size_t step = random_below(random, 2) ? 1 : wanted;
	size_t at = 0, released = step;

	while (at < wanted && released == step && !cell_failed()) {
		expect_least(census, at);
		actor->call = (struct call){.kind = CALL_RELEASE_MIN, .taken = taken};
		released = lfpool_priority_release_min(evicting.pool, step);
		demand_lower(&evicting.demand, (uint32_t)released);
		if (released != actor->call.evictions || released != (census->count - at < step ? census->count - at : step))
			violation("release_min of %zu released %zu of %zu; on_evict was told of %zu", step, released,
				  census->count - at, actor->call.evictions);
		for (size_t i = 0; i < released && !cell_failed(); i++, at++)
			if (taken[i] != census->contenders[at].of)
				violation("release_min released handle %" PRIx64 " before %" PRIx64, taken[i]->name,
					  census->contenders[at].of->name);
	}
	actor->call.kind = CALL_NONE;
	expect_least(census, at);
	free(taken);
}

void evicting_inspect(struct actor *actor, bool drained)
{
	struct census census = {
		.actor = actor,
		.contenders = round_memory(evicting.capacity, sizeof(struct contender)),
	};

	evicting.at_rest = true;
	take_census(&census);
	if (!cell_failed()) {
		expect_counts(&census);
		expect_least(&census, 0);
		expect_walk(&census);
		expect_least(&census, 0);
	}
	if (drained && !cell_failed())
		drain(&census);
	evicting.at_rest = false;
	free(census.contenders);
}
