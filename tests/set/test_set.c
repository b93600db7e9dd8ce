/* SPDX-License-Identifier: MIT */
/* test_set.c - a set's contract, with each backend: a request of any size gets a large enough object that no other
 * thread has; the address alone is enough to release it. */
#include "../support/set_support.h"

#include <errno.h>
#include <sys/syscall.h>

static void check_each_class(const lfpool_set_config_t *config)
{
	lfpool_set_t *set = set_with(config);
	void **objects = pointers_new(class_count(set));
	const size_t alignment = config->pool.object_alignment ? config->pool.object_alignment : 16;
	size_t i = 0, least = 1;

	/* An object for each class, of a size that just needs it. */
	EACH_CLASS(set, bytes)
	{
		assert_int_equal(lfpool_set_class_size(set, least), bytes);
		objects[i] = lfpool_set_acquire(set, least);
		assert_non_null(objects[i]);
		assert_int_equal((uintptr_t)objects[i] % alignment, 0);
		assert_int_equal(lfpool_set_usable_size(set, objects[i]), bytes);
		assert_ptr_equal(lfpool_of(objects[i]), lfpool_set_class(set, bytes, false, NULL));
		assert_ptr_equal(lfpool_of(objects[i]), lfpool_set_pool_of(set, objects[i], NULL));
		stamp_write(objects[i], bytes, i);
		least = bytes + 1;
		i++;
	}
	i = 0;
	EACH_CLASS(set, bytes)
	assert_true(stamp_holds(objects[i], bytes, i)), i++;
	require_set_intact(set);
	/* By the set, with only the address. */
	while (i-- > 0)
		REQUIRE((i % 2 ? lfpool_set_release(set, objects[i]) : lfpool_release_self(objects[i])) == LFPOOL_OK);
	set_close(set);
	free(objects);
}

BACKEND_TEST(each_class_serves_its_sizes, LFPOOL_BACKEND_MALLOC)
{
	for (size_t alignment = 1; alignment <= 4096; alignment *= 8)
		for (size_t steps = 4; steps <= 16; steps *= 2) {
			lfpool_set_config_t config = set_config_of(backend, 70000, 3);

			config.pool.object_alignment = alignment;
			config.steps = steps;
			check_each_class(&config);
		}
}

/* Slots are larger than these objects. */
BACKEND_TEST(objects_smaller_than_a_link, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_config_t config = set_config_of(backend, 4, 10000);

	config.pool.object_alignment = 1;
	check_each_class(&config);
	config.pool.debug = "guard";
	check_each_class(&config);
}

/* Is this byte readable?  The system is asked, and survives a no. */
static bool is_accessible(const int pipe_ends[2], const void *byte)
{
	char there;

	return syscall(SYS_write, pipe_ends[1], byte, (size_t)1) == 1 && read(pipe_ends[0], &there, 1) == 1;
}

/* A write beyond the end of the last object hits a page without access before the objects of another class. */
TEST(no_access_between_classes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	int pipe_ends[2];

	assert_int_equal(pipe(pipe_ends), 0);
	config.largest = 8192;
	config.pool.debug = "no-tools"; /* those would have bytes next to the objects */
	/* Windows filled as far as possible. */
	for (config.class_bytes = 8192; config.class_bytes <= MIB; config.class_bytes *= 2) {
		lfpool_set_t *set = set_with(&config);
		void **objects = pointers_new(config.class_bytes / 16);

		EACH_CLASS(set, size)
		{
			lfpool_t *pool = lfpool_set_pool(set, size);
			const size_t count = lfpool_capacity(pool);

			assert_int_equal(acquire_all(pool, objects, count), count);
			assert_true(sort_disjoint(objects, count, size));

			const uintptr_t end = (uintptr_t)objects[count - 1] + LFPOOL_STRIDE_(size, 16);

			assert_true(is_accessible(pipe_ends, (void *)(end - 1)));
			assert_false(is_accessible(pipe_ends, (void *)((end + page - 1) / page * page + 64)));
			assert_false(is_accessible(pipe_ends, (void *)((uintptr_t)objects[0] / page * page - 1)));
			release_all(pool, objects, count);
		}
		free(objects);
		assert_int_equal(lfpool_set_destroy(set), 0);
	}
	close(pipe_ends[0]);
	close(pipe_ends[1]);
}

