/* SPDX-License-Identifier: MIT */
/* test: threads no-tsan */
/*
 * test_priority_frozen.c - a thread stopped at any instruction of any call on an evicting pool holds up nobody, and keeps no
 * more than the one object that it has pinned, has not published, or was just taking or giving back.
 *
 * Idea         As test_frozen.c: two threads are frozen wherever they are, while this one takes all there is; it must get
 *              everything but one object for each of them.  And among what it has the least is known, whatever they
 *              left half done in the tree.
 */
#include "../support/freezing.h"

#include "../support/priority_support.h"

#include <stdatomic.h>

enum { VICTIMS = 2, BOARD = 8, LOW = 100, HIGH = 1000, MOST = 300 };

struct victim {
	lfpool_priority_t *pool;
	_Atomic(lfpool_handle_t) *board;
	pthread_t thread;
	struct random random;
	_Atomic(bool) *stop;
};

/* One object in hand at a time. */
static void *run(void *argument)
{
	struct victim *v = argument;

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(v->stop, memory_order_relaxed)) {
		_Atomic(lfpool_handle_t) *const place = &v->board[random_below(&v->random, BOARD)];
		const lfpool_handle_t handle = atomic_load(place);
		const uint32_t what = random_below(&v->random, 16);

		if (what < 4)
			atomic_store(place, priority_put(v->pool, random_below(&v->random, LOW)));
		else if (what < 9)
			(void)lfpool_priority_update(v->pool, handle, random_below(&v->random, LOW));
		else if (what < 10)
			(void)lfpool_priority_release(v->pool, handle);
		else if (what < 11)
			(void)lfpool_priority_release_min(v->pool, 1);
		else if (what < 12)
			(void)lfpool_priority_peek_min(v->pool, NULL);
		else if (lfpool_priority_pin(v->pool, handle))
			REQUIRE(lfpool_priority_unpin(v->pool, handle) == LFPOOL_OK);
	}
	return NULL;
}

/* Everything but what the victims keep; each by a thread that nobody answers. */
static size_t take_all(lfpool_priority_t *pool, lfpool_handle_t *handles)
{
	const size_t capacity = lfpool_priority_capacity(pool);
	size_t got = 0;

	while (got <= capacity && (handles[got] = priority_put(pool, HIGH)))
		got++;
	REQUIRE(got >= capacity - VICTIMS && got <= capacity);
	return got;
}

/* They change; the first of the least is known at once.  An object that a victim was just publishing, or changing, may come to
 * light at any time: those have low priorities. */
static void move_them(lfpool_priority_t *pool, const lfpool_handle_t *handles, size_t count, struct random *r)
{
	for (int i = 0; i < 10; i++) {
		const size_t moved = random_below(r, (uint32_t)count);
		const uint64_t least = HIGH - 1 - (uint64_t)i;
		uint64_t priority = HIGH;

		REQUIRE(lfpool_priority_update(pool, handles[moved], least) == LFPOOL_OK);
		const lfpool_handle_t first = lfpool_priority_peek_min(pool, &priority);

		REQUIRE(priority < LOW || (first == handles[moved] && priority == least));
	}
}

static void freeze_once(struct victim *victims, lfpool_handle_t *handles, struct random *r)
{
	lfpool_priority_t *pool = victims[0].pool;

	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims[i].thread, SIGUSR1) == 0);
	for (int i = 0; i < VICTIMS; i++)
		while (sem_wait(&frozen))
			;
	const size_t got = take_all(pool, handles);

	if (got)
		move_them(pool, handles, got, r);
	/* Half of it goes back while they stand; of the other half they may release some. */
	for (size_t i = 0; i < got / 2; i++)
		REQUIRE(lfpool_priority_release(pool, handles[i]) == LFPOOL_OK);
	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims[i].thread, SIGUSR2) == 0);
	for (size_t i = got / 2; i < got; i++)
		(void)lfpool_priority_release(pool, handles[i]);
}

static void freeze_often(size_t capacity, uint64_t seed)
{
	struct random r = random_for(seed, VICTIMS);
	_Atomic(lfpool_handle_t) board[BOARD] = {0};
	lfpool_handle_t handles[MOST + 1];
	struct victim victims[VICTIMS];
	_Atomic(bool) stop = false;
	lfpool_priority_t *pool = priority_of(16, capacity);

	for (unsigned i = 0; i < VICTIMS; i++) {
		victims[i] = (struct victim){pool, board, 0, random_for(seed, i), &stop};
		thread_start(&victims[i].thread, run, &victims[i]);
	}
	for (int round = 0; round < TIMES(3000, 300); round++) {
		const uint32_t steps = random_below(&r, 2000);

		/* They get on a little. */
		for (volatile uint32_t i = 0; i < steps; i = i + 1)
			;
		freeze_once(victims, handles, &r);
	}
	/* relaxed: a sign only. */
	atomic_store_explicit(&stop, true, memory_order_relaxed);
	for (int i = 0; i < VICTIMS; i++)
		pthread_join(victims[i].thread, NULL);
	(void)lfpool_priority_release_min(pool, capacity);
	priority_close(pool, 16);
}

TEST(nobody_waits_for_a_frozen_thread)
{
	const uint64_t seed = test_seed("nobody_waits_for_a_frozen_thread");

	freeze_often(2, seed);
	freeze_often(4, seed + 1);
	freeze_often(17, seed + 2);
	freeze_often(MOST, seed + 3);
}

int main(void)
{
	prepare_signals();
	return tests_run(NULL, NULL);
}
