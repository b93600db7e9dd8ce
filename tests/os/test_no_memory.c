/* SPDX-License-Identifier: MIT */
/* test: threads no-sanitizer */
/*
 * test_no_memory.c - the operating system refuses memory: create says so and leaves nothing behind; acquire and
 * release go on regardless, also for a thread that the pool has never seen.
 *
 * Idea         The address space is closed with RLIMIT_AS, and what the heap still has is used up.  While it is
 *              closed nothing is printed and nothing asserted: the facts are collected and judged afterwards.
 */
#include "../support/support.h"

#include <semaphore.h>
#include <sys/resource.h>

enum { SIZE = 40, CAPACITY = 2000 };

struct closed {
	struct rlimit before;
	void **blocks;
};

/* The main thread's stack may have to grow while it cannot. */
static void grow_stack(void)
{
	volatile unsigned char room[512 * 1024];

	for (size_t i = 0; i < sizeof(room); i += 512)
		room[i] = 1;
}

static void memory_close(struct closed *c)
{
	struct rlimit limit;

	grow_stack();
	c->blocks = NULL;
	REQUIRE(getrlimit(RLIMIT_AS, &c->before) == 0);
	limit = c->before;
	limit.rlim_cur = mapped_bytes();
	REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
	for (size_t bytes = MIB; bytes >= 16; bytes /= 2)
		for (void **block; (block = malloc(bytes));) {
			*block = c->blocks;
			c->blocks = block;
		}
}

static void memory_open(struct closed *c)
{
	REQUIRE(setrlimit(RLIMIT_AS, &c->before) == 0);
	while (c->blocks) {
		void **block = c->blocks;

		c->blocks = *block;
		free(block);
	}
}

TEST(create_says_so)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;
	struct closed c;

	memory_close(&c);
	lfpool_status_t status = lfpool_create(&pool, &config);
	memory_open(&c);
	assert_int_equal(status, LFPOOL_E_NO_MEMORY);
	assert_null(pool);
	pool = pool_with(&config);
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

/* A thread made in good times, whose first call on the pool comes in bad ones. */
struct newcomer {
	lfpool_t *pool;
	sem_t go, done;
	void *objects[CAPACITY];
	size_t count;    /* objects it is given, then objects it has */
	size_t refusals; /* releases that did not succeed            */
};

static void *newcomer_acquires(void *argument)
{
	struct newcomer *n = argument;

	sem_wait(&n->go);
	n->count = acquire_all(n->pool, n->objects, CAPACITY);
	sem_post(&n->done);
	return NULL;
}

static void *newcomer_releases(void *argument)
{
	struct newcomer *n = argument;

	sem_wait(&n->go);
	for (size_t i = 0; i < n->count; i++)
		n->refusals += lfpool_release(n->pool, n->objects[i]) != LFPOOL_OK;
	sem_post(&n->done);
	return NULL;
}

/* The newcomer also exits while memory is refused. */
static void newcomer_comes(struct newcomer *n, void *(*run)(void *))
{
	struct closed c;
	pthread_t thread;

	sem_init(&n->go, 0, 0);
	sem_init(&n->done, 0, 0);
	thread_start(&thread, run, n);
	memory_close(&c);
	sem_post(&n->go);
	sem_wait(&n->done);
	pthread_join(thread, NULL);
	memory_open(&c);
}

static const size_t cache_capacities[] = {0, 2, 8192, LFPOOL_CACHE_NONE};

TEST(a_newcomer_acquires_every_object)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);
		static struct newcomer n;

		config.cache_capacity = cache_capacities[i];
		n.pool = pool_with(&config);
		/* Fresh, and with all that there is in this thread's cache. */
		for (int round = 0; round < 2; round++) {
			newcomer_comes(&n, newcomer_acquires);
			assert_int_equal(n.count, CAPACITY);
			assert_true(sort_disjoint(n.objects, CAPACITY, SIZE));
			release_all(n.pool, n.objects, CAPACITY);
			require_whole(n.pool, SIZE);
		}
		lfpool_destroy(n.pool);
	}
}

TEST(a_newcomer_releases_every_object)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);
		static struct newcomer n;

		config.cache_capacity = cache_capacities[i];
		n.pool = pool_with(&config);
		n.count = acquire_all(n.pool, n.objects, CAPACITY);
		n.refusals = 0;
		assert_int_equal(n.count, CAPACITY);
		newcomer_comes(&n, newcomer_releases);
		assert_int_equal(n.refusals, 0);
		require_whole(n.pool, SIZE);
		lfpool_destroy(n.pool);
	}
}

TEST(a_cache_is_made_or_null)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	static lfpool_cache_t *caches[3000];
	size_t made = 0, whole = 0;
	struct closed c;

	memory_close(&c);
	while (made < COUNT(caches) && (caches[made] = lfpool_cache_create(pool)))
		made++;
	for (size_t i = 0; i < made; i++) {
		void *object = lfpool_cache_acquire(caches[i]);

		whole += object && lfpool_cache_release(caches[i], object) == LFPOOL_OK;
	}
	memory_open(&c);
	assert_int_equal(whole, made);
	for (size_t i = 0; i < made; i++)
		lfpool_cache_destroy(caches[i]);
	require_whole(pool, SIZE);
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	assert_non_null(cache);
	lfpool_cache_destroy(cache);
	lfpool_destroy(pool);
}

RUN_TESTS()
