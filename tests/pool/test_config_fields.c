/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_config_fields.c - every field of the config at its bounds and beyond: the refusal names the field, what is
 * accepted works.
 */
#include "../support/support.h"

#include <limits.h>
#include <stdalign.h>

/* Creates, uses and destroys a pool when `expected` is LFPOOL_OK; else sees the refusal. */
static void expect(const lfpool_config_t *config, lfpool_status_t expected)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;

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
	assert_int_equal(lfpool_active_count(pool), 1);
	assert_int_equal(lfpool_available_count(pool), config->capacity - 1);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(object_size)
{
	static const size_t good[] = {1, 2, 7, 8, 4096, MIB - 1, MIB}, bad[] = {0, MIB + 1, SIZE_MAX / 2 + 1, SIZE_MAX};
	lfpool_config_t config = config_of(0, 3);

	for (size_t i = 0; i < COUNT(good); i++) {
		config.object_size = good[i];
		expect(&config, LFPOOL_OK);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		config.object_size = bad[i];
		expect(&config, LFPOOL_E_CONFIG_OBJECT_SIZE);
	}
}

TEST(object_alignment)
{
	static const size_t bad[] = {3, 5, 6, 24, 4095, 4097, 8192, SIZE_MAX / 2 + 1, SIZE_MAX};
	lfpool_config_t config = config_of(20, 3);

	for (config.object_alignment = 1; config.object_alignment <= 4096; config.object_alignment *= 2)
		expect(&config, LFPOOL_OK);
	for (size_t i = 0; i < COUNT(bad); i++) {
		config.object_alignment = bad[i];
		expect(&config, LFPOOL_E_CONFIG_OBJECT_ALIGNMENT);
	}
}

TEST(default_alignment_suits_any_type)
{
	for (size_t size = 1; size <= 40; size++) {
		lfpool_t *pool = pool_of(size, 50);
		void *object;

		for (size_t i = 0; i < 50; i++) {
			assert_non_null(object = lfpool_acquire(pool));
			assert_int_equal((uintptr_t)object % alignof(max_align_t), 0);
		}
		assert_int_equal(lfpool_destroy(pool), 50);
	}
}

TEST(capacity)
{
	const size_t two_to_31 = (size_t)1 << 31, two_to_23 = (size_t)1 << 23;
	const size_t good[] = {1, 2, 3, 511, 512, 513, two_to_23, two_to_23 + 1, two_to_31 - 1, two_to_31};
	const size_t bad[] = {
		0, two_to_31 + 1, SIZE_MAX - 1, SIZE_MAX,
#if SIZE_MAX > UINT32_MAX
		2 * two_to_31, 2 * two_to_31 + 1, SIZE_MAX / 2 + 1,
#endif
	};
	lfpool_config_t config = config_of(4, 0);

	/* As few addresses as can be: tools have not many. */
	config.object_alignment = 4;
	for (size_t i = 0; i < COUNT(good); i++) {
		config.capacity = good[i];
		/* Where addresses have 32 bits, there is no room for so many; the configuration is good nevertheless. */
		expect(&config, good[i] <= SIZE_MAX / 64 ? LFPOOL_OK : LFPOOL_E_NO_MEMORY);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		config.capacity = bad[i];
		expect(&config, LFPOOL_E_CONFIG_CAPACITY);
	}
}

