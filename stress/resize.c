/* SPDX-License-Identifier: MIT */
/*
 * resize.c - scenario: the pool grows and shrinks while threads use it.
 *
 * Every thread acquires, releases, and now and then grows the pool, by hand or up to a number, shrinks it, forgives what
 * it owes, or trims it; thread 0 moves its maximum.  The sum of what all these calls said is what capacity - owed must be
 * at a meeting; while something is owed nothing may be free; all together acquire exactly what there is; and there is
 * never more than the maximum.
 * In some rounds each NULL is judged by the count of demand.h: objects that the pool does not have are out, and so is
 * what a call that is not for itself may have in its hands for a waiter.  In some the pool grows by itself as
 * well; then NULL is judged only where nothing shrinks, and capacity - owed may be more than the sum.
 * The history is told of no NULL: it does not know how many objects there are.
 */
#include "extras.h"
#include "meeting.h"
#include "scenario.h"

#include <string.h>

#define HOLD_MAX 32
/* And one that was waited for.  A meeting holds all there is, and an object that is granted twice on purpose is held beside. */
#define HELD (HOLD_MAX + 1)
#define MOST 256

static struct {
	struct meeting meeting;
	bool shrinks;         /* a thread does                                                     */
	bool wild;            /* the maximum moves at any time                                     */
	_Atomic(size_t) size; /* capacity - owed, as far as we have a hand in it; raised after a growth has returned,
	                           lowered before a shrink begins                                    */
	_Atomic(size_t) held;
	size_t maximum;    /* as set last, unless wild                                          */
	size_t before;     /* the capacity when it was                                          */
	struct held *room; /* capacity + HELD for each worker                                   */
} sizes;

static void resize_plan(void)
{
	static const size_t steps[] = {1, 2, 7, 50};
	struct random *random = &current.random;
	const unsigned threads = current.threads;
	const size_t most = threads * HOLD_MAX < MOST ? threads * HOLD_MAX : MOST;
	bool judged;

	memset(&sizes, 0, sizeof(sizes));
	current.capacity = 2 + random_below(random, (uint32_t)most);
	current.initial = 1 + random_below(random, (uint32_t)current.capacity);
	if (random_below(random, 2))
		current.config.growth_step = steps[random_below(random, sizeof(steps) / sizeof(steps[0]))];
	sizes.shrinks = !current.config.growth_step || random_below(random, 2);
	sizes.wild = sizes.shrinks && random_below(random, 4) == 0;
	sizes.meeting.rendezvous.threads = threads;
	sizes.room = round_memory(threads * (current.capacity + HELD), sizeof(struct held));
	judged = random_below(random, 2) && !(current.config.growth_step && sizes.shrinks);
	current.demand.counted = judged;
	current.demand.unjudged = !judged;
	current.trims = random_below(random, 2);
	current.nulls_logged = NULLS_OF_NOBODY;
}

/* When the pool is there, before the others begin. */
static void open_sizes(void)
{
	/* relaxed, here and below: numbers; they are compared at meetings. */
	atomic_store_explicit(&sizes.size, current.config.capacity, memory_order_relaxed);
	sizes.maximum = current.most;
	sizes.before = current.config.capacity;
	if (!current.config.growth_step)
		(void)demand_raise(&current.demand, (uint32_t)(current.most - current.config.capacity));
}

/* ---- Calls that change the size ---- */

static void count_growth(size_t grown)
{
	/* The objects, and what the call may have had in its hands. */
	demand_lower(&current.demand, (uint32_t)(current.config.growth_step ? 0 : grown) + 1);
	(void)atomic_fetch_add_explicit(&sizes.size, grown, memory_order_relaxed);
}

static void grow(struct worker *worker)
{
	const size_t count = 1 + random_below(&worker->random, worker_chance(worker, 4) ? (uint32_t)current.most + 9 : 8);
	size_t grown;

	(void)demand_raise(&current.demand, 1);
	grown = lfpool_grow(current.pool, count);
	if (grown > count)
		violation("lfpool_grow() by %zu added %zu", count, grown);
	count_growth(grown);
}

static void reserve(struct worker *worker)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(lfpool_reserve(current.pool, random_below(&worker->random, (uint32_t)current.most + 1)));
}

static void cancel(void)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(lfpool_shrink_cancel(current.pool));
}

/* Leaves at least one object (and the decoy) that is neither gone nor owed, so no debt is more than there is. */
static void shrink(struct worker *worker)
{
	const size_t count = 1 + random_below(&worker->random, worker_chance(worker, 4) ? (uint32_t)current.most : 8);
	const size_t least = count + 1 + (current.decoy.object != NULL);
	size_t size = atomic_load_explicit(&sizes.size, memory_order_relaxed), gone;

	do {
		if (size < least)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&sizes.size, &size, size - count, memory_order_relaxed,
							memory_order_relaxed));
	(void)demand_raise(&current.demand, (uint32_t)count + 1);
	gone = lfpool_shrink(current.pool, count);
	demand_lower(&current.demand, 1);
	if (gone > count)
		violation("lfpool_shrink() by %zu took %zu out", count, gone);
}

static size_t move_maximum(struct worker *worker)
{
	const size_t maximum = 1 + random_below(&worker->random, (uint32_t)current.most);
	lfpool_status_t status = lfpool_limit(current.pool, maximum);

	if (status != LFPOOL_OK)
		violation("a maximum of %zu of %zu was refused: %s", maximum, current.most, lfpool_status_string(status));
	if (lfpool_limit(current.pool, current.most + 1) != LFPOOL_E_CONFIG_MAX_CAPACITY)
		violation("a maximum of more than %zu was not refused", current.most);
	return maximum;
}

