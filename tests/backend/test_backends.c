/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_backends.c - the same calls over all three backends, chosen by the config and by the variable LFPOOL_BACKEND;
 * and what the two simple ones document as their own: the mutex pool refuses misuse too, malloc answers yes to every
 * pointer but NULL.
 */
#include "../support/support.h"

static const char *const names[] = {"lockfree", "mutex", "malloc"};

static lfpool_config_t config_for(lfpool_backend_t backend, size_t object_size, size_t capacity)
{
	lfpool_config_t config = config_of(object_size, capacity);

	config.backend = backend;
	return config;
}

/* What holds on all three. */
static void behave(lfpool_t *pool, size_t size, size_t capacity, size_t alignment)
{
	void **objects = pointers_new(capacity);

	for (int round = 0; round < 2; round++) {
		assert_int_equal(acquire_all(pool, objects, capacity), capacity);
		assert_null(lfpool_acquire(pool));
		assert_int_equal(lfpool_active_count(pool), capacity);
		assert_int_equal(lfpool_available_count(pool), 0);
		for (size_t i = 0; i < capacity; i++) {
			assert_int_equal((uintptr_t)objects[i] % alignment, 0);
			assert_true(lfpool_owns(pool, objects[i]) && lfpool_in_use(pool, objects[i]));
			stamp_write(objects[i], size, i);
		}
		for (size_t i = 0; i < capacity; i++)
			assert_true(stamp_holds(objects[i], size, i));
		assert_true(sort_disjoint(objects, capacity, size));
		assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), capacity - 1);
		assert_int_equal(lfpool_available_count(pool), 1);
		assert_int_equal(lfpool_release(pool, NULL), LFPOOL_OK);
		assert_int_equal(lfpool_release_bulk(pool, objects + 1, capacity - 1), capacity - 1);
		assert_int_equal(lfpool_acquire_bulk(pool, objects, capacity + 1), capacity);
		assert_int_equal(lfpool_release_bulk(pool, objects, capacity), capacity);
	}
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	assert_non_null(cache);
	for (size_t i = 0; i < capacity; i++)
		assert_non_null(objects[i] = lfpool_cache_acquire(cache));
	assert_null(lfpool_cache_acquire(cache));
	for (size_t i = 0; i < capacity; i++)
		assert_int_equal(lfpool_cache_release(cache, objects[i]), LFPOOL_OK);
	lfpool_cache_destroy(cache);
	assert_int_equal(lfpool_capacity(pool), capacity);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	assert_false(lfpool_owns(pool, NULL) || lfpool_in_use(pool, NULL));
	require_whole(pool, size);
	free(objects);
}

TEST(one_suite_for_all)
{
	static const size_t sizes[] = {1, 8, 24, 100, 4096}, capacities[] = {1, 2, 33, 1000};
	static const size_t alignments[] = {1, 8, 64, 4096};

	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)
		for (size_t s = 0; s < COUNT(sizes); s++)
			for (size_t c = 0; c < COUNT(capacities); c++)
				for (size_t a = 0; a < COUNT(alignments); a++) {
					lfpool_config_t config = config_for((lfpool_backend_t)backend, sizes[s], capacities[c]);

					config.object_alignment = alignments[a];
					lfpool_t *pool = pool_with(&config);
					assert_int_equal(lfpool_backend(pool), backend);
					behave(pool, sizes[s], capacities[c], alignments[a]);
					assert_int_equal(lfpool_destroy(pool), 0);
				}
}

