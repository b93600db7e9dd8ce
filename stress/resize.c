/* SPDX-License-Identifier: MIT */
/*
 * resize.c - scenario: the pool grows and shrinks while threads use it.
 *
 * Threads acquire and release.  Now and then a thread grows the pool, by a count or up to a capacity, shrinks it,
 * cancels the pending shrink, or trims it; thread 0 moves the maximum.  At a meeting, capacity - owed must be the sum
 * of the results of these calls.  While a shrink is pending no object may be free.  All threads together can acquire
 * exactly the capacity, which never exceeds the maximum.
 *
 * In some rounds the count of demand.h judges each NULL: missing objects count as out, and so do those that a call on
 * behalf of others may hold for a waiter.  In some rounds the pool also grows automatically.  Then NULL is judged only
 * in rounds without shrinks, and capacity - owed may be more than the sum.  The history hears of no NULL before the
 * end: it does not know the number of objects.
 */
#include "round.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#include <string.h>

#define HOLD_MAX 32
/* With the one from a wait.  A meeting holds all objects, including one that a fault granted twice. */
#define HELD (HOLD_MAX + 1)
#define MOST 256

static struct {
	bool shrinks;         /* the threads shrink the pool */
	bool wild;            /* the maximum moves at any time                                     */
	_Atomic(size_t) size; /* capacity - owed, by our own calls: raised after a growth, lowered before a shrink */
	size_t maximum;       /* as last set, unless wild */
	size_t before;        /* the capacity when `maximum` was set */
	size_t expected;      /* objects that all threads together must get */
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
	/* A shrink gives pages back, like a trim. */
	current.ledger.trimmed |= sizes.shrinks;
	/* relaxed, here and below: counts, compared at meetings. */
	store_relaxed(&sizes.size, current.config.capacity);
	sizes.maximum = current.most;
	sizes.before = current.config.capacity;
	if (!current.config.growth_step)
		(void)demand_raise(&current.demand, (uint32_t)(current.most - current.config.capacity));
}

/* ---- Calls that change the size ---- */

static void count_growth(size_t grown)
{
	/* The objects, and the one that the call may have held for a waiter. */
	demand_lower(&current.demand, (uint32_t)(current.config.growth_step ? 0 : grown) + 1);
	add_relaxed(&sizes.size, grown);
}

static void grow(struct worker *worker)
{
	const size_t count = 1 + draw(worker, chance(worker, 4) ? (uint32_t)current.most + 9 : 8);
	size_t grown;

	(void)demand_raise(&current.demand, 1);
	grown = doing(lfpool_grow)(current.pool, count);
	expect(grown <= count, "lfpool_grow() by %zu added %zu", count, grown);
	count_growth(grown);
}

static void reserve(struct worker *worker)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(doing(lfpool_reserve)(current.pool, draw(worker, (uint32_t)current.most + 1)));
}

static void cancel(void)
{
	(void)demand_raise(&current.demand, 1);
	count_growth(doing(lfpool_shrink_cancel)(current.pool));
}

/* Leaves at least one object (and the decoy) that is neither gone nor pending, so no pending shrink exceeds the
 * capacity. */
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
	gone = doing(lfpool_shrink)(current.pool, count);
	demand_lower(&current.demand, 1);
	expect(gone <= count, "lfpool_shrink() by %zu took %zu out", count, gone);
}

static size_t move_maximum(struct worker *worker)
{
	const size_t maximum = 1 + draw(worker, (uint32_t)current.most);
	lfpool_status_t status = doing(lfpool_limit)(current.pool, maximum);

	expect(status == LFPOOL_OK, "a maximum of %zu of %zu was refused: %s", maximum, current.most,
	       lfpool_status_string(status));
	expect(doing(lfpool_limit)(current.pool, current.most + 1) == LFPOOL_E_CONFIG_MAX_CAPACITY,
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

/* Compares the pool's own counts. */
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
		violation("the capacity is %zu, %zu of them owed; by the results of grow and shrink it should be %zu",
			  capacity, owed, size);
	expect(capacity <= allowed, "the capacity is %zu, but at most %zu was allowed", capacity, allowed);
	if (owed && available)
		violation("%zu objects are owed, but %zu are available", owed, available);
	sizes.expected = grows && !owed && maximum > capacity ? maximum : capacity;
}

/* All threads together have acquired everything. */
static void expect_all(struct worker *worker)
{
	const size_t held = meeting_held() + (current.decoy.object != NULL), capacity = lfpool_capacity(current.pool);

	if (held < sizes.expected && !cell_failed())
		violation("not all %zu objects could be acquired by all together, but %zu", sizes.expected, held);
	else if (held > sizes.expected && !cell_failed())
		violation("all together acquired %zu objects, not %zu", held, sizes.expected);
	store_relaxed(&sizes.size, capacity - lfpool_quick_stats(current.pool).owed);
	sizes.before = capacity;
	/* A new maximum; not in rounds that count on growth. */
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
		violation("everything was released, but %zu objects are owed", lfpool_quick_stats(current.pool).owed);
	current.last = lfpool_capacity(current.pool);
	if (current.config.growth_step && lfpool_quick_stats(current.pool).max_capacity > current.last)
		current.last = lfpool_quick_stats(current.pool).max_capacity;
}

SCENARIO(resize, "resize",
	 "the pool grows, shrinks and is trimmed while threads use it; sizes are exact at each meeting",
	 .plan = resize_plan, .open = resize_open, .step = resize_step, .meet = resize_meet, .finish = resize_finish);
