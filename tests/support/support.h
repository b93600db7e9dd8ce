/* SPDX-License-Identifier: MIT */
/*
 * support.h - shared by the tests of the public interface.
 *
 * Idea         The tests know only the public headers.  An object's place, the distance between objects, the addresses
 *              of a pool: all of this comes from lfpool_owns(), never from the library's layout.
 */
#ifndef LFPOOL_TESTS_SUPPORT_H
#define LFPOOL_TESTS_SUPPORT_H

#include <string.h>
#include <unistd.h>

#include "../../common/harness.h"
#include "../../common/sanitizers.h"
#include "../../common/test.h"
#include "lfpool/buffer.h"
#include "lfpool/debug.h"
#include "lfpool/handle.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"
#include "lfpool/resize.h"
#include "lfpool/retire.h"
#include "lfpool/wait.h"
#include "lfpool/walk.h"

#define SANITIZED (UNDER_ASAN || UNDER_TSAN)

/* Repetitions, counts, sizes: a sanitizer is ten times slower and uses memory too. */
#define TIMES(native, sanitized) (SANITIZED ? (sanitized) : (native))
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Pools ------------------------------------------------------------------------------------------------- */

#ifdef IN_BUFFER
#include "in_buffer.h"
#endif

static inline lfpool_config_t config_of(size_t object_size, size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	config.object_size = object_size;
	config.capacity = capacity;
	return config;
}

/* May be called on any thread. */
static inline lfpool_t *pool_with(const lfpool_config_t *config)
{
	lfpool_t *pool = NULL;
	const lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK)
		fprintf(stderr, "lfpool_create: %s\n", lfpool_status_string(status));
	REQUIRE(status == LFPOOL_OK && pool);
	return pool;
}

static inline lfpool_t *pool_of(size_t object_size, size_t capacity)
{
	lfpool_config_t config = config_of(object_size, capacity);

	return pool_with(&config);
}

/* As config_of() and pool_of(), with more fields: POOL_OF(24, 100, .flags = LFPOOL_ZERO). */
#define CONFIG_OF(size, slots, ...) \
	((lfpool_config_t){         \
		.struct_size = sizeof(lfpool_config_t), .object_size = (size), .capacity = (slots), __VA_ARGS__})
#define POOL_OF(size, slots, ...) pool_with(&CONFIG_OF(size, slots, __VA_ARGS__))

static inline lfpool_stats_t stats_of(const lfpool_t *pool)
{
	lfpool_stats_t stats;

	REQUIRE(lfpool_stats(pool, &stats) == LFPOOL_OK);
	return stats;
}

/* hooks.misuse for tests that check the refusal by its status: does nothing. */
static inline void expected_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context, (void)misuse;
}

/* Room for `count` pointers, freed by the caller. */
static inline void **pointers_new(size_t count)
{
	void **pointers = calloc(count + 1, sizeof(*pointers));

	REQUIRE(pointers);
	return pointers;
}

/* Acquires until the pool returns NULL, at most `room`; returns the number. */
static inline size_t acquire_all(lfpool_t *pool, void **objects_out, size_t room)
{
	size_t count = 0;

	while (count < room && (objects_out[count] = lfpool_acquire(pool)))
		count++;
	return count;
}

static inline void release_all(lfpool_t *pool, void **objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		REQUIRE(lfpool_release(pool, objects[i]) == LFPOOL_OK);
}

static inline int compare_addresses(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)*(void *const *)a, y = (uintptr_t)*(void *const *)b;

	return (x > y) - (x < y);
}

/* Sorts the objects by address; true if each is at least `size` bytes below the next one. */
static inline bool sort_disjoint(void **objects, size_t count, size_t size)
{
	qsort(objects, count, sizeof(*objects), compare_addresses);
	for (size_t i = 1; i < count; i++)
		if ((uintptr_t)objects[i] - (uintptr_t)objects[i - 1] < size)
			return false;
	return true;
}

/* Every invariant holds.  No call may be in progress. */
static inline void require_intact(const lfpool_t *pool)
{
	size_t where;
	const char *violated = lfpool_check(pool, &where);

	if (violated)
		fprintf(stderr, "at %zu: %s\n", where, violated);
	REQUIRE(!violated);
}

/* The pool hands out all of its objects, each once, and takes them back.  No object may be active before. */
static inline void require_all_there(lfpool_t *pool, size_t object_size)
{
	size_t capacity = lfpool_capacity(pool);
	void **objects = pointers_new(capacity + 1);

	REQUIRE(lfpool_active_count(pool) == 0);
	REQUIRE(lfpool_available_count(pool) == capacity);
	REQUIRE(acquire_all(pool, objects, capacity + 1) == capacity);
	REQUIRE(lfpool_active_count(pool) == capacity);
	REQUIRE(sort_disjoint(objects, capacity, object_size));
	release_all(pool, objects, capacity);
	REQUIRE(lfpool_active_count(pool) == 0);
	free(objects);
}

