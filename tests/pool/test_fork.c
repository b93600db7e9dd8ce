/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_fork.c - the child of a fork goes on with its copy of the pool at once, whatever other threads were doing at
 * that moment: every object that was not active is there for it.  The parent notices nothing.
 *
 * The child speaks through its exit: REQUIRE, then _exit(); an alarm ends one that hangs.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"
#include "lfpool/priority.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { SIZE = 40, CAPACITY = 400, WORKERS = 3, HELD = 5 };

/* Runs child(argument) in a child; true if it came to its end. */
static bool fork_and_run(void (*child)(void *argument), void *argument)
{
	int status = 0;

	fflush(stdout);
	pid_t pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		alarm(20);
		child(argument);
		_exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct scene {
	lfpool_t *pool;
	lfpool_cache_t *cache;  /* of the thread that forks */
	void *mine[HELD];       /* held across the fork     */
	size_t at_least, at_most;
	_Atomic(bool) stop;
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
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	memset(s, 0, sizeof(*s));
	config.cache_capacity = cache_capacity;
	s->pool = pool_with(&config);
	assert_non_null(s->cache = lfpool_cache_create(s->pool));
	assert_int_equal(acquire_all(s->pool, s->mine, HELD), HELD);
	for (size_t i = 0; i < HELD; i++)
		stamp_write(s->mine[i], SIZE, (uintptr_t)s);
	s->at_most = s->at_least = CAPACITY - HELD;
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

TEST(a_child_goes_on_with_its_copy)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		struct scene s;

		open_scene(&s, cache_capacities[i]);
		for (int round = 0; round < 5; round++) {
			assert_true(fork_and_run(take_everything, &s));
			assert_int_equal(lfpool_active_count(s.pool), HELD);
		}
		close_scene(&s);
	}
}

/* A thread that sleeps with one object out and all others in its caches: the child takes them from there. */
struct sleeper {
	struct scene *scene;
	sem_t asleep, wake;
};

static void *sleep_on_the_objects(void *argument)
{
	struct sleeper *sleeper = argument;
	void *objects[CAPACITY];
	size_t count = acquire_all(sleeper->scene->pool, objects, CAPACITY);

	REQUIRE(count == CAPACITY - HELD);
	release_all(sleeper->scene->pool, objects + 1, count - 1);
	sem_post(&sleeper->asleep);
	sem_wait(&sleeper->wake);
	REQUIRE(lfpool_release(sleeper->scene->pool, objects[0]) == LFPOOL_OK);
	return NULL;
}

TEST(a_child_finds_what_other_threads_cached)
{
	for (size_t i = 0; i < COUNT(cache_capacities); i++) {
		struct scene s;
		struct sleeper sleeper = {.scene = &s};
		pthread_t thread;

		open_scene(&s, cache_capacities[i]);
		s.at_most = s.at_least = CAPACITY - HELD - 1;
		sem_init(&sleeper.asleep, 0, 0);
		sem_init(&sleeper.wake, 0, 0);
		thread_start(&thread, sleep_on_the_objects, &sleeper);
		sem_wait(&sleeper.asleep);
		for (int round = 0; round < 5; round++)
			assert_true(fork_and_run(take_everything, &s));
		sem_post(&sleeper.wake);
		pthread_join(thread, NULL);
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
		pthread_t threads[WORKERS];
		struct scene s;

		open_scene(&s, cache_capacities[i]);
		/* Whatever call a worker was in, it had no more than HELD objects out, the one of that call
		 * included. */
		s.at_least = CAPACITY - HELD - WORKERS * HELD;
		for (size_t k = 0; k < WORKERS; k++)
			thread_start(&threads[k], keep_busy, &s);
		for (int round = 0; round < TIMES(40, 15); round++)
			assert_true(fork_and_run(take_everything, &s));
		/* relaxed: a sign only. */
		atomic_store_explicit(&s.stop, true, memory_order_relaxed);
		for (size_t k = 0; k < WORKERS; k++)
			pthread_join(threads[k], NULL);
		close_scene(&s);
	}
}

/*
 * Others make and destroy pools, and exit with caches in many of them; all of that takes the library's lock, the last
 * for longest.  The child's first call on a pool must not wait for it; and the child may make pools and start threads
 *               of its own.
 */
enum { MANY = 200 };

