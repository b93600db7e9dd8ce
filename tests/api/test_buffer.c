/* SPDX-License-Identifier: MIT */
/*
 * test_buffer.c - lfpool/buffer.h: buffer sizes, refusals, and the differences of such a pool.
 *
 * Common behaviour is tested by the tests of every pool (in_buffer.h). verify/pairs tests that no address leads to
 * it, and more threads than caches; test_no_kernel.c that it makes no system call.
 */
#include "../support/texts.h"

#include <stdatomic.h>

/* An integer constant expression, even for arguments of several types. */
static _Alignas(LFPOOL_BUFFER_ALIGNMENT) unsigned char array[LFPOOL_BUFFER_BYTES(sizeof(double[3]), 0, 1000)];
_Static_assert(LFPOOL_BUFFER_BYTES(1, 1, 1) < 22528, "small pools fit into small arrays");
_Static_assert(LFPOOL_BUFFER_BYTES_WITH(32, 0, 16, 1) < 7680, "with one cache into very small ones");
_Static_assert(LFPOOL_BUFFER_BYTES(64, 64, 1 << 20) < 89 * sizeof(char[1 << 20]), "25 bytes beside each object");

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

/* The number that can be explicit. */
static size_t explicit_of(size_t buffer_caches)
{
	return (buffer_caches ? buffer_caches : LFPOOL_BUFFER_CACHES) * 3 / 4;
}

/* ---- Sizes ---- */

TEST(buffer_bytes_macro_is_a_close_upper_bound)
{
	static const size_t sizes[] = {1,  2,   3,   7,    8,    15,   16,   17,    24, 63,
				       64, 100, 129, 1024, 4095, 4096, 4097, 65536, MIB};
	static const size_t alignments[] = {0, 1, 2, 8, 16, 64, 128, 256, 1024, 4096};
	struct random r = {2026};
	size_t capacity = 1, pairs = 0;

	print_message("    seed 2026\n");
	/* Every small one, and then growing steps. */
	for (; capacity < (size_t)1 << 31;
	     capacity += capacity < 5000 ? 1 : 1 + random_below(&r, (uint32_t)(capacity / 4)))
		for (size_t i = 0; i < COUNT(sizes); i++)
			for (size_t k = capacity < 5000 ? i % COUNT(alignments) : 0; k < COUNT(alignments); k++) {
				lfpool_config_t config = config_of(sizes[i], capacity);

				config.object_alignment = alignments[k];
				config.buffer_caches = (capacity + i) % (LFPOOL_BUFFER_CACHES + 1);
				const size_t exact = lfpool_buffer_bytes(&config), caches = config.buffer_caches;
				const size_t macro = caches ? LFPOOL_BUFFER_BYTES_WITH(sizes[i], alignments[k],
										       capacity, caches)
							    : LFPOOL_BUFFER_BYTES(sizes[i], alignments[k], capacity);

				/* With 32-bit addresses some pools have no size, and no array is that large. */
				if (sizeof(size_t) < 8 && (!exact || exact > SIZE_MAX / 4))
					continue;
				/* Nor larger than the address space: some strides are refused there. */
				if (!exact && capacity > ((uint64_t)1 << 43) / sizes[i])
					continue;
				pairs++;
				REQUIRE(exact && macro >= exact);
				/* The macro assumes 16 for the default alignment, which is less on some processors. */
				REQUIRE(macro - exact <=
					(sizeof(size_t) < 8 ? 8192 : 1536) + 4096 + 128 +
						(alignments[k] ? 0 : (16 - _Alignof(max_align_t)) * capacity));
			}
	assert_true(pairs > 10000);
}

TEST(buffer_bytes_function_is_exact)
{
	static const size_t capacities[] = {1, 2, 3, 31, 32, 1000, 4096, 5000};
	static const size_t cache_capacities[] = {0, 2, 64, 8192, LFPOOL_CACHE_NONE};
	static const size_t alignments[] = {1, 16, 256, 4096};

	/* A sanitizer checks every byte of them: then only every seventh combination, which includes all values of
	 * each. */
	for (size_t i = 0; i < COUNT(capacities) * COUNT(cache_capacities) * COUNT(alignments); i += TIMES(1, 13)) {
		lfpool_config_t config = config_of(37, capacities[i % COUNT(capacities)]);

		config.cache_capacity = cache_capacities[i / COUNT(capacities) % COUNT(cache_capacities)];
		config.object_alignment = alignments[i / COUNT(capacities) / COUNT(cache_capacities)];
		config.flags = i % 3 ? 0 : LFPOOL_ZERO;
		config.buffer_caches = i % (LFPOOL_BUFFER_CACHES + 1);

		const size_t bytes = lfpool_buffer_bytes(&config);
		unsigned char *memory = buffer_of(bytes + 4096 + 128);

		/* At any address. */
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
			pool_close(pool, 37);
			assert_true(all_bytes_are(memory, at, 0xee));
			assert_true(all_bytes_are(memory + at + bytes, 4096 + 128 - at, 0xee));
		}
		free(memory);
	}
}

