/* SPDX-License-Identifier: MIT */
/*
 * test_ring.c - the ring: what goes in comes out, once and in order, also where it is full and where it is empty; and the barrier
 * of a run.
 */
#include "common/harness.h"
#include "common/test.h"

#include "../barrier.h"
#include "../ring.h"

#include <string.h>
#include <unistd.h>

#define POINTERS 300000

static struct ring *ring_make(void)
{
	struct ring *ring = aligned_alloc(_Alignof(struct ring), sizeof(*ring));

	assert_non_null(ring);
	return memset(ring, 0, sizeof(*ring));
}

static void *pointer_of(uintptr_t number)
{
	return (void *)(number + 1);
}

/* The counters are numbers that may wrap around. */
TEST(holds_exactly_its_capacity)
{
	struct ring *ring = ring_make();

	ring->pushed = ring->placed = ring->popped = ring->taken = ring->pushed_seen = ring->popped_seen = SIZE_MAX -
													   RING_CAPACITY / 2;
	/* Twice and a bit, so that the counters wrap around the cells at different places. */
	for (uintptr_t round = 0; round < 5; round++) {
		assert_null(ring_try_pop(ring));
		for (uintptr_t i = 0; i < RING_CAPACITY; i++)
			assert_true(ring_try_push(ring, pointer_of(round * RING_CAPACITY + i)));
		assert_false(ring_try_push(ring, pointer_of(0)));
		/* A refused push has left everything as it was; one place is free again after one pop. */
		assert_ptr_equal(ring_try_pop(ring), pointer_of(round * RING_CAPACITY));
		assert_true(ring_try_push(ring, pointer_of(round * RING_CAPACITY + RING_CAPACITY)));
		assert_false(ring_try_push(ring, pointer_of(0)));
		for (uintptr_t i = 1; i <= RING_CAPACITY; i++)
			assert_ptr_equal(ring_try_pop(ring), pointer_of(round * RING_CAPACITY + i));
		assert_null(ring_try_pop(ring));
	}
	free(ring);
}

/* One thread's speed: it pauses now and then, so that the ring is full at times, and empty at others. */
struct side {
	struct ring *ring;
	struct random random;
	uint64_t *contents; /* what the pointers point to: plain, so that a missing edge is a race */
	size_t refused;
};

static void dawdle(struct random *random)
{
	if (random_below(random, RING_CAPACITY) == 0)
		for (uint32_t i = random_below(random, 20); i > 0; i--)
			(void)sched_yield();
}

static void *produce(void *argument)
{
	struct side *side = argument;

	for (size_t i = 0; i < POINTERS; i++) {
		dawdle(&side->random);
		side->contents[i] = i * UINT64_C(0x9e3779b97f4a7c15);
		for (unsigned spins = 0; !ring_try_push(side->ring, &side->contents[i]); side->refused++)
			ring_pause(&spins);
	}
	return NULL;
}

static void *consume(void *argument)
{
	struct side *side = argument;

	for (size_t i = 0; i < POINTERS; i++) {
		uint64_t *pointer;

		dawdle(&side->random);
		for (unsigned spins = 0; !(pointer = ring_try_pop(side->ring)); side->refused++)
			ring_pause(&spins);
		REQUIRE(pointer == &side->contents[i]);
		REQUIRE(*pointer == i * UINT64_C(0x9e3779b97f4a7c15));
		/* Ours now: the producer has nothing to do with it any more. */
		*pointer = 0;
	}
	REQUIRE(!ring_try_pop(side->ring));
	return NULL;
}

TEST(order_and_content_survive_two_threads)
{
	const uint64_t seed = test_seed("order_and_content_survive_two_threads");
	struct ring *ring = ring_make();
	uint64_t *contents = calloc(POINTERS, sizeof(*contents));
	struct side in = {ring, random_for(seed, 0), contents, 0}, out = {ring, random_for(seed, 1), contents, 0};
	pthread_t producer, consumer;

	assert_non_null(contents);
	thread_start(&producer, produce, &in);
	thread_start(&consumer, consume, &out);
	(void)pthread_join(producer, NULL);
	(void)pthread_join(consumer, NULL);
	for (size_t i = 0; i < POINTERS; i++)
		assert_true(contents[i] == 0);
	printf("full %zu times, empty %zu times\n", in.refused, out.refused);
	free(contents);
	free(ring);
}

/* The other side comes late: a push into a full ring and a pop from an empty one wait for it. */
static void *push_twice_as_many(void *argument)
{
	for (uintptr_t i = 0; i < 2 * RING_CAPACITY; i++)
		ring_push(argument, pointer_of(i));
	return NULL;
}

TEST(push_and_pop_wait)
{
	struct ring *ring = ring_make();
	pthread_t producer;

	thread_start(&producer, push_twice_as_many, ring);
	/* It is full, and the producer waits or is about to. */
	while (__atomic_load_n(&ring->pushed, __ATOMIC_ACQUIRE) < RING_CAPACITY)
		(void)sched_yield();
	for (uintptr_t i = 0; i < 2 * RING_CAPACITY; i++)
		assert_ptr_equal(ring_pop(ring), pointer_of(i));
	(void)pthread_join(producer, NULL);
	assert_null(ring_try_pop(ring));
	free(ring);
}

/* The last few of a batch are seen when the producer says so, and not before. */
TEST(batches_are_published_whole)
{
	struct ring *ring = ring_make();

	for (uintptr_t i = 0; i < RING_BATCH - 1; i++)
		ring_push(ring, pointer_of(i));
	assert_null(ring_try_take(ring));
	ring_publish_pushed(ring);
	for (uintptr_t i = 0; i < RING_BATCH - 1; i++)
		assert_ptr_equal(ring_pop(ring), pointer_of(i));
	assert_int_equal(ring->popped, 0);
	ring_push(ring, pointer_of(RING_BATCH - 1));
	assert_ptr_equal(ring_pop(ring), pointer_of(RING_BATCH - 1));
	assert_int_equal(ring->popped, RING_BATCH);
	free(ring);
}

/* ---- The barrier ---- */

#define THREADS 8
#define ROUNDS 200

static struct barrier barrier = BARRIER_INITIALIZER;
static int rounds[THREADS]; /* plain: each written by one thread, read by all; the barrier orders it */

static void *meet_again_and_again(void *argument)
{
	const int index = (int)(intptr_t)argument;

	for (int round = 0; round < ROUNDS; round++) {
		/* The last thread is late now and then: the others fall asleep. */
		if (index == THREADS - 1 && round % 50 == 0)
			(void)usleep(1000);
		rounds[index] = round;
		barrier_wait(&barrier, THREADS);
		for (int i = 0; i < THREADS; i++)
			REQUIRE(rounds[i] == round);
		barrier_wait(&barrier, THREADS);
	}
	return NULL;
}

TEST(a_barrier_lets_no_thread_pass_before_the_last)
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		thread_start(&threads[i], meet_again_and_again, (void *)i);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

RUN_TESTS()
