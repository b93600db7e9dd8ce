/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_buffer.c - lfpool/buffer.h: how large a buffer must be, what is refused, and what such a pool does otherwise.
 *
 * What it does as every pool is tested by the tests of every pool (in_buffer.h); that it makes no system call, by
 * test_no_kernel.c.
 */
#include "../support/support.h"

#include <fcntl.h>
#include <stddef.h>

/* An integer constant expression, also for arguments of several types. */
static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char array[LFPOOL_BUFFER_BYTES(sizeof(double[3]), 0, 1000)];
_Static_assert(LFPOOL_BUFFER_BYTES(1, 1, 1) < 32768, "small pools fit into small arrays");
_Static_assert(LFPOOL_BUFFER_BYTES(64, 64, 1 << 20) < 82 * sizeof(char[1 << 20]), "18 bytes beside each object");

static unsigned char *buffer_of(size_t bytes)
{
	void *memory = NULL;

	REQUIRE(posix_memalign(&memory, 4096, bytes) == 0);
	memset(memory, 0xee, bytes);
	return memory;
}

static lfpool_t *pool_in(const lfpool_config_t *config, void *buffer, size_t size)
{
	lfpool_t *pool = NULL;

	assert_int_equal(lfpool_create_in(&pool, config, buffer, size), LFPOOL_OK);
	assert_non_null(pool);
	return pool;
}

static lfpool_t *pool_in_array(size_t capacity)
{
	lfpool_config_t config = config_of(24, capacity);

	return pool_in(&config, array, sizeof(array));
}

/* ---- Sizes ---- */

TEST(a_static_array)
{
	lfpool_config_t config = config_of(sizeof(double[3]), 1000);

	/* And again, with what the last one left. */
	for (int round = 0; round < 3; round++) {
		lfpool_t *pool = pool_in(&config, array, sizeof(array));
		char *object = lfpool_acquire(pool);

		assert_true((unsigned char *)object >= array && (unsigned char *)object + 24 <= array + sizeof(array));
		assert_true(all_bytes_are(object, 24, 0));
		memset(object, 0xff, 24);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		require_whole(pool, 24);
		assert_int_equal(lfpool_destroy(pool), 0);
		memset(array, 0x77, (size_t)round * sizeof(array) / 2);
	}
}

TEST(the_macro_is_enough_and_not_much_more)
{
	static const size_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 24, 63, 64, 100, 129, 1024, 4095, 4096, 4097, 65536, MIB};
	static const size_t alignments[] = {0, 1, 2, 8, 16, 64, 128, 256, 1024, 4096};
	struct random r = {2026};
	size_t capacity = 1, pairs = 0;

	print_message("    seed 2026\n");
	/* Each small one, and then larger and larger steps. */
	for (; capacity <= (size_t)1 << 31; capacity += capacity < 5000 ? 1 : 1 + random_below(&r, (uint32_t)(capacity / 4)))
		for (size_t i = 0; i < COUNT(sizes); i++)
			for (size_t k = capacity < 5000 ? i % COUNT(alignments) : 0; k < COUNT(alignments); k++) {
				lfpool_config_t config = config_of(sizes[i], capacity);

				config.object_alignment = alignments[k];
				const size_t exact = lfpool_buffer_bytes(&config);
				const size_t macro = LFPOOL_BUFFER_BYTES(sizes[i], alignments[k], capacity);

				/* Where addresses have 32 bits not every pool has a size, and no array is that large. */
				if (sizeof(size_t) < 8 && (!exact || exact > SIZE_MAX / 4))
					continue;
				/* Nor is any larger than addresses: some strides are refused there. */
				if (!exact && capacity > ((uint64_t)1 << 43) / sizes[i])
					continue;
				pairs++;
				REQUIRE(exact && macro >= exact);
				/* It takes 16 for the default alignment, which is less on some processors. */
				REQUIRE(macro - exact <=
					8192 + 4096 + 128 + (alignments[k] ? 0 : (16 - _Alignof(max_align_t)) * capacity));
			}
	assert_true(pairs > 10000);
}

TEST(the_function_is_exact)
{
	static const size_t capacities[] = {1, 2, 3, 31, 32, 1000, 4096, 5000};
	static const size_t cache_capacities[] = {0, 2, 64, 8192, LFPOOL_CACHE_NONE};
	static const size_t alignments[] = {1, 16, 256, 4096};

	/* A sanitizer looks at every byte of them: it takes every seventh, which meets all values of each. */
	for (size_t i = 0; i < COUNT(capacities) * COUNT(cache_capacities) * COUNT(alignments); i += TIMES(1, 13)) {
		lfpool_config_t config = config_of(37, capacities[i % COUNT(capacities)]);

		config.cache_capacity = cache_capacities[i / COUNT(capacities) % COUNT(cache_capacities)];
		config.object_alignment = alignments[i / COUNT(capacities) / COUNT(cache_capacities)];
		config.flags = i % 3 ? 0 : LFPOOL_ZERO;

		const size_t bytes = lfpool_buffer_bytes(&config);
		unsigned char *memory = buffer_of(bytes + 4096 + 128);

		/* Wherever it lies. */
		for (size_t at = 0; at <= 4096; at += 128 * (1 + at / 128)) {
			lfpool_t *pool = (lfpool_t *)(uintptr_t)8;

			memset(memory, 0xee, bytes + 4096 + 128);
			assert_int_equal(lfpool_create_in(&pool, &config, memory + at, bytes - 1), LFPOOL_E_BUFFER);
			assert_null(pool);
			assert_true(all_bytes_are(memory, bytes + 4096 + 128, 0xee));
			pool = pool_in(&config, memory + at, bytes);
			void *object = lfpool_acquire(pool);
			assert_int_equal((uintptr_t)object % config.object_alignment, 0);
			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
			require_whole(pool, 37);
			assert_int_equal(lfpool_destroy(pool), 0);
			assert_true(all_bytes_are(memory, at, 0xee));
			assert_true(all_bytes_are(memory + at + bytes, 4096 + 128 - at, 0xee));
		}
		free(memory);
	}
}

