/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork.c - the child of a fork goes on with its copy of the pool at once, whatever other threads were doing at
 * that moment: every object that was not active is there for it.  The parent notices nothing.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/child.h"
#include "../support/priority_support.h"

#include "lfpool/inline.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { SIZE = 40, CAPACITY = 400, WORKERS = 3, HELD = 5 };

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *cache; /* of the thread that forks */
	void *mine[HELD];      /* held across the fork     */
	size_t at_least, at_most;
	_Atomic(bool) stop;
	sem_t asleep, wake;
};

/* Everything that is to be had, twice: once through the thread's own cache, once through the explicit one; in the
 * child nobody else takes any. */
static void take_everything(void *argument)
{
	struct scene *s = argument;
	static void *objects[CAPACITY + 1];
	size_t got = acquire_all(s->pool, objects, CAPACITY + 1);

	REQUIRE(got >= s->at_least && got <= s->at_most);
	for (size_t i = 0; i < got; i++)
		stamp_write(objects[i], SIZE, i);
	for (size_t i = 0; i < got; i++)
		REQUIRE(stamp_holds(objects[i], SIZE, i));
	REQUIRE(sort_disjoint(objects, got, SIZE));
	for (size_t i = 0; i < HELD; i++)
		REQUIRE(stamp_holds(s->mine[i], SIZE, (uintptr_t)s));
	REQUIRE(lfpool_release_bulk(s->pool, objects, got) == got);
	REQUIRE(lfpool_release_bulk(s->pool, s->mine, HELD) == HELD);
	for (size_t i = 0; i < got + HELD; i++)
		REQUIRE(objects[i] = lfpool_cache_acquire_inline(s->cache));
	REQUIRE(!lfpool_cache_acquire_inline(s->cache));
	for (size_t i = 0; i < got + HELD; i++)
		REQUIRE(lfpool_cache_release_inline(s->cache, objects[i]) == LFPOOL_OK);
	REQUIRE(lfpool_misuse_count(s->pool) == 0);
}

static void open_scene(struct scene *s, size_t cache_capacity)
{
	memset(s, 0, sizeof(*s));
	s->pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = cache_capacity);
	assert_non_null(s->cache = lfpool_cache_create(s->pool));
	assert_int_equal(acquire_all(s->pool, s->mine, HELD), HELD);
	for (size_t i = 0; i < HELD; i++)
		stamp_write(s->mine[i], SIZE, (uintptr_t)s);
	s->at_most = s->at_least = CAPACITY - HELD;
	sem_init(&s->asleep, 0, 0);
	sem_init(&s->wake, 0, 0);
}

static void close_scene(struct scene *s)
{
	for (size_t i = 0; i < HELD; i++)
		assert_true(stamp_holds(s->mine[i], SIZE, (uintptr_t)s));
	assert_int_equal(lfpool_active_count(s->pool), HELD);
	assert_int_equal(lfpool_release_bulk(s->pool, s->mine, HELD), HELD);
	lfpool_cache_destroy(s->cache);
	require_whole(s->pool, SIZE);
	assert_int_equal(lfpool_destroy(s->pool), 0);
}

static const size_t cache_capacities[] = {0, 2, LFPOOL_CACHE_NONE};

/* A thread that sleeps with one object out and all others in its caches: the child takes them from there. */
static void *sleep_on_the_objects(void *argument)
{
	struct scene *s = argument;
	void *objects[CAPACITY];
	size_t count = acquire_all(s->pool, objects, CAPACITY);

	REQUIRE(count == CAPACITY - HELD);
	release_all(s->pool, objects + 1, count - 1);
	sem_post(&s->asleep);
	sem_wait(&s->wake);
	REQUIRE(lfpool_release(s->pool, objects[0]) == LFPOOL_OK);
	return NULL;
}

TEST(a_child_finds_what_other_threads_cached)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		struct scene s;

		open_scene(&s, cache_capacities[i]);
		s.at_most = s.at_least = CAPACITY - HELD - 1;
		const struct threads sleeper = threads_start(1, sleep_on_the_objects, &s, 0);

		sem_wait(&s.asleep);
		for (int round = 0; round < 5; round++) {
			child_run(take_everything, &s);
			assert_int_equal(lfpool_active_count(s.pool), HELD + 1);
		}
		sem_post(&s.wake);
		threads_join(&sleeper);
		close_scene(&s);
	}
}

/* Never more than HELD objects out, and never out of work. */
static void *keep_busy(void *argument)
{
	struct scene *s = argument;
	void *objects[HELD];

	/* relaxed: a sign only. */
	for (size_t round = 0; !atomic_load_explicit(&s->stop, memory_order_relaxed); round++) {
		size_t count = 1 + round % HELD;

		for (size_t i = 0; i < count; i++)
			REQUIRE(objects[i] = lfpool_acquire(s->pool));
		release_all(s->pool, objects, count);
	}
	return NULL;
}

TEST(a_hundred_forks_while_other_threads_are_busy)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		struct scene s;

		open_scene(&s, cache_capacities[i]);
		/* Whatever call a worker was in, it had no more than HELD objects out, the one of that call included. */
		s.at_least = CAPACITY - HELD - WORKERS * HELD;
		const struct threads threads = threads_start(WORKERS, keep_busy, &s, 0);
		for (int round = 0; round < TIMES(40, 15); round++)
			child_run(take_everything, &s);
		atomic_store(&s.stop, true);
		threads_join(&threads);
		close_scene(&s);
	}
}

