/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_set_threads.c - several threads on a set: the first calls of a class come at once, and make one pool; a fork
 * while pools are made.  (Threads in a pool of a set: verify/pairs.) */
#include "../support/child.h"
#include "../support/set_support.h"
#include "../support/workers.h"

#include <sched.h>

enum { THREADS = 4, LARGEST = 512, CLASSES = 24, CAPACITY = 16 };

/* The object size of each class. */
static size_t sizes[CLASSES];

static void find_sizes(lfpool_set_t *set)
{
	size_t count = 0;

	assert_int_equal(class_count(set), CLASSES);
	EACH_CLASS(set, bytes)
	sizes[count++] = bytes;
}

/* ---- First calls ---- */

struct arrival {
	lfpool_set_t *set;
	bool in_turns; /* threads begin with different classes, or all with the same */
	atomic_size_t taken[CLASSES];
};

/* Acquires as much of each class as it can. */
static void take_each_class(struct worker *me)
{
	struct arrival *a = me->scene;

	for (size_t i = 0; i < CLASSES; i++) {
		const size_t c = (i + (a->in_turns ? me->number % 2 * (CLASSES / 2) : 0)) % CLASSES;

		while (lfpool_set_acquire(a->set, sizes[c]))
			atomic_fetch_add(&a->taken[c], 1);
	}
}

TEST(simultaneous_first_calls_make_one_pool)
{
	for (int round = 0; round < TIMES(100, 10); round++) {
		struct arrival a = {.set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY), .in_turns = round % 2};

		find_sizes(a.set);
		workers_run(THREADS, take_each_class, &a, 0);
		for (size_t i = 0; i < CLASSES; i++) {
			assert_int_equal(a.taken[i], CAPACITY);
			assert_int_equal(lfpool_active_count(lfpool_set_class(a.set, sizes[i], false, NULL)), CAPACITY);
		}
		require_set_intact(a.set);
		assert_int_equal(lfpool_set_destroy(a.set), CLASSES * CAPACITY);
	}
}

/* ---- Fork ---- */

struct makers {
	lfpool_set_t *set;
	_Atomic(unsigned) begun;
	_Atomic(bool) forked;
};

static void *make_each_class(void *argument)
{
	struct makers *m = argument;

	atomic_fetch_add(&m->begun, 1);
	for (size_t i = 0; i < CLASSES; i++)
		REQUIRE(lfpool_set_pool(m->set, sizes[i]));
	/* ThreadSanitizer reports a thread that ended, and that a child cannot join, as a leak. */
	while (!atomic_load(&m->forked))
		sched_yield();
	return NULL;
}

/* In the child no lock is held, and no pool is half made. */
static void use_each_class(lfpool_set_t *set)
{
	for (size_t i = 0; i < CLASSES; i++) {
		const size_t size = sizes[i];
		void *object = lfpool_set_acquire(set, size);

		REQUIRE(object && lfpool_of(object) == lfpool_set_class(set, size, false, NULL));
		stamp_write(object, size, i);
		REQUIRE(lfpool_set_release(set, object) == LFPOOL_OK);
	}
	REQUIRE(lfpool_set_destroy(set) == 0);
}

TEST(fork_while_pools_are_made)
{
	for (int round = 0; round < TIMES(60, 10); round++) {
		struct makers m = {.set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY)};

		find_sizes(m.set);

		const struct threads makers = threads_start(2, make_each_class, &m, 0);

		while (atomic_load(&m.begun) == 0)
			sched_yield();

		const pid_t child = child_start();

		if (child == 0) {
			use_each_class(m.set);
			_exit(0);
		}
		atomic_store(&m.forked, true);
		threads_join(&makers);
		child_end(child);
		use_each_class(m.set);
	}
}

/* A continuation that runs inside fork(), in the child, may make the pool of a class: no lock is held by then. */
static struct {
	lfpool_set_t *set;
	pid_t parent;
	bool called;
} heir;

static void acquire_of_a_new_class(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	(void)pool;
	if (getpid() != heir.parent && object)
		heir.called = lfpool_set_acquire(heir.set, 100) != NULL;
}

static void *wait_for_two(void *pool)
{
	void *objects[2];

	REQUIRE(lfpool_acquire_bulk_wait(pool, NULL, objects, 2, -1) == LFPOOL_OK);
	REQUIRE(lfpool_release_bulk(pool, objects, 2) == 2);
	return NULL;
}

TEST(a_continuation_in_fork_makes_a_pool)
{
	lfpool_t *pool = pool_of(64, 2);
	void *objects[2];

	heir.set = set_of(LFPOOL_BACKEND_LOCKFREE, LARGEST, CAPACITY);
	heir.parent = getpid();
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 2), 2);

	const struct threads waiter = threads_start(1, wait_for_two, pool, 0);

	for (lfpool_stats_t stats = {0}; !stats.waiting; sched_yield())
		(void)lfpool_stats(pool, &stats);
	assert_int_equal(lfpool_acquire_async(pool, acquire_of_a_new_class, NULL, NULL), LFPOOL_OK);
	/* It goes to the call that waits for two.  In the child that call is gone, and the continuation gets it. */
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);

	const pid_t child = child_start();

	if (child == 0) {
		REQUIRE(heir.called);
		_exit(0);
	}
	child_end(child);
	assert_int_equal(lfpool_release(pool, objects[1]), LFPOOL_OK);
	threads_join(&waiter);
	assert_int_equal(lfpool_destroy(pool), 1); /* the continuation's */
	set_close(heir.set);
}

RUN_TESTS()