TEST(zero_is_a_promise_of_all)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_for((lfpool_backend_t)backend, 100, 50);
		void *objects[50];

		config.flags = LFPOOL_ZERO;
		lfpool_t *pool = pool_with(&config);
		for (int round = 0; round < 3; round++) {
			assert_int_equal(acquire_all(pool, objects, 50), 50);
			for (int i = 0; i < 50; i++) {
				assert_true(all_bytes_are(objects[i], 100, 0));
				memset(objects[i], 0xa5, 100);
			}
			release_all(pool, objects, 50);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

TEST(every_flag_and_cache_capacity_is_accepted_by_all)
{
	static const uint32_t flags[] = {LFPOOL_PREFAULT, LFPOOL_ZERO, LFPOOL_CHECK_RACES, LFPOOL_PLAIN_STRIDE, LFPOOL_FENCED};
	static const size_t cache_capacities[] = {1, 8192, LFPOOL_CACHE_NONE};

	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++)
		for (size_t f = 0; f < COUNT(flags); f++)
			for (size_t c = 0; c < COUNT(cache_capacities); c++) {
				lfpool_config_t config = config_for((lfpool_backend_t)backend, 24, 40);

				config.flags = flags[f];
				config.cache_capacity = cache_capacities[c];
				lfpool_t *pool = pool_with(&config);
				behave(pool, 24, 40, 1);
				assert_int_equal(lfpool_destroy(pool), 0);
			}
}

/* AddressSanitizer's leak check says whether the memory of the four really went back. */
/* Memory that is not freed is for LeakSanitizer to find; the malloc backend leaves active objects to their
 * holders. */
TEST(destroy_counts_what_is_out_and_frees_it)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_for((lfpool_backend_t)backend, 100, 50);
		lfpool_t *pool = pool_with(&config);
		void *objects[4];

		assert_non_null(lfpool_cache_create(pool));
		assert_int_equal(lfpool_acquire_bulk(pool, objects, 4), 4);
		assert_int_equal(lfpool_destroy(pool), 4);
		/* The block begins a label before the object, of 16 bytes. */
		for (size_t i = 0; backend == LFPOOL_BACKEND_MALLOC && i < COUNT(objects); i++)
			free(moved(objects[i], -16));
	}
}

static bool add_up(void *context, void *object)
{
	*(unsigned *)context += *(unsigned *)object;
	return true;
}

TEST(walks_see_what_is_active_on_all)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_for((lfpool_backend_t)backend, sizeof(unsigned), 50);
		lfpool_t *pool = pool_with(&config);
		unsigned *objects[50], sum = 0;

		for (unsigned i = 0; i < COUNT(objects); i++) {
			assert_non_null(objects[i] = lfpool_acquire(pool));
			*objects[i] = 1u << i % 31;
		}
		for (unsigned i = 3; i < COUNT(objects); i++)
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
		assert_int_equal(lfpool_for_each_active(pool, add_up, &sum), 3);
		assert_int_equal(sum, 7);
		assert_int_equal(lfpool_release_all(pool), 3);
		assert_int_equal(lfpool_active_count(pool), 0);
		assert_int_equal(lfpool_for_each_active(pool, add_up, &sum), 0);
		lfpool_destroy(pool);
	}
}

static bool scribble(void *context, void *object, bool active)
{
	(void)context;
	if (!active)
		memset(object, 0xa5, 24);
	return true;
}

TEST(free_objects_may_be_written_to_in_a_walk_over_all_slots)
{
	for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
		lfpool_config_t config = config_for((lfpool_backend_t)backend, 24, 40);
		lfpool_t *pool = pool_with(&config);
		void *objects[40];

		for (size_t round = 0; round < 3; round++) {
			const size_t got = acquire_all(pool, objects, 10 + 10 * round);

			release_all(pool, objects, got - round);
			(void)lfpool_for_each_slot(pool, scribble, NULL);
			assert_null(lfpool_check(pool, NULL));
			release_all(pool, objects + got - round, round);
			require_whole(pool, 24);
		}
		lfpool_destroy(pool);
	}
}

TEST(malloc_refuses_what_its_label_does_not_fit)
{
	lfpool_config_t config = config_for(LFPOOL_BACKEND_MALLOC, 64, 20);
	lfpool_t *pool = pool_with(&config), *other;
	char room[64] = {0};

	config.hooks.misuse = expected_misuse;
	other = pool_with(&config);
	void *object = lfpool_acquire(pool);
	assert_int_equal(lfpool_release(other, object), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release(other, room + 32), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_misuse_count(other), 2);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	lfpool_destroy(pool);
	lfpool_destroy(other);
}

