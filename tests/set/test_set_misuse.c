/* SPDX-License-Identifier: MIT */
/* test: misuse once */
/* test_set_misuse.c - a set refuses to release anything that is not one of its active objects.  The pool that would
 * own the object reports it, or the set; nothing changes. */
#include "../support/set_support.h"
#include "../support/told.h"

enum { SIZE = 100, CAPACITY = 20 };

static lfpool_set_t *listening_set(lfpool_backend_t backend)
{
	told_forget();
	return SET_WITH(.largest = 1000, .pool.backend = backend, .pool.capacity = CAPACITY, .pool.name = "trays",
			.pool.hooks.misuse = hear);
}

static void expect(lfpool_set_t *set, void *object, lfpool_status_t expected, const lfpool_t *pool)
{
	const size_t before = told.count;

	assert_int_equal(lfpool_set_release(set, object), expected);
	assert_int_equal(told.count, before + 1);
	assert_int_equal(told.misuse.status, expected);
	assert_ptr_equal(told.misuse.object, object);
	assert_ptr_equal(told.misuse.pool, pool);
	assert_string_equal(told.pool_name, pool == lfpool_set_class(set, 1, false, NULL) ? "trays/16" : "trays/112");
}

BACKEND_TEST(misuse_is_reported_by_the_owning_pool_or_the_set, LFPOOL_BACKEND_MUTEX)
{
	lfpool_set_t *set = listening_set(backend);
	lfpool_t *pool = lfpool_set_pool(set, SIZE), *smallest = lfpool_set_class(set, 1, false, NULL);
	unsigned char *object = lfpool_set_acquire(set, SIZE), *free_one = lfpool_set_acquire(set, SIZE);
	int stranger;

	assert_int_equal(lfpool_set_release(set, free_one), LFPOOL_OK);
	expect(set, free_one, LFPOOL_E_NOT_IN_USE, pool);
	for (ptrdiff_t offset = 1; offset < 112; offset++)
		expect(set, moved(object, offset), LFPOOL_E_INTERIOR, pool);
	/* In the window, behind the objects. */
	const ptrdiff_t stride = (ptrdiff_t)stride_of(pool, object);

	expect(set, moved(object, stride * CAPACITY), LFPOOL_E_FOREIGN, pool);
	expect(set, &stranger, LFPOOL_E_FOREIGN, smallest);
	expect(set, set, LFPOOL_E_FOREIGN, smallest);
	assert_int_equal(lfpool_set_usable_size(set, &stranger), 0);
	assert_int_equal(lfpool_set_usable_size(set, moved(object, 16)), 0);
	/* Nothing has changed. */
	assert_int_equal(lfpool_active_count(pool), 1);
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	require_whole(pool, SIZE);
	/* The sum of the refusals of both pools. */
	const lfpool_stats_t stats = set_stats_of(set);

	assert_int_equal(stats.misuses, told.count);
	assert_int_equal(told.count, 2 + 111 + 3 - 1);
	assert_int_equal(lfpool_quick_stats(pool).misuses, told.count - 2);
	lfpool_set_destroy(set);
}

/* Every address from before the first window to behind the last is refused, whether its pool exists or not. */
TEST(addresses_outside_objects_are_refused)
{
	lfpool_set_t *set = listening_set(LFPOOL_BACKEND_LOCKFREE);
	unsigned char *object = lfpool_set_acquire(set, SIZE);
	const size_t range = 2 * class_count(set) * CAPACITY * 1024;
	size_t refused = 0;

	for (ptrdiff_t distance = 1; distance < (ptrdiff_t)range; distance += 16)
		for (int sign = -1; sign <= 1; sign += 2) {
			void *pointer = moved(object, sign * distance);

			assert_int_equal(lfpool_set_usable_size(set, pointer), 0);
			assert_int_not_equal(lfpool_set_release(set, pointer), LFPOOL_OK);
			refused++;
		}
	assert_int_equal(told.count, refused);
	for (unsigned bit = 0; bit < 64; bit++)
		assert_int_not_equal(lfpool_set_release(set, (void *)((uintptr_t)1 << bit)), LFPOOL_OK);
	assert_int_equal(lfpool_set_release(set, (void *)UINTPTR_MAX), LFPOOL_E_FOREIGN);
	/* None of that made a pool. */
	EACH_CLASS(set, bytes)
	assert_true(!lfpool_set_class(set, bytes, false, NULL) == (bytes != 16 && bytes != 112));
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	assert_int_equal(lfpool_set_destroy(set), 0);
}

/* Objects of another set, of a pool, of a pool whose size no class has. */
BACKEND_TEST(objects_of_other_pools_are_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_set_t *set = listening_set(backend), *other = listening_set(backend);
	lfpool_t *pools[] = {POOL_OF(112, 1, .backend = backend), POOL_OF(100000, 1, .backend = backend)};
	void *object = lfpool_set_acquire(set, SIZE), *others = lfpool_set_acquire(other, SIZE);

	for (size_t i = 0; i < COUNT(pools); i++) {
		void *single = lfpool_acquire(pools[i]);

		expect(set, single, LFPOOL_E_FOREIGN, lfpool_set_class(set, 1, false, NULL));
		assert_int_equal(lfpool_release(pools[i], single), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pools[i]), 0);
	}
	expect(set, others, LFPOOL_E_FOREIGN, lfpool_set_class(set, 1, false, NULL));
	expect(other, object, LFPOOL_E_FOREIGN, lfpool_set_class(other, 1, false, NULL));
	assert_int_equal(lfpool_set_usable_size(set, others), 0);
	assert_int_equal(lfpool_set_usable_size(set, object), 112);
	assert_int_equal(lfpool_set_release(set, object), LFPOOL_OK);
	assert_int_equal(lfpool_set_release(other, others), LFPOOL_OK);
	set_close(set);
	set_close(other);
}

TEST(bulk_release_skips_bad_pointers)
{
	lfpool_set_t *set = listening_set(LFPOOL_BACKEND_LOCKFREE);
	void *objects[8];
	int stranger;

	for (size_t i = 0; i < COUNT(objects); i++)
		objects[i] = lfpool_set_acquire(set, i < 4 ? 20 : 200);
	void *const given[] = {
		objects[0], &stranger, objects[1],          objects[0], moved(objects[2], 3), objects[2], objects[4],
		objects[3], NULL,      moved(&stranger, 1), objects[5], objects[6],           objects[6], objects[7],
	};

	assert_int_equal(lfpool_set_release_bulk(set, given, COUNT(given)), COUNT(objects));
	assert_int_equal(told.count, 5);
	set_close(set);
}

static void release_two(void *set)
{
	(void)lfpool_set_release(set, set);
	(void)lfpool_set_release(set, set);
}

TEST(misuse_without_a_hook_prints_one_line)
{
	lfpool_set_t *set = SET_WITH(.largest = 100, .pool.capacity = 1, .pool.name = "trays");
	char text[TEXT_BYTES];

	stderr_of(release_two, set, text);
	require_in(text, "pool \"trays/16\"");
	require_in(text, "refused");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	lfpool_set_destroy(set);
}

RUN_TESTS()
