/* SPDX-License-Identifier: MIT */
/*
 * resize.c - scenario: the pool grows and shrinks while threads use it.
 *
 * Every thread acquires, releases, and now and then grows the pool, by hand or up to a number, shrinks it, forgives
 * what it owes, or trims it; thread 0 moves its maximum.  The sum of what all these calls said is what capacity - owed
 * must be at a meeting; while something is owed nothing may be free; all together acquire exactly what there is; and
 * there is never more than the maximum.  In some rounds each NULL is judged by the count of demand.h: objects that the
 * pool does not have are out, and so is what a call that is not for itself may have in its hands for a waiter.  In some
 * the pool grows by itself as well; then NULL is judged only where nothing shrinks, and capacity - owed may be more
 * than the sum.  The history is told of no NULL before the end: it does not know how many objects there are.
 */
#include "round.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <string.h>

#define HOLD_MAX 32
/* And one that was waited for.  A meeting holds all there is, and an object that is granted twice on purpose is held
 * beside. */
#define HELD (HOLD_MAX + 1)
#define MOST 256

static struct {
	bool shrinks;         /* a thread does                                                     */
	bool wild;            /* the maximum moves at any time                                     */
	_Atomic(size_t) size; /* capacity - owed, as far as we have a hand in it; raised after a growth has returned,
	                           lowered before a shrink begins                                    */
	size_t maximum;       /* as set last, unless wild                                          */
	size_t before;        /* the capacity when it was                                          */
	size_t expected;      /* so many all together must get                                     */
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
		current.config.growth_step = PICK(random, steps);
	sizes.shrinks = !current.config.growth_step || random_below(random, 2);
	sizes.wild = sizes.shrinks && random_below(random, 4) == 0;
	current.meeting.calm = 100;
	current.hands = current.capacity + HELD;
	judged = random_below(random, 2) && !(current.config.growth_step && sizes.shrinks);
	current.demand.counted = judged;
	current.demand.unjudged = !judged;
	current.trims = random_below(random, 2);
	current.nulls_unlogged = true;
}

static void resize_open(void)
{
	/* A shrink gives pages back, as a trim does. */
	current.ledger.trimmed |= sizes.shrinks;
	/* relaxed, here and below: numbers; they are compared at meetings. */
	store_relaxed(&sizes.size, current.config.capacity);
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
	add_relaxed(&sizes.size, grown);
}

static void grow(struct worker *worker)
{
	const size_t count = 1 + draw(worker, chance(worker, 4) ? (uint32_t)current.most + 9 : 8);
	size_t grown;

	(void)demand_raise(&current.demand, 1);
	grown = lfpool_grow(current.pool, count);
	expect(grown <= count, "lfpool_grow() by %zu added %zu", count, grown);
	count_growth(grown);
}

static void reserve(struct worker *worker)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(lfpool_reserve(current.pool, draw(worker, (uint32_t)current.most + 1)));
}

static void cancel(void)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(lfpool_shrink_cancel(current.pool));
}

/* Leaves at least one object (and the decoy) that is neither gone nor owed, so no debt is more than there is. */
static void shrink(struct worker *worker)
{
	const size_t count = 1 + draw(worker, chance(worker, 4) ? (uint32_t)current.most : 8);
	const size_t least = count + 1 + (current.decoy.object != NULL);
	size_t size = load_relaxed(&sizes.size), gone;

	do {
		if (size < least)
			return;
	} while (!atomic_compare_exchange_weak_explicit(&sizes.size, &size, size - count, memory_order_relaxed,
							memory_order_relaxed));
	(void)demand_raise(&current.demand, (uint32_t)count + 1);
	gone = lfpool_shrink(current.pool, count);
	demand_lower(&current.demand, 1);
	expect(gone <= count, "lfpool_shrink() by %zu took %zu out", count, gone);
}

