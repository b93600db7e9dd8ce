/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_self.c - lfpool_of() and lfpool_release_self(): the pool of an address, among pools that come and go.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { SIZE = 40, CAPACITY = 50 };

TEST(an_object_finds_its_pool)
{
	const uint32_t flags[] = {0, LFPOOL_ZERO, LFPOOL_CHECK_RACES, 0};
	lfpool_t *pools[COUNT(flags)];
	void *objects[COUNT(flags)];

	for (size_t i = 0; i < COUNT(flags); i++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);

		config.flags = flags[i];
		config.backend = i == 3 ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE;
		pools[i] = pool_with(&config);
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

static void count_misuse(void *context, const lfpool_misuse_t *misuse)
{
	++*(size_t *)context;
	REQUIRE(misuse->status == LFPOOL_E_INTERIOR || misuse->status == LFPOOL_E_NOT_IN_USE);
}

TEST(wrong_releases_are_refused_by_the_pool)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	size_t misuses = 0;
	int local;

	config.hooks.misuse = count_misuse;
	config.hooks.context = &misuses;
	lfpool_t *pool = pool_with(&config);
	char *object = lfpool_acquire(pool);

	assert_int_equal(lfpool_release_self(NULL), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(&local), LFPOOL_E_FOREIGN);
	assert_int_equal(misuses, 0);
	assert_int_equal(lfpool_release_self(object + 1), LFPOOL_E_INTERIOR);
	assert_int_equal(lfpool_release_self(object), LFPOOL_OK);
	assert_int_equal(lfpool_release_self(object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(misuses, 2);
	assert_int_equal(lfpool_misuse_count(pool), 2);
	lfpool_destroy(pool);
}

TEST(objects_of_the_malloc_backend_are_found_by_their_labels)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	char local[SIZE + 64] = {0};

	config.backend = LFPOOL_BACKEND_MALLOC;
	lfpool_t *pool = pool_with(&config);
	void *object = lfpool_acquire(pool);

	assert_ptr_equal(lfpool_of(object), pool);
	assert_null(lfpool_of(local + 32));
	assert_null(lfpool_of(NULL));
	assert_int_equal(lfpool_release_self(local + 32), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release_self(object), LFPOOL_OK);
	assert_int_equal(lfpool_active_count(pool), 0);
	lfpool_destroy(pool);
}

/* As many as come to mind, in any order, and after each step everybody is found who should be, and nobody else. */
TEST(pools_come_and_go)
{
	enum { POOLS = 300 };
	struct random r = random_for(test_seed("pools_come_and_go"), 0);
	static lfpool_t *pools[POOLS];
	static void *objects[POOLS];
	size_t alive = 0, most = 0;

	for (int step = 0; step < TIMES(3000, 600); step++) {
		/* Up, and down again. */
		const bool up = random_below(&r, 100) < (step / 500 % 2 ? 20 : 80);

		if (up && alive < POOLS) {
			pools[alive] = pool_of(SIZE, 1 + random_below(&r, 200));
			objects[alive] = lfpool_acquire(pools[alive]);
			alive++;
			most = alive > most ? alive : most;
		} else if (!up && alive) {
			const size_t gone = random_below(&r, (uint32_t)alive);
			void *object = objects[gone];

			assert_int_equal(lfpool_destroy(pools[gone]), 1);
			pools[gone] = pools[--alive];
			objects[gone] = objects[alive];
			assert_null(lfpool_of(object));
		}
		for (size_t i = 0; i < alive; i++)
			assert_ptr_equal(lfpool_of(objects[i]), pools[i]);
	}
	print_message("    at most %zu pools at once\n", most);
	assert_true(most > 100);
	while (alive) {
		assert_int_equal(lfpool_release_self(objects[--alive]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pools[alive]), 0);
	}
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

	for (size_t i = 0; i < COUNT(pools); i++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);

		REQUIRE(lfpool_create(&pools[i], &config) == LFPOOL_OK);
	}
	/* relaxed: a sign. */
	while (!atomic_load_explicit(&scene->over, memory_order_relaxed) || looked < 1000) {
		for (size_t i = 0; i < COUNT(pools); i++) {
			void *object = lfpool_acquire(pools[i]);

			REQUIRE(lfpool_of(object) == pools[i]);
			REQUIRE(lfpool_release_self(object) == LFPOOL_OK);
			REQUIRE(lfpool_release_self(&local) == LFPOOL_E_FOREIGN);
			looked++;
		}
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
		lfpool_config_t config = config_of(SIZE, CAPACITY);

		if (pools[k]) {
			REQUIRE(lfpool_destroy(pools[k]) == 0);
			pools[k] = NULL;
			continue;
		}
		REQUIRE(lfpool_create(&pools[k], &config) == LFPOOL_OK);
		REQUIRE(lfpool_release_self(lfpool_acquire(pools[k])) == LFPOOL_OK);
	}
	for (size_t k = 0; k < COUNT(pools); k++)
		REQUIRE(lfpool_destroy(pools[k]) == 0);
	return NULL;
}

TEST(others_come_and_go_meanwhile)
{
	struct scene scene = {.seed = (unsigned)test_seed("others_come_and_go_meanwhile")};
	pthread_t users[2], others[2];

	for (size_t i = 0; i < 2; i++) {
		thread_start(&users[i], use_own_pools, &scene);
		thread_start(&others[i], come_and_go, &scene);
	}
	for (size_t i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	atomic_store(&scene.over, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(users[i], NULL);
	print_message("    %zu looks\n", atomic_load(&scene.looked));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_finds_its_pool),
		cmocka_unit_test(the_range_ends_where_the_objects_end),
		cmocka_unit_test(wrong_releases_are_refused_by_the_pool),
		cmocka_unit_test(objects_of_the_malloc_backend_are_found_by_their_labels),
		cmocka_unit_test(pools_come_and_go),
		cmocka_unit_test(others_come_and_go_meanwhile),
	};

	return cmocka_run_group_tests_name("self", tests, NULL, NULL);
}
