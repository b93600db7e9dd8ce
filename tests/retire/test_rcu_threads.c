/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_rcu_threads.c - readers and writers of a board at once: while a reader is in its section, what it has read
 * stays what it is.  And a fork, with callbacks under way.
 */
#include "../support/rcu_support.h"

#include <sys/wait.h>

enum { PLACES = 8, CAPACITY = 40, READERS = 2, WRITERS = 2, SIZE = 64 };

struct sheet {
	uint64_t number;
	unsigned char bytes[SIZE - sizeof(uint64_t)];
};

struct board {
	lfpool_t *pool;
	_Atomic(struct sheet *) place[PLACES];
	atomic_uint writing;
	atomic_size_t waited, read;
};

struct visitor {
	pthread_t thread;
	struct board *board;
	struct random random;
	uint64_t number;
};

/* Looks at one sheet for a while; nobody may have taken it for something else. */
static void read_one(struct visitor *visitor)
{
	enter();
	/* acquire, below: what is on it. */
	const uint32_t i = random_below(&visitor->random, PLACES);
	const struct sheet *sheet = atomic_load_explicit(&visitor->board->place[i], memory_order_acquire);

	if (sheet) {
		const uint64_t number = sheet->number;

		for (unsigned looks = random_below(&visitor->random, 60); looks; looks--)
			REQUIRE(stamp_holds(sheet->bytes, sizeof(sheet->bytes), number));
		REQUIRE(sheet->number == number);
		atomic_fetch_add_explicit(&visitor->board->read, 1, memory_order_relaxed);
	}
	leave();
}

static void *read_sheets(void *argument)
{
	struct visitor *visitor = argument;

	join_flavour();
	while (atomic_load(&visitor->board->writing))
		read_one(visitor);
	leave_flavour();
	return NULL;
}

/* Sometimes takes the sheet down, else puts another one in its place. */
static void write_one(struct visitor *visitor)
{
	struct board *board = visitor->board;
	struct sheet *sheet = NULL, *old;

	if (random_below(&visitor->random, 8)) {
		/* Retired is all that is not on the board or in a writer's hands: one comes. */
		if (!(sheet = lfpool_acquire(board->pool))) {
			atomic_fetch_add_explicit(&board->waited, 1, memory_order_relaxed);
			REQUIRE(sheet = lfpool_acquire_wait(board->pool, FOR_EVER));
		}
		(void)taken(sheet);
		sheet->number = visitor->number += WRITERS;
		stamp_write(sheet->bytes, sizeof(sheet->bytes), sheet->number);
	}
	/* release: what is on the new one; acquire: it was another writer's. */
	old = atomic_exchange_explicit(&board->place[random_below(&visitor->random, PLACES)], sheet,
				       memory_order_acq_rel);
	if (old)
		retire(board->pool, old);
}

static void *write_sheets(void *argument)
{
	struct visitor *visitor = argument;

	join_flavour();
	for (unsigned i = 0; i < TIMES(800, 300); i++)
		write_one(visitor);
	atomic_fetch_sub(&visitor->board->writing, 1);
	leave_flavour();
	return NULL;
}

TEST(what_a_reader_has_read_stays)
{
	const uint64_t seed = test_seed("what_a_reader_has_read_stays");
	struct visitor visitors[READERS + WRITERS];
	struct board board = {.pool = rcu_pool_of(sizeof(struct sheet), CAPACITY), .writing = WRITERS};

	for (unsigned i = 0; i < READERS + WRITERS; i++) {
		visitors[i] = (struct visitor){.board = &board, .random = random_for(seed, i), .number = i};
		thread_start(&visitors[i].thread, i < WRITERS ? write_sheets : read_sheets, &visitors[i]);
	}
	for (unsigned i = 0; i < READERS + WRITERS; i++)
		pthread_join(visitors[i].thread, NULL);
	/* The pool was small enough to be reused many times over. */
	assert_true(board.read > 0 && board.waited > 0);
	for (unsigned i = 0; i < PLACES; i++)
		if (board.place[i])
			retire(board.pool, board.place[i]);
	require_drained(board.pool, sizeof(struct sheet));
	assert_int_equal(lfpool_destroy(board.pool), 0);
}

/* ---- Fork ---- */

#ifdef FLAVOUR_BP
/* Its readers are registered by liburcu, which must forget them in the child. */
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
#else
static void before_fork(void)
{
	call_rcu_before_fork();
}

static void after_fork(bool child)
{
	if (child)
		call_rcu_after_fork_child();
	else
		call_rcu_after_fork_parent();
}
#endif

/* The child has a worker of its own, for what was retired before the fork and for what it retires. */
static void go_on_in_the_child(lfpool_t *pool, void *held)
{
	alarm(20);
	REQUIRE(lfpool_retired_count(pool) >= CAPACITY / 2);
	REQUIRE(lfpool_acquire_wait(pool, FOR_EVER));
	REQUIRE(lfpool_drain(pool) == LFPOOL_OK);
	REQUIRE(lfpool_active_count(pool) == 2);
	retire(pool, held);
	REQUIRE(lfpool_release_all(pool) == 1);
	require_drained(pool, SIZE);
	REQUIRE(lfpool_destroy(pool) == 0);
	_exit(0);
}

TEST(a_child_has_the_backlog_too)
{
	if (ANNOTATED)
		SKIP("ThreadSanitizer starts no threads in a child");
	for (int round = 0; round < 10; round++) {
		lfpool_t *pool = rcu_pool_of(SIZE, CAPACITY);
		void *objects[CAPACITY + 1];
		int status = 0;

		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		/* These may be with the worker when it pauses, or free again; those are still retired in the child. */
		for (size_t i = 1; i < CAPACITY / 2; i++)
			retire(pool, objects[i]);
		before_fork();
		for (size_t i = CAPACITY / 2; i < CAPACITY; i++)
			retire(pool, objects[i]);
		fflush(stdout);
		const pid_t pid = fork();

		assert_true(pid >= 0);
		after_fork(pid == 0);
		if (pid == 0)
			go_on_in_the_child(pool, objects[0]);
		assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 1);
		assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
		require_drained(pool, SIZE);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, as long as there are no other readers: liburcu would wait for them in the child. */
		cmocka_unit_test(a_child_has_the_backlog_too),
		cmocka_unit_test(what_a_reader_has_read_stays),
	};

	join_flavour();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	leave_flavour();
	return status_of(failed);
}