struct busy_scene {
	struct scene scene;
	lfpool_t *many[MANY];
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
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	/* relaxed: a sign only. */
	while (!atomic_load_explicit(&b->scene.stop, memory_order_relaxed)) {
		lfpool_t *pool = NULL;
		pthread_t thread;

		thread_start(&thread, visit_many_and_exit, b);
		pthread_join(thread, NULL);
		REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
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
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = NULL;
	pthread_t thread;

	(void)use(argument);
	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	(void)use(pool);
	thread_start(&thread, use, argument);
	pthread_join(thread, NULL);
	thread_start(&thread, use, pool);
	pthread_join(thread, NULL);
	(void)use(argument);
	REQUIRE(lfpool_destroy(pool) == 0);
}

TEST(a_child_is_not_locked_out)
{
	struct busy_scene b;
	pthread_t threads[WORKERS];

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	open_scene(&b.scene, 0);
	for (size_t i = 0; i < MANY; i++)
		b.many[i] = pool_of(SIZE, WORKERS);
	for (size_t k = 0; k < WORKERS; k++)
		thread_start(&threads[k], make_pools, &b);
	for (int round = 0; round < 200; round++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		assert_true(fork_and_run(first_call, pool));
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	/* relaxed: a sign only. */
	atomic_store_explicit(&b.scene.stop, true, memory_order_relaxed);
	for (size_t k = 0; k < WORKERS; k++)
		pthread_join(threads[k], NULL);
	for (size_t i = 0; i < MANY; i++) {
		require_whole(b.many[i], SIZE);
		assert_int_equal(lfpool_destroy(b.many[i]), 0);
	}
	close_scene(&b.scene);
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

static lfpool_handle_t put(lfpool_priority_t *pool, uint64_t priority)
{
	lfpool_handle_t handle;

	if (!lfpool_priority_acquire(pool, priority, NULL, &handle))
		return 0;
	REQUIRE(lfpool_priority_publish(pool, handle) == LFPOOL_OK);
	return handle;
}

static void *come_and_go(void *argument)
{
	struct voices *v = argument;

	atomic_fetch_add(&v->busy, 1);
	/* relaxed: a sign only. */
	for (size_t round = 0; !atomic_load_explicit(&v->stop, memory_order_relaxed); round++) {
		const lfpool_handle_t handle = atomic_exchange(&v->board[round % HELD], put(v->pool, round % 50));

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

	while (got <= capacity && (handles[got] = put(v->pool, 100)))
		got++;
	REQUIRE(got <= capacity && got + WORKERS >= capacity);
	for (size_t i = 0; i < got; i++)
		REQUIRE(lfpool_priority_update(v->pool, handles[i], 99 - i % 50) == LFPOOL_OK);
	for (size_t i = 0; i < got; i++)
		REQUIRE(lfpool_priority_peek_min(v->pool, &priority) && lfpool_priority_release_min(v->pool, 1) == 1);
	REQUIRE(lfpool_priority_count(v->pool) == capacity - got);
	while (got > 0)
		REQUIRE(handles[--got] = put(v->pool, 100));
}

TEST(a_child_evicts_at_once)
{
	static const size_t capacities[] = {WORKERS + 1, 20, CAPACITY};

	for (size_t i = 0; i < COUNT(capacities); i++) {
		lfpool_priority_config_t config = LFPOOL_PRIORITY_CONFIG_INIT;
		struct voices v = {.stop = false};
		pthread_t threads[WORKERS];

		config.object_size = SIZE;
		config.capacity = capacities[i];
		assert_int_equal(lfpool_priority_create(&v.pool, &config), LFPOOL_OK);
		for (size_t k = 0; k < WORKERS; k++)
			thread_start(&threads[k], come_and_go, &v);
		while (atomic_load(&v.busy) < WORKERS)
			;
		for (int round = 0; round < TIMES(40, 10); round++)
			assert_true(fork_and_run(evict_all, &v));
		/* relaxed: a sign only. */
		atomic_store_explicit(&v.stop, true, memory_order_relaxed);
		for (size_t k = 0; k < WORKERS; k++)
			pthread_join(threads[k], NULL);
		/* The parent has them all. */
		(void)lfpool_priority_release_min(v.pool, capacities[i]);
		assert_int_equal(lfpool_priority_count(v.pool), 0);
		for (size_t k = 0; k < capacities[i]; k++)
			assert_true(put(v.pool, 0));
		assert_int_equal(lfpool_priority_destroy(v.pool), capacities[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_goes_on_with_its_copy),
		cmocka_unit_test(a_child_finds_what_other_threads_cached),
		cmocka_unit_test(a_hundred_forks_while_other_threads_are_busy),
		cmocka_unit_test(a_child_is_not_locked_out),
		cmocka_unit_test(a_child_evicts_at_once),
	};

	return status_of(cmocka_run_group_tests_name("fork", tests, NULL, NULL));
}
