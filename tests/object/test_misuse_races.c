/* SPDX-License-Identifier: MIT */
/* test: misuse threads once */
/*
 * test_misuse_races.c - two or three calls end or change the use of one object at the same instant, of which the headers allow
 * one to succeed: exactly one does.  (In all schedules: the programs double-release-*, handle-*, retire-double-* and evict-* of
 * verify/explore.  Refusals while others work: the scenario misuse of lfpool-stress.)
 */
#include "../support/priority_support.h"
#include "../support/schemes.h"
#include "../support/workers.h"

#include <sched.h>

enum { SIZE = 16, CAPACITY = 20, ROUNDS = TIMES(1000, 200) };

struct race {
	void (*set_up)(void);
	bool (*act[3])(void); /* did it succeed?  Two or three of them */
	void (*check)(bool first_won);
};

static lfpool_t *pool;
static lfpool_priority_t *evicting;
static void *object;
static lfpool_handle_t handle;
static atomic_uint met, won, won_by_first;

/* All threads go on at once: they spin. */
static void meet(const struct worker *me, unsigned time)
{
	atomic_fetch_add(&met, 1);
	for (unsigned spins = 1; atomic_load(&met) < time * me->all->count; spins++)
		if (spins % 1024 == 0)
			sched_yield();
}

static void take_part(struct worker *me)
{
	const struct race *race = me->scene;

	for (unsigned round = 0; round < ROUNDS; round++) {
		if (me->number == 0)
			race->set_up();
		meet(me, 3 * round + 1);
		if (race->act[me->number]()) {
			atomic_fetch_add(&won, 1);
			atomic_fetch_add(&won_by_first, me->number == 0);
		}
		meet(me, 3 * round + 2);
		if (me->number == 0) {
			REQUIRE(atomic_exchange(&won, 0) == 1);
			race->check(atomic_exchange(&won_by_first, 0));
		}
		meet(me, 3 * round + 3);
	}
}

static void run(const struct race *race)
{
	atomic_store(&met, 0);
	workers_run(race->act[2] ? 3 : 2, take_part, (void *)(uintptr_t)race, 0);
}

/* ---- Two ends of one use ---- */

static void set_active(void)
{
	REQUIRE(object = lfpool_acquire(pool));
	handle = 0;
}

static void set_named(void)
{
	set_active();
	handle = lfpool_handle_of(pool, object);
}

static bool by_retire(void)
{
	return lfpool_retire(pool, object) == LFPOOL_OK;
}

static bool by_release(void)
{
	return lfpool_release(pool, object) == LFPOOL_OK;
}

static bool by_handle(void)
{
	return lfpool_release_handle(pool, handle) == LFPOOL_OK;
}

static bool by_release_all(void)
{
	return lfpool_release_all(pool) == 1;
}

static void is_retired_by_the_first(bool first_won)
{
	REQUIRE(lfpool_retired_count(pool) == first_won && lfpool_active_count(pool) == first_won);
	REQUIRE(!lfpool_resolve(pool, handle));
	fake_end_all(pool);
	REQUIRE(lfpool_active_count(pool) == 0);
}

static void is_free(bool first_won)
{
	(void)first_won;
	REQUIRE(lfpool_active_count(pool) == 0);
}

TEST(of_two_ends_of_one_use_one_succeeds)
{
	static const struct {
		struct race race;
		uint32_t flags;
	} rows[] = {{{set_active, {by_release, by_release}, is_free}, LFPOOL_CHECK_RACES},
		    {{set_named, {by_retire, by_handle}, is_retired_by_the_first}, 0},
		    {{set_active, {by_retire, by_release}, is_retired_by_the_first}, LFPOOL_CHECK_RACES},
		    {{set_active, {by_release, by_release_all}, is_free}, LFPOOL_CHECK_RACES},
		    {{set_active, {by_release_all, by_release_all}, is_free}, 0},
		    {{set_active, {by_retire, by_release_all}, is_retired_by_the_first}, LFPOOL_CHECK_RACES}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		pool = POOL_OF(SIZE, CAPACITY, .flags = rows[i].flags, .hooks.misuse = expected_misuse,
			       .scheme = fake_scheme(KEPT));
		run(&rows[i].race);
		pool_close(pool, SIZE);
	}
}

/* ---- Evicting pools ---- */

static void set_new(void)
{
	REQUIRE(lfpool_priority_acquire(evicting, 1, NULL, &handle));
}

static void set_nearly_full_of_pins(void)
{
	set_new();
	REQUIRE(lfpool_priority_publish(evicting, handle) == LFPOOL_OK);
	for (int i = 1; i < PINS; i++)
		REQUIRE(lfpool_priority_pin(evicting, handle));
}

static bool publish(void)
{
	return lfpool_priority_publish(evicting, handle) == LFPOOL_OK;
}

static bool pin(void)
{
	return lfpool_priority_pin(evicting, handle);
}

static void is_active(bool first_won)
{
	(void)first_won;
	require_priority(evicting, handle, 1);
	REQUIRE(lfpool_priority_peek_min(evicting, NULL) == handle);
	REQUIRE(lfpool_priority_release(evicting, handle) == LFPOOL_OK);
}

static void is_full_of_pins(bool first_won)
{
	for (int i = 0; i < PINS; i++)
		REQUIRE(lfpool_priority_unpin(evicting, handle) == LFPOOL_OK);
	is_active(first_won);
}

TEST(of_two_publications_and_of_three_last_pins_one_succeeds)
{
	static const struct race races[] = {{set_new, {publish, publish}, is_active},
					    {set_nearly_full_of_pins, {pin, pin, pin}, is_full_of_pins}};

	for (size_t i = 0; i < COUNT(races); i++) {
		evicting = priority_of(SIZE, 1);
		run(&races[i]);
		priority_close(evicting, SIZE);
	}
}

RUN_TESTS()
