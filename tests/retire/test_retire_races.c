/* SPDX-License-Identifier: MIT */
/* test: misuse threads */
/*
 * test_retire_races.c - two threads end the use of one object at the same instant, by lfpool_retire() and by other
 * calls: exactly one succeeds.
 *
 * Idea         The follower spins until the leader opens a round, and so is a cache miss late; the leader idles as
 *              long, longer after each round that it wins and shorter after each that it loses.  So the two come
 *              together.
 */
#include "../support/pin.h"
#include "../support/schemes.h"

#include <sched.h>

enum { SIZE = 16, CAPACITY = 20 };

struct duel {
	lfpool_t *pool;
	void *object; /* of the round, and its handle: written before `opened` */
	lfpool_handle_t handle;
	lfpool_status_t (*leader)(const struct duel *), (*follower)(const struct duel *);
	atomic_uint opened, closed, here, idled;
	unsigned rounds;
	lfpool_status_t follower_says; /* written before `closed` */
};

static lfpool_status_t by_retire(const struct duel *duel)
{
	return lfpool_retire(duel->pool, duel->object);
}

static lfpool_status_t by_bulk(const struct duel *duel)
{
	return lfpool_retire_bulk(duel->pool, &duel->object, 1) == 1 ? LFPOOL_OK : LFPOOL_E_NOT_IN_USE;
}

static lfpool_status_t by_release(const struct duel *duel)
{
	return lfpool_release(duel->pool, duel->object);
}

static lfpool_status_t by_handle(const struct duel *duel)
{
	return lfpool_release_handle(duel->pool, duel->handle);
}

static lfpool_status_t by_release_all(const struct duel *duel)
{
	return lfpool_release_all(duel->pool) == 1 ? LFPOOL_OK : LFPOOL_E_NOT_IN_USE;
}

static void *follow(void *argument)
{
	struct duel *duel = argument;

	pin_thread(1);
	for (unsigned round = 1; round <= duel->rounds; round++) {
		atomic_store(&duel->here, round);
		for (unsigned spins = 1; atomic_load(&duel->opened) != round; spins++)
			if (spins % 1024 == 0)
				sched_yield();
		duel->follower_says = duel->follower(duel);
		atomic_store(&duel->closed, round);
	}
	return NULL;
}

static void idle(struct duel *duel, uint32_t turns)
{
	while (turns--)
		/* relaxed: nobody reads it. */
		atomic_store_explicit(&duel->idled, turns, memory_order_relaxed);
}

static void require_one(const struct duel *duel, lfpool_status_t leader_says)
{
	const bool led = leader_says == LFPOOL_OK, followed = duel->follower_says == LFPOOL_OK;
	const bool retired = (led ? duel->leader : duel->follower) == by_retire ||
			     (led ? duel->leader : duel->follower) == by_bulk;

	REQUIRE(led != followed);
	REQUIRE(lfpool_retired_count(duel->pool) == retired);
	REQUIRE(lfpool_active_count(duel->pool) == retired);
	REQUIRE(!lfpool_resolve(duel->pool, duel->handle));
}

static void expected(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	REQUIRE(misuse->status == LFPOOL_E_NOT_IN_USE || misuse->status == LFPOOL_E_STALE);
}

static void fight(uint32_t flags, lfpool_status_t (*leader)(const struct duel *),
		  lfpool_status_t (*follower)(const struct duel *), unsigned rounds)
{
	static uint64_t seed;
	struct duel duel = {.leader = leader, .follower = follower, .rounds = rounds};
	unsigned followed = 0, turns = 0;
	cpu_set_t everywhere;
	struct random r;
	pthread_t thread;

	seed = seed ? seed : test_seed("racing retires");
	r = random_for(seed, rounds);
	duel.pool = POOL_OF(SIZE, CAPACITY, .flags = flags, .hooks.misuse = expected, .scheme = fake_scheme(KEPT));
	thread_start(&thread, follow, &duel);
	REQUIRE(sched_getaffinity(0, sizeof(everywhere), &everywhere) == 0);
	pin_thread(0);
	for (unsigned round = 1; round <= rounds; round++) {
		REQUIRE(duel.object = lfpool_acquire(duel.pool));
		duel.handle = lfpool_handle_of(duel.pool, duel.object);
		while (atomic_load(&duel.here) != round)
			sched_yield();
		atomic_store(&duel.opened, round);
		idle(&duel, turns + random_below(&r, 16));
		const lfpool_status_t leader_says = leader(&duel);

		while (atomic_load(&duel.closed) != round)
			sched_yield();
		require_one(&duel, leader_says);
		followed += duel.follower_says == LFPOOL_OK;
		if (duel.follower_says == LFPOOL_OK)
			turns -= turns / 8;
		else if (turns < 10000)
			turns += turns / 8 + 8;
		fake_end_all(duel.pool);
		REQUIRE(lfpool_active_count(duel.pool) == 0);
		if (round % 64 == 0)
			require_whole(duel.pool, SIZE);
	}
	pthread_join(thread, NULL);
	REQUIRE(sched_setaffinity(0, sizeof(everywhere), &everywhere) == 0);
	print_message("    the follower won %u of %u rounds\n", followed, rounds);
	pool_close(duel.pool, SIZE);
}

TEST(of_two_retires_one_succeeds)
{
	fight(0, by_retire, by_retire, TIMES(10000, 1000));
	fight(0, by_bulk, by_retire, TIMES(3000, 300));
}

TEST(of_a_retire_and_a_release_by_handle_one_succeeds)
{
	fight(0, by_retire, by_handle, TIMES(3000, 300));
}

TEST(of_a_retire_and_a_release_one_succeeds_where_races_are_checked)
{
	fight(LFPOOL_CHECK_RACES, by_retire, by_release, TIMES(3000, 300));
	fight(LFPOOL_CHECK_RACES, by_retire, by_release_all, TIMES(3000, 300));
}

RUN_TESTS()
