/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_thread_exit.c - pool and thread may end in any order, also at the same moment; and a thread may still use the
 * pool while it exits, after the library's own clean-up has run.
 */
#include "../support/support.h"

#include <semaphore.h>

enum { SIZE = 40, CAPACITY = 200, THREADS = 4 };

struct visitor {
	lfpool_t *pool;
	pthread_t thread;
	pthread_barrier_t *used, *leave;
};

static void use(lfpool_t *pool)
{
	void *objects[CAPACITY / THREADS];

	for (int round = 0; round < 3; round++) {
		REQUIRE(acquire_all(pool, objects, CAPACITY / THREADS) == CAPACITY / THREADS);
		for (size_t i = 0; i < CAPACITY / THREADS; i++)
			stamp_write(objects[i], SIZE, (uintptr_t)pool);
		release_all(pool, objects, CAPACITY / THREADS);
	}
}

static void *visit(void *argument)
{
	struct visitor *v = argument;

	use(v->pool);
	pthread_barrier_wait(v->used);
	if (v->leave)
		pthread_barrier_wait(v->leave);
	return NULL;
}

static void no_misuse(void *nothing, const lfpool_misuse_t *misuse)
{
	(void)nothing;
	fprintf(stderr, "%s: %s\n", lfpool_status_string(misuse->status), misuse->detail);
	REQUIRE(misuse->status == LFPOOL_OK);
}

/* THREADS visitors use a pool that dies before they exit, while they exit, or after. */
static void one_death(bool before, bool after, const char *debug)
{
	pthread_barrier_t used, leave;
	struct visitor visitors[THREADS];
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.debug = debug;
	config.hooks.misuse = no_misuse;
	lfpool_t *pool = pool_with(&config);

	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&leave, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		visitors[i] = (struct visitor){.pool = pool, .used = &used, .leave = before ? &leave : NULL};
		thread_start(&visitors[i].thread, visit, &visitors[i]);
	}
	pthread_barrier_wait(&used);
	/* Neither before nor after: the visitors are past their last call and on their way out at this very
	 * moment. */
	for (int i = 0; after && i < THREADS; i++)
		pthread_join(visitors[i].thread, NULL);
	if (after)
		assert_int_equal(lfpool_available_count(pool), CAPACITY);
	assert_int_equal(lfpool_destroy(pool), 0);
	if (before)
		pthread_barrier_wait(&leave);
	for (int i = 0; !after && i < THREADS; i++)
		pthread_join(visitors[i].thread, NULL);
	pthread_barrier_destroy(&used);
	pthread_barrier_destroy(&leave);
}

TEST(pool_destroyed_before_its_threads_exit)
{
	for (int i = 0; i < TIMES(1000, 150); i++)
		one_death(true, false, NULL);
}

TEST(pool_destroyed_while_its_threads_exit)
{
	for (int i = 0; i < TIMES(1000, 150); i++)
		one_death(false, false, NULL);
}

/* The mode looks at every cache at the end: not while its thread gives it back. */
TEST(pool_checked_and_destroyed_while_its_threads_exit)
{
	for (int i = 0; i < TIMES(1000, 150); i++)
		one_death(false, false, "check");
}

TEST(pool_destroyed_after_its_threads_exited)
{
	for (int i = 0; i < TIMES(1000, 150); i++)
		one_death(false, true, NULL);
}

/* Pools come and go, on other addresses and on the same ones, while threads that used the earlier ones are still
 * exiting. */
TEST(pools_and_threads_churn_together)
{
	enum { ROUNDS = TIMES(800, 150) };
	static struct visitor visitors[ROUNDS];
	pthread_barrier_t used;

	pthread_barrier_init(&used, NULL, 2);
	for (int i = 0; i < ROUNDS; i++) {
		visitors[i] = (struct visitor){.pool = pool_of(SIZE, CAPACITY), .used = &used};
		thread_start(&visitors[i].thread, visit, &visitors[i]);
		use(visitors[i].pool);
		pthread_barrier_wait(&used);
		assert_int_equal(lfpool_destroy(visitors[i].pool), 0);
		if (i >= 3)
			pthread_join(visitors[i - 3].thread, NULL);
	}
	for (int i = ROUNDS - 3; i < ROUNDS; i++)
		pthread_join(visitors[i].thread, NULL);
	pthread_barrier_destroy(&used);
}

/*
 * Destructors of thread-specific data run in an order nobody controls, in several rounds: keys made before and after
 * the library's own, each coming back for another round, use the pool while the thread exits.
 */
enum { KEYS = 16, RETURNS = 3 };

static lfpool_t *late_pool;

struct late {
	pthread_key_t key;
	int returns;
	void *kept; /* acquired in one round, released in the next */
};

static void late_use(void *argument)
{
	struct late *late = argument;
	void *object = lfpool_acquire(late_pool);

	REQUIRE(object);
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
	/* With and without a cache of its own before it exits. */
	if (argument)
		use(late_pool);
	return NULL;
}

static void destructors_use_the_pool(void)
{
	pthread_t threads[THREADS];

	for (int round = 0; round < TIMES(200, 40); round++) {
		for (int i = 0; i < THREADS; i++)
			thread_start(&threads[i], exit_with_destructors, i % 2 ? late_pool : NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(lfpool_active_count(late_pool), 0);
		assert_int_equal(lfpool_available_count(late_pool), lfpool_capacity(late_pool));
	}
	require_whole(late_pool, SIZE);
}

TEST(destructors_of_an_exiting_thread_use_the_pool)
{
	static const size_t cache_capacities[] = {0, 2, LFPOOL_CACHE_NONE};
	size_t before = 0;

	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		lfpool_config_t config = config_of(SIZE, THREADS * (2 * KEYS + CAPACITY / THREADS + 1));

		config.cache_capacity = cache_capacities[i];
		late_pool = pool_with(&config);
		for (int k = 0; i == 0 && k < KEYS; k++)
			REQUIRE(pthread_key_create(&late_keys[k], late_use) == 0);
		destructors_use_the_pool();
		before = resident_bytes();
		destructors_use_the_pool();
		assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 32 * MIB));
		assert_int_equal(lfpool_destroy(late_pool), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destructors_of_an_exiting_thread_use_the_pool),
		cmocka_unit_test(pool_destroyed_before_its_threads_exit),
		cmocka_unit_test(pool_destroyed_while_its_threads_exit),
		cmocka_unit_test(pool_checked_and_destroyed_while_its_threads_exit),
		cmocka_unit_test(pool_destroyed_after_its_threads_exited),
		cmocka_unit_test(pools_and_threads_churn_together),
	};

	/* Before the library has made any key. */
	for (int k = 0; k < KEYS; k++)
		REQUIRE(pthread_key_create(&early_keys[k], late_use) == 0);
	return cmocka_run_group_tests_name("thread exit", tests, NULL, NULL);
}