/*
 * Others make and destroy pools, and exit with caches in many of them; all of that takes the library's lock, the last
 * for longest.  The child's first call on a pool must not wait for it; and the child may make pools and start threads
 * of its own.
 */
enum { MANY = 200 };

struct busy_scene {
	lfpool_t *many[MANY];
	_Atomic(bool) stop;
};

static void *visit_many_and_exit(void *argument)
{
	struct busy_scene *b = argument;

	for (size_t i = 0; i < MANY; i++)
		REQUIRE(lfpool_release(b->many[i], lfpool_acquire(b->many[i])) == LFPOOL_OK);
	return NULL;
}

static void *make_pools(void *argument)
{
	struct busy_scene *b = argument;

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
		threads_run(1, visit_many_and_exit, b, 0);
		lfpool_t *pool = pool_of(SIZE, CAPACITY);
		REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
		lfpool_destroy(pool);
	}
	return NULL;
}

static void *use(void *argument)
{
	lfpool_t *pool = argument;
	void *objects[CAPACITY];

	REQUIRE(acquire_all(pool, objects, CAPACITY) == CAPACITY);
	release_all(pool, objects, CAPACITY);
	return NULL;
}

static void first_call(void *argument)
{
	(void)use(argument);
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	(void)use(pool);
	threads_run(1, use, argument, 0);
	threads_run(1, use, pool, 0);
	(void)use(argument);
	REQUIRE(lfpool_destroy(pool) == 0);
}

TEST(a_child_is_not_locked_out)
{
	struct busy_scene b = {.stop = false};

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	for (size_t i = 0; i < MANY; i++)
		b.many[i] = pool_of(SIZE, WORKERS);
	const struct threads threads = threads_start(WORKERS, make_pools, &b, 0);
	for (int round = 0; round < 200; round++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		child_run(first_call, pool);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	atomic_store(&b.stop, true);
	threads_join(&threads);
	for (size_t i = 0; i < MANY; i++) {
		require_whole(b.many[i], SIZE);
		assert_int_equal(lfpool_destroy(b.many[i]), 0);
	}
}

/*
 * An evicting pool: whatever others were in the midst of, the child takes all but the one object that each of them had in
 * its hands.
 */
struct voices {
	lfpool_priority_t *pool;
	_Atomic(lfpool_handle_t) board[HELD];
	_Atomic(unsigned) busy;
	_Atomic(bool) stop;
};

static void *come_and_go(void *argument)
{
	struct voices *v = argument;

	atomic_fetch_add(&v->busy, 1);
	/* relaxed: a sign only. */
	for (size_t round = 0; !atomic_load_explicit(&v->stop, memory_order_relaxed); round++) {
		const lfpool_handle_t handle = atomic_exchange(&v->board[round % HELD], priority_put(v->pool, round % 50));

		(void)lfpool_priority_update(v->pool, handle, round * 7 % 50);
		if (round % 3 == 0 && lfpool_priority_pin(v->pool, handle))
			REQUIRE(lfpool_priority_unpin(v->pool, handle) == LFPOOL_OK);
		else if (round % 3 == 1)
			(void)lfpool_priority_release(v->pool, handle);
	}
	return NULL;
}

static void evict_all(void *argument)
{
	struct voices *v = argument;
	const size_t capacity = lfpool_priority_capacity(v->pool);
	static lfpool_handle_t handles[CAPACITY + 1];
	uint64_t priority = 0;
	size_t got = 0;

	while (got <= capacity && (handles[got] = priority_put(v->pool, 100)))
		got++;
	REQUIRE(got <= capacity && got + WORKERS >= capacity);
	for (size_t i = 0; i < got; i++)
		REQUIRE(lfpool_priority_update(v->pool, handles[i], 99 - i % 50) == LFPOOL_OK);
	for (size_t i = 0; i < got; i++)
		REQUIRE(lfpool_priority_peek_min(v->pool, &priority) && lfpool_priority_release_min(v->pool, 1) == 1);
	REQUIRE(lfpool_priority_count(v->pool) == capacity - got);
	while (got > 0)
		REQUIRE(handles[--got] = priority_put(v->pool, 100));
}

TEST(a_child_evicts_at_once)
{
	static const size_t capacities[] = {WORKERS + 1, 20, CAPACITY};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		struct voices v = {.pool = priority_of(SIZE, capacities[i])};

		const struct threads threads = threads_start(WORKERS, come_and_go, &v, 0);
		while (atomic_load(&v.busy) < WORKERS)
			;
		for (int round = 0; round < TIMES(40, 10); round++)
			child_run(evict_all, &v);
		atomic_store(&v.stop, true);
		threads_join(&threads);
		/* The parent has them all. */
		(void)lfpool_priority_release_min(v.pool, capacities[i]);
		assert_int_equal(lfpool_priority_count(v.pool), 0);
		for (size_t k = 0; k < capacities[i]; k++)
			assert_true(priority_put(v.pool, 0));
		assert_int_equal(lfpool_priority_destroy(v.pool), capacities[i]);
	}
}

RUN_TESTS()
