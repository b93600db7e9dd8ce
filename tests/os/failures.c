/* SPDX-License-Identifier: MIT */
/*
 * failures.c - the operating system refuses the n-th call, for every n, while pools of all kinds are made and used
 * (tests/refusals/lives.h): what cannot be is not, nothing else is lost, and nothing is left behind.
 *
 * The same with every error and with all calls that follow refused: tests/refusals.  This one runs under sanitizers and emulators too.
 * (A pool in a buffer asks for nothing: test_no_kernel.c.)
 */
#include "../refusals/lives.h"
#include "../support/child.h"
#include "../support/held.h"
#include "../support/priority_support.h"

void (*on_call)(enum refusal which);

/* The first pool of a process also makes the fork handlers, the thread key and the list of pools. */
TEST(the_first_pool_of_a_process)
{
	/* The key, with the handlers installed; the key again; the guard page, with both there. */
	static const unsigned long nth[] = {2, 1, 3};
	const lfpool_config_t config = config_of(24, 30);
	lfpool_t *pool;

	for (size_t i = 0; i < COUNT(nth); i++) {
		(void)os_testing_refuse(nth[i]);
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_NO_MEMORY);
		assert_int_equal(had_now().mapped, 0);
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

/* True if the n-th call was refused, that is, if there were that many; none if n is 0. */
static bool was_refused(const struct life *life, unsigned long n)
{
	(void)os_testing_refuse(n);
	errno_mark();
	life->live(life, n == 0);
	return os_testing_refuse(0) >= n;
}

TEST(each_call_refused)
{
	shared = calloc(1, sizeof(*shared));
	REQUIRE(shared);
	for (size_t i = 0; i < life_count; i++) {
		struct life life = lives[i];
		unsigned long n = 1;

		/* One process is enough here. */
		life.forks = false;
		/* Once undisturbed: this thread's own table and the list of pools stay for the next pool. */
		(void)was_refused(&life, 0);
		const struct had before = had_now();

		for (; was_refused(&life, n); n++)
			require_had(before);
		print_message("    %s: %lu calls refused\n", life.name, n - 1);
		/* An evicting pool with a mutex has the fewest: its memory, its pages and its mutex. */
		assert_true(n > 3);
		require_had(before);
	}
	free(shared);
}

/* Calls that meet at one object take records from a pool, and their threads a cache of it: mostly two threads meet. */
struct meeting {
	lfpool_priority_t *pool;
	lfpool_handle_t handle;
};

static void *update_often(void *argument)
{
	const struct meeting *m = argument;

	errno = 0;
	for (uint64_t i = 0; i < 30000; i++)
		REQUIRE(lfpool_priority_update(m->pool, m->handle, i) == LFPOOL_OK);
	REQUIRE(errno == 0);
	return NULL;
}

TEST(records_of_an_evicting_pool_refused)
{
	for (unsigned long n = 1; n < 16; n++) {
		struct meeting m = {.pool = priority_of(24, 30)};

		m.handle = priority_put(m.pool, 20);
		(void)os_testing_refuse(n);
		threads_run(2, update_often, &m, 0);
		(void)os_testing_refuse(0);
		assert_int_equal(lfpool_priority_destroy(m.pool), 1);
	}
}

RUN_TESTS()
