/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_handoff.c - objects acquired on some threads and released on others: they come back round, nothing piles up in
 * the caches of those who only release, and memory stays what the objects in flight need.
 */
#include "../support/support.h"

#include <sched.h>
#include <stdatomic.h>

enum { RING = 64, SIZE = 64 };

/* One producer, one consumer. */
struct ring {
	_Atomic(size_t) head; /* the consumer's */
	_Atomic(size_t) tail; /* the producer's */
	void *objects[RING];
};

static void ring_put(struct ring *ring, void *object)
{
	/* relaxed: our own.  acquire: the consumer has read the cell we are about to fill. */
	size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	while (tail - atomic_load_explicit(&ring->head, memory_order_acquire) == RING)
		sched_yield();
	ring->objects[tail % RING] = object;
	/* release: the cell and the object. */
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
}

static void *ring_get(struct ring *ring)
{
	/* relaxed: our own.  acquire: the cell and the object. */
	size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&ring->tail, memory_order_acquire))
		return NULL;
	void *object = ring->objects[head % RING];
	/* release: we have read the cell. */
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	return object;
}

struct producer {
	lfpool_t *pool;
	struct ring ring;
	size_t count;
	size_t consumed; /* the consumer's */
};

static void *produce(void *argument)
{
	struct producer *p = argument;

	for (size_t i = 0; i < p->count; i++) {
		void *object = lfpool_acquire(p->pool);

		REQUIRE(object);
		stamp_write(object, SIZE, i);
		ring_put(&p->ring, object);
	}
	return NULL;
}

/* Releases all that `producers` send, in rounds over their rings. */
static void consume(lfpool_t *pool, struct producer *producers, size_t count)
{
	for (size_t i = 0, done = 0, idle = 0; done < count; i = (i + 1) % count) {
		struct producer *p = &producers[i];
		void *object = ring_get(&p->ring);

		if (object) {
			REQUIRE(stamp_holds(object, SIZE, p->consumed++));
			REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
			done += p->consumed == p->count;
			idle = 0;
		} else if (++idle > count) {
			sched_yield();
		}
	}
}

static void hand_off(lfpool_t *pool, size_t count, size_t each)
{
	struct producer *producers = calloc(count, sizeof(*producers));

	REQUIRE(producers);
	for (size_t i = 0; i < count; i++) {
		producers[i].pool = pool;
		producers[i].count = each;
	}
	const struct threads threads = threads_start(count, produce, producers, sizeof(producers[0]));
	consume(pool, producers, count);
	threads_join(&threads);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	free(producers);
}

/* A pool with room for all of them: if none came back, they would fill 18 MiB. */
TEST(very_many_acquired_here_and_released_there)
{
	size_t count = TIMES(300000, 50000);
	lfpool_t *pool = pool_of(SIZE, 1000000);
	size_t before = resident_bytes();

	hand_off(pool, 1, count);
	size_t grown = growth(before, resident_bytes());
	print_message("    resident memory grew by %zu KiB\n", grown / 1024);
	assert_in_range(grown, 0, TIMES(4 * MIB, 64 * MIB));
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

/* The least that 16 rings, 16 hands and the releaser can hold between them: one NULL, and an object was kept back. */
TEST(sixteen_acquirers_and_one_that_only_releases)
{
	enum { ACQUIRERS = 16 };
	lfpool_t *pool = pool_of(SIZE, ACQUIRERS * (RING + 1) + 1);
	size_t each = TIMES(6000, 2000), before = 0;

	for (int round = 0; round < 4; round++) {
		hand_off(pool, ACQUIRERS, each);
		assert_int_equal(lfpool_active_count(pool), 0);
		if (round == 0)
			before = resident_bytes();
	}
	assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 64 * MIB));
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

/* With hardly any objects every one of them crosses over, every time. */
TEST(a_few_objects_go_round)
{
	static const size_t cache_capacities[] = {0, 1, 8192, LFPOOL_CACHE_NONE};

	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		lfpool_t *pool = POOL_OF(SIZE, RING + 2, .cache_capacity = cache_capacities[i]);
		hand_off(pool, 1, TIMES(30000, 6000));
		require_whole(pool, SIZE);
		lfpool_destroy(pool);
	}
}

RUN_TESTS()
