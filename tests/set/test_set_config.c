/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_set_config.c - the configuration of a set: each field's range and default, old and new callers, numbers of
 * objects computed from bytes. */
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

/* The status of a wrong field names that field: "max_capacity" of "pool.max_capacity", "hooks" of "hooks.create". */
static void require_named(lfpool_status_t status, const char *field)
{
	char name[40];

	if (status == LFPOOL_OK || status == LFPOOL_E_NO_MEMORY)
		return;
	field += strncmp(field, "pool.", 5) ? 0 : 5;
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(field, ".["), field);
	/* Fields that are reserved have no name for those who use them. */
	require_in(lfpool_status_string(status), strcmp(name, "reserved") ? name : "a newer field");
}

/* A set with one field that is not the default. */
#define EXPECT(field, value, expected)                                \
	do {                                                          \
		lfpool_set_config_t config_ = LFPOOL_SET_CONFIG_INIT; \
                                                                      \
		config_.field = (value);                              \
		expect(&config_, (expected));                         \
		require_named((expected), #field);                    \
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
		EXPECT(pool.object_alignment, alignment, LFPOOL_OK);
	EXPECT(pool.object_alignment, 3, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	EXPECT(pool.object_alignment, 2 * GIB, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	for (size_t steps = 0; steps <= 40; steps++)
		EXPECT(steps, steps,
		       steps == 0 || steps == 4 || steps == 8 || steps == 16 ? LFPOOL_OK : LFPOOL_E_CONFIG_STEPS);
	EXPECT(larger, SIZE_MAX, LFPOOL_OK);
	EXPECT(pool.capacity, (size_t)1 << 31, LFPOOL_E_CONFIG_CAPACITY);
#if SIZE_MAX > UINT32_MAX
	EXPECT(class_bytes, ((size_t)1 << 35) + 16, LFPOOL_E_CONFIG_CAPACITY);
	EXPECT(max_class_bytes, ((size_t)1 << 35) + 16, LFPOOL_E_CONFIG_MAX_CAPACITY);
#endif
	EXPECT(pool.max_capacity, 1, LFPOOL_E_CONFIG_MAX_CAPACITY);
	EXPECT(max_class_bytes, 1, LFPOOL_OK);
	EXPECT(pool.cache_capacity, 8193, LFPOOL_E_CONFIG_CACHE_CAPACITY);
	EXPECT(pool.cache_capacity, LFPOOL_CACHE_NONE, LFPOOL_OK);
	EXPECT(pool.flags, UINT32_C(0x80000000), LFPOOL_E_CONFIG_FLAGS);
	EXPECT(pool.backend, (lfpool_backend_t)3, LFPOOL_E_CONFIG_BACKEND);
	EXPECT(reserved[3], 1, LFPOOL_E_CONFIG_STRUCT_SIZE);
	EXPECT(pool.depot_shards, 33, LFPOOL_E_CONFIG_DEPOT_SHARDS);
	EXPECT(pool.debug, "nothing of the kind", LFPOOL_E_CONFIG_DEBUG);
	EXPECT(pool.name, too_long, LFPOOL_E_CONFIG_NAME);
	EXPECT(pool.name, too_long + 1, LFPOOL_OK);
	/* Not enough addresses exist for all of it. */
	EXPECT(pool.capacity, ((size_t)1 << 31) - 1, LFPOOL_E_NO_MEMORY);
}

/* In malloc mode, which reserves no addresses. */
TEST(the_largest_values)
{
	lfpool_set_config_t config = set_config_of(LFPOOL_BACKEND_MALLOC, GIB, 1);

	expect(&config, LFPOOL_OK);
	config.pool.object_alignment = GIB;
	expect(&config, LFPOOL_OK);
}

/* Small classes have many objects, and a fixed size; large ones have one, and grow. */
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

TEST(plan_configures_each_class)
{
	size_t calls = 0;
	lfpool_set_t *set = SET_WITH(.plan = plan, .pool.hooks.context = &calls, .largest = 1024);

	EACH_CLASS(set, size)
	{
		const size_t most = size <= 256 ? 100 : 3;
		lfpool_t *pool = lfpool_set_pool(set, size);
		size_t count = 0;

		assert_int_equal(lfpool_capacity(pool), size <= 256 ? 100 : 1);
		assert_int_equal(lfpool_quick_stats(pool).max_capacity, most);
		while (lfpool_set_acquire(set, size))
			count++;
		assert_int_equal(count, most);
	}
	/* Once for each class, when the set was made. */
	assert_int_equal(calls, class_count(set));
	assert_true(lfpool_set_destroy(set) > 0);
}

/* `context` has the last class's configuration. */
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
		config.pool.hooks.context = &bad;
		expect(&config, rows[i].expected);
		require_named(rows[i].expected, "plan");
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
	EXPECT(pool.hooks.create, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(pool.hooks.activate, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(pool.hooks.deactivate, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(pool.hooks.validate, build, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(pool.hooks.destroy, take_down, LFPOOL_E_CONFIG_HOOKS);
	EXPECT(pool.hooks.reserved[0], nothing, LFPOOL_E_CONFIG_HOOKS);
}

TEST(memory_of_the_caller_is_refused)
{
	char memory[64];

	EXPECT(pool.memory, memory, LFPOOL_E_BUFFER);
	EXPECT(pool.memory_bytes, sizeof(memory), LFPOOL_E_BUFFER);
	EXPECT(pool.memory_use, LFPOOL_MEMORY_POOL, LFPOOL_E_BUFFER);
	EXPECT(pool.buffer_caches, 1, LFPOOL_E_CONFIG_BUFFER_CACHES);
}

/* Each pool has the scheme of reclamation; while one has retired objects, the set is not destroyed. */
static bool is_ready(void *context, const lfpool_batch_t *batch)
{
	(void)batch;
	return *(bool *)context;
}

static bool wait_until_ready(void *context)
{
	return *(bool *)context;
}

TEST(a_set_whose_destroy_is_refused_stays)
{
	bool ready = false;
	lfpool_set_t *set = SET_WITH(.largest = 64, .pool.hooks.misuse = expected_misuse,
				     .pool.scheme = {.context = &ready, .ready = is_ready, .wait = wait_until_ready});

	assert_non_null(lfpool_set_acquire(set, 16));
	assert_int_equal(lfpool_set_release(set, lfpool_set_acquire(set, 48)), LFPOOL_OK);
	assert_int_equal(lfpool_retire(lfpool_set_pool(set, 64), lfpool_set_acquire(set, 64)), LFPOOL_OK);
	assert_true(lfpool_set_destroy(set) == SIZE_MAX);
	/* The set is still usable.  The pools that could be destroyed are made again. */
	assert_null(lfpool_set_class(set, 48, false, NULL));
	assert_int_equal(stats_of(lfpool_set_pool(set, 64)).retired, 1);
	assert_int_equal(lfpool_set_release(set, &ready), LFPOOL_E_FOREIGN);
	assert_non_null(lfpool_set_acquire(set, 48));
	ready = true;
	assert_int_equal(lfpool_set_destroy(set), 2);
}

TEST(a_default_set_has_80_classes_and_one_pool)
{
	lfpool_set_t *set = SET_WITH();

	assert_int_equal(class_count(set), 80);
	assert_int_equal(lfpool_set_class_size(set, 0), 16);
	assert_int_equal(lfpool_set_class_size(set, 257), 288);
	assert_int_equal(lfpool_set_class_size(set, 65536), 65536);
	assert_int_equal(lfpool_set_class_size(set, 65537), 0);
	assert_int_equal(lfpool_set_class_size(set, SIZE_MAX), 0);
	/* The pool of the smallest class exists, the others are made when needed. */
	EACH_CLASS(set, size)
	assert_true(!lfpool_set_class(set, size, false, NULL) == (size != 16));
	assert_null(lfpool_set_pool(set, 65537));
	assert_int_equal(lfpool_capacity(lfpool_set_pool(set, 0)), MIB);
	assert_int_equal(lfpool_capacity(lfpool_set_pool(set, 65536)), 256);
	assert_non_null(lfpool_set_class(set, 65536, false, NULL));
	assert_int_equal(lfpool_set_destroy(set), 0);
}

TEST(objects_from_bytes)
{
	/* At least one; and objects take precedence over bytes. */
	static const size_t rows[][4] = {
		{700, 0, 16, 43}, {700, 0, 320, 2}, {700, 0, 1024, 1}, {700, 5, 16, 5}, {700, 5, 1024, 5}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_set_t *set = SET_WITH(.largest = 1024, .class_bytes = rows[i][0], .pool.capacity = rows[i][1]);

		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, rows[i][2])), rows[i][3]);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
}

BACKEND_TEST(classes_grow_by_bytes, LFPOOL_BACKEND_MALLOC)
{
	void *objects[16384 / 16 + 1];
	lfpool_set_t *set = SET_WITH(.largest = 2000, .class_bytes = 4096, .max_class_bytes = 16384,
				     .growth_bytes = 1000, .pool.backend = backend);

	EACH_CLASS(set, size)
	{
		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, size)), 4096 / size);
		assert_int_equal(lfpool_quick_stats(lfpool_set_pool(set, size)).max_capacity, 16384 / size);
		assert_int_equal(acquire_all_of(set, size, objects, 4096 / size + 1), 4096 / size + 1);
		assert_int_equal(lfpool_capacity(lfpool_set_pool(set, size)),
				 4096 / size + (size > 1000 ? 1 : 1000 / size));
		release_to(set, objects, 4096 / size + 1);
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

/* Objects take precedence over bytes even where a class can grow; fields for the pools reach them. */
TEST(pool_fields_reach_the_pools)
{
	size_t exhausted = 0;
	unsigned char *object;
	size_t pools = 0;
	lfpool_set_t *set = SET_WITH(.largest = 256, .steps = 4, .class_bytes = 100000, .max_class_bytes = 100000,
				     .growth_bytes = 100000, .pool.object_alignment = 64, .pool.capacity = 20,
				     .pool.max_capacity = 50, .pool.growth_step = 20, .pool.cache_capacity = 8,
				     .pool.flags = LFPOOL_PREFAULT | LFPOOL_ZERO, .pool.hooks.context = &exhausted,
				     .pool.hooks.exhausted = give_up, .pool.depot_shards = 3,
				     .pool.debug = "no-tools,check");

	EACH_CLASS(set, size)
	{
		lfpool_t *pool = lfpool_set_pool(set, size);

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
		assert_int_equal(exhausted, pools);
		assert_null(lfpool_set_acquire(set, size));
		assert_int_equal(exhausted, ++pools);
		memset(object, 0xff, size);
		assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
		object = lfpool_set_acquire(set, size);
		assert_true(all_bytes_are(object, size, 0));
	}
	assert_int_equal(lfpool_set_destroy(set), 50 * exhausted);
}

/* Addresses of this process; 0: the system has no such file. */
static size_t address_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!file)
		return 0;
	REQUIRE(fscanf(file, "%lu", &pages) == 1);
	(void)fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Neither a set that was destroyed nor one that was refused has addresses. */
TEST(addresses_are_given_back)
{
	enum { SETS = 100 };
	lfpool_set_config_t config = set_config_of(LFPOOL_BACKEND_LOCKFREE, 100, 10);

	for (int refused = 0; refused < 2; refused++) {
		size_t before = 0;

		config.pool.debug = refused ? "nonsense" : NULL;
		/* The first ones let the allocator grow. */
		for (size_t i = 0; i < 2 * SETS; i++) {
			before = i == SETS ? address_bytes() : before;
			expect(&config, refused ? LFPOOL_E_CONFIG_DEBUG : LFPOOL_OK);
		}
		assert_true(address_bytes() < before + SETS * 2048 || !before);
	}
}

/* Strings of the config can be gone when a pool is made. */
TEST(strings_are_copied)
{
	char debug[] = "guard,quarantine=3";
	lfpool_set_t *set = SET_WITH(.largest = 100, .pool.debug = debug);

	memset(debug, '?', sizeof(debug) - 1);
	require_said(lfpool_set_pool(set, 64), "\ndebug       quarantine=3,guard\n");
	set_close(set);
}

TEST(pools_have_names)
{
	char name[] = "messages";
	lfpool_set_t *set = SET_WITH(.pool.name = name);

	/* It was copied. */
	name[0] = 'M';
	require_name(lfpool_set_pool(set, 64), "messages/64");
	lfpool_set_destroy(set);
	set = SET_WITH(.pool.name = "012345678901234567890123456789012345678901234567890123456789012");
	require_name(lfpool_set_pool(set, 65536), "012345678901234567890123456789012345678901234567890123456/65536");
	lfpool_set_destroy(set);
}

/* A pool that is made later, in another environment, works too: objects of both can be released. */
TEST(the_environment_chooses_the_backend_when_a_pool_is_made)
{
	assert_int_equal(setenv("LFPOOL_BACKEND", "malloc", 1), 0);
	lfpool_set_t *set = SET_WITH(.largest = 100);

	assert_int_equal(setenv("LFPOOL_BACKEND", "none", 1), 0);
	expect(&(lfpool_set_config_t)LFPOOL_SET_CONFIG_INIT, LFPOOL_E_CONFIG_BACKEND);
	assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
	assert_int_equal(lfpool_quick_stats(lfpool_set_class(set, 16, false, NULL)).backend, LFPOOL_BACKEND_MALLOC);
	assert_int_equal(lfpool_quick_stats(lfpool_set_pool(set, 32)).backend, LFPOOL_BACKEND_LOCKFREE);
	for (size_t size = 16; size <= 32; size += 16) {
		void *object = lfpool_set_acquire(set, size);

		assert_int_equal(lfpool_set_usable_size(set, object), size);
		assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	}
	set_close(set);
}

/* In the opposite order. */
TEST(a_pool_with_the_malloc_backend_in_a_set_with_windows)
{
	lfpool_set_t *set = SET_WITH(.largest = 100);

	assert_int_equal(setenv("LFPOOL_BACKEND", "malloc", 1), 0);
	void *object = lfpool_set_acquire(set, 100);

	assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
	assert_int_equal(lfpool_quick_stats(lfpool_set_class(set, 100, false, NULL)).backend, LFPOOL_BACKEND_MALLOC);
	assert_int_equal(lfpool_set_usable_size(set, object), 112);
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	set_close(set);
}

/* plan() may use another set, even one whose pools are not made yet (and anything else: no lock is held). */
static void plan_with_another_set(void *other, lfpool_config_t *config)
{
	void *scratch = lfpool_set_acquire(other, config->object_size);

	REQUIRE(scratch);
	config->capacity = 4;
	REQUIRE(lfpool_set_release(other, scratch) == LFPOOL_OK);
}

TEST(a_plan_may_use_another_set)
{
	lfpool_set_t *other = SET_WITH(.largest = 1024, .pool.capacity = 10);
	lfpool_set_t *set = SET_WITH(.largest = 1024, .plan = plan_with_another_set, .pool.hooks.context = other);

	EACH_CLASS(set, size)
	assert_int_equal(lfpool_capacity(lfpool_set_pool(set, size)), 4);
	set_close(set);
	set_close(other);
}

RUN_TESTS()
