/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_fork.c - the child of a fork has its copy of what is retired, and goes on retiring and reclaiming; the
 * parent notices nothing.
 *
 * The child speaks through its exit: REQUIRE, then _exit(); an alarm ends one that hangs.
 */
#include "../support/schemes.h"

#include <sched.h>
#include <sys/wait.h>

enum { SIZE = 40, CAPACITY = 300, RETIRED = 100, ACTIVE = 20 };

static struct fake fake;

struct scene {
	lfpool_t *pool;
	void *objects[CAPACITY];
	atomic_bool stop;
};

static bool fork_and_run(void (*child)(struct scene *), struct scene *s)
{
	int status = 0;

	fflush(stdout);
	const pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid == 0) {
		alarm(20);
		child(s);
		_exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static lfpool_t *pool_on(enum scheme_kind how)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.scheme = fake_scheme(&fake, how);
	return pool_with(&config);
}

/* ---- Nobody is inside a call ---- */

static void require_as_left(struct scene *s)
{
	REQUIRE(lfpool_retired_count(s->pool) == RETIRED);
	REQUIRE(lfpool_active_count(s->pool) == RETIRED + ACTIVE);
	for (size_t i = 0; i < RETIRED + ACTIVE; i++)
		REQUIRE(stamp_holds(s->objects[i], SIZE, i));
	require_intact(s->pool);
}

static void go_on(struct scene *s)
{
	void *objects[CAPACITY];

	require_as_left(s);
	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == CAPACITY - RETIRED - ACTIVE);
	REQUIRE(lfpool_retire_bulk(s->pool, objects, 50) == 50);
	fake_end_all(&fake, s->pool);
	REQUIRE(acquire_all(s->pool, objects, CAPACITY) == RETIRED + 50);
	for (size_t i = 0; i < ACTIVE; i++)
		REQUIRE(lfpool_retire(s->pool, s->objects[RETIRED + i]) == LFPOOL_OK);
	REQUIRE(lfpool_release_all(s->pool) == CAPACITY - ACTIVE);
	/* The one that went alone, and the rest. */
	atomic_store(&fake.yes, true);
	REQUIRE(lfpool_drain(s->pool) == LFPOOL_OK);
	require_whole(s->pool, SIZE);
	REQUIRE(lfpool_destroy(s->pool) == 0);
}

TEST(a_child_goes_on_with_what_is_retired)
{
	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		struct scene s = {.pool = pool_on(how)};

		assert_int_equal(lfpool_acquire_bulk(s.pool, s.objects, RETIRED + ACTIVE), RETIRED + ACTIVE);
		for (size_t i = 0; i < RETIRED + ACTIVE; i++)
			stamp_write(s.objects[i], SIZE, i);
		for (size_t i = 0; i < RETIRED; i++)
			assert_int_equal(lfpool_retire(s.pool, s.objects[i]), LFPOOL_OK);
		for (int round = 0; round < 3; round++) {
			assert_true(fork_and_run(go_on, &s));
			require_as_left(&s);
		}
		fake_end_all(&fake, s.pool);
		assert_int_equal(lfpool_release_bulk(s.pool, s.objects + RETIRED, ACTIVE), ACTIVE);
		require_whole(s.pool, SIZE);
		assert_int_equal(lfpool_destroy(s.pool), 0);
	}
}

/* ---- Others are in the middle of retiring and reclaiming ---- */

static void *retire_on(void *argument)
{
	struct scene *s = argument;
	void *objects[8];

	while (!atomic_load(&s->stop)) {
		const size_t count = lfpool_acquire_bulk(s->pool, objects, COUNT(objects));

		REQUIRE(lfpool_retire_bulk(s->pool, objects, count) == count);
		(void)lfpool_retire_poll(s->pool);
	}
	return NULL;
}

/* What lies in a place whose thread was inside the scheme is lost to the child; it retires elsewhere, and gets
 * that back. */
static void go_on_alone(struct scene *s)
{
	static void *objects[CAPACITY];
	size_t first, again;

	while (lfpool_retire_poll(s->pool))
		;
	first = acquire_all(s->pool, objects, CAPACITY);
	REQUIRE(sort_disjoint(objects, first, SIZE));
	REQUIRE(first >= ACTIVE);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < first; i++)
			stamp_write(objects[i], SIZE, i);
		for (size_t i = 0; i < first; i++)
			REQUIRE(stamp_holds(objects[i], SIZE, i));
		for (size_t i = 0; i < first; i++)
			REQUIRE(lfpool_retire(s->pool, objects[i]) == LFPOOL_OK);
		while (lfpool_retire_poll(s->pool))
			;
		again = acquire_all(s->pool, objects, CAPACITY);
		REQUIRE(again >= first && sort_disjoint(objects, again, SIZE));
		first = again;
	}
	REQUIRE(lfpool_misuse_count(s->pool) == 0);
}

TEST(a_child_goes_on_though_others_were_retiring)
{
	struct scene s = {.pool = pool_on(ASKED)};
	pthread_t threads[2];

	/* These the others do not have: there is always something to be had. */
	assert_int_equal(lfpool_acquire_bulk(s.pool, s.objects, ACTIVE), ACTIVE);
	atomic_store(&fake.yes, true);
	for (size_t i = 0; i < COUNT(threads); i++)
		thread_start(&threads[i], retire_on, &s);
	for (int round = 0; round < TIMES(30, 5); round++) {
		usleep(1000);
		assert_true(fork_and_run(go_on_alone, &s));
	}
	atomic_store(&s.stop, true);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	fake_end_all(&fake, s.pool);
	assert_int_equal(lfpool_release_bulk(s.pool, s.objects, ACTIVE), ACTIVE);
	require_whole(s.pool, SIZE);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_goes_on_with_what_is_retired),
		cmocka_unit_test(a_child_goes_on_though_others_were_retiring),
	};

	return cmocka_run_group_tests_name("retire: fork", tests, NULL, NULL);
}
