/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_priority_look.c - looking at objects without a pin, as the header's comment says how, while others come and go.
 *
 * Idea         An object says twice which handle it belongs to.  A thread that looks at it without a pin may read what a
 *              newcomer is just writing.  What it has read is right if the handle is active afterwards.
 */
#include "../support/priority_support.h"
#include "../support/workers.h"

enum { CAPACITY = 3, BOARD = 16, WRITERS = 2, READERS = 2, REPLACED = TIMES(100000, 13000) };

struct voice {
	_Atomic(uint64_t) handle, twice; /* handle, and 2 * handle */
};

static lfpool_priority_t *pool;
static _Atomic(lfpool_handle_t) board[BOARD];
static _Atomic(unsigned) playing; /* writers that have not come to their end */

/* Stores with release, as is asked of what is looked at without a pin. */
static void play(struct worker *me)
{
	for (int i = 0; i < REPLACED; i++) {
		_Atomic(lfpool_handle_t) *const place = &board[random_below(&me->random, BOARD)];
		lfpool_handle_t handle;
		struct voice *v = lfpool_priority_acquire(pool, 1 + random_below(&me->random, 2), NULL, &handle);

		if (v) {
			atomic_store_explicit(&v->handle, handle, memory_order_release);
			atomic_store_explicit(&v->twice, 2 * handle, memory_order_release);
			REQUIRE(lfpool_priority_publish(pool, handle) == LFPOOL_OK);
			handle = atomic_exchange(place, handle);
		} else {
			handle = atomic_load(place);
		}
		if (random_below(&me->random, 3) == 0)
			(void)lfpool_priority_release(pool, handle);
	}
	atomic_fetch_sub(&playing, 1);
}

static void watch(struct worker *me)
{
	while (atomic_load(&playing)) {
		const lfpool_handle_t handle = atomic_load(&board[random_below(&me->random, BOARD)]);
		struct voice *v = lfpool_priority_look(pool, handle);

		if (!v)
			continue;

		const uint64_t name = atomic_load_explicit(&v->handle, memory_order_acquire);
		const uint64_t twice = atomic_load_explicit(&v->twice, memory_order_acquire);

		REQUIRE(!lfpool_priority_is_active(pool, handle) || (name == handle && twice == 2 * handle));
	}
}

static void play_or_watch(struct worker *me)
{
	(me->number < WRITERS ? play : watch)(me);
}

TEST(what_is_read_without_a_pin_is_right_if_the_handle_still_is)
{
	/* An equal one gives way: so the oldest goes, and the last ones are on the board. */
	pool = PRIORITY_WITH(.object_size = sizeof(struct voice), .capacity = CAPACITY, .flags = LFPOOL_EVICT_EQUAL);
	playing = WRITERS;
	(void)workers_run(WRITERS + READERS, play_or_watch, NULL, test_seed("what_is_read_without_a_pin"));
	(void)lfpool_priority_release_min(pool, CAPACITY);
	priority_close(pool, sizeof(struct voice));
}

RUN_TESTS()