BACKEND_TEST(sizes_without_a_class_are_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = set_of(backend, 1000, 1);
	const size_t largest = lfpool_set_class_size(set, 1000);
	void *object = lfpool_set_acquire(set, 0);

	assert_int_equal(largest, 1024);
	assert_int_equal(lfpool_set_usable_size(set, object), 16);
	errno = 0;
	assert_null(lfpool_set_acquire(set, largest + 1));
	assert_null(lfpool_set_acquire(set, SIZE_MAX));
	assert_int_equal(lfpool_set_acquire_bulk(set, largest + 1, &object, 1), 0);
	assert_int_equal(errno, 0);
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	assert_int_equal(lfpool_set_release(set, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_set_usable_size(set, NULL), 0);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

BACKEND_TEST(exhausted_class_uses_larger_ones, LFPOOL_BACKEND_MALLOC)
{
	enum { CAPACITY = 5, LARGER = 2, ALL = CAPACITY * (LARGER + 1) };
	void *objects[ALL + 1];
	lfpool_set_t *set;

	set = SET_WITH(.largest = 128, .larger = LARGER, .pool.backend = backend, .pool.capacity = CAPACITY);
	assert_int_equal(acquire_all_of(set, 40, objects, COUNT(objects)), ALL);
	for (size_t i = 0; i < ALL; i++)
		assert_int_equal(lfpool_set_usable_size(set, objects[i]), 48 + 16 * (i / CAPACITY));
	/* The next class above those is not used. */
	assert_null(lfpool_set_class(set, 96, false, NULL));
	/* One is released to a larger class, and acquired from there. */
	assert_int_equal(lfpool_set_release(set, objects[CAPACITY]), LFPOOL_OK);
	assert_ptr_equal(lfpool_set_class(set, 64, false, NULL),
			 lfpool_of((objects[CAPACITY] = lfpool_set_acquire(set, 33))));
	release_to(set, objects, ALL);
	/* The same in bulk. */
	assert_int_equal(lfpool_set_acquire_bulk(set, 40, objects, COUNT(objects)), ALL);
	assert_int_equal(lfpool_set_release_bulk(set, objects, ALL), ALL);
	/* Above the largest class there is none. */
	assert_int_equal(acquire_all_of(set, 128, objects, COUNT(objects)), CAPACITY);
	release_to(set, objects, CAPACITY);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

/* A class grows to its limit before the next one is used. */
TEST(class_grows_before_a_larger_one_is_used)
{
	void *objects[11];
	lfpool_set_t *set = SET_WITH(.largest = 2000, .larger = 1, .pool.capacity = 2, .pool.max_capacity = 5,
				     .pool.growth_step = 1);

	assert_int_equal(acquire_all_of(set, 64, objects, COUNT(objects)), 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(lfpool_set_usable_size(set, objects[i]), i < 5 ? 64 : 80);
	release_to(set, objects, 10);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

static void ignore(void *context, lfpool_t *pool, void *object)
{
	(void)context, (void)pool, (void)object;
}

/* Calls that wait for an object of any class. */
TEST(stats_add_up_waiting_calls)
{
	lfpool_set_t *set = SET_WITH(.largest = 32, .pool.capacity = 1);
	lfpool_ticket_t ticket;

	for (size_t size = 16; size <= 32; size += 16)
		assert_non_null(lfpool_set_acquire(set, size));
	for (size_t waiting = 1; waiting <= 3; waiting++) {
		lfpool_t *pool = lfpool_set_pool(set, waiting == 1 ? 16 : 32);

		assert_int_equal(lfpool_acquire_async(pool, ignore, NULL, &ticket), LFPOOL_OK);
		assert_int_equal(set_stats_of(set).waiting, waiting);
	}
	assert_int_equal(lfpool_set_destroy(set), 2);
}

RUN_TESTS()
