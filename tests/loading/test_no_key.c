/* SPDX-License-Identifier: MIT */
/*
 * test_no_key.c - a library that finds caches by a pthread key, in a program that has pools in buffers only: then it has no key,
 * and leaves the program's alone.
 *
 * Idea         The program has every key that there is, key 0 among them, with a value that must neither be followed nor
 *              change.  A pool of the library's own gets no key, is not made, and is made once there is one.
 */
#include "../support/support.h"
#include "loading.h"

#include <limits.h>
#include <pthread.h>

enum { SIZE = 64, CAPACITY = 50 };

static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char memory[LFPOOL_BUFFER_BYTES(SIZE, 0, CAPACITY)];
static pthread_key_t keys[PTHREAD_KEYS_MAX];
static size_t key_count, depth;

/* No address; and the words before and behind it are none that could be read. */
static void *value_of(size_t i)
{
	return (void *)(uintptr_t)(8 * i + 8);
}

static void require_values(void)
{
	for (size_t i = 0; i < key_count; i++)
		assert_ptr_equal(pthread_getspecific(keys[i]), value_of(i));
}

static void take_all_keys(void)
{
	bool is_first_there = false;

	while (key_count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[key_count], NULL) == 0) {
		assert_int_equal(pthread_setspecific(keys[key_count], value_of(key_count)), 0);
		is_first_there |= keys[key_count++] == 0;
	}
	assert_true(is_first_there);
}

static void count_call(void *context, lfpool_t *pool, void *object)
{
	++*(size_t *)context;
	require_values();
	/* The release must not serve the next from in here. */
	assert_int_equal(depth++, 0);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	depth--;
	require_values();
}

TEST(a_pool_in_a_buffer_leaves_all_keys_alone)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *objects[CAPACITY];
	size_t calls = 0;
	lfpool_t *pool;

	take_all_keys();
	assert_int_equal(lfpool_create_in(&pool, &config, memory, sizeof(memory)), LFPOOL_OK);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_non_null(objects[i] = lfpool_acquire(pool));
	assert_null(lfpool_acquire_wait(pool, 1000));
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lfpool_acquire_async(pool, count_call, &calls, NULL), LFPOOL_OK);
	require_values();
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
	assert_int_equal(calls, 5);
	assert_int_equal(lfpool_acquire_bulk(pool, objects, CAPACITY), CAPACITY);
	assert_int_equal(lfpool_release_bulk(pool, objects, CAPACITY), CAPACITY);
	require_values();
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(a_pool_that_gets_no_key_is_not_made)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool;

	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
	require_values();
	assert_int_equal(pthread_key_delete(keys[--key_count]), 0);
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
	require_values();
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