/* What it can grow to, and by how much it does: no field refuses another but by max_capacity's own status. */
TEST(max_capacity_and_growth_step)
{
	const size_t two_to_31 = (size_t)1 << 31;
	/* The largest: test_huge.c, or refused where addresses have 32 bits. */
	const size_t good[] = {
		0, 10, 11, 1000,
#if SIZE_MAX <= UINT32_MAX
		two_to_31 - 1, two_to_31,
#endif
	};
	const size_t bad[] = {
		1, 9, two_to_31 + 1, SIZE_MAX - 1, SIZE_MAX,
#if SIZE_MAX > UINT32_MAX
		2 * two_to_31, 2 * two_to_31 + 10, SIZE_MAX / 2 + 1,
#endif
	};
	const size_t steps[] = {0, 1, 10, two_to_31, SIZE_MAX};
	lfpool_config_t config = config_of(4, 10);

	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		config.backend = (lfpool_backend_t)backend;
		for (size_t k = 0; k < COUNT(steps); k++) {
			config.growth_step = steps[k];
			for (size_t i = 0; i < COUNT(good); i++) {
				lfpool_t *pool = NULL;

				config.max_capacity = good[i];
				if (good[i] > SIZE_MAX / 64) {
					expect(&config, LFPOOL_E_NO_MEMORY);
					continue;
				}
				expect(&config, LFPOOL_OK);
				assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
				assert_int_equal(lfpool_max_capacity(pool), good[i] ? good[i] : 10);
				assert_int_equal(lfpool_destroy(pool), 0);
			}
			for (size_t i = 0; i < COUNT(bad); i++) {
				config.max_capacity = bad[i];
				expect(&config, LFPOOL_E_CONFIG_MAX_CAPACITY);
			}
		}
	}
	/* The capacity is looked at first. */
	config.capacity = 0;
	config.max_capacity = 1;
	expect(&config, LFPOOL_E_CONFIG_CAPACITY);
}

TEST(cache_capacity)
{
	static const size_t good[] = {0, 1, 2, 3, 4, 5, 63, 64, 100, 4096, 8191, 8192, LFPOOL_CACHE_NONE};
	static const size_t bad[] = {8193, 16384, SIZE_MAX / 2 + 1, SIZE_MAX - 1};
	lfpool_config_t config = config_of(16, 1);

	for (size_t i = 0; i < COUNT(good); i++) {
		config.cache_capacity = good[i];
		for (config.capacity = 1; config.capacity <= 20000; config.capacity = config.capacity * 7 + 2) {
			expect(&config, LFPOOL_OK);
			lfpool_t *pool = pool_with(&config);
			require_whole(pool, 16);
			require_whole(pool, 16);
			lfpool_destroy(pool);
		}
	}
	config.capacity = 100;
	for (size_t i = 0; i < COUNT(bad); i++) {
		config.cache_capacity = bad[i];
		expect(&config, LFPOOL_E_CONFIG_CACHE_CAPACITY);
	}
}

/* What a pool has chosen: the dump tells. */
static size_t chosen(const lfpool_config_t *config, const char *what)
{
	static char text[8192];
	lfpool_t *pool = pool_with(config);

	assert_in_range(lfpool_dump(pool, LFPOOL_JSON, text, sizeof(text)), 1, sizeof(text) - 1);
	lfpool_destroy(pool);

	const char *at = strstr(text, "\"lockfree\":{");

	assert_true(at && (at = strstr(at, what)));
	return (size_t)strtoull(at + strlen(what), NULL, 10);
}

TEST(what_the_library_chooses)
{
	static const size_t rounded[][2] = {{1, 2}, {2, 2}, {3, 2}, {4, 4}, {7, 4}, {63, 32}, {64, 64}, {100, 64}, {513, 512}};
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	const size_t processors = online < 1 ? 1 : (size_t)online;
	lfpool_config_t config = config_of(16, 1000);

	for (size_t i = 0; i < COUNT(rounded); i++) {
		config.cache_capacity = rounded[i][0];
		assert_int_equal(chosen(&config, "\"cache_capacity\":"), rounded[i][1]);
	}
	config.cache_capacity = 0;
	config.capacity = 1;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 2);
	/* About half of them: a power of two is at most half as many as asked for. */
	for (config.capacity = 4 * processors; config.capacity < 1024 * processors; config.capacity += 1 + config.capacity / 5)
		assert_in_range(chosen(&config, "\"cache_capacity\":") * processors, config.capacity / 4, config.capacity / 2);
	config.capacity = 4096 * processors;
	assert_int_equal(chosen(&config, "\"cache_capacity\":"), 512);
	assert_int_equal(chosen(&config, "\"shards\":"),
			 processors < 16 ? 1 : processors / 8 < 32 ? processors / 8 : 32);
	config.depot_shards = 5;
	assert_int_equal(chosen(&config, "\"shards\":"), 5);
}

