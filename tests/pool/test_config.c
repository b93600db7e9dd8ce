/* SPDX-License-Identifier: MIT */
/* test: once */
/* test_config.c - the arguments of lfpool_create().  Each field of the config has values within its limits, with which
 * the pool works, and values beyond, which are refused with the status of the field.  A refused call leaves nothing
 * behind.  The config stays the caller's.  Also status texts and version.  (Structs of older and newer callers:
 * api/test_versions.c.) */
#include "../support/support.h"
#include "../support/told.h"

#include <limits.h>

static lfpool_t *const junk = (lfpool_t *)(uintptr_t)0x5a5a5a50;

/* Expects a refusal with the status `expected`.  If that is LFPOOL_OK, expects a pool, uses and destroys it. */
static void expect(const lfpool_config_t *config, lfpool_status_t expected)
{
	lfpool_t *pool = junk;

	assert_int_equal(lfpool_create(&pool, config), expected);
	if (expected != LFPOOL_OK) {
		assert_null(pool);
		return;
	}
	void *object = lfpool_acquire(pool);

	assert_non_null(object);
	if (config->object_alignment)
		assert_int_equal((uintptr_t)object % config->object_alignment, 0);
	memset(object, 0x77, config->object_size);
	assert_int_equal(lfpool_capacity(pool), config->capacity);
	assert_int_equal(lfpool_quick_stats(pool).max_capacity,
			 config->max_capacity ? config->max_capacity : config->capacity);
	assert_int_equal(lfpool_quick_stats(pool).backend, config->backend);
	assert_int_equal(lfpool_available_count(pool), config->capacity - 1);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	/* Acquires all objects.  Not in the largest pools, which would take long, nor in pools that grow meanwhile. */
	if (config->capacity <= 20000 && !config->growth_step)
		require_whole(pool, config->object_size);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* 2^31 - 1 objects of 1 MiB are almost 2^51 bytes: more than any x86-64 or arm64 address space of 48 bits. */
TEST(failed_create_leaves_nothing_behind)
{
	const lfpool_config_t config = config_of(MIB, ((size_t)1 << 31) - 1);
	size_t before = 0;

	expect(NULL, LFPOOL_E_ARGUMENT);
	assert_int_equal(lfpool_create(NULL, &config), LFPOOL_E_ARGUMENT);
	for (int i = 0; i <= 1000; i++) {
		lfpool_t *pool = junk;

		if (i == 1)
			before = mapped_bytes();
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
		assert_null(pool);
	}
	assert_in_range(growth(before, mapped_bytes()), 0, TIMES(MIB, 64 * MIB));
}

TEST(create_copies_the_config)
{
	char name[] = "before";
	lfpool_config_t config = CONFIG_OF(24, 7, .name = name, .hooks.misuse = hear), copy = config;
	lfpool_t *pool = pool_with(&config);

	assert_memory_equal(&config, &copy, sizeof(copy));
	memset(&config, 0xff, sizeof(config));
	memcpy(name, "after!", sizeof(name));
	assert_int_equal(lfpool_capacity(pool), 7);
	assert_int_equal(lfpool_release(pool, &config), LFPOOL_E_FOREIGN);
	assert_string_equal(told.pool_name, "before");
	pool_close(pool, 24);
}

/* ---- The fields ---- */

static void expect_each(lfpool_config_t *config, size_t *field, const size_t *values, size_t count,
			lfpool_status_t expected)
{
	const size_t before = *field;

	for (size_t i = 0; i < count; i++) {
		*field = values[i];
		expect(config, expected);
	}
	*field = before;
}

/* Expects the same status for each of these values of the field.  All other fields are as in `config`. */
#define EXPECT(field, expected, ...)                                       \
	expect_each(&config, &config.field, (const size_t[]){__VA_ARGS__}, \
		    sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t), expected)

/* TOO_MANY: capacities above the limit, some of which would be small numbers modulo 2^32. */
#define TWO_TO_31 ((size_t)1 << 31)
#define MOST (TWO_TO_31 - 1)
#if SIZE_MAX > UINT32_MAX
#define TOO_MANY                                                                                          \
	TWO_TO_31, TWO_TO_31 + 1, 2 * TWO_TO_31, 2 * TWO_TO_31 + 1, 2 * TWO_TO_31 + 10, SIZE_MAX / 2 + 1, \
		SIZE_MAX - 1, SIZE_MAX
#else
#define TOO_MANY TWO_TO_31, TWO_TO_31 + 1, SIZE_MAX - 1, SIZE_MAX
#endif

TEST(object_sizes_from_1_byte_to_1_GiB)
{
	lfpool_config_t config = config_of(1, 3);

	EXPECT(object_size, LFPOOL_OK, 1, 2, 7, 8, 4096, MIB, MIB + 1, 3 * MIB);
	EXPECT(object_size, LFPOOL_E_CONFIG_OBJECT_SIZE, 0, GIB + 1, SIZE_MAX / 2 + 1, SIZE_MAX);
}

