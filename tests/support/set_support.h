/* SPDX-License-Identifier: MIT */
/*
 * set_support.h - what the tests of sets share.
 */
#ifndef LFPOOL_TESTS_SET_SUPPORT_H
#define LFPOOL_TESTS_SET_SUPPORT_H

#include "support.h"

#include "lfpool/set.h"


#define EACH_BACKEND(backend) \
	for (lfpool_backend_t backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)

static inline lfpool_set_config_t set_config_of(lfpool_backend_t backend, size_t largest, size_t capacity)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;

	config.backend = backend;
	config.largest = largest;
	config.capacity = capacity;
	return config;
}

static inline lfpool_set_t *set_with(const lfpool_set_config_t *config)
{
	lfpool_set_t *set = NULL;

	assert_int_equal(lfpool_set_create(&set, config), LFPOOL_OK);
	assert_non_null(set);
	return set;
}

static inline lfpool_set_t *set_of(lfpool_backend_t backend, size_t largest, size_t capacity)
{
	lfpool_set_config_t config = set_config_of(backend, largest, capacity);

	return set_with(&config);
}

/* Objects of this size until there is none, at most `room`. */
static inline size_t acquire_all_of(lfpool_set_t *set, size_t size, void **objects_out, size_t room)
{
	size_t count = 0;

	while (count < room && (objects_out[count] = lfpool_set_acquire(set, size)))
		count++;
	return count;
}

static inline void release_to(lfpool_set_t *set, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_set_release(set, objects[i]) == LFPOOL_OK);
}

/* Every pool that was made is intact. */
static inline void require_set_intact(const lfpool_set_t *set)
{
	for (size_t i = 0; i < lfpool_set_class_count(set); i++)
		if (lfpool_set_peek(set, i))
			require_intact(lfpool_set_peek(set, i));
}

#endif
