/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_many_pools.c - many pools, one after the other and at once, under threads that live on: what a thread
 * remembers of a pool that is gone is never taken for a new one, even at the same address, and does not add up.
 */
#include "../support/support.h"

#include <semaphore.h>

enum { SIZE = 48, CAPACITY = 60 };

/* A thread that uses whatever pool it is shown. */
struct helper {
	lfpool_t *pool; /* NULL: go home */
	pthread_t thread;
	sem_t shown, done;
};

static void use(lfpool_t *pool)
{
	void *objects[CAPACITY / 2];

	/* One by the call, which may be inlined (tests/CMakeLists.txt). */
	REQUIRE(objects[0] = lfpool_acquire(pool));
	REQUIRE(lfpool_acquire_bulk(pool, objects + 1, CAPACITY / 2 - 1) == CAPACITY / 2 - 1);
	for (size_t i = 0; i < CAPACITY / 2; i++) {
		REQUIRE(lfpool_owns(pool, objects[i]) && lfpool_of(objects[i]) == pool);
		/* Fresh memory: of this pool, not of one that was here before. */
		REQUIRE(all_bytes_are(objects[i], SIZE, 0) || stamp_holds(objects[i], SIZE, (uintptr_t)pool));
		stamp_write(objects[i], SIZE, (uintptr_t)pool);
	}
	release_all(pool, objects, CAPACITY / 2);
}

static void *help(void *argument)
{
	struct helper *h = argument;

	for (;;) {
		sem_wait(&h->shown);
		if (!h->pool)
			return NULL;
		use(h->pool);
		sem_post(&h->done);
	}
}

static void show(struct helper *h, lfpool_t *pool)
{
	h->pool = pool;
	sem_post(&h->shown);
	if (pool)
		sem_wait(&h->done);
	else
		pthread_join(h->thread, NULL);
}

static void hire(struct helper *helpers, size_t count)
{
	for (struct helper *h = helpers; h < helpers + count; h++) {
		sem_init(&h->shown, 0, 0);
		sem_init(&h->done, 0, 0);
		thread_start(&h->thread, help, h);
	}
}

static void show_all(struct helper *helpers, size_t count, lfpool_t *pool)
{
	for (size_t i = 0; i < count; i++)
		show(&helpers[i], pool);
}

static size_t one_after_the_other(struct helper *helpers, size_t count, int pools)
{
	size_t same_address = 0;
	lfpool_t *last = NULL;

	for (int i = 0; i < pools; i++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		same_address += pool == last;
		use(pool);
		show_all(helpers, count, pool);
		require_whole(pool, SIZE);
		assert_int_equal(lfpool_destroy(pool), 0);
		last = pool;
	}
	return same_address;
}

TEST(a_thousand_pools_one_after_the_other)
{
	struct helper helpers[3];

	hire(helpers, COUNT(helpers));
	one_after_the_other(helpers, COUNT(helpers), 100);
	size_t before = resident_bytes(), mapped_before = mapped_bytes();
	size_t same_address = one_after_the_other(helpers, COUNT(helpers), 1000);
	print_message("    %zu of 1000 pools came back at the address of the one before\n", same_address);
	assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 64 * MIB));
	assert_in_range(growth(mapped_before, mapped_bytes()), 0, TIMES(4 * MIB, 256 * MIB));
	show_all(helpers, COUNT(helpers), NULL);
}

/* Many at once; half of them replaced while the threads remember the other half; in a random order. */
TEST(many_pools_at_once)
{
	enum { POOLS = 200 };
	struct random r = random_for(test_seed("many_pools_at_once"), 0);
	struct helper helpers[2];
	lfpool_t *pools[POOLS];

	hire(helpers, COUNT(helpers));
	for (int i = 0; i < POOLS; i++)
		pools[i] = pool_of(SIZE, CAPACITY);
	for (int step = 0; step < TIMES(5000, 1000); step++) {
		uint32_t k = random_below(&r, POOLS);

		use(pools[random_below(&r, POOLS)]);
		show(&helpers[random_below(&r, COUNT(helpers))], pools[random_below(&r, POOLS)]);
		if (random_below(&r, 2)) {
			void *object = lfpool_acquire(pools[k]);

			assert_int_equal(lfpool_destroy(pools[k]), 1);
			assert_null(lfpool_of(object));
			pools[k] = pool_of(SIZE, CAPACITY);
		}
	}
	/* The pools share nothing: an object belongs to one of them. */
	void *object = lfpool_acquire(pools[7]);
	for (int i = 0; i < POOLS; i++)
		assert_int_equal(lfpool_owns(pools[i], object), i == 7);
	assert_int_equal(lfpool_release(pools[8], object), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release(pools[7], object), LFPOOL_OK);
	for (int i = 0; i < POOLS; i++) {
		require_whole(pools[i], SIZE);
		assert_int_equal(lfpool_destroy(pools[i]), 0);
	}
	show_all(helpers, COUNT(helpers), NULL);
}

RUN_TESTS()
