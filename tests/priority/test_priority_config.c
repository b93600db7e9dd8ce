/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_priority_config.c - what an evicting pool can be: each field's range and default, and the map from doubles to priorities.
 * (Old and new callers: tests/api/test_versions.c.)
 */
#include "../support/priority_support.h"

#include <float.h>
#include <math.h>

static void expect(const lfpool_priority_config_t *config, lfpool_status_t expected)
{
	lfpool_priority_t *pool = (lfpool_priority_t *)(uintptr_t)1;

	assert_int_equal(lfpool_priority_create(&pool, config), expected);
	if (expected == LFPOOL_OK)
		assert_int_equal(lfpool_priority_destroy(pool), 0);
	else
		assert_null(pool);
}

/* Sets one field of a good config, and expects. */
#define EXPECT(field, value, expected)                                         \
	do {                                                                   \
		lfpool_priority_config_t config_ = priority_config_of(24, 10); \
                                                                               \
		config_.field = (value);                                       \
		expect(&config_, (expected));                                  \
	} while (0)

static bool validate(void *context, void *object)
{
	return context || object;
}

static void nothing(void) {}

TEST(each_field_has_its_range)
{
	const uint32_t known = LFPOOL_EVICT_EQUAL | LFPOOL_ZERO | LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_PLAIN_STRIDE |
			       LFPOOL_FENCED;
	static const char too_long[] = "0123456789012345678901234567890123456789012345678901234567890123";

	EXPECT(object_size, 0, LFPOOL_E_CONFIG_OBJECT_SIZE);
	EXPECT(object_size, 1, LFPOOL_OK);
	EXPECT(object_size, 2 * MIB + 1, LFPOOL_OK);
	EXPECT(object_size, GIB + 1, LFPOOL_E_CONFIG_OBJECT_SIZE);
	EXPECT(object_size, SIZE_MAX, LFPOOL_E_CONFIG_OBJECT_SIZE);
	for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2)
		EXPECT(object_alignment, alignment, LFPOOL_OK);
	EXPECT(object_alignment, 3, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(object_alignment, 4095, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(object_alignment, 2 * GIB, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(object_alignment, SIZE_MAX, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(capacity, 0, LFPOOL_E_CONFIG_CAPACITY);
	EXPECT(capacity, 1, LFPOOL_OK);
	EXPECT(capacity, (size_t)1 << 20, LFPOOL_OK);
	EXPECT(capacity, ((size_t)1 << 20) + 1, LFPOOL_E_CONFIG_CAPACITY);
	EXPECT(capacity, SIZE_MAX, LFPOOL_E_CONFIG_CAPACITY);
	for (unsigned bit = 0; bit < 32; bit++) {
		const uint32_t flag = UINT32_C(1) << bit;

		EXPECT(flags, flag, flag & known ? LFPOOL_OK : LFPOOL_E_CONFIG_FLAGS);
	}
	EXPECT(flags, known, LFPOOL_OK);
	EXPECT(name, too_long, LFPOOL_E_CONFIG_NAME);
	EXPECT(name, too_long + 1, LFPOOL_OK);
	EXPECT(name, "", LFPOOL_OK);
	EXPECT(hooks.validate, validate, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(hooks.reserved[0], nothing, LFPOOL_E_CONFIG_HOOKS);
	expect(NULL, LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_priority_create(NULL, &(lfpool_priority_config_t)LFPOOL_PRIORITY_CONFIG_INIT), LFPOOL_E_ARGUMENT);
}

TEST(alignments)
{
	lfpool_handle_t handle;

	for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 4) {
		char name[] = "voices";
		lfpool_priority_config_t config = priority_config_of(70, 5);

		config.object_alignment = alignment;
		config.name = name;
		lfpool_priority_t *pool = priority_with(&config);

		/* It has copied what it needs. */
		memset(name, 'x', sizeof(name));
		require_priority_dumped(pool, LFPOOL_TEXT, "evicting pool \"voices\"\n");
		for (int i = 0; i < 5; i++)
			assert_int_equal((uintptr_t)lfpool_priority_acquire(pool, 1, NULL, &handle) % alignment, 0);
		assert_int_equal(lfpool_priority_destroy(pool), 5);
	}
}

TEST(prefaulted_objects_are_resident)
{
	enum { BYTES = 64 * 1024 * 1024, OBJECTS = 64 };

	lfpool_priority_config_t config = priority_config_of(MIB, OBJECTS);
	size_t before = resident_bytes();
	lfpool_priority_t *pool = priority_with(&config);

	/* A sanitizer's memory is not told from the pool's. */
	if (!SANITIZED)
		assert_true(growth(before, resident_bytes()) < BYTES / 2);
	assert_int_equal(lfpool_priority_destroy(pool), 0);
	config.flags = LFPOOL_PREFAULT;
	before = resident_bytes();
	pool = priority_with(&config);
	assert_true(growth(before, resident_bytes()) >= BYTES / 10 * 9);
	assert_int_equal(lfpool_priority_destroy(pool), 0);
}

/* (Sanitizers let mlock() do nothing.) */
TEST(little_is_locked_besides)
{
	static const size_t capacities[] = {1, 32, 1000, 20000};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		const size_t before = locked_bytes();
		lfpool_priority_t *pool = PRIORITY_WITH(.object_size = 64, .capacity = capacities[i], .flags = LFPOOL_LOCK);

		assert_in_range(locked_bytes() - before, SANITIZED ? 0 : capacities[i] * (64 + 80),
				capacities[i] * (64 + 134) + (size_t)76 * 1024);
		assert_int_equal(lfpool_priority_destroy(pool), 0);
	}
}

/* ---- Doubles ---- */

TEST(doubles_keep_their_order)
{
	static const double rising[] = {-INFINITY, -DBL_MAX, -1e10, -2.5, -2, -1,  -DBL_MIN, -0x1p-1074, -0.0,    0.0,
					0x1p-1074, DBL_MIN,  0.1,   1,    2,  2.5, 1e10,     DBL_MAX,    INFINITY};
	struct random r = {test_seed("doubles_keep_their_order")};

	for (size_t i = 1; i < COUNT(rising); i++)
		assert_true(lfpool_priority_of_double(rising[i - 1]) < lfpool_priority_of_double(rising[i]));
	/* Beyond the infinities, each on the side of its sign. */
	assert_true(lfpool_priority_of_double(copysign(NAN, 1)) > lfpool_priority_of_double(INFINITY));
	assert_true(lfpool_priority_of_double(copysign(NAN, -1)) < lfpool_priority_of_double(-INFINITY));
	for (int i = 0; i < 100000; i++) {
		const uint64_t bits[2] = {random_next(&r), random_next(&r)};
		double a, b;

		memcpy(&a, &bits[0], sizeof(a));
		memcpy(&b, &bits[1], sizeof(b));
		if (!isnan(a) && !isnan(b) && (a != 0 || b != 0))
			assert_int_equal(lfpool_priority_of_double(a) < lfpool_priority_of_double(b), a < b);
	}
}

RUN_TESTS()