static size_t move_maximum(struct worker *worker)
{
	const size_t maximum = 1 + draw(worker, (uint32_t)current.most);
	lfpool_status_t status = lfpool_limit(current.pool, maximum);

	expect(status == LFPOOL_OK, "a maximum of %zu of %zu was refused: %s", maximum, current.most,
	       lfpool_status_string(status));
	expect(lfpool_limit(current.pool, current.most + 1) == LFPOOL_E_CONFIG_MAX_CAPACITY,
	       "a maximum of more than %zu was not refused", current.most);
	return maximum;
}

static void change_size(struct worker *worker)
{
	switch (draw(worker, 8)) {
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

/* What the pool says of itself. */
static void expect_sizes(struct worker *worker)
{
	const size_t capacity = lfpool_capacity(current.pool), owed = lfpool_quick_stats(current.pool).owed;
	const size_t available = lfpool_available_count(current.pool),
		     maximum = lfpool_quick_stats(current.pool).max_capacity;
	const size_t size = load_relaxed(&sizes.size);
	const size_t allowed = sizes.wild ? current.most : sizes.maximum > sizes.before ? sizes.maximum : sizes.before;
	const bool grows = current.config.growth_step;

	(void)worker;
	round_expect_intact(meeting_held(), "at a meeting");
	if (owed > capacity || (grows ? capacity - owed < size : capacity - owed != size))
		violation("the capacity is %zu, and %zu are owed; growing and shrinking make it %zu", capacity, owed,
			  size);
	expect(capacity <= allowed, "the capacity is %zu, and at most %zu were allowed", capacity, allowed);
	if (owed && available)
		violation("%zu objects are owed, and %zu available", owed, available);
	sizes.expected = grows && !owed && maximum > capacity ? maximum : capacity;
}

/* All together have acquired all there is. */
static void expect_all(struct worker *worker)
{
	const size_t held = meeting_held() + (current.decoy.object != NULL), capacity = lfpool_capacity(current.pool);

	if (held < sizes.expected && !cell_failed())
		violation("not all %zu objects came to all together, but %zu", sizes.expected, held);
	else if (held > sizes.expected && !cell_failed())
		violation("all together acquired %zu objects, not %zu", held, sizes.expected);
	store_relaxed(&sizes.size, capacity - lfpool_quick_stats(current.pool).owed);
	sizes.before = capacity;
	/* A new maximum; not where growth is counted on. */
	if (sizes.shrinks && !sizes.wild && chance(worker, 2))
		sizes.maximum = move_maximum(worker);
}

static void resize_meet(struct worker *worker)
{
	meeting_alone(worker, expect_sizes);
	while (worker->count < current.most && worker_take(worker))
		;
	meeting_alone(worker, expect_all);
	worker_look(worker);
}

/* ---- Work ---- */

static void resize_step(struct worker *worker)
{
	const size_t wanted = draw(worker, HOLD_MAX + 1);

	if (chance(worker, 8))
		change_size(worker);
	else if (worker->count <= wanted && chance(worker, 16))
		worker->count += worker_acquire_wait(worker, draw(worker, 50000), &worker->hands[worker->count]);
	else
		worker_adjust(worker, wanted);
	if (chance(worker, 16))
		worker_look(worker);
}

static void resize_finish(void)
{
	if (lfpool_quick_stats(current.pool).owed && !cell_failed())
		violation("everything was released, and %zu are owed", lfpool_quick_stats(current.pool).owed);
	current.last = lfpool_capacity(current.pool);
	if (current.config.growth_step && lfpool_quick_stats(current.pool).max_capacity > current.last)
		current.last = lfpool_quick_stats(current.pool).max_capacity;
}

SCENARIO(resize, "resize",
	 "the pool grows, shrinks and is trimmed under the threads that use it; sizes are exact at each meeting",
	 .plan = resize_plan, .open = resize_open, .step = resize_step, .meet = resize_meet, .finish = resize_finish);
