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

/* THREADS visitors use a pool that dies before they exit, after, or while they are past their last call and on their way out. */
enum when { BEFORE, MEANWHILE, AFTER };

static void one_death(enum when when, const char *debug)
{
	pthread_barrier_t used, leave;
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .debug = debug, .hooks.misuse = no_misuse);
	struct visitor visitor = {.pool = pool, .used = &used, .leave = when == BEFORE ? &leave : NULL};

	pthread_barrier_init(&used, NULL, THREADS + 1);
	pthread_barrier_init(&leave, NULL, THREADS + 1);
	const struct threads visitors = threads_start(THREADS, visit, &visitor, 0);

	pthread_barrier_wait(&used);
	if (when == AFTER) {
		threads_join(&visitors);
		assert_int_equal(lfpool_available_count(pool), CAPACITY);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
	if (when == BEFORE)
		pthread_barrier_wait(&leave);
	if (when != AFTER)
		threads_join(&visitors);
	pthread_barrier_destroy(&used);
	pthread_barrier_destroy(&leave);
}

static void many_deaths(enum when when, const char *debug)
{
	for (int i = 0; i < TIMES(1000, 150); i++)
		one_death(when, debug);
}

TEST(pool_destroyed_before_its_threads_exit)
{
	many_deaths(BEFORE, NULL);
}

/* The mode looks at every cache at the end: not while its thread gives it back. */
TEST(pool_destroyed_while_its_threads_exit)
{
	many_deaths(MEANWHILE, NULL);
	many_deaths(MEANWHILE, "check");
}

TEST(pool_destroyed_after_its_threads_exited)
{
	many_deaths(AFTER, NULL);
}

/* Pools come and go, on other addresses and on the same ones, while threads that used the earlier ones are still
 * exiting. */
TEST(pools_and_threads_churn_together)
{
	enum { ROUNDS = TIMES(800, 150) };
	static struct visitor visitors[ROUNDS];
	static struct threads threads[ROUNDS];
	pthread_barrier_t used;

	pthread_barrier_init(&used, NULL, 2);
	for (int i = 0; i < ROUNDS; i++) {
		visitors[i] = (struct visitor){.pool = pool_of(SIZE, CAPACITY), .used = &used};
		threads[i] = threads_start(1, visit, &visitors[i], 0);
		use(visitors[i].pool);
		pthread_barrier_wait(&used);
		assert_int_equal(lfpool_destroy(visitors[i].pool), 0);
		if (i >= 3)
			threads_join(&threads[i - 3]);
	}
	for (int i = ROUNDS - 3; i < ROUNDS; i++)
		threads_join(&threads[i]);
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
	for (int round = 0; round < TIMES(200, 40); round++) {
		const struct threads with = threads_start(THREADS / 2, exit_with_destructors, late_pool, 0);

		threads_run(THREADS / 2, exit_with_destructors, NULL, 0);
		threads_join(&with);
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
		late_pool = POOL_OF(SIZE, THREADS * (2 * KEYS + CAPACITY / THREADS + 1), .cache_capacity = cache_capacities[i]);
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
	/* Before the library has made any key. */
	for (int k = 0; k < KEYS; k++)
		REQUIRE(pthread_key_create(&early_keys[k], late_use) == 0);
	return tests_run(NULL, NULL);
}
