/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_self.c - lfpool_of() and lfpool_release_self(): the pool of an address, among pools that come and go (of hundreds at once:
 * test_many_pools.c).
 */
#include "../support/support.h"
#include "../support/told.h"

#include <stdatomic.h>

enum { SIZE = 40, CAPACITY = 50 };

TEST(an_object_finds_its_pool)
{
	const uint32_t flags[] = {0, LFPOOL_ZERO, LFPOOL_CHECK_RACES, 0};
	lfpool_t *pools[COUNT(flags)];
	void *objects[COUNT(flags)];

	for (size_t i = 0; i < COUNT(flags); i++) {
		pools[i] = POOL_OF(SIZE, CAPACITY, .flags = flags[i],
				   .backend = i == 3 ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE);
		assert_non_null(objects[i] = lfpool_acquire(pools[i]));
	}
	for (size_t i = 0; i < COUNT(flags); i++) {
		assert_ptr_equal(lfpool_of(objects[i]), pools[i]);
		assert_ptr_equal(lfpool_of(moved(objects[i], SIZE - 1)), pools[i]);
		assert_int_equal(lfpool_release_self(objects[i]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pools[i]), 0);
		/* Free ones too. */
		assert_ptr_equal(lfpool_of(objects[i]), pools[i]);
	}
	for (size_t i = 0; i < COUNT(flags); i++) {
		lfpool_destroy(pools[i]);
		assert_null(lfpool_of(objects[i]));
		assert_int_equal(lfpool_release_self(objects[i]), LFPOOL_E_FOREIGN);
	}
}

static bool first_slot(void *context, void *object, bool active)
{
	(void)active;
	*(void **)context = object;
	return false;
}

TEST(the_range_ends_where_the_objects_end)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	void *first = NULL;

	lfpool_for_each_slot(pool, first_slot, &first);

	const ptrdiff_t stride = (ptrdiff_t)stride_of(pool, first);

	for (ptrdiff_t i = 0; i < stride * CAPACITY; i++)
		assert_ptr_equal(lfpool_of(moved(first, i)), pool);
	assert_null(lfpool_of(moved(first, -1)));
	assert_null(lfpool_of(moved(first, stride * CAPACITY)));
	assert_null(lfpool_of(NULL));
	assert_null(lfpool_of(&pool));
	assert_null(lfpool_of(pool));
	assert_null(lfpool_of((void *)UINTPTR_MAX));
	lfpool_destroy(pool);
}

TEST(wrong_releases_are_refused_by_the_pool)
{
	int local;
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .hooks.misuse = hear);
	char *object = lfpool_acquire(pool);

	assert_int_equal(lfpool_release_self(NULL), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(&local), LFPOOL_E_FOREIGN);
	assert_int_equal(told.count, 0);
	assert_int_equal(lfpool_release_self(object + 1), LFPOOL_E_INTERIOR);
	assert_int_equal(lfpool_release_self(object), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.count, 2);
	assert_int_equal(lfpool_misuse_count(pool), 2);
	lfpool_destroy(pool);
}

TEST(objects_of_the_malloc_backend_are_found_by_their_labels)
{
	char local[SIZE + 64] = {0};
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = LFPOOL_BACKEND_MALLOC);
	void *object = lfpool_acquire(pool);

	assert_ptr_equal(lfpool_of(object), pool);
	assert_null(lfpool_of(local + 32));
	assert_null(lfpool_of(NULL));
	assert_int_equal(lfpool_release_self(local + 32), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release_self(object), LFPOOL_OK);
	assert_int_equal(lfpool_active_count(pool), 0);
	lfpool_destroy(pool);
}

/* ---- Threads ---- */

struct scene {
	_Atomic(bool) over;
	_Atomic(size_t) looked;
	unsigned seed;
};

/* Has pools of its own, and asks for them while others come and go. */
static void *use_own_pools(void *argument)
{
	struct scene *scene = argument;
	lfpool_t *pools[5];
	size_t looked = 0;
	int local;

	for (size_t i = 0; i < COUNT(pools); i++)
		pools[i] = pool_of(SIZE, CAPACITY);
	/* relaxed: a sign. */
	while (!atomic_load_explicit(&scene->over, memory_order_relaxed) || looked < 1000)
		for (size_t i = 0; i < COUNT(pools); i++) {
			void *object = lfpool_acquire(pools[i]);

			REQUIRE(lfpool_of(object) == pools[i]);
			REQUIRE(lfpool_release_self(object) == LFPOOL_OK);
			REQUIRE(lfpool_release_self(&local) == LFPOOL_E_FOREIGN);
			looked++;
		}
	atomic_fetch_add(&scene->looked, looked);
	for (size_t i = 0; i < COUNT(pools); i++)
		REQUIRE(lfpool_destroy(pools[i]) == 0);
	return NULL;
}

static void *come_and_go(void *argument)
{
	struct scene *scene = argument;
	struct random r = random_for(scene->seed, 7);
	lfpool_t *pools[40] = {NULL};

	for (int i = 0; i < TIMES(4000, 800); i++) {
		const uint32_t k = random_below(&r, COUNT(pools));

		if (pools[k]) {
			require_whole(pools[k], SIZE);
			REQUIRE(lfpool_destroy(pools[k]) == 0);
			pools[k] = NULL;
			continue;
		}
		pools[k] = pool_of(SIZE, CAPACITY);
		REQUIRE(lfpool_release_self(lfpool_acquire(pools[k])) == LFPOOL_OK);
	}
	for (size_t k = 0; k < COUNT(pools); k++)
		REQUIRE(lfpool_destroy(pools[k]) == 0);
	return NULL;
}

TEST(others_come_and_go_meanwhile)
{
	struct scene scene = {.seed = (unsigned)test_seed("others_come_and_go_meanwhile")};
	const struct threads users = threads_start(2, use_own_pools, &scene, 0);

	threads_run(2, come_and_go, &scene, 0);
	atomic_store(&scene.over, true);
	threads_join(&users);
	print_message("    %zu looks\n", atomic_load(&scene.looked));
}

RUN_TESTS()
