/* SPDX-License-Identifier: MIT */
/*
 * extras.c - see extras.h.
 */
#include "extras.h"

/* ---- Growth, trims, refusals ---- */

#define TRIM_STEP_BYTES ((size_t)64 << 10)

/* So many objects one call of lfpool_trim() has in its hands, at most. */
static size_t elastic_trim_objects(void)
{
	const lfpool_config_t *config = &current.config;
	const size_t alignment = config->object_alignment ? config->object_alignment : _Alignof(max_align_t);
	const size_t stride = (config->object_size + alignment - 1) / alignment * alignment;

	/* Those on the pages of a step, two that lie there in part, one that is being taken out of the free lists, and one
	 * that is being given to a waiter. */
	return TRIM_STEP_BYTES / stride + 4;
}

static bool refusals_draw(void)
{
	/* A choice of its own, so that a seed draws what it drew before. */
	struct random random = random_for(current.seed, 1002);

	return os_testing_refuse && random_below(&random, 3) == 0;
}

void elastic_draw(void)
{
	static const size_t steps[] = {1, 1, 2, 7, 64, 1000};
	/* A choice of its own, so that a seed draws what it drew before. */
	struct random random = random_for(current.seed, 1001);

	if (current.plain)
		return;
	current.refusals = current.demand.unjudged && options.fault == FAULT_NONE && refusals_draw();
	/* A scenario may have decided. */
	if (!current.initial && current.capacity > 1 && random_below(&random, 5) == 0) {
		current.initial = 1 + random_below(&random, (uint32_t)(random_below(&random, 2) ? 1 : current.capacity - 1));
		current.config.growth_step = steps[random_below(&random, sizeof(steps) / sizeof(steps[0]))];
	}
	/* The history knows nothing of objects in the hands of a trim. */
	if (random_below(&random, 6) != 0 || options.history)
		return;
	if (current.demand.counted) {
		current.trims = true;
	} else if (current.roomy) {
		current.capacity += elastic_trim_objects();
		current.trims = true;
	}
}

void elastic_trim(struct worker *worker)
{
	const uint32_t objects = (uint32_t)elastic_trim_objects();
	const size_t keep = worker_chance(worker, 2) ? 0 : random_below(&worker->random, (uint32_t)current.most);

	/* relaxed, here and below: orders nothing that the library ought to. */
	if (atomic_exchange_explicit(&current.trimming, 1, memory_order_relaxed))
		return;
	(void)demand_raise(&current.demand, objects);
	(void)lfpool_trim(current.pool, keep, (size_t)1 << random_below(&worker->random, 21));
	demand_lower(&current.demand, objects);
	atomic_store_explicit(&current.trimming, 0, memory_order_relaxed);
}

/* ---- Hooks, debug modes ---- */

enum step { RAW, READY, USED, BUSY };

struct life {
	_Atomic(size_t) created, activated, deactivated, destroyed;
	_Atomic(unsigned) turns;
	_Atomic(unsigned) step[]; /* of the object in each slot */
};

/* The object goes from one step to the next, and no other thread is at it. */
static void go(const void *object, enum step from, enum step to, _Atomic(size_t) *count)
{
	const size_t index = lfpool_index_of(current.pool, object);

	if (index >= current.most) {
		violation("a hook was called with %p, which is no object", object);
		return;
	}

	_Atomic(unsigned) *step = &current.life->step[index];
	/* relaxed, all: the pool orders the hooks of one object; a hook that comes too early is seen all the same. */
	const unsigned found = atomic_exchange_explicit(step, BUSY, memory_order_relaxed);

	if (found != from)
		violation("a hook found object %p at step %u, not %u", object, found, from);
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_store_explicit(step, (unsigned)to, memory_order_relaxed);
}

static bool on_create(void *context, void *object)
{
	(void)context;
	go(object, RAW, READY, &current.life->created);
	return true;
}

static bool on_activate(void *context, void *object)
{
	(void)context;
	go(object, READY, USED, &current.life->activated);
	return true;
}

static bool on_deactivate(void *context, void *object)
{
	(void)context;
	go(object, USED, READY, &current.life->deactivated);
	/* relaxed: how often is all that matters. */
	return atomic_fetch_add_explicit(&current.life->turns, 1, memory_order_relaxed) % 9 != 0;
}

static void on_destroy(void *context, void *object)
{
	(void)context;
	go(object, READY, RAW, &current.life->destroyed);
}

void life_open(void)
{
	/* No quarantine: an object on its way out of it may be missing for a moment, which the oracle of NULLs does not
	 * allow (lfpool/debug.h). */
	static const char *const modes[] = {"poison", "guard,poison", "owner", "check", "poison,owner,guard,check"};
	lfpool_config_t *config = &current.config;
	/* A choice of its own, so that a seed draws what it drew before. */
	struct random random = random_for(current.seed, 1000);

	if (options.fault != FAULT_NONE || current.plain)
		return;
	if (random_below(&random, 8) == 0)
		config->debug = modes[random_below(&random, sizeof(modes) / sizeof(modes[0]))];
	if (random_below(&random, 6) != 0)
		return;
	current.life = round_memory(1, sizeof(struct life) + current.most * sizeof(unsigned));
	config->hooks.activate = on_activate;
	config->hooks.deactivate = on_deactivate;
	config->hooks.destroy = on_destroy;
	config->hooks.create = on_create;
	/* Excluded by create. */
	config->flags &= ~LFPOOL_ZERO;
}

void life_close(void)
{
	struct life *life = current.life;

	if (!life)
		return;
	if (!cell_failed() && (life->created != life->destroyed || life->activated != life->deactivated))
		violation("%zu objects were created and %zu destroyed, %zu activated and %zu deactivated", life->created,
			  life->destroyed, life->activated, life->deactivated);
	free(life);
	current.life = NULL;
}
