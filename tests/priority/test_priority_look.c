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

enum { BOARD = 16, WRITERS = 2, READERS = 2, REPLACED = TIMES(100000, 13000) };

struct voice {
	_Atomic(uint64_t) handle, twice; /* handle, and 2 * handle + level */
	_Atomic(uint32_t) level;
};

struct stage {
	lfpool_priority_t *pool;
	_Atomic(lfpool_handle_t) board[BOARD];
	_Atomic(unsigned) playing; /* writers that have not come to their end */
	_Atomic(uint64_t) seen, gone;
};

/* Stores with release, as is asked of what is looked at without a pin. */
static void write_voice(struct voice *v, lfpool_handle_t handle, uint32_t level)
{
	atomic_store_explicit(&v->handle, handle, memory_order_release);
	atomic_store_explicit(&v->level, level, memory_order_release);
	atomic_store_explicit(&v->twice, 2 * handle + level, memory_order_release);
}

static void play(struct worker *me)
{
	struct stage *s = me->scene;

	for (int i = 0; i < REPLACED; i++) {
		_Atomic(lfpool_handle_t) *const place = &s->board[random_below(&me->random, BOARD)];
		lfpool_handle_t handle;
		struct voice *v = lfpool_priority_acquire(s->pool, 1 + random_below(&me->random, 2), NULL, &handle);

		if (v) {
			write_voice(v, handle, random_below(&me->random, 1000));
			REQUIRE(lfpool_priority_publish(s->pool, handle) == LFPOOL_OK);
			handle = atomic_exchange(place, handle);
		} else {
			handle = atomic_load(place);
		}
		if (random_below(&me->random, 3) == 0)
			(void)lfpool_priority_release(s->pool, handle);
	}
	atomic_fetch_sub(&s->playing, 1);
}

/* True if the handle was active until the end. */
static bool look_once(struct stage *s, lfpool_handle_t handle)
{
	struct voice *v = lfpool_priority_look(s->pool, handle);

	if (!v)
		return false;

	const uint64_t name = atomic_load_explicit(&v->handle, memory_order_acquire);
	const uint64_t twice = atomic_load_explicit(&v->twice, memory_order_acquire);
	const uint32_t level = atomic_load_explicit(&v->level, memory_order_acquire);

	if (!lfpool_priority_is_active(s->pool, handle))
		return false;
	REQUIRE(name == handle && twice == 2 * handle + level);
	return true;
}

static void watch(struct worker *me)
{
	struct stage *s = me->scene;
	uint64_t seen = 0, gone = 0;

	while (atomic_load(&s->playing)) {
		const lfpool_handle_t handle = atomic_load(&s->board[random_below(&me->random, BOARD)]);

		if (look_once(s, handle))
			seen++;
		else
			gone++;
	}
	atomic_fetch_add(&s->seen, seen);
	atomic_fetch_add(&s->gone, gone);
}

static void perform(struct worker *me)
{
	(me->number < WRITERS ? play : watch)(me);
}

TEST(what_is_read_without_a_pin_is_right_if_the_handle_still_is)
{
	static const size_t capacities[] = {1, 3, BOARD};
	const uint64_t seed = test_seed("what_is_read_without_a_pin_is_right_if_the_handle_still_is");

	for (size_t i = 0; i < COUNT(capacities); i++) {
		struct stage s = {.playing = WRITERS};

		/* An equal one gives way: so the oldest goes, and the last ones are on the board. */
		s.pool = PRIORITY_WITH(.object_size = sizeof(struct voice), .capacity = capacities[i],
				       .flags = LFPOOL_EVICT_EQUAL);
		(void)workers_run(WRITERS + READERS, perform, &s, seed + i);
		print_message("%zu objects: %llu times seen, %llu times gone\n", capacities[i], (unsigned long long)s.seen,
			      (unsigned long long)s.gone);
		(void)lfpool_priority_release_min(s.pool, BOARD);
		priority_close(s.pool, sizeof(struct voice));
	}
}

RUN_TESTS()
