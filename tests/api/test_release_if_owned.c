/* SPDX-License-Identifier: MIT */
/* test: threads once */
/*
 * test_release_if_owned.c - lfpool_release_if_owned() and the set's: what is the pool's is released, what is not is an answer and
 * no misuse; on every backend, by call and inlined, while others do the same.
 */
#include "lfpool/inline.h"

#include "../support/support.h"
#include "../support/told.h"

#include "lfpool/set.h"

enum { SIZE = 48, CAPACITY = 100, THREADS = 4, ROUNDS = TIMES(20000, 2000) };

static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX, LFPOOL_BACKEND_MALLOC};

static lfpool_status_t by_call(lfpool_t *pool, void *object)
{
	return (lfpool_release_if_owned)(pool, object);
}

static lfpool_status_t inlined(lfpool_t *pool, void *object)
{
	return lfpool_release_if_owned(pool, object);
}

static void contract(lfpool_backend_t backend, lfpool_status_t (*give)(lfpool_t *, void *))
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *objects[CAPACITY], *strangers[] = {malloc(SIZE), &config, &objects, (void *)UINTPTR_MAX, (void *)1, (void *)4096};

	config.backend = backend;
	config.hooks.misuse = hear;
	told_forget();
	lfpool_t *pool = pool_with(&config);

	for (int round = 0; round < 3; round++) {
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		for (size_t i = 0; i < COUNT(strangers); i++)
			assert_int_equal(give(pool, strangers[i]), LFPOOL_E_FOREIGN);
		assert_int_equal(give(pool, NULL), LFPOOL_OK);
		assert_int_equal(give(pool, pool), LFPOOL_E_FOREIGN);
		assert_int_equal(told.count, 0);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(give(pool, objects[i]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 0);
	}
	assert_int_equal(lfpool_misuse_count(pool), 0);
	if (backend != LFPOOL_BACKEND_MALLOC) {
		/* It is the pool's, so it is a misuse. */
		assert_int_equal(give(pool, objects[0]), LFPOOL_E_NOT_IN_USE);
		assert_int_equal(give(pool, moved(objects[0], 4)), LFPOOL_E_INTERIOR);
		assert_int_equal(told.count, 2);
	}
	require_whole(pool, SIZE);
	free(strangers[0]);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(what_is_the_pools_and_what_is_not)
{
	for (size_t b = 0; b < COUNT(backends); b++) {
		contract(backends[b], by_call);
		contract(backends[b], inlined);
	}
}

TEST(of_a_set)
{
	for (size_t b = 0; b < COUNT(backends); b++) {
		lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
		lfpool_set_t *set;
		void *objects[3], *stranger = malloc(100);

		config.largest = 1000;
		config.class_bytes = 10000;
		config.backend = backends[b];
		config.hooks.misuse = hear;
		told_forget();
		assert_int_equal(lfpool_set_create(&set, &config), LFPOOL_OK);
		assert_int_equal(lfpool_set_release_if_owned(set, stranger), LFPOOL_E_FOREIGN);
		for (size_t i = 0; i < 3; i++) {
			assert_non_null(objects[i] = lfpool_set_acquire(set, 10 + 400 * i));
			assert_true(lfpool_set_owns(set, objects[i]) && lfpool_set_usable_size(set, objects[i]) >= 10 + 400 * i);
		}
		assert_false(lfpool_set_owns(set, stranger) || lfpool_set_usable_size(set, stranger));
		assert_int_equal(lfpool_set_release_if_owned(set, stranger), LFPOOL_E_FOREIGN);
		assert_int_equal(lfpool_set_release_if_owned(set, NULL), LFPOOL_OK);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(lfpool_set_release_if_owned(set, objects[i]), LFPOOL_OK);
		assert_int_equal(told.count, 0);
		free(stranger);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
}

/* ---- From the pool, else from the heap ---- */

struct worker {
	lfpool_t *pool;
	uint64_t seed;
	unsigned number;
	size_t heaped;
	pthread_t thread;
};

static void *both(void *argument)
{
	struct worker *w = argument;
	struct random random = random_for(w->seed, w->number);
	void *held[CAPACITY] = {NULL};

	for (size_t i = 0; i < ROUNDS; i++) {
		void **place = &held[random_below(&random, CAPACITY)];

		if (!*place) {
			if (!(*place = lfpool_acquire(w->pool))) {
				REQUIRE(*place = malloc(SIZE));
				w->heaped++;
			}
			stamp_write(*place, SIZE, i);
		} else {
			if (lfpool_release_if_owned(w->pool, *place) == LFPOOL_E_FOREIGN)
				free(*place);
			*place = NULL;
		}
	}
	for (size_t i = 0; i < CAPACITY; i++)
		if (lfpool_release_if_owned(w->pool, held[i]) == LFPOOL_E_FOREIGN)
			free(held[i]);
	return NULL;
}

TEST(threads_whose_objects_are_the_pools_or_the_heaps)
{
	const uint64_t seed = test_seed("threads_whose_objects_are_the_pools_or_the_heaps");

	for (size_t b = 0; b < COUNT(backends); b++) {
		/* Fewer than one thread has places for. */
		lfpool_config_t config = config_of(SIZE, CAPACITY / 2);
		struct worker workers[THREADS];
		size_t heaped = 0;

		config.backend = backends[b];
		lfpool_t *pool = pool_with(&config);

		for (unsigned i = 0; i < THREADS; i++) {
			workers[i] = (struct worker){.pool = pool, .seed = seed, .number = i};
			thread_start(&workers[i].thread, both, &workers[i]);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(workers[i].thread, NULL);
			heaped += workers[i].heaped;
		}
		assert_true(heaped > 0);
		assert_int_equal(lfpool_misuse_count(pool), 0);
		require_whole(pool, SIZE);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

RUN_TESTS()