TEST(the_environment_overrides_every_config)
{
	for (int named = LFPOOL_BACKEND_LOCKFREE; named <= LFPOOL_BACKEND_MALLOC; named++)
		for (int backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MALLOC; backend++) {
			lfpool_config_t config = config_for((lfpool_backend_t)backend, 24, 10);

			assert_int_equal(setenv("LFPOOL_BACKEND", names[named], 1), 0);
			lfpool_t *pool = pool_with(&config);
			assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
			assert_int_equal(lfpool_backend(pool), named);
			behave(pool, 24, 10, 1);
			lfpool_destroy(pool);
			pool = pool_with(&config);
			assert_int_equal(lfpool_backend(pool), backend);
			lfpool_destroy(pool);
		}
}

TEST(an_environment_that_names_no_backend_is_refused)
{
	static const char *const wrong[] = {"lockfre", "lockfreee", "Mutex", "MALLOC", "0", "1", " mutex", "malloc "};
	lfpool_config_t config = config_of(24, 10);

	for (size_t i = 0; i < COUNT(wrong); i++) {
		lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;

		assert_int_equal(setenv("LFPOOL_BACKEND", wrong[i], 1), 0);
		lfpool_status_t status = lfpool_create(&pool, &config);
		assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
		assert_int_equal(status, LFPOOL_E_CONFIG_BACKEND);
		assert_null(pool);
	}
}

static void count_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)misuse;
	++*(size_t *)context;
}

TEST(the_mutex_pool_refuses_misuse_too)
{
	static const size_t sizes[] = {1, 3, 8, 24, 100};

	for (size_t s = 0; s < COUNT(sizes); s++) {
		lfpool_config_t config = config_for(LFPOOL_BACKEND_MUTEX, sizes[s], 20);
		size_t refused = 0, expected = 0;
		int stranger;

		config.object_alignment = 1;
		config.hooks.context = &refused;
		config.hooks.misuse = count_misuse;
		lfpool_t *pool = pool_with(&config);
		void *object = lfpool_acquire(pool), *next = lfpool_acquire(pool);
		assert_true(object && next);
		size_t stride = stride_of(pool, object);
		assert_true(stride >= 8);
		assert_int_equal(lfpool_release(pool, &stranger), LFPOOL_E_FOREIGN);
		for (expected = 1; expected < stride; expected++) {
			assert_int_equal(lfpool_release(pool, moved(object, (ptrdiff_t)expected)), LFPOOL_E_INTERIOR);
			assert_false(lfpool_owns(pool, moved(object, (ptrdiff_t)expected)));
		}
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_false(lfpool_in_use(pool, object));
		assert_true(lfpool_owns(pool, object) && lfpool_in_use(pool, next));
		assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
		assert_int_equal(refused, expected + 1);
		assert_int_equal(lfpool_misuse_count(pool), expected + 1);
		assert_int_equal(lfpool_active_count(pool), 1);
		assert_int_equal(lfpool_release(pool, next), LFPOOL_OK);
		require_whole(pool, sizes[s]);
		lfpool_destroy(pool);
	}
}

TEST(malloc_knows_its_active_objects)
{
	lfpool_config_t config = config_for(LFPOOL_BACKEND_MALLOC, 24, 20);
	lfpool_t *pool = pool_with(&config);
	void *objects[20];
	int stranger;

	assert_int_equal(acquire_all(pool, objects, 20), 20);
	for (size_t i = 0; i < 20; i++) {
		assert_true(lfpool_owns(pool, objects[i]) && lfpool_in_use(pool, objects[i]));
		assert_false(lfpool_owns(pool, moved(objects[i], 1)) || lfpool_in_use(pool, moved(objects[i], 8)));
	}
	assert_false(lfpool_owns(pool, &stranger) || lfpool_in_use(pool, &stranger));
	assert_false(lfpool_owns(pool, pool) || lfpool_owns(pool, (void *)UINTPTR_MAX));
	assert_false(lfpool_owns(pool, NULL) || lfpool_in_use(pool, NULL));
	release_all(pool, objects, 20);
	assert_false(lfpool_owns(pool, objects[0]) || lfpool_in_use(pool, objects[0]));
	lfpool_destroy(pool);
}

RUN_TESTS()