TEST(alignments_are_powers_of_two_up_to_1_GiB)
{
	lfpool_config_t config = config_of(20, 3);

	EXPECT(object_alignment, LFPOOL_OK, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, MIB);
	EXPECT(object_alignment, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT, 3, 5, 6, 24, 4095, 4097, 2 * GIB, SIZE_MAX / 2 + 1,
	       SIZE_MAX);
}

TEST(capacities_from_1_to_2_to_31_minus_1)
{
	/* Small objects, because sanitizers and Valgrind leave few addresses. */
	lfpool_config_t config = CONFIG_OF(4, 1, .object_alignment = 4);
	const size_t two_to_23 = (size_t)1 << 23;

	EXPECT(capacity, LFPOOL_OK, 1, 2, 3, 511, 512, 513, two_to_23, two_to_23 + 1);
	/* 32-bit addresses have no room for this number of objects, but the configuration is valid. */
	EXPECT(capacity, TWO_TO_31 <= SIZE_MAX / 64 ? LFPOOL_OK : LFPOOL_E_NO_MEMORY, MOST - 1, MOST);
	EXPECT(capacity, LFPOOL_E_CONFIG_CAPACITY, 0, TOO_MANY);
}

/* Every growth step is accepted.  A max_capacity that is below the capacity, or above the limit, has its own status. */
TEST(max_capacity_is_not_below_capacity_for_any_growth_step)
{
	static const size_t steps[] = {0, 1, 10, TWO_TO_31, SIZE_MAX};
	lfpool_config_t config = config_of(4, 10);

	for (int i = 0; i < 3 * (int)COUNT(steps); i++) {
		config.backend = (lfpool_backend_t)(i % 3);
		config.growth_step = steps[i / 3];
		EXPECT(max_capacity, LFPOOL_OK, 0, 10, 11, 1000);
		/* With 64-bit addresses: test_huge.c. */
		if (SIZE_MAX <= UINT32_MAX)
			EXPECT(max_capacity, LFPOOL_E_NO_MEMORY, MOST - 1, MOST);
		EXPECT(max_capacity, LFPOOL_E_CONFIG_MAX_CAPACITY, 1, 9, TOO_MANY);
	}
	/* A capacity of 0 is for pools that grow (test_grow_itself.c), but LFPOOL_CREATE_ALL would build nothing. */
	config.max_capacity = 1;
	config.flags = LFPOOL_CREATE_ALL;
	EXPECT(capacity, LFPOOL_E_CONFIG_CAPACITY, 0);
}

TEST(cache_capacities_up_to_8192_or_none)
{
	lfpool_config_t config = config_of(16, 1);

	for (; config.capacity <= 20000; config.capacity = config.capacity * 7 + 2)
		EXPECT(cache_capacity, LFPOOL_OK, 0, 1, 2, 3, 4, 5, 63, 64, 100, 4096, 8191, 8192, LFPOOL_CACHE_NONE);
	config.capacity = 100;
	EXPECT(cache_capacity, LFPOOL_E_CONFIG_CACHE_CAPACITY, 8193, 16384, SIZE_MAX / 2 + 1, SIZE_MAX - 1);
}

/* Returns the value that a pool with this config has chosen for `what`, from its dump. */
static size_t chosen(const lfpool_config_t *config, const char *what)
{
	static char text[8192];
	lfpool_t *pool = pool_with(config);

	assert_in_range(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)), 1, sizeof(text) - 1);
	lfpool_destroy(pool);

	const char *at = strstr(text, "\"core\":{");

	assert_true(at && (at = strstr(at, what)));
	return (size_t)strtoull(at + strlen(what), NULL, 10);
}

TEST(defaults_of_cache_capacity_and_depot_shards)
{
	static const size_t rounded[][2] = {{1, 2},   {2, 2},   {3, 2},    {4, 4},    {7, 4},
					    {63, 32}, {64, 64}, {100, 64}, {513, 512}};
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t processors = online < 1 ? 1 : (size_t)online;
	lfpool_config_t config = config_of(16, 1000);

	for (size_t i = 0; i < COUNT(rounded); i++) {
		config.cache_capacity = rounded[i][0];
		assert_int_equal(chosen(&config, "\"cache_capacity\":"), rounded[i][1]);
	}
	config.cache_capacity = 0;
	config.capacity = 1;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 1);
	/* The caches of all processors together have room for all objects, except for rounding: a magazine's size is
	 * a power of two, and a cache has a whole number of magazines. */
	for (config.capacity = 4 * processors; config.capacity < 1024 * processors;
	     config.capacity += 1 + config.capacity / 5)
		assert_in_range(chosen(&config, "\"cache_capacity\":") * processors,
				config.capacity * 3 / 4 - processors, config.capacity);
	config.capacity = 4096 * processors;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 4096);
	assert_int_equal(chosen(&config, "\"shards\":"), processors < 16 ? 2 * processors : 32);
	/* 256 KiB have room for 4096 of 64 bytes.  A cache of large objects has one place. */
	config.capacity = 1 << 20;
	config.object_size = 64;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 4096);
	config.object_size = 1024;
	assert_in_range(chosen(&config, "\"cache_capacity\":"), 192, 256);
	config.capacity = 1000;
	config.object_size = 1 << 20;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 1);
	config.depot_shards = 5;
	assert_int_equal(chosen(&config, "\"shards\":"), 5);
}