static bool agree(void *context, void *object)
{
	(void)context;
	(void)object;
	return true;
}

static bool evict(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)context;
	return pool && attempt && wait_ns;
}

TEST(hooks_take_one_byte_for_each_object_and_256)
{
	for (size_t capacity = 1; capacity < 3000; capacity += 1 + capacity / 7) {
		lfpool_config_t config = config_of(24, capacity);
		const size_t without = lfpool_buffer_bytes(&config);

		config.hooks.exhausted = evict;
		assert_int_equal(lfpool_buffer_bytes(&config), without);
		config.hooks.create = agree;
		assert_in_range(lfpool_buffer_bytes(&config) - without, capacity, capacity + 256);
	}
}

/* ---- Refusals ---- */

static void expect(const lfpool_config_t *config, lfpool_status_t expected)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)8;
	lfpool_status_t status = lfpool_create_in(&pool, config, array, sizeof(array));

	assert_int_equal(status, expected);
	assert_int_equal(lfpool_buffer_bytes(config) != 0, expected == LFPOOL_OK);
	if (status == LFPOOL_OK)
		assert_int_equal(lfpool_destroy(pool), 0);
	else
		assert_null(pool);
}

#define EXPECT(status, ...) expect(&CONFIG_OF(24, 500, __VA_ARGS__), status)

TEST(what_is_refused)
{
	lfpool_config_t config = config_of(24, 500);
	lfpool_t *pool;

	expect(&config, LFPOOL_OK);
	assert_int_equal(lfpool_create_in(NULL, &config, array, sizeof(array)), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_create_in(&pool, NULL, array, sizeof(array)), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_create_in(&pool, &config, NULL, sizeof(array)), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_buffer_bytes(NULL), 0);
	for (size_t at = 1; at < LFPOOL_BUFFER_ALIGNMENT; at++)
		assert_int_equal(lfpool_create_in(&pool, &config, array + at, sizeof(array) - at), LFPOOL_E_BUFFER);
	EXPECT(LFPOOL_OK, .max_capacity = 500);
	EXPECT(LFPOOL_E_CONFIG_MAX_CAPACITY, .max_capacity = 501);
	config.object_size = 0;
	expect(&config, LFPOOL_E_CONFIG_OBJECT_SIZE);
	EXPECT(LFPOOL_OK, .depot_shards = 1);
	EXPECT(LFPOOL_E_CONFIG_DEPOT_SHARDS, .depot_shards = 2);
	EXPECT(LFPOOL_E_CONFIG_BACKEND, .backend = LFPOOL_BACKEND_MUTEX);
	EXPECT(LFPOOL_E_CONFIG_BACKEND, .backend = LFPOOL_BACKEND_MALLOC);
	for (uint32_t flag = 1; flag < 256; flag *= 2)
		EXPECT(flag & (LFPOOL_LOCK | LFPOOL_HUGE_PAGES) ? LFPOOL_E_CONFIG_FLAGS : LFPOOL_OK, .flags = flag);
	static const char *const modes[] = {"poison", "guard", "owner", "quarantine=4", "nonsense"};

	EXPECT(LFPOOL_OK, .debug = "check,zero,no-tools");
	for (size_t i = 0; i < COUNT(modes); i++)
		EXPECT(LFPOOL_E_CONFIG_DEBUG, .debug = modes[i]);
}

TEST(the_environment_is_ignored)
{
	assert_int_equal(setenv("LFPOOL_BACKEND", "mutex", 1), 0);
	assert_int_equal(setenv("LFPOOL_DEBUG", "poison,owner", 1), 0);
	lfpool_t *pool = pool_in_array(500);

	assert_int_equal(lfpool_backend(pool), LFPOOL_BACKEND_LOCKFREE);
	require_whole(pool, 24);
	lfpool_destroy(pool);
	assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
	assert_int_equal(unsetenv("LFPOOL_DEBUG"), 0);
}

static bool refuse_the_tenth(void *context, void *object)
{
	REQUIRE(all_bytes_are(object, 24, 0));
	return ++*(int *)context % 10 != 0;
}

