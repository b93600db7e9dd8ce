/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_set_config.c - what a set can be: each field's range and default, how old and new callers meet, how many objects
 * follow from bytes.
 */
#include "../support/set_support.h"

static void expect(const lfpool_set_config_t *config, lfpool_status_t expected)
{
	lfpool_set_t *set = (lfpool_set_t *)(uintptr_t)1;

	assert_int_equal(lfpool_set_create(&set, config), expected);
	if (expected == LFPOOL_OK)
		assert_int_equal(lfpool_set_destroy(set), 0);
	else
		assert_null(set);
}

/* Sets one field, expects, and sets it back. */
#define EXPECT(field, value, expected)                                \
	do {                                                          \
		lfpool_set_config_t config_ = LFPOOL_SET_CONFIG_INIT; \
                                                                      \
		config_.field = (value);                              \
		expect(&config_, (expected));                         \
	} while (0)

TEST(each_field_has_its_range)
{
	static const char too_long[] = "0123456789012345678901234567890123456789012345678901234567890123";

	expect(NULL, LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_set_create(NULL, &(lfpool_set_config_t)LFPOOL_SET_CONFIG_INIT), LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_set_destroy(NULL), 0);
	EXPECT(largest, 1, LFPOOL_OK);
	EXPECT(largest, 2 * MIB + 1, LFPOOL_OK);
	EXPECT(largest, GIB + 1, LFPOOL_E_CONFIG_OBJECT_SIZE);
	EXPECT(largest, SIZE_MAX, LFPOOL_E_CONFIG_OBJECT_SIZE);
	for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2)
		EXPECT(object_alignment, alignment, LFPOOL_OK);
	EXPECT(object_alignment, 3, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(object_alignment, 2 * GIB, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	for (size_t steps = 0; steps <= 40; steps++)
		EXPECT(steps, steps, steps == 0 || steps == 4 || steps == 8 || steps == 16 ? LFPOOL_OK : LFPOOL_E_CONFIG_STEPS);
	EXPECT(larger, SIZE_MAX, LFPOOL_OK);
	EXPECT(capacity, ((size_t)1 << 31) + 1, LFPOOL_E_CONFIG_CAPACITY);
#if SIZE_MAX > UINT32_MAX
	EXPECT(class_bytes, ((size_t)1 << 35) + 16, LFPOOL_E_CONFIG_CAPACITY);
	EXPECT(max_class_bytes, ((size_t)1 << 35) + 16, LFPOOL_E_CONFIG_MAX_CAPACITY);
#endif
	EXPECT(max_capacity, 1, LFPOOL_E_CONFIG_MAX_CAPACITY);
	EXPECT(max_class_bytes, 1, LFPOOL_OK);
	EXPECT(cache_capacity, 8193, LFPOOL_E_CONFIG_CACHE_CAPACITY);
	EXPECT(cache_capacity, LFPOOL_CACHE_NONE, LFPOOL_OK);
	EXPECT(flags, UINT32_C(0x80000000), LFPOOL_E_CONFIG_FLAGS);
	EXPECT(backend, (lfpool_backend_t)3, LFPOOL_E_CONFIG_BACKEND);
	EXPECT(depot_shards, 33, LFPOOL_E_CONFIG_DEPOT_SHARDS);
	EXPECT(debug, "nothing of the kind", LFPOOL_E_CONFIG_DEBUG);
	EXPECT(name, too_long, LFPOOL_E_CONFIG_NAME);
	EXPECT(name, too_long + 1, LFPOOL_OK);
	/* The addresses that all of it would take do not exist. */
	EXPECT(capacity, (size_t)1 << 31, LFPOOL_E_NO_MEMORY);
}

/* Small classes have many, and are fixed; large ones have one, and grow. */
static void plan(void *context, lfpool_config_t *config)
{
	++*(size_t *)context;
	REQUIRE(config->max_capacity == 0);
	config->capacity = config->object_size <= 256 ? 100 : 1;
	config->max_capacity = config->object_size <= 256 ? 0 : 3;
	config->growth_step = 2;
	/* Read only. */
	config->object_size = 7;
	config->flags = LFPOOL_ZERO;
}

TEST(each_class_as_planned)
{
	size_t calls = 0;
	lfpool_set_t *set = SET_WITH(.plan = plan, .hooks.context = &calls, .largest = 1024);

	assert_true(calls >= lfpool_set_class_count(set));
	for (size_t i = 0; i < lfpool_set_class_count(set); i++) {
		const size_t size = lfpool_set_class_size(set, i), most = size <= 256 ? 100 : 3;
		lfpool_t *pool = lfpool_set_pool(set, i);
		size_t count = 0;

		assert_int_equal(lfpool_capacity(pool), size <= 256 ? 100 : 1);
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, most);
		while (lfpool_set_acquire(set, size))
			count++;
		assert_int_equal(count, most);
	}
	assert_true(lfpool_set_destroy(set) > 0);
}