TEST(depot_shards)
{
	static const size_t bad[] = {33, 64, SIZE_MAX};
	lfpool_config_t config = config_of(16, 5000);

	for (config.depot_shards = 0; config.depot_shards <= 32; config.depot_shards++) {
		expect(&config, LFPOOL_OK);
		lfpool_t *pool = pool_with(&config);

		require_whole(pool, 16);
		require_whole(pool, 16);
		lfpool_destroy(pool);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		config.depot_shards = bad[i];
		expect(&config, LFPOOL_E_CONFIG_DEPOT_SHARDS);
	}
}

TEST(flags)
{
	const uint32_t known = LFPOOL_PREFAULT | LFPOOL_ZERO | LFPOOL_CHECK_RACES | LFPOOL_CREATE_ALL |
			       LFPOOL_LOCK | LFPOOL_HUGE_PAGES | LFPOOL_PLAIN_STRIDE;
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

TEST(backend)
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

static void reserved(void)
{
}

static bool evict(void *context, lfpool_t *pool, uint32_t attempt, int64_t *wait_ns)
{
	return context && pool && wait_ns && attempt == 0;
}

static bool created(void *context, void *object)
{
	(void)context;
	return object != NULL;
}

TEST(hooks)
{
	lfpool_config_t config = config_of(16, 100);

	for (size_t i = 0; i < COUNT(config.hooks.reserved); i++) {
		config.hooks.reserved[i] = reserved;
		expect(&config, LFPOOL_E_CONFIG_HOOKS);
		config.hooks.reserved[i] = NULL;
	}
	config.hooks.context = &config;
	expect(&config, LFPOOL_OK);
	config.hooks.exhausted = evict;
	expect(&config, LFPOOL_OK);
	config.hooks.create = created;
	expect(&config, LFPOOL_OK);
	/* Zeroing would wipe out what create built. */
	config.flags = LFPOOL_ZERO;
	expect(&config, LFPOOL_E_CONFIG_HOOKS);
}

static void remember_name(void *context, const lfpool_misuse_t *misuse)
{
	snprintf(context, 100, "%s", misuse->pool_name);
}

TEST(name)
{
	char name[66], seen[100] = "";
	lfpool_config_t config = config_of(16, 100);
	static const size_t good[] = {0, 1, 62, 63};

	memset(name, 'x', sizeof(name));
	config.name = name;
	config.hooks.context = seen;
	config.hooks.misuse = remember_name;
	for (size_t i = 0; i < COUNT(good); i++) {
		name[good[i]] = '\0';
		lfpool_t *pool = pool_with(&config);
		assert_int_equal(lfpool_release(pool, name), LFPOOL_E_FOREIGN);
		assert_string_equal(seen, name);
		lfpool_destroy(pool);
		name[good[i]] = 'x';
	}
	name[64] = '\0';
	expect(&config, LFPOOL_E_CONFIG_NAME);
	name[64] = 'x';
	name[65] = '\0';
	expect(&config, LFPOOL_E_CONFIG_NAME);
	config.name = NULL;
	lfpool_t *pool = pool_with(&config);
	assert_int_equal(lfpool_release(pool, name), LFPOOL_E_FOREIGN);
	assert_string_equal(seen, "unnamed");
	lfpool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object_size),
		cmocka_unit_test(object_alignment),
		cmocka_unit_test(default_alignment_suits_any_type),
		cmocka_unit_test(capacity),
		cmocka_unit_test(max_capacity_and_growth_step),
		cmocka_unit_test(cache_capacity),
		cmocka_unit_test(what_the_library_chooses),
		cmocka_unit_test(depot_shards),
		cmocka_unit_test(flags),
		cmocka_unit_test(backend),
		cmocka_unit_test(hooks),
		cmocka_unit_test(name),
	};

	return cmocka_run_group_tests_name("config fields", tests, NULL, NULL);
}
