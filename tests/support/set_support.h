/* SPDX-License-Identifier: MIT */
/* set_support.h - shared by the tests of sets. */
#ifndef LFPOOL_TESTS_SET_SUPPORT_H
#define LFPOOL_TESTS_SET_SUPPORT_H

#include "texts.h"

#include "lfpool/set.h"

static inline lfpool_set_config_t set_config_of(lfpool_backend_t backend, size_t largest, size_t capacity)
{
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;

	config.pool.backend = backend;
	config.largest = largest;
	config.pool.capacity = capacity;
	return config;
}

static inline lfpool_set_t *set_with(const lfpool_set_config_t *config)
{
	lfpool_set_t *set = NULL;

	REQUIRE(lfpool_set_create(&set, config) == LFPOOL_OK && set);
	return set;
}

/* SET_WITH(.largest = 100, .pool.capacity = 3) */
#define SET_WITH(...) set_with(&(lfpool_set_config_t){.struct_size = sizeof(lfpool_set_config_t), __VA_ARGS__})

static inline lfpool_set_t *set_of(lfpool_backend_t backend, size_t largest, size_t capacity)
{
	return SET_WITH(.largest = largest, .pool.backend = backend, .pool.capacity = capacity);
}

/* Acquires objects of this size until there are no more, at most `room`. */
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

/* A size for each class: EACH_CLASS(set, bytes) { ... } */
#define EACH_CLASS(set, bytes)                                           \
	for (size_t bytes = lfpool_set_class_size((set), 0); bytes != 0; \
	     bytes = lfpool_set_class_size((set), bytes + 1))

static inline size_t class_count(lfpool_set_t *set)
{
	size_t count = 0;

	EACH_CLASS(set, bytes)
	count++;
	return count;
}

/* Every existing pool is intact. */
static inline void require_set_intact(lfpool_set_t *set)
{
	EACH_CLASS(set, bytes)
	if (lfpool_set_class(set, bytes, false, NULL))
		require_intact(lfpool_set_class(set, bytes, false, NULL));
}

/* Checks and destroys the set, of which no object is active. */
static inline void set_close(lfpool_set_t *set)
{
	require_set_intact(set);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

static inline lfpool_stats_t set_stats_of(const lfpool_set_t *set)
{
	lfpool_stats_t stats;

	assert_int_equal(lfpool_set_stats(set, &stats), LFPOOL_OK);
	return stats;
}

/* A dump_t of texts.h. */
static inline size_t set_dump(const void *set, lfpool_format_t format, char *text_out, size_t bytes)
{
	return lfpool_set_dump(set, format, text_out, bytes);
}

#endif