static bool agree(void *context, void *object)
{
	return context || object;
}

TEST(create_and_destroy_hooks_need_a_byte_per_object_and_256)
{
	for (size_t capacity = 1; capacity < 3000; capacity += 1 + capacity / 7) {
		lfpool_config_t config = config_of(24, capacity);
		const size_t without = lfpool_buffer_bytes(&config);

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

TEST(create_in_refuses_bad_buffers_and_configurations)
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
	EXPECT(LFPOOL_OK, .buffer_caches = LFPOOL_BUFFER_CACHES);
	EXPECT(LFPOOL_E_CONFIG_BUFFER_CACHES, .buffer_caches = LFPOOL_BUFFER_CACHES + 1);
	EXPECT(LFPOOL_OK, .depot_shards = 1);
	EXPECT(LFPOOL_E_CONFIG_DEPOT_SHARDS, .depot_shards = 2);
	EXPECT(LFPOOL_E_CONFIG_BACKEND, .backend = LFPOOL_BACKEND_MUTEX);
	EXPECT(LFPOOL_E_CONFIG_BACKEND, .backend = LFPOOL_BACKEND_MALLOC);
	for (uint32_t flag = 1; flag < 256; flag *= 2)
		EXPECT(flag & (LFPOOL_LOCK | LFPOOL_HUGE_PAGES) ? LFPOOL_E_CONFIG_FLAGS : LFPOOL_OK, .flags = flag);
	static const char *const modes[] = {"poison", "guard", "owner", "quarantine=4", "nonsense"};

#ifdef LFPOOL_EMBEDDED
	EXPECT(LFPOOL_E_CONFIG_DEBUG, .debug = "check");
#else
	EXPECT(LFPOOL_OK, .debug = "check,zero,no-tools");
#endif
	for (size_t i = 0; i < COUNT(modes); i++)
		EXPECT(LFPOOL_E_CONFIG_DEBUG, .debug = modes[i]);
}

/* ---- Differences ---- */

static void release_a_stranger(void *pool)
{
	REQUIRE(lfpool_release(pool, &pool) == LFPOOL_E_FOREIGN);
}

TEST(misuse_of_a_pool_in_a_buffer_is_counted_and_not_printed)
{
	const lfpool_config_t config = config_of(24, 500);
	lfpool_t *pool = pool_in(&config, array, sizeof(array));
	char text[TEXT_BYTES];

	stderr_of(release_a_stranger, pool, text);
	assert_string_equal(text, "");
	assert_int_equal(lfpool_quick_stats(pool).misuses, 1);
	lfpool_destroy(pool);
}

static void take_it(void *context, lfpool_t *pool, void *object)
{
	(void)pool;
	*(void **)context = object;
}

/* The maximum of caches and of continuations; calls without one still work. */
static void fill(size_t buffer_caches)
{
	enum { CONTINUATIONS = 16 };
	const lfpool_config_t config = CONFIG_OF(24, 1, .buffer_caches = buffer_caches);
	lfpool_t *pool = pool_in(&config, array, sizeof(array));
	void *object = lfpool_acquire(pool), *got[CONTINUATIONS] = {NULL}, *none = NULL;
	lfpool_cache_t *cache[LFPOOL_BUFFER_CACHES];

	for (size_t i = 0; i <= explicit_of(buffer_caches); i++)
		assert_int_equal((cache[i] = lfpool_cache_create(pool)) != NULL, i < explicit_of(buffer_caches));
	for (size_t i = 0; i <= CONTINUATIONS; i++)
		assert_int_equal(lfpool_acquire_async(pool, take_it, i < CONTINUATIONS ? &got[i] : &none, NULL),
				 i < CONTINUATIONS ? LFPOOL_OK : LFPOOL_E_NO_MEMORY);
	/* A call without a place in the queue waits until its timeout. */
	assert_null(lfpool_acquire_wait(pool, 1000000));
	for (size_t i = 0; i < CONTINUATIONS; i++) {
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_ptr_equal(got[i], object);
	}
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_null(none);
	assert_null(lfpool_check(pool, NULL));
	/* A released one is available again. */
	if (explicit_of(buffer_caches)) {
		lfpool_cache_destroy(cache[0]);
		assert_ptr_equal(lfpool_cache_create(pool), cache[0]);
		assert_ptr_equal(object = lfpool_cache_acquire(cache[0]), got[0]);
		assert_int_equal(lfpool_cache_release(cache[0], object), LFPOOL_OK);
	}
	pool_close(pool, 24);
}

TEST(every_cache_that_a_buffer_has_room_for_can_be_created)
{
	for (size_t buffer_caches = 0; buffer_caches <= LFPOOL_BUFFER_CACHES; buffer_caches++)
		fill(buffer_caches);
}

/* ---- One explicit cache is free, and another thread asks for one ---- */

struct rival {
	lfpool_t *pool;
	atomic_uint asked, answered, got;
	atomic_bool stop;
};

static void *asks_again_and_again(void *argument)
{
	struct rival *r = argument;

	while (!atomic_load(&r->stop)) {
		atomic_fetch_add(&r->asked, 1);
		lfpool_cache_t *cache = lfpool_cache_create(r->pool);

		atomic_fetch_add(&r->got, cache != NULL);
		lfpool_cache_destroy(cache);
		atomic_fetch_add(&r->answered, 1);
	}
	return NULL;
}

/* A refused call must not make another call fail: a cache is refused only while other threads have all of them. */
TEST(a_refused_cache_refuses_no_other)
{
	lfpool_config_t config = config_of(16, 100);
	struct rival r = {0};
	lfpool_cache_t *caches[3];

	config.buffer_caches = 4;

	const size_t bytes = lfpool_buffer_bytes(&config);
	unsigned char *buffer = buffer_of(bytes);

	r.pool = pool_in(&config, buffer, bytes);
	for (size_t i = 0; i < explicit_of(4); i++)
		REQUIRE((caches[i] = lfpool_cache_create(r.pool)));

	const struct threads rival = threads_start(1, asks_again_and_again, &r, 0);

	for (int round = 0; round < TIMES(100000, 10000); round++) {
		const unsigned before = atomic_load(&r.got);

		lfpool_cache_destroy(caches[0]);
		caches[0] = lfpool_cache_create(r.pool);
		if (!caches[0]) {
			/* The rival must have got it: its current call ends. */
			const unsigned asked = atomic_load(&r.asked);

			while ((int)(atomic_load(&r.answered) - asked) < 0)
				;
			REQUIRE(atomic_load(&r.got) != before);
		}
		while (!caches[0])
			caches[0] = lfpool_cache_create(r.pool);
	}
	atomic_store(&r.stop, true);
	threads_join(&rival);
	for (size_t i = 0; i < explicit_of(4); i++)
		lfpool_cache_destroy(caches[i]);
	(void)lfpool_destroy(r.pool);
	free(buffer);
}

/* With LFPOOL_EMBEDDED the parts are closer to each other. */
#ifndef LFPOOL_EMBEDDED
static size_t kib_over(size_t bytes, size_t capacity)
{
	return (bytes - 64 * capacity + 512) / 1024;
}

/* docs/memory.md has the figures of lfpool_buffer_bytes(), buffer.h those of the macros. */
TEST(documents_state_the_overhead_of_a_pool_in_a_buffer)
{
	lfpool_config_t config = config_of(64, 1);

	if (sizeof(void *) != 8)
		SKIP("the figures are of 64-bit processors");
	assert_int_equal(kib_over(lfpool_buffer_bytes(&config), 1), 16);
	assert_int_equal(kib_over(LFPOOL_BUFFER_BYTES(64, 0, 1), 1), 17);
	assert_int_equal(kib_over(LFPOOL_BUFFER_BYTES_WITH(64, 0, 1, 1), 1), 6);
	config.capacity = 1000;
	assert_int_equal(kib_over(lfpool_buffer_bytes(&config), 1000), 56);
	assert_int_equal(kib_over(LFPOOL_BUFFER_BYTES(64, 0, 1000), 1000), 57);
	config.capacity = 1000000;
	assert_int_equal((lfpool_buffer_bytes(&config) - 64 * config.capacity) / config.capacity, 24);
	assert_int_equal((LFPOOL_BUFFER_BYTES(64, 0, 1000000) - 64 * config.capacity) / config.capacity, 24);
}
#endif

RUN_TESTS()