/* `context` is what the last class shall have. */
static void plan_badly(void *context, lfpool_config_t *config)
{
	const lfpool_config_t *bad = context;

	if (config->object_size == 64) {
		config->capacity = bad->capacity;
		config->max_capacity = bad->max_capacity;
	}
}

TEST(a_bad_plan_is_refused)
{
	static const struct {
		size_t capacity, max_capacity;
		lfpool_status_t expected;
	} rows[] = {{0, 0, LFPOOL_E_CONFIG_CAPACITY},
		    {SIZE_MAX, 0, LFPOOL_E_CONFIG_CAPACITY},
		    {10, 0, LFPOOL_OK},
		    {10, 9, LFPOOL_E_CONFIG_MAX_CAPACITY},
		    {10, SIZE_MAX, LFPOOL_E_CONFIG_MAX_CAPACITY}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
		lfpool_config_t bad = CONFIG_OF(0, rows[i].capacity, .max_capacity = rows[i].max_capacity);

		config.largest = 64;
		config.plan = plan_badly;
		config.hooks.context = &bad;
		expect(&config, rows[i].expected);
	}
}

static bool build(void *context, void *object)
{
	return context || object;
}

static void take_down(void *context, void *object)
{
	(void)context;
	(void)object;
}

static void nothing(void) {}

TEST(hooks_that_build_objects_are_refused)
{
	EXPECT(hooks.create, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(hooks.activate, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(hooks.deactivate, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(hooks.destroy, take_down, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(hooks.reserved[0], nothing, LFPOOL_E_CONFIG_HOOKS);
}

TEST(the_defaults)
{
	lfpool_set_t *set = SET_WITH();

	assert_int_equal(lfpool_set_class_count(set), 80);
	assert_int_equal(lfpool_set_class_size(set, 0), 16);
	assert_int_equal(lfpool_set_class_size(set, 79), 65536);
	assert_int_equal(lfpool_set_class_size(set, 80), 0);
	assert_int_equal(lfpool_set_class_size(set, SIZE_MAX), 0);
	assert_int_equal(lfpool_set_class_of(set, 0), 0);
	assert_int_equal(lfpool_set_class_of(set, 257), 16);
	assert_int_equal(lfpool_set_class_of(set, 65536), 79);
	assert_int_equal(lfpool_set_class_of(set, 65537), SIZE_MAX);
	assert_int_equal(lfpool_set_class_of(set, SIZE_MAX), SIZE_MAX);
	for (size_t i = 0; i < 80; i++)
		assert_null(lfpool_set_peek(set, i));
	assert_null(lfpool_set_peek(set, 80));
	assert_null(lfpool_set_pool(set, 80));
	assert_int_equal(lfpool_capacity(lfpool_set_pool(set, 0)), MIB);
	assert_int_equal(lfpool_capacity(lfpool_set_pool(set, 79)), 256);
	assert_non_null(lfpool_set_peek(set, 79));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(objects_from_bytes)
{
	/* One at least; and objects win. */
	static const size_t rows[][4] = {
		{700, 0, 16, 43}, {700, 0, 320, 2}, {700, 0, 1024, 1}, {700, 5, 16, 5}, {700, 5, 1024, 5}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_set_t *set = SET_WITH(.largest = 1024, .class_bytes = rows[i][0], .capacity = rows[i][1]);

		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, lfpool_set_class_of(set, rows[i][2]))), rows[i][3]);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
}

BACKEND_TEST(classes_grow_by_bytes, LFPOOL_BACKEND_MALLOC)
{
	void *objects[16384 / 16 + 1];
	lfpool_set_t *set = SET_WITH(.backend = backend, .largest = 2000, .class_bytes = 4096, .max_class_bytes = 16384,
				     .growth_bytes = 1000);

	for (size_t i = 0; i < lfpool_set_class_count(set); i++) {
		const size_t size = lfpool_set_class_size(set, i);

		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, i)), 4096 / size);
		assert_int_equal(lfpool_quick_stats(lfpool_set_pool(set, i)).max_capacity, 16384 / size);
		assert_int_equal(acquire_all_of(set, size, objects, COUNT(objects)), 16384 / size);
		release_to(set, objects, 16384 / size);
	}
	set_close(set);
}

