/* SPDX-License-Identifier: MIT */
/*
 * debts.c - short races about a pending shrink.
 *
 * Idea         One object, held, with its removal pending.  Then either three threads at once release it, trim, and
 *              shrink again; or one reserves while another shrinks.  In between all threads rest: the pending shrink
 *              must not exceed the capacity, and can be cancelled; and a reserve of one object, while all are
 *              pending, must get one.
 */
#include "row.h"

#include "lfpool/report.h"
#include "lfpool/resize.h"

#define ROUNDS 100
#define FIGHTERS 3

static struct {
	lfpool_t *pool;
	void *object;
	size_t reserved;
	pthread_barrier_t barrier; /* of the fighters and the judge, who begin and end each round together */
} fight;

static void act(unsigned me, unsigned round)
{
	const bool meeting = round % 2;

	if (me == 0 && meeting)
		REQUIRE(lfpool_release(fight.pool, fight.object) == LFPOOL_OK);
	else if (me == 0)
		fight.reserved = lfpool_reserve(fight.pool, 1);
	else if (me == 1)
		/* Sometimes while the other two have put it back, and have not looked yet. */
		for (unsigned n = meeting ? 16 : 1; n; n--)
			(void)lfpool_shrink(fight.pool, round % 3 ? 1 : 1000);
	else if (meeting)
		(void)lfpool_trim(fight.pool, 0, 1);
}

static void *run(void *number)
{
	const unsigned me = (unsigned)(uintptr_t)number;

	row_thread(true, NULL);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		(void)pthread_barrier_wait(&fight.barrier);
		act(me, round);
		(void)pthread_barrier_wait(&fight.barrier);
	}
	row_thread(false, NULL);
	return NULL;
}

/* One object in the pool, no shrink pending; then it is held, and its removal is pending. */
static void set_up(lfpool_t *pool)
{
	(void)lfpool_shrink_cancel(pool);
	(void)lfpool_reserve(pool, 1);
	REQUIRE(lfpool_capacity(pool) >= 1 && lfpool_quick_stats(pool).owed == 0);
	(void)lfpool_shrink(pool, lfpool_capacity(pool) - 1);
	/* A hook may refuse. */
	while (!(fight.object = lfpool_acquire(pool)))
		;
	REQUIRE(lfpool_shrink(pool, 1) == 0 && lfpool_quick_stats(pool).owed == 1);
}

static void judge(unsigned round)
{
	const size_t owed = lfpool_quick_stats(fight.pool).owed;

	REQUIRE(owed <= lfpool_capacity(fight.pool) && (!owed || !lfpool_available_count(fight.pool)));
	if (round % 2)
		return;
	REQUIRE(fight.reserved >= 1);
	(void)lfpool_shrink_cancel(fight.pool);
	REQUIRE(lfpool_release(fight.pool, fight.object) == LFPOOL_OK);
}

void debts_run(struct model *m)
{
	const size_t capacity = m->capacity;
	pthread_t threads[FIGHTERS];

	fight.pool = m->pool;
	REQUIRE(pthread_barrier_init(&fight.barrier, NULL, FIGHTERS + 1) == 0);
	for (unsigned i = 0; i < FIGHTERS; i++)
		thread_start(&threads[i], run, (void *)(uintptr_t)i);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		set_up(m->pool);
		(void)pthread_barrier_wait(&fight.barrier);
		(void)pthread_barrier_wait(&fight.barrier);
		judge(round);
	}
	for (unsigned i = 0; i < FIGHTERS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	(void)pthread_barrier_destroy(&fight.barrier);
	(void)lfpool_shrink_cancel(m->pool);
	(void)lfpool_reserve(m->pool, capacity);
	/* A pool that grows automatically may have grown. */
	(void)lfpool_shrink(m->pool, lfpool_capacity(m->pool) - capacity);
	REQUIRE(lfpool_capacity(m->pool) == capacity && lfpool_quick_stats(m->pool).owed == 0);
}