/* require_intact() and require_all_there(). */
static inline void require_whole(lfpool_t *pool, size_t object_size)
{
	require_intact(pool);
	require_all_there(pool, object_size);
	require_intact(pool);
}

/* require_whole(), and destroys the pool. */
static inline void pool_close(lfpool_t *pool, size_t object_size)
{
	require_whole(pool, object_size);
	REQUIRE(lfpool_destroy(pool) == 0);
}

/* ---- Objects ----------------------------------------------------------------------------------------------- */

static inline void *moved(const void *pointer, ptrdiff_t bytes)
{
	return (void *)((uintptr_t)pointer + (uintptr_t)bytes);
}

/* Bytes from one object to the next: to the nearest other address that the pool owns. */
static inline size_t stride_of(const lfpool_t *pool, const void *object)
{
	for (ptrdiff_t distance = 1;; distance++) {
		REQUIRE(distance < PTRDIFF_MAX / 2);
		if (lfpool_owns(pool, moved(object, distance)) || lfpool_owns(pool, moved(object, -distance)))
			return (size_t)distance;
	}
}

/* Fills a whole object with bytes that depend on the number and on the position. */
static inline void stamp_write(void *object, size_t size, uint64_t number)
{
	unsigned char *bytes = object;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)((number >> i % 7 * 8) + i * 37 + 1);
}

static inline bool stamp_holds(const void *object, size_t size, uint64_t number)
{
	const unsigned char *bytes = object;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != (unsigned char)((number >> i % 7 * 8) + i * 37 + 1))
			return false;
	return true;
}

static inline bool all_bytes_are(const void *object, size_t size, unsigned char value)
{
	const unsigned char *bytes = object;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* A test whose body runs on each backend, from the first to `last`: `backend`. */
#define BACKEND_TEST(name, last)                                                               \
	static void name##_on(lfpool_backend_t backend);                                       \
	TEST(name)                                                                             \
	{                                                                                      \
		for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= (int)(last); backend++) \
			name##_on((lfpool_backend_t)backend);                                  \
	}                                                                                      \
	static void name##_on(lfpool_backend_t backend)

/* ---- Threads ----------------------------------------------------------------------------------------------- */

/* With a small stack (the smallest that aarch64 allows): a thousand threads fit anywhere, but a recursion does not. */
static inline void thread_start_small(pthread_t *thread, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;

	REQUIRE(pthread_attr_init(&attributes) == 0);
	REQUIRE(pthread_attr_setstacksize(&attributes, TIMES(128, 512) * 1024) == 0);
	REQUIRE(pthread_create(thread, &attributes, run, argument) == 0);
	pthread_attr_destroy(&attributes);
}

struct threads {
	size_t count;
	pthread_t thread[32];
};

/* Thread i gets argument i of an array with `step` bytes per element; 0: all threads get the same argument. */
static inline struct threads threads_start(size_t count, void *(*run)(void *), void *arguments, size_t step)
{
	struct threads threads = {.count = count};

	REQUIRE(count <= COUNT(threads.thread));
	for (size_t i = 0; i < count; i++)
		thread_start(&threads.thread[i], run, step ? (char *)arguments + i * step : arguments);
	return threads;
}

static inline void threads_join(const struct threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		REQUIRE(pthread_join(threads->thread[i], NULL) == 0);
}

/* Starts all threads and waits for their end. */
static inline void threads_run(size_t count, void *(*run)(void *), void *arguments, size_t step)
{
	const struct threads threads = threads_start(count, run, arguments, step);

	threads_join(&threads);
}

/* ---- The process ------------------------------------------------------------------------------------------- */

#ifndef PROC_BYTES /* verify/cross/windows/posix.h has a different function */
/* The sum of the lines "key:  n kB" of a file. */
static inline size_t proc_bytes(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	size_t kib, sum = 0;
	char line[512], format[64];

	REQUIRE(file);
	(void)snprintf(format, sizeof(format), "%s: %%zu kB", key);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, format, &kib) == 1)
			sum += kib * 1024;
	fclose(file);
	return sum;
}
#endif

static inline size_t resident_bytes(void)
{
	return proc_bytes("/proc/self/status", "VmRSS");
}

static inline size_t mapped_bytes(void)
{
	return proc_bytes("/proc/self/status", "VmSize");
}

static inline size_t locked_bytes(void)
{
	return proc_bytes("/proc/self/status", "VmLck");
}

static inline size_t growth(size_t before, size_t after)
{
	return after > before ? after - before : 0;
}

#endif