/* The name of a pool, as its dump says it. */
static void require_name(const lfpool_t *pool, const char *expected)
{
	char wanted[128];

	(void)snprintf(wanted, sizeof(wanted), "pool \"%s\"\n", expected);
	require_said(pool, wanted);
}

static bool give_up(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	(void)pool;
	(void)attempt;
	(void)wait_ns;
	++*(size_t *)context;
	return false;
}

/* Objects win over bytes where a class can grow, too; what is for the pools gets there. */
TEST(each_field_gets_to_the_pools)
{
	size_t exhausted = 0;
	unsigned char *object;
	lfpool_set_t *set = SET_WITH(.largest = 256, .object_alignment = 64, .steps = 4, .class_bytes = 100000,
				     .max_class_bytes = 100000, .growth_bytes = 100000, .capacity = 20, .max_capacity = 50,
				     .growth_step = 20, .cache_capacity = 8, .flags = LFPOOL_PREFAULT | LFPOOL_ZERO,
				     .hooks.context = &exhausted, .hooks.exhausted = give_up, .depot_shards = 3,
				     .debug = "no-tools,check");

	for (size_t i = 0; i < lfpool_set_class_count(set); i++) {
		const size_t size = lfpool_set_class_size(set, i);
		lfpool_t *pool = lfpool_set_pool(set, i);

		assert_int_equal(size % 64, 0);
		require_said(pool, ", aligned to 64, ");
		require_said(pool, "\nflags       prefault zero");
		require_said(pool, "\nhooks       exhausted\n");
		require_said(pool, " of at most 8 objects\n");
		require_said(pool, "\ndepot       3 shards\n");
		require_said(pool, "\ndebug       check,no-tools\n");
		assert_int_equal(lfpool_capacity(pool), 20);
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, 50);
		for (size_t taken = 1; taken <= 50; taken++) {
			object = lfpool_set_acquire(set, size);
			assert_non_null(object);
			assert_true((uintptr_t)object % 64 == 0);
			assert_int_equal(lfpool_capacity(pool), taken <= 20 ? 20 : taken <= 40 ? 40 : 50);
		}
		assert_int_equal(exhausted, i);
		assert_null(lfpool_set_acquire(set, size));
		assert_int_equal(exhausted, i + 1);
		memset(object, 0xff, size);
		assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
		object = lfpool_set_acquire(set, size);
		assert_true(all_bytes_are(object, size, 0));
	}
	assert_int_equal(lfpool_set_destroy(set), 50 * exhausted);
}

TEST(pools_have_names)
{
	char name[] = "messages";
	lfpool_set_t *set = SET_WITH(.name = name);

	/* It was copied. */
	name[0] = 'M';
	require_name(lfpool_set_pool(set, 3), "messages/64");
	lfpool_set_destroy(set);
	set = SET_WITH(.name = "012345678901234567890123456789012345678901234567890123456789012");
	require_name(lfpool_set_pool(set, 79), "012345678901234567890123456789012345678901234567890123456/65536");
	lfpool_set_destroy(set);
}

TEST(the_environment_chooses_the_backend_when_the_set_is_made)
{
	assert_int_equal(setenv("LFPOOL_BACKEND", "malloc", 1), 0);
	lfpool_set_t *set = SET_WITH(.largest = 100);

	assert_int_equal(setenv("LFPOOL_BACKEND", "none", 1), 0);
	EXPECT(largest, 100, LFPOOL_E_CONFIG_BACKEND);
	assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
	assert_int_equal(lfpool_quick_stats(lfpool_set_pool(set, 1)).backend, LFPOOL_BACKEND_MALLOC);
	lfpool_set_destroy(set);
}

RUN_TESTS()
