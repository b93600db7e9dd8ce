/* SPDX-License-Identifier: MIT */
/*
 * failures.c - the operating system refuses the n-th call, for every n: nothing is left behind, and everything that
 * may go on does.
 */
#include "../support/child.h"
#include "../support/held.h"
#include "../support/support.h"

#include "os/os.h"

#include <errno.h>
#include <pthread.h>

/* So many explicit caches that a second lot must be mapped. */
#define CACHES 20
#define CAPACITY 64
/* So many objects that pages must be opened. */
#define MORE 1000

/* A thread's whole life with the pool: it works whatever is refused. */
static void *live(void *pool)
{
	void *objects[CAPACITY + 1];

	errno = 0;
	REQUIRE(acquire_all(pool, objects, CAPACITY + 1) == CAPACITY);
	release_all(pool, objects, CAPACITY);
	REQUIRE(errno == 0);
	return NULL;
}

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(const lfpool_config_t *config, unsigned long n)
{
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;
	lfpool_cache_t *caches[CACHES];
	pthread_t thread;

	(void)os_testing_refuse(n);
	lfpool_status_t status = lfpool_create(&pool, config);

	if (status != LFPOOL_OK) {
		assert_true(status == LFPOOL_E_NO_MEMORY || (config->flags & LFPOOL_LOCK && status == LFPOOL_E_LOCK));
		assert_null(pool);
		return os_testing_refuse(0) >= n;
	}
	(void)live(pool);
	/* Not all at once, perhaps: what was refused as a whole is asked for in parts. */
	assert_int_equal(lfpool_grow(pool, MORE), MORE);
	assert_int_equal(lfpool_capacity(pool), CAPACITY + MORE);
	assert_int_equal(lfpool_shrink(pool, MORE), MORE);
	for (size_t i = 0; i < CACHES; i++) {
		caches[i] = lfpool_cache_create(pool);
		if (caches[i]) {
			void *object = lfpool_cache_acquire(caches[i]);

			assert_non_null(object);
			assert_int_equal(lfpool_cache_release(caches[i], object), LFPOOL_OK);
		}
	}
	thread_start(&thread, live, pool);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < CACHES; i++)
		lfpool_cache_destroy(caches[i]);
	bool refused = os_testing_refuse(0) >= n;

	assert_int_equal(lfpool_active_count(pool), 0);
	(void)live(pool);
	assert_int_equal(lfpool_destroy(pool), 0);
	return refused;
}

static void refuse_each_in_turn(uint32_t flags, lfpool_backend_t backend)
{
	lfpool_config_t config = config_of(24, CAPACITY);
	unsigned long n = 1;

	config.flags = flags;
	config.backend = backend;
	config.max_capacity = CAPACITY + MORE;
	/* Once undisturbed: this thread's own table and the list of pools stay for the next pool. */
	(void)scenario(&config, 0);
	struct held before = held_now();

	for (; scenario(&config, n); n++) {
		struct held after = held_now();

		assert_int_equal(after.mapped, before.mapped);
		assert_int_equal(after.blocks, before.blocks);
	}
	print_message("flags %x, backend %d: each of %lu calls refused\n", (unsigned)flags, (int)backend, n - 1);
	assert_true(n > 2);
}

/* The first pool of a process also makes the fork handlers, the thread key and the list of pools. */
TEST(the_first_pool_of_a_process)
{
	lfpool_config_t config = config_of(24, CAPACITY);
	lfpool_t *pool;

	/* The key, with the handlers installed; the key again; the guard page, with both there. */
	static const unsigned long nth[] = {2, 1, 3};

	for (size_t i = 0; i < COUNT(nth); i++) {
		(void)os_testing_refuse(nth[i]);
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
		assert_int_equal(held_now().mapped, 0);
	}
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
	/* The handlers of fork were not installed twice: they take a lock. */
	const pid_t child = child_start();

	if (child == 0)
		_exit(0);
	child_end(child);
}

TEST(lockfree)
{
	refuse_each_in_turn(0, LFPOOL_BACKEND_LOCKFREE);
	refuse_each_in_turn(LFPOOL_PREFAULT, LFPOOL_BACKEND_LOCKFREE);
	refuse_each_in_turn(LFPOOL_ZERO, LFPOOL_BACKEND_LOCKFREE);
	refuse_each_in_turn(LFPOOL_LOCK, LFPOOL_BACKEND_LOCKFREE);
	refuse_each_in_turn(LFPOOL_HUGE_PAGES | LFPOOL_PREFAULT, LFPOOL_BACKEND_LOCKFREE);
}

TEST(mutex)
{
	refuse_each_in_turn(0, LFPOOL_BACKEND_MUTEX);
	refuse_each_in_turn(LFPOOL_LOCK | LFPOOL_HUGE_PAGES, LFPOOL_BACKEND_MUTEX);
}

TEST(malloc_backend)
{
	lfpool_config_t config = config_of(24, 2);
	lfpool_t *pool;
	struct held before = held_now();

	config.backend = LFPOOL_BACKEND_MALLOC;
	(void)os_testing_refuse(1);
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_OK);
	/* An allocation that is refused is not counted as active. */
	(void)os_testing_refuse(1);
	assert_null(lfpool_acquire(pool));
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_active_count(pool), 0);
	void *objects[2] = {NULL, NULL};

	assert_int_equal(acquire_all(pool, objects, 2), 2);
	assert_null(lfpool_acquire(pool));
	release_all(pool, objects, 2);
	assert_int_equal(lfpool_destroy(pool), 0);
	assert_int_equal(held_now().blocks, before.blocks);
}

/* Nothing that could be refused is asked for; also where the heap would have had it. */
TEST(a_pool_in_a_buffer)
{
	lfpool_config_t config = config_of(24, CAPACITY);
	const size_t bytes = lfpool_buffer_bytes(&config);
	lfpool_cache_t *caches[CACHES];
	struct held before = held_now();
	void *memory = NULL;
	lfpool_t *pool;

	assert_int_equal(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, bytes), 0);
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_create_in(&pool, &config, memory, bytes), LFPOOL_OK);
	(void)live(pool);
	for (size_t i = 0; i < CACHES; i++) {
		caches[i] = lfpool_cache_create(pool);
		assert_int_equal(caches[i] != NULL, i < LFPOOL_BUFFER_CACHES - 4);
	}
	(void)live(pool);
	for (size_t i = 0; i < CACHES; i++)
		lfpool_cache_destroy(caches[i]);
	assert_int_equal(lfpool_shrink(pool, 10), 10);
	assert_int_equal(lfpool_grow(pool, 10), 10);
	assert_null(lfpool_check(pool, NULL));
	assert_int_equal(lfpool_destroy(pool), 0);
	assert_int_equal(os_testing_refuse(0), 0);
	assert_int_equal(held_now().mapped, before.mapped);
	assert_int_equal(held_now().blocks, before.blocks);
	free(memory);
}

RUN_TESTS()
