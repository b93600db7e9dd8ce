/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_stride.c - the distance between objects: the rule of lfpool/config.h at its edges, with LFPOOL_PLAIN_STRIDE
 * and without; its purpose: objects begin in all sets of a cache equally often; and LFPOOL_ZERO, which stops at the
 * object's end. */
#include "../support/support.h"

#include "lfpool/buffer.h"

enum { CAPACITY = 5, LINE = 64, SETS = 64 };

static const struct edge {
	size_t size, alignment, plain, spread;
} edges[] = {
	{1, 1, 1, 1},
	{64, 64, 64, 64},
	{512, 16, 512, 512},
	/* The last size that is too small, and the first that is not. */
	{896, 64, 896, 896},
	{1008, 16, 1008, 1008},
	{1009, 16, 1024, 1088},
	{1024, 1, 1024, 1088},
	{1024, 64, 1024, 1088},
	/* Already in all sets. */
	{1025, 1, 1025, 1025},
	{1089, 64, 1152, 1216},
	{4096, 16, 4096, 4160},
	{MIB, 16, MIB, MIB + 64},
	/* Steps of the alignment, if there is memory for them. */
	{1024, 128, 1024, 1024},
	{2048, 128, 2048, 2176},
	{2176, 128, 2176, 2176},
	{4096, 256, 4096, 4352},
	{4096, 512, 4096, 4096},
	{65536, 2048, 65536, 67584},
	/* And where the rule helps. */
	{65536, 4096, 65536, 65536},
	{MIB, 4096, MIB, MIB},
};

/* An integer constant expression: C has no other size for a static array. */
_Static_assert(LFPOOL_STRIDE_(4096, 16) == 4160 && LFPOOL_STRIDE_(4096, 4096) == 4096, "the stride is a constant");

static void require_apart(lfpool_t *pool, size_t alignment, size_t stride)
{
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal((uintptr_t)objects[i] % alignment, 0);
	assert_int_equal(stride_of(pool, objects[0]), stride);
	release_all(pool, objects, CAPACITY);
}

static void check_edge(const struct edge *edge, lfpool_config_t *config, size_t stride)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		config->backend = (lfpool_backend_t)backend;
		lfpool_t *pool = pool_with(config);
		require_apart(pool, edge->alignment, stride);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	config->backend = LFPOOL_BACKEND_LOCKFREE;

	/* In a buffer of exactly the required size. */
	const size_t bytes = lfpool_buffer_bytes(config);
	void *memory;
	lfpool_t *pool;

	REQUIRE(bytes && bytes <= LFPOOL_BUFFER_BYTES(edge->size, edge->alignment, CAPACITY));
	REQUIRE(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, bytes) == 0);
	REQUIRE(lfpool_create_in(&pool, config, memory, bytes) == LFPOOL_OK);
	require_apart(pool, edge->alignment, stride);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(memory);
}

TEST(every_pool_has_the_stride_of_the_rule)
{
	for (size_t i = 0; i < COUNT(edges); i++) {
		const struct edge *edge = &edges[i];
		lfpool_config_t config = config_of(edge->size, CAPACITY);

		assert_int_equal(LFPOOL_STRIDE_(edge->size, edge->alignment), edge->spread);
		config.object_alignment = edge->alignment;
		config.debug = "no-tools"; /* those would have bytes next to the objects */
		check_edge(edge, &config, edge->spread);
		config.flags = LFPOOL_PLAIN_STRIDE;
		check_edge(edge, &config, edge->plain);
	}
}

/* The rule's purpose and price, computed independently. */
TEST(objects_begin_in_all_sets_equally_often)
{
	for (size_t alignment = 16; alignment <= LINE; alignment *= 2)
		for (size_t size = 1024; size <= 16384; size++) {
			const size_t stride = LFPOOL_STRIDE_(size, alignment);
			unsigned begin[SETS] = {0};

			for (size_t k = 0; k < 4 * SETS; k++)
				begin[k * stride / LINE % SETS]++;
			for (size_t set = 0; set < SETS; set++)
				REQUIRE(begin[set] == 4);
		}
	for (size_t alignment = 1; alignment <= 4096; alignment *= 2)
		for (size_t size = 1; size <= 16384; size++) {
			const size_t stride = LFPOOL_STRIDE_(size, alignment),
				     plain = (size + alignment - 1) / alignment * alignment;

			REQUIRE(stride % alignment == 0 && stride >= plain && stride - plain <= plain / 16);
		}
}

/* LFPOOL_ZERO clears object_size bytes, even if the alignment makes the stride much longer. */
TEST(zeroing_leaves_the_bytes_between_objects_alone)
{
	for (int bulk = 0; bulk < 2; bulk++)
		for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
			enum { BYTES = 64, APART = 4096 };
			lfpool_t *pool = POOL_OF(BYTES, CAPACITY, .object_alignment = APART, .flags = LFPOOL_ZERO,
						 .backend = (lfpool_backend_t)backend, .debug = "no-tools");
			void *objects[CAPACITY];

			for (int turn = 0; turn < 2; turn++) {
				if (bulk)
					assert_int_equal(lfpool_acquire_bulk(pool, objects, CAPACITY), CAPACITY);
				else
					assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
				for (size_t i = 0; i < CAPACITY; i++) {
					unsigned char *const object = objects[i];

					assert_true(all_bytes_are(object, BYTES, 0));
					assert_true(all_bytes_are(object + BYTES, APART - BYTES, turn ? 7 : 0));
					memset(object, 7, APART);
				}
				release_all(pool, objects, CAPACITY);
			}
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

RUN_TESTS()
