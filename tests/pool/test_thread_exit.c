/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_thread_exit.c - a thread may still use the pool while it exits, after the library's clean-up has run:
 * destructors of thread-specific data run in an order that no program controls, in several rounds.  Keys created
 * before and after the library's own, each asking for another round, use the pool.
 *
 * That pool and thread may end in any order, even at the same moment: lfpool-stress, whose rounds end in four ways.
 */
#include "../support/support.h"

enum { SIZE = 40, EACH = 50, THREADS = 4, KEYS = 16, RETURNS = 3 };

static lfpool_t *late_pool, *other_pool; /* used alternately */

struct late {
	pthread_key_t key;
	int returns;
	void *kept; /* acquired in one round, released in the next */
};

static void late_use(void *argument)
{
	struct late *late = argument;
	void *object = lfpool_acquire(late_pool), *other = lfpool_acquire(other_pool);

	REQUIRE(object && other && lfpool_owns(late_pool, object) && lfpool_owns(other_pool, other));
	REQUIRE(lfpool_release(other_pool, other) == LFPOOL_OK);
	stamp_write(object, SIZE, (uintptr_t)late);
	if (late->kept) {
		REQUIRE(stamp_holds(late->kept, SIZE, (uintptr_t)late));
		REQUIRE(lfpool_release(late_pool, late->kept) == LFPOOL_OK);
	}
	late->kept = object;
	if (++late->returns < RETURNS) {
		REQUIRE(pthread_setspecific(late->key, late) == 0);
		return;
	}
	REQUIRE(lfpool_release(late_pool, late->kept) == LFPOOL_OK);
	free(late);
}

static pthread_key_t early_keys[KEYS], late_keys[KEYS];

static void *exit_with_destructors(void *argument)
{
	for (int i = 0; i < 2 * KEYS; i++) {
		struct late *late = calloc(1, sizeof(*late));

		REQUIRE(late);
		late->key = i < KEYS ? early_keys[i] : late_keys[i - KEYS];
		REQUIRE(pthread_setspecific(late->key, late) == 0);
	}
	/* With and without a cache before it exits. */
	if (argument) {
		void *objects[EACH];

		REQUIRE(acquire_all(late_pool, objects, EACH) == EACH);
		release_all(late_pool, objects, EACH);
		REQUIRE(acquire_all(other_pool, objects, 1) == 1);
		release_all(other_pool, objects, 1);
	}
	return NULL;
}

static void destructors_use_the_pool(void)
{
	for (int round = 0; round < TIMES(200, 40); round++) {
		const struct threads with = threads_start(THREADS / 2, exit_with_destructors, late_pool, 0);

		threads_run(THREADS / 2, exit_with_destructors, NULL, 0);
		threads_join(&with);
		assert_int_equal(lfpool_active_count(late_pool), 0);
		assert_int_equal(lfpool_available_count(late_pool), lfpool_capacity(late_pool));
	}
	require_whole(late_pool, SIZE);
}

TEST(thread_exit_destructors_may_use_the_pool)
{
	static const size_t cache_capacities[] = {0, 2, LFPOOL_CACHE_NONE};
	size_t before = 0;

	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		late_pool = POOL_OF(SIZE, THREADS * (2 * KEYS + EACH + 1), .cache_capacity = cache_capacities[i]);
		other_pool = POOL_OF(SIZE, THREADS, .cache_capacity = cache_capacities[i]);
		for (int k = 0; i == 0 && k < KEYS; k++)
			REQUIRE(pthread_key_create(&late_keys[k], late_use) == 0);
		destructors_use_the_pool();
		before = resident_bytes();
		destructors_use_the_pool();
		assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 32 * MIB));
		assert_int_equal(lfpool_destroy(late_pool), 0);
		assert_int_equal(lfpool_destroy(other_pool), 0);
	}
}

int main(void)
{
	/* Before the library has created any key. */
	for (int k = 0; k < KEYS; k++)
		REQUIRE(pthread_key_create(&early_keys[k], late_use) == 0);
	return tests_run(NULL, NULL);
}
