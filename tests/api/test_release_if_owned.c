/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_release_if_owned.c - lfpool_release_if_owned() and the set's: what is the pool's is released, what is not is an answer and
 * no misuse; on every backend, by call and inlined.
 */
#include "lfpool/inline.h"

#include "../support/set_support.h"
#include "../support/told.h"

enum { SIZE = 48, CAPACITY = 100 };

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
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = backend, .hooks.misuse = hear);
	void *objects[CAPACITY], *strangers[] = {malloc(SIZE), pool, &objects, (void *)UINTPTR_MAX, (void *)1, (void *)4096};

	told_forget();

	for (int round = 0; round < 3; round++) {
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		for (size_t i = 0; i < COUNT(strangers); i++)
			assert_int_equal(give(pool, strangers[i]), LFPOOL_E_FOREIGN);
		assert_int_equal(give(pool, NULL), LFPOOL_OK);
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
	free(strangers[0]);
	pool_close(pool, SIZE);
}

BACKEND_TEST(what_is_the_pools_and_what_is_not, LFPOOL_BACKEND_MALLOC)
{
	contract(backend, by_call);
	contract(backend, inlined);
}

BACKEND_TEST(of_a_set, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = 1000, .class_bytes = 10000, .hooks.misuse = hear);
	void *objects[3], *stranger = malloc(100);

	told_forget();
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(lfpool_set_release_if_owned(set, stranger), LFPOOL_E_FOREIGN);
		assert_non_null(objects[i] = lfpool_set_acquire(set, 10 + 400 * i));
		assert_true(lfpool_set_owns(set, objects[i]) && lfpool_set_usable_size(set, objects[i]) >= 10 + 400 * i);
	}
	assert_false(lfpool_set_owns(set, stranger) || lfpool_set_usable_size(set, stranger));
	assert_int_equal(lfpool_set_release_if_owned(set, NULL), LFPOOL_OK);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(lfpool_set_release_if_owned(set, objects[i]), LFPOOL_OK);
	assert_int_equal(told.count, 0);
	free(stranger);
	set_close(set);
}

RUN_TESTS()