TEST(buffer_caches_are_refused_without_a_buffer)
{
	lfpool_config_t config = config_of(16, 100);

	EXPECT(buffer_caches, LFPOOL_E_CONFIG_BUFFER_CACHES, 1, 16, SIZE_MAX);
}

TEST(depot_shards_up_to_32)
{
	lfpool_config_t config = config_of(16, 5000);

	for (config.depot_shards = 0; config.depot_shards <= 32; config.depot_shards++)
		expect(&config, LFPOOL_OK);
	EXPECT(depot_shards, LFPOOL_E_CONFIG_DEPOT_SHARDS, 33, 64, SIZE_MAX);
}

TEST(only_known_flags_are_accepted)
{
	const uint32_t known = LFPOOL_PREFAULT | LFPOOL_ZERO | LFPOOL_CHECK_RACES | LFPOOL_CREATE_ALL | LFPOOL_LOCK |
			       LFPOOL_HUGE_PAGES | LFPOOL_PLAIN_STRIDE | LFPOOL_FENCED;
	lfpool_config_t config = config_of(16, 100);

	for (config.flags = 0; config.flags <= known; config.flags++)
		expect(&config, config.flags & ~known ? LFPOOL_E_CONFIG_FLAGS : LFPOOL_OK);
	for (int bit = 0; bit < 32; bit++) {
		config.flags = UINT32_C(1) << bit;
		expect(&config, config.flags & known ? LFPOOL_OK : LFPOOL_E_CONFIG_FLAGS);
	}
	config.flags = UINT32_MAX;
	expect(&config, LFPOOL_E_CONFIG_FLAGS);
}

TEST(only_known_backends_are_accepted)
{
	static const int bad[] = {3, 4, 100, -1, INT_MAX, INT_MIN};
	lfpool_config_t config = config_of(16, 100);

	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		config.backend = (lfpool_backend_t)backend;
		expect(&config, LFPOOL_OK);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		memcpy(&config.backend, &bad[i], sizeof(config.backend));
		expect(&config, LFPOOL_E_CONFIG_BACKEND);
	}
}

static void reserved(void) {}

static bool created(void *context, void *object)
{
	return context && object;
}

TEST(reserved_hooks_and_create_with_zero_are_refused)
{
	lfpool_config_t config = config_of(16, 100);

	config.hooks.context = &config;
	expect(&config, LFPOOL_OK);
	for (size_t i = 0; i < COUNT(config.hooks.reserved); i++) {
		config.hooks.reserved[i] = reserved;
		expect(&config, LFPOOL_E_CONFIG_HOOKS);
		config.hooks.reserved[i] = NULL;
	}
	config.hooks.create = created;
	expect(&config, LFPOOL_OK);
	/* LFPOOL_ZERO would erase the writes of the hook `create`. */
	config.flags = LFPOOL_ZERO;
	expect(&config, LFPOOL_E_CONFIG_HOOKS);
}

static void require_name(const char *name, const char *expected)
{
	lfpool_t *pool = POOL_OF(16, 100, .name = name, .hooks.misuse = hear);

	assert_int_equal(lfpool_release(pool, &told), LFPOOL_E_FOREIGN);
	assert_string_equal(told.pool_name, expected);
	lfpool_destroy(pool);
}

TEST(names_up_to_63_bytes)
{
	char name[66];
	lfpool_config_t config = CONFIG_OF(16, 100, .name = name);

	require_name(NULL, "unnamed");
	for (size_t length = 0; length < sizeof(name); length++) {
		memset(name, 'x', length);
		name[length] = '\0';
		if (length <= 63)
			require_name(name, name);
		else
			expect(&config, LFPOOL_E_CONFIG_NAME);
	}
}

/* ---- Texts ---- */

TEST(every_status_has_its_text)
{
	static const struct {
		lfpool_status_t status;
		int value;
		const char *text;
	} known[] = {
#define KNOWN(name, value, text) {name, value, text},
		LFPOOL_STATUS_MAP(KNOWN)
#undef KNOWN
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		assert_int_equal(known[i].status, known[i].value);
		assert_string_equal(lfpool_status_string(known[i].status), known[i].text);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(known[i].text, known[j].text);
	}
	assert_string_equal(lfpool_status_string((lfpool_status_t)-9), "unknown status");
	assert_string_equal(lfpool_status_string((lfpool_status_t)-1000), "unknown status");
	assert_string_equal(lfpool_status_string((lfpool_status_t)1), "unknown status");
}

TEST(the_header_and_the_build_agree_on_the_version)
{
	char version[32];

	snprintf(version, sizeof(version), "%d.%d.%d", LFPOOL_VERSION_MAJOR, LFPOOL_VERSION_MINOR,
		 LFPOOL_VERSION_PATCH);
	assert_string_equal(version, LFPOOL_EXPECTED_VERSION);
}

RUN_TESTS()