static void change_size(struct worker *worker)
{
	switch (random_below(&worker->random, 8)) {
	case 0:
	case 1: grow(worker); break;
	case 2: reserve(worker); break;
	case 3:
	case 4:
		if (sizes.shrinks)
			shrink(worker);
		break;
	case 5: cancel(); break;
	case 6:
		if (current.trims)
			elastic_trim(worker);
		break;
	default:
		if (sizes.wild)
			(void)move_maximum(worker);
	}
}

/* ---- Meetings ---- */

/* Thread 0, while the others stand by: what the pool says of itself.  Returns how many objects all together must get. */
static size_t expect_sizes(size_t held)
{
	const size_t capacity = lfpool_capacity(current.pool), owed = lfpool_shrink_owed(current.pool);
	const size_t active = lfpool_active_count(current.pool), available = lfpool_available_count(current.pool);
	const size_t size = atomic_load_explicit(&sizes.size, memory_order_relaxed);
	const size_t allowed = sizes.wild ? current.most : sizes.maximum > sizes.before ? sizes.maximum : sizes.before;
	const bool grows = current.config.growth_step;

	round_expect_intact("at a meeting");
	if (owed > capacity || (grows ? capacity - owed < size : capacity - owed != size))
		violation("the capacity is %zu, and %zu are owed; growing and shrinking make it %zu", capacity, owed, size);
	if (capacity > allowed)
		violation("the capacity is %zu, and at most %zu were allowed", capacity, allowed);
	if (active != held || available != capacity - held)
		violation("%zu objects of %zu are held; %zu are active, and %zu available", held, capacity, active, available);
	if (owed && available)
		violation("%zu objects are owed, and %zu available", owed, available);
	/* relaxed: the meeting orders it. */
	atomic_store_explicit(&sizes.size, capacity - owed, memory_order_relaxed);
	if (!grows || owed)
		return capacity;
	return lfpool_max_capacity(current.pool) > capacity ? lfpool_max_capacity(current.pool) : capacity;
}

/* Thread 0: a new maximum; not where growth is counted on. */
static void set_maximum(struct worker *worker)
{
	sizes.before = lfpool_capacity(current.pool);
	if (sizes.shrinks && !sizes.wild && worker_chance(worker, 2))
		sizes.maximum = move_maximum(worker);
}

static size_t sum_held(size_t own)
{
	atomic_fetch_add_explicit(&sizes.held, own, memory_order_relaxed);
	meeting_join(&sizes.meeting);
	return atomic_load_explicit(&sizes.held, memory_order_relaxed);
}

/* Returns false when the round is over. */
static bool meet(struct worker *worker, struct held *held, size_t *count)
{
	const size_t decoys = current.decoy.object != NULL;
	size_t expected = 0, all;

	meeting_join(&sizes.meeting);
	all = sum_held(*count);
	if (worker->index == 0)
		expected = expect_sizes(all + decoys);
	meeting_join(&sizes.meeting);
	/* All there is. */
	while (*count < current.most && worker_acquire(worker, &held[*count]))
		++*count;
	if (worker->index == 0)
		atomic_store_explicit(&sizes.held, 0, memory_order_relaxed);
	meeting_join(&sizes.meeting);
	all = sum_held(*count);
	if (worker->index == 0) {
		if (all + decoys < expected && !cell_failed())
			violation("not all %zu objects came to all together, but %zu", expected, all + decoys);
		else if (all + decoys > expected && !cell_failed())
			violation("all together acquired %zu objects, not %zu", all + decoys, expected);
		atomic_store_explicit(&sizes.size, lfpool_capacity(current.pool) - lfpool_shrink_owed(current.pool),
				      memory_order_relaxed);
		set_maximum(worker);
		atomic_store_explicit(&sizes.held, 0, memory_order_relaxed);
		meeting_close(&sizes.meeting, worker);
	}
	worker_rescan(held, *count);
	meeting_join(&sizes.meeting);
	return sizes.meeting.go_on;
}

/* ---- Work ---- */

static void step(struct worker *worker, struct held *held, size_t *count)
{
	const size_t wanted = random_below(&worker->random, HOLD_MAX + 1);

	if (worker_chance(worker, 8)) {
		change_size(worker);
	} else if (*count > wanted) {
		worker_release_many(worker, held + wanted, *count - wanted);
		*count = wanted;
	} else if (worker_chance(worker, 16)) {
		*count += worker_acquire_wait(worker, random_below(&worker->random, 50000), &held[*count]);
	} else {
		*count += worker_acquire_many(worker, held + *count, wanted - *count);
	}
	if (worker_chance(worker, 16))
		worker_rescan(held, *count);
}

static void resize_work(struct worker *worker)
{
	struct held *held = sizes.room + worker->index * (current.capacity + HELD);
	size_t count = 0;

	if (worker->index == 0)
		open_sizes();
	meeting_join(&sizes.meeting);
	do {
		while (!meeting_due(&sizes.meeting, worker, 100))
			step(worker, held, &count);
	} while (meet(worker, held, &count));
	worker_release_many(worker, held, count);
}

static void resize_finish(void)
{
	if (lfpool_shrink_owed(current.pool) && !cell_failed())
		violation("everything was released, and %zu are owed", lfpool_shrink_owed(current.pool));
	current.last = lfpool_capacity(current.pool);
	if (current.config.growth_step && lfpool_max_capacity(current.pool) > current.last)
		current.last = lfpool_max_capacity(current.pool);
	free(sizes.room);
}

const struct scenario scenario_resize = {
	.name = "resize",
	.description = "the pool grows, shrinks and is trimmed under the threads that use it; sizes are exact at each meeting",
	.plan = resize_plan,
	.work = resize_work,
	.finish = resize_finish,
};
