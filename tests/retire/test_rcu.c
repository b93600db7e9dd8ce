/* SPDX-License-Identifier: MIT */
/* test: component */
/* test_rcu.c - rules of lfpool/rcu.h only (for all readers: test_readers.c): fork, liburcu's various ways to know
 * threads and sections; hooks that run in its callback. */
#include "../support/rcu_support.h"
#include "../support/child.h"

enum { SIZE = 40, CAPACITY = 6, MANY = 40 };

/* ---- Fork ---- */

#ifndef FLAVOUR_BP
/* The readers of `bp` are registered by liburcu, which must forget them in the child; other flavours have nothing to
 * forget. */
static void urcu_bp_before_fork(void) {}
static void urcu_bp_after_fork_parent(void) {}
static void urcu_bp_after_fork_child(void) {}
#endif

static void before_fork(void)
{
	call_rcu_before_fork();
	urcu_bp_before_fork();
}

static void after_fork(bool child)
{
	if (child) {
		urcu_bp_after_fork_child();
		call_rcu_after_fork_child();
	} else {
		urcu_bp_after_fork_parent();
		call_rcu_after_fork_parent();
	}
}

/* The child has its own worker, for objects retired before the fork and after it. */
static void go_on_in_the_child(lfpool_t *pool, void *held)
{
	REQUIRE(lfpool_quick_stats(pool).retired >= MANY / 2);
	REQUIRE(lfpool_acquire_wait(pool, FOR_EVER));
	REQUIRE(lfpool_drain(pool) == LFPOOL_OK);
	REQUIRE(lfpool_active_count(pool) == 2);
	retire(pool, held);
	REQUIRE(lfpool_release_all(pool) == 1);
	drain_and_destroy(pool, SIZE);
	_exit(0);
}

/* First, while there are no other readers: liburcu would wait for them in the child. */
TEST(child_of_fork_reclaims_the_backlog)
{
	if (ANNOTATED)
		SKIP("ThreadSanitizer starts no threads in a child");
	for (int round = 0; round < 10; round++) {
		lfpool_t *pool = readers_pool_of(SIZE, MANY);
		void *objects[MANY + 1];

		assert_int_equal(acquire_all(pool, objects, MANY), MANY);
		/* These may be with the worker when it pauses, or already free; those are still retired in the child.
		 */
		retire_each(pool, objects + 1, MANY / 2 - 1);
		before_fork();
		retire_each(pool, objects + MANY / 2, MANY / 2);
		const pid_t pid = child_start();

		after_fork(pid == 0);
		if (pid == 0)
			go_on_in_the_child(pool, objects[0]);
		assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 1);
		assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
		drain_and_destroy(pool, SIZE);
		child_end(pid);
	}
}

/* ---- Inside a section ---- */

/* In a section, or, with QSBR, merely online: the call is a quiescent state of this thread. */
TEST(drain_and_destroy_inside_a_section)
{
	lfpool_status_t misuse = LFPOOL_OK;
	lfpool_t *pool = readers_pool(CONFIG_OF(SIZE, CAPACITY, .hooks.context = &misuse, .hooks.misuse = note_misuse));
	void *objects[CAPACITY + 1];

	take_all(pool, objects, CAPACITY, SIZE);
	enter();
	for (size_t i = 0; i + 1 < CAPACITY; i++)
		retire_inside(pool, objects[i]);
	assert_int_equal(lfpool_quick_stats(pool).retired, CAPACITY - 1);
	assert_null(lfpool_acquire(pool));
	for (size_t i = 0; i < CAPACITY; i++)
		assert_true(stamp_holds(objects[i], SIZE, i));
#ifdef FLAVOUR_QSBR
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
	assert_true(rcu_read_ongoing());
	assert_int_equal(lfpool_quick_stats(pool).retired, 0);
	leave();
#else
	rcu_read_lock();
	assert_int_equal(lfpool_drain(pool), LFPOOL_E_IN_SECTION);
	rcu_read_unlock();
	assert_int_equal(lfpool_drain(pool), LFPOOL_E_IN_SECTION);
	assert_int_equal(misuse, LFPOOL_OK);
	assert_true(lfpool_destroy(pool) == SIZE_MAX);
	assert_int_equal(misuse, LFPOOL_E_IN_SECTION);
	assert_int_equal(lfpool_quick_stats(pool).misuses, 1);
	/* The pool is not destroyed. */
	assert_int_equal(lfpool_quick_stats(pool).retired, CAPACITY - 1);
	assert_true(stamp_holds(objects[0], SIZE, 0));
	assert_true(rcu_read_ongoing());
	leave();
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
#endif
	for (size_t i = 0; i + 1 < CAPACITY; i++)
		assert_non_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_release_all(pool), CAPACITY);
	/* Nothing is retired, so there is nothing to wait for, in a section or not. */
	enter();
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
	leave();
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- In the callback ---- */

/* A list whose nodes retire each other: each becomes free one grace period after the previous one, and its hook runs
 * on the thread that calls back. */
struct chain {
	lfpool_t *pool;
	pthread_t owner;
	atomic_size_t ended;
};

struct chained {
	struct chained *next;
};

static bool retire_next(void *context, void *object)
{
	struct chain *chain = context;
	struct chained *next = ((struct chained *)object)->next;

	REQUIRE(!pthread_equal(pthread_self(), chain->owner));
	if (next)
		REQUIRE(lfpool_retire(chain->pool, next) == LFPOOL_OK);
	atomic_fetch_add(&chain->ended, 1);
	return true;
}

TEST(a_pool_is_destroyed_when_its_hooks_retire_no_more)
{
	enum { LINKS = 8 };
	struct chained *first = NULL;
	struct chain chain = {.owner = pthread_self()};

	chain.pool = readers_pool(
		CONFIG_OF(sizeof(struct chained), LINKS, .hooks = {.context = &chain, .deactivate = retire_next}));
	for (size_t i = 0; i < LINKS; i++) {
		struct chained *next = lfpool_acquire(chain.pool);

		assert_non_null(next);
		next->next = first;
		first = next;
	}
	retire(chain.pool, first);
	assert_int_equal(lfpool_destroy(chain.pool), 0);
	assert_int_equal(chain.ended, LINKS);
}

RUN_READERS_TESTS()
