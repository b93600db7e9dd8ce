/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_rcu_flavours.c - two pools with two flavours of liburcu in one program: readers of the one hold back nothing of
 * the other.
 */
#define FLAVOUR_HEADER "urcu/urcu-memb.h"
#include "../support/rcu_support.h"

/* Of urcu/urcu-bp.h, which declares it only where it is the first flavour that is included. */
extern const struct rcu_flavor_struct urcu_bp_flavor;

enum { SIZE = 32, CAPACITY = 5 };

struct reader_of {
	const struct rcu_flavor_struct *flavor;
	pthread_t thread;
	sem_t inside, end;
};

static void *read_of(void *argument)
{
	struct reader_of *reader = argument;

	reader->flavor->register_thread();
	reader->flavor->read_lock();
	sem_post(&reader->inside);
	await(&reader->end);
	ordered_before(&sections);
	reader->flavor->read_unlock();
	reader->flavor->unregister_thread();
	return NULL;
}

static lfpool_t *open_retired(const struct rcu_flavor_struct *flavor)
{
	lfpool_t *pool = rcu_pool_with(config_of(SIZE, CAPACITY), flavor);
	void *objects[CAPACITY + 1];

	assert_int_equal(acquire_all(pool, objects, CAPACITY + 1), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal(lfpool_release_rcu(pool, objects[i]), LFPOOL_OK);
	return pool;
}

TEST(a_reader_holds_back_the_objects_of_its_flavour)
{
	const struct rcu_flavor_struct *flavors[2] = {&urcu_memb_flavor, &urcu_bp_flavor};

	for (unsigned i = 0; i < 2; i++) {
		struct reader_of reader = {.flavor = flavors[i]};

		sem_init(&reader.inside, 0, 0);
		sem_init(&reader.end, 0, 0);
		thread_start(&reader.thread, read_of, &reader);
		await(&reader.inside);
		lfpool_t *held = open_retired(flavors[i]), *free_soon = open_retired(flavors[1 - i]);

		require_drained(free_soon, SIZE);
		assert_int_equal(lfpool_retired_count(held), CAPACITY);
		assert_null(lfpool_acquire_wait(held, A_WHILE_NS));
		/* In a section of the other flavour there is nothing to refuse. */
		flavors[i]->read_lock();
		assert_int_equal(lfpool_destroy(free_soon), 0);
		free_soon = open_retired(flavors[1 - i]);
		assert_int_equal(lfpool_drain(free_soon), LFPOOL_OK);
		assert_int_equal(lfpool_drain(held), LFPOOL_E_IN_SECTION);
		flavors[i]->read_unlock();
		sem_post(&reader.end);
		pthread_join(reader.thread, NULL);
		drain_and_destroy(held, SIZE);
		assert_int_equal(lfpool_destroy(free_soon), 0);
	}
}

RUN_READERS_TESTS()