static void count_down(void *context, void *object)
{
	(void)object;
	*((int *)context + 1) += 1;
}

TEST(a_hook_that_refuses_creation)
{
	int built_and_destroyed[2] = {0, 0};
	lfpool_t *pool;

	memset(array, 0xee, sizeof(array));
	const lfpool_config_t config = CONFIG_OF(24, 500, .flags = LFPOOL_CREATE_ALL, .hooks.context = built_and_destroyed,
						 .hooks.create = refuse_the_tenth, .hooks.destroy = count_down);
	assert_int_equal(lfpool_create_in(&pool, &config, array, sizeof(array)), LFPOOL_E_CREATE);
	assert_null(pool);
	assert_int_equal(built_and_destroyed[0], 10);
	assert_int_equal(built_and_destroyed[1], 9);
}

/* ---- What is otherwise ---- */

TEST(as_many_caches_as_there_are)
{
	lfpool_t *pool = pool_in_array(500);
	lfpool_cache_t *caches[LFPOOL_BUFFER_CACHES];

	for (int round = 0; round < 3; round++) {
		size_t made = 0;

		while (made < COUNT(caches) && (caches[made] = lfpool_cache_create(pool)))
			made++;
		assert_int_equal(made, LFPOOL_BUFFER_CACHES - 4);
		/* Calls without one go on. */
		require_whole(pool, 24);
		lfpool_cache_destroy(caches[3]);
		assert_non_null(caches[3] = lfpool_cache_create(pool));
		for (size_t i = 0; i < made; i++)
			lfpool_cache_destroy(caches[i]);
	}
	lfpool_destroy(pool);
}

TEST(it_is_in_no_list)
{
	lfpool_t *pool = pool_in_array(500), *other = pool_of(24, 500);
	void *object = lfpool_acquire(pool), *ordinary = lfpool_acquire(other);

	assert_null(lfpool_of(object));
	assert_int_equal(lfpool_release_self(object), LFPOOL_E_FOREIGN);
	assert_ptr_equal(lfpool_of(ordinary), other);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(ordinary), LFPOOL_OK);
	lfpool_destroy(other);
	lfpool_destroy(pool);
}

TEST(a_misuse_is_counted_and_not_printed)
{
	lfpool_t *pool = pool_in_array(500);
	char path[] = "/tmp/lfpool-buffer-XXXXXX";
	const int file = mkstemp(path), before = dup(STDERR_FILENO);

	assert_true(file >= 0 && before >= 0 && unlink(path) == 0);
	(void)dup2(file, STDERR_FILENO);
	lfpool_status_t status = lfpool_release(pool, path);
	(void)dup2(before, STDERR_FILENO);
	assert_int_equal(status, LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_misuse_count(pool), 1);
	assert_int_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
	close(before);
	lfpool_destroy(pool);
}

static void take_it(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

TEST(as_many_continuations_as_there_is_room_for)
{
	enum { ROOM = 16 };
	lfpool_t *pool = pool_in_array(1);
	void *object = lfpool_acquire(pool), *got[ROOM] = {NULL}, *none = NULL;

	for (size_t i = 0; i < ROOM; i++)
		assert_int_equal(lfpool_acquire_async(pool, take_it, &got[i], NULL), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_async(pool, take_it, &none, NULL), LFPOOL_E_NO_MEMORY);
	/* A call without a place in the queue: until the time is over. */
	assert_null(lfpool_acquire_wait(pool, 1000000));
	for (size_t i = 0; i < ROOM; i++) {
		assert_null(got[i]);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_ptr_equal(got[i], object);
	}
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_null(none);
	lfpool_destroy(pool);
}

/* ---- Threads ---- */

struct worker {
	lfpool_t *pool;
	size_t rounds, got;
};

static void *work(void *argument)
{
	struct worker *w = argument;

	for (size_t i = 0; i < w->rounds; i++) {
		uint64_t *object = i % 32 ? lfpool_acquire(w->pool) : lfpool_acquire_wait(w->pool, -1);

		REQUIRE(object || i % 32);
		if (!object)
			continue;
		w->got++;
		/* Nobody else has it: sanitizers look. */
		*object += i;
		REQUIRE(lfpool_release(w->pool, object) == LFPOOL_OK);
	}
	return NULL;
}

/* More threads than there are caches, and places in the queue. */
TEST(many_threads)
{
	enum { THREADS = 24, ROUNDS = TIMES(2000, 100) };
	static const size_t capacities[] = {1, 3, 100};
	struct worker workers[THREADS];

	for (size_t i = 0; i < COUNT(capacities); i++) {
		lfpool_t *pool = pool_in_array(capacities[i]);

		/* A thread that waits spins: where there is little to have, it takes its time. */
		for (size_t t = 0; t < THREADS; t++)
			workers[t] = (struct worker){.pool = pool, .rounds = capacities[i] < 10 ? ROUNDS / 10 : ROUNDS};
		threads_run(THREADS, work, workers, sizeof(workers[0]));
		for (size_t t = 0; t < THREADS; t++)
			assert_true(workers[t].got > 0);
		require_whole(pool, 24);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

RUN_TESTS()
