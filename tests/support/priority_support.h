/* SPDX-License-Identifier: MIT */
/*
 * priority_support.h - what the tests of evicting pools share: pools, objects made and published at once, and what a
 * pool that no thread uses any more must be like.
 */
#ifndef LFPOOL_TESTS_PRIORITY_SUPPORT_H
#define LFPOOL_TESTS_PRIORITY_SUPPORT_H

#include "texts.h"

#include "lfpool/priority.h"

/* As often as the header says that an object can be pinned. */
enum { PINS = 125 };

static inline lfpool_priority_config_t priority_config_of(size_t object_size, size_t capacity)
{
	lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;

	config.object_size = object_size;
	config.capacity = capacity;
	return config;
}

static inline lfpool_priority_t *priority_with(const lfpool_priority_config_t *config)
{
	lfpool_priority_t *pool = NULL;

	REQUIRE(lfpool_priority_create(&pool, config) == LFPOOL_OK && pool);
	return pool;
}

/* PRIORITY_WITH(.object_size = 24, .capacity = 10, .flags = LFPOOL_LOCK) */
#define PRIORITY_WITH(...) \
	priority_with(&(lfpool_priority_config_t){.struct_size = sizeof(lfpool_priority_config_t), __VA_ARGS__})

static inline lfpool_priority_t *priority_of(size_t object_size, size_t capacity)
{
	return PRIORITY_WITH(.object_size = object_size, .capacity = capacity);
}

/* A new object, published; 0 if there is none. */
static inline lfpool_handle_t priority_put(lfpool_priority_t *pool, uint64_t priority)
{
	lfpool_handle_t handle;

	if (!lfpool_priority_acquire(pool, priority, NULL, &handle))
		return 0;
	REQUIRE(lfpool_priority_publish(pool, handle) == LFPOOL_OK);
	return handle;
}

static inline lfpool_priority_stats_t priority_stats_of(const lfpool_priority_t *pool)
{
	lfpool_priority_stats_t stats;

	memset(&stats, 0xff, sizeof(stats));
	lfpool_priority_stats(pool, &stats);
	return stats;
}

/* Whatever is asked about the handle: there is no such object. */
static inline void require_stale(lfpool_priority_t *pool, lfpool_handle_t handle)
{
	uint64_t priority = 4711;

	REQUIRE(!lfpool_priority_is_active(pool, handle));
	REQUIRE(!lfpool_priority_look(pool, handle));
	REQUIRE(!lfpool_priority_get(pool, handle, &priority) && priority == 4711);
	REQUIRE(!lfpool_priority_pin(pool, handle));
	REQUIRE(lfpool_priority_publish(pool, handle) == LFPOOL_E_STALE);
	REQUIRE(lfpool_priority_update(pool, handle, 0) == LFPOOL_E_STALE);
	REQUIRE(lfpool_priority_release(pool, handle) == LFPOOL_E_STALE);
}

static inline void require_priority(lfpool_priority_t *pool, lfpool_handle_t handle, uint64_t expected)
{
	uint64_t priority = ~expected;

	REQUIRE(lfpool_priority_get(pool, handle, &priority) && priority == expected);
}

/* Nothing is in use, and all of the pool can be had, each object once, without evicting; then it is given back. */
static inline void require_priority_whole(lfpool_priority_t *pool, size_t object_size)
{
	const size_t capacity = lfpool_priority_capacity(pool);
	const uint64_t evicted = priority_stats_of(pool).evicted;
	lfpool_handle_t *handles = calloc(capacity + 1, sizeof(*handles));
	void **objects = pointers_new(capacity);

	REQUIRE(handles && lfpool_priority_count(pool) == 0);
	REQUIRE(lfpool_priority_peek_min(pool, NULL) == 0);
	for (size_t i = 0; i < capacity; i++)
		REQUIRE(objects[i] = lfpool_priority_acquire(pool, i, NULL, &handles[i]));
	REQUIRE(!lfpool_priority_acquire(pool, UINT64_MAX, NULL, &handles[capacity]) && !handles[capacity]);
	REQUIRE(sort_disjoint(objects, capacity, object_size));
	REQUIRE(lfpool_priority_count(pool) == capacity && priority_stats_of(pool).evicted == evicted);
	REQUIRE(!lfpool_priority_check(pool, NULL));
	for (size_t i = 0; i < capacity; i++)
		REQUIRE(lfpool_priority_release(pool, handles[i]) == LFPOOL_OK);
	REQUIRE(lfpool_priority_count(pool) == 0 && !lfpool_priority_check(pool, NULL));
	free(handles);
	free(objects);
}

static inline void priority_close(lfpool_priority_t *pool, size_t object_size)
{
	require_priority_whole(pool, object_size);
	REQUIRE(lfpool_priority_destroy(pool) == 0);
}

static inline size_t priority_dump(const void *pool, lfpool_format_t format, char *text_out, size_t bytes)
{
	return lfpool_priority_dump((lfpool_priority_t *)(uintptr_t)pool, format, text_out, bytes);
}

/* The dump has this part. */
static inline void require_priority_dumped(lfpool_priority_t *pool, lfpool_format_t format, const char *part)
{
	char *text = whole_dump(priority_dump, pool, format);

	require_in(text, part);
	free(text);
}

#endif
