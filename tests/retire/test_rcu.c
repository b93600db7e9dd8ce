/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_rcu.c - objects that are released after a grace period of Userspace RCU: not while a reader is in its section,
 * and not never.
 */
#include "../support/rcu_support.h"

enum { SIZE = 40, CAPACITY = 6 };

/* ---- Readers hold objects back ---- */

static void take_all(lfpool_t *pool, void **objects_out, size_t count)
{
	assert_int_equal(acquire_all(pool, objects_out, count + 1), count);
	for (size_t i = 0; i < count; i++)
		stamp_write(taken(objects_out[i]), SIZE, i);
}

/* All of them are retired and as they were, and nobody gets one. */
static void require_held_back(lfpool_t *pool, void **objects, size_t count)
{
	assert_int_equal(lfpool_retired_count(pool), count);
	assert_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire_wait(pool, A_WHILE_NS));
	assert_false(lfpool_retire_poll(pool));
	assert_int_equal(lfpool_retired_count(pool), count);
	for (size_t i = 0; i < count; i++) {
		assert_true(stamp_holds(objects[i], SIZE, i));
		assert_false(lfpool_in_use(pool, objects[i]));
	}
}

TEST(what_is_retired_waits_for_its_reader)
{
	for (unsigned bulk = 0; bulk < 2; bulk++) {
		lfpool_t *pool = rcu_pool_of(SIZE, CAPACITY);
		void *objects[CAPACITY + 1];
		struct reader reader;

		take_all(pool, objects, CAPACITY);
		reader_start(&reader);
		if (bulk) {
			rcu_thread_online();
			assert_int_equal(lfpool_release_rcu_bulk(pool, objects, CAPACITY), CAPACITY);
			rcu_thread_offline();
		}
		for (size_t i = 0; i < CAPACITY && !bulk; i++)
			retire(pool, objects[i]);
		require_held_back(pool, objects, CAPACITY);
		reader_end(&reader);
		/* Whoever waits gets them, with nobody's help. */
		for (size_t i = 0; i < CAPACITY; i++)
			assert_non_null(objects[i] = lfpool_acquire_wait(pool, FOR_EVER));
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		release_all(pool, objects, CAPACITY);
		require_drained(pool, SIZE);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* What is retired while a batch is with liburcu is held back by whoever reads then, though the batch is not. */
TEST(the_next_batch_has_a_grace_period_of_its_own)
{
	lfpool_t *pool = rcu_pool_of(SIZE, 2);
	void *objects[3], *again;
	struct reader first, second;

	take_all(pool, objects, 2);
	reader_start(&first);
	retire(pool, objects[0]);
	retire(pool, objects[1]);
	reader_start(&second);
	reader_end(&first);
	/* The second reader came later than the first batch, but perhaps earlier than its grace period. */
	again = lfpool_acquire_wait(pool, A_WHILE_NS);
	if (again) {
		assert_ptr_equal(again, objects[0]);
		assert_null(lfpool_acquire_wait(pool, A_WHILE_NS));
	}
	assert_true(stamp_holds(objects[1], SIZE, 1));
	reader_end(&second);
	if (!again)
		assert_non_null(again = lfpool_acquire_wait(pool, FOR_EVER));
	assert_non_null(objects[0] = lfpool_acquire_wait(pool, FOR_EVER));
	assert_ptr_not_equal(objects[0], again);
	assert_int_equal(lfpool_release(pool, again), LFPOOL_OK);
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	require_drained(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Threads that come and go ---- */

static void *retire_and_exit(void *argument)
{
	lfpool_t *pool = argument;
	void *object;

	join_flavour();
	REQUIRE(object = lfpool_acquire(pool));
	retire(pool, object);
	leave_flavour();
	return NULL;
}

TEST(a_thread_that_exits_leaves_nothing_behind)
{
	enum { THREADS = 60 };
	lfpool_t *pool = rcu_pool_of(SIZE, THREADS);
	struct reader reader;
	pthread_t thread;

	for (unsigned held = 0; held < 2; held++) {
		if (held)
			reader_start(&reader);
		for (unsigned i = 0; i < THREADS; i++) {
			thread_start(&thread, retire_and_exit, pool);
			pthread_join(thread, NULL);
		}
		if (held) {
			assert_int_equal(lfpool_retired_count(pool), THREADS);
			reader_end(&reader);
		}
		require_drained(pool, SIZE);
	}
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* A thread that liburcu does not know. */
struct stranger {
	pthread_t thread;
	lfpool_t *pool;
	sem_t refused;
};

static void *acquire_as_a_stranger(void *argument)
{
	struct stranger *stranger = argument;

	REQUIRE(!lfpool_acquire(stranger->pool));
	REQUIRE(!lfpool_acquire_wait(stranger->pool, 1000));
	REQUIRE(!lfpool_retire_poll(stranger->pool));
	sem_post(&stranger->refused);
	for (size_t i = 0; i < CAPACITY; i++)
		REQUIRE(lfpool_acquire_wait(stranger->pool, FOR_EVER));
	REQUIRE(lfpool_release_all(stranger->pool) == CAPACITY);
	return NULL;
}

TEST(who_acquires_need_not_be_registered)
{
	struct stranger stranger = {.pool = rcu_pool_of(SIZE, CAPACITY)};
	void *objects[CAPACITY + 1];
	struct reader reader;

	take_all(stranger.pool, objects, CAPACITY);
	reader_start(&reader);
	for (size_t i = 0; i < CAPACITY; i++)
		retire(stranger.pool, objects[i]);
	sem_init(&stranger.refused, 0, 0);
	thread_start(&stranger.thread, acquire_as_a_stranger, &stranger);
	await(&stranger.refused);
	reader_end(&reader);
	pthread_join(stranger.thread, NULL);
	require_drained(stranger.pool, SIZE);
	assert_int_equal(lfpool_destroy(stranger.pool), 0);
}

/* ---- Draining and destroying ---- */

/* Reads objects of a pool that somebody destroys meanwhile. */
struct late_reader {
	pthread_t thread;
	lfpool_t *pool;
	void *objects[CAPACITY + 1];
	sem_t inside;
	_Atomic(bool) left;
	bool drain;
};

static void *read_for_a_while(void *argument)
{
	struct late_reader *reader = argument;
	const uint64_t end = now_ns() + (uint64_t)A_WHILE_NS;

	join_flavour();
	enter();
	sem_post(&reader->inside);
	do {
		for (size_t i = 0; i < CAPACITY; i++)
			REQUIRE(stamp_holds(reader->objects[i], SIZE, i));
	} while (now_ns() < end);
	atomic_store(&reader->left, true);
	leave();
	leave_flavour();
	return NULL;
}

static bool count_deactivated(void *context, void *object)
{
	(void)object;
	atomic_fetch_add((atomic_size_t *)context, 1);
	return true;
}

TEST(drain_and_destroy_wait_for_readers)
{
	for (unsigned drain = 0; drain < 2; drain++) {
		lfpool_config_t config = config_of(SIZE, CAPACITY);
		struct late_reader reader = {.left = false};
		atomic_size_t deactivated = 0;

		config.hooks = (lfpool_hooks_t){.context = &deactivated, .deactivate = count_deactivated};
		reader.pool = rcu_pool_with(config, &rcu_flavor);
		take_all(reader.pool, reader.objects, CAPACITY);
		sem_init(&reader.inside, 0, 0);
		thread_start(&reader.thread, read_for_a_while, &reader);
		await(&reader.inside);
		for (size_t i = 0; i < CAPACITY; i++)
			retire(reader.pool, reader.objects[i]);
		if (drain) {
			assert_int_equal(lfpool_drain(reader.pool), LFPOOL_OK);
			assert_int_equal(lfpool_retired_count(reader.pool), 0);
			assert_int_equal(deactivated, CAPACITY);
			assert_true(reader.left);
		}
		assert_int_equal(lfpool_destroy(reader.pool), 0);
		assert_true(reader.left);
		assert_int_equal(deactivated, CAPACITY);
		pthread_join(reader.thread, NULL);
	}
}

static void note_misuse(void *context, const lfpool_misuse_t *misuse)
{
	*(lfpool_status_t *)context = misuse->status;
}

/* In a section of one's own, or, with QSBR, merely online: for this thread the call is a quiescent state. */
TEST(drain_and_destroy_inside_a_section)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_status_t misuse = LFPOOL_OK;
	void *objects[CAPACITY + 1];

	config.hooks = (lfpool_hooks_t){.context = &misuse, .misuse = note_misuse};
	lfpool_t *pool = rcu_pool_with(config, &rcu_flavor);

	take_all(pool, objects, CAPACITY);
	enter();
	for (size_t i = 0; i + 1 < CAPACITY; i++)
		assert_int_equal(lfpool_release_rcu(pool, objects[i]), LFPOOL_OK);
	assert_int_equal(lfpool_retired_count(pool), CAPACITY - 1);
	assert_null(lfpool_acquire(pool));
	for (size_t i = 0; i < CAPACITY; i++)
		assert_true(stamp_holds(objects[i], SIZE, i));
#ifdef FLAVOUR_QSBR
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
	assert_true(rcu_read_ongoing());
	assert_int_equal(lfpool_retired_count(pool), 0);
	leave();
#else
	rcu_read_lock();
	assert_int_equal(lfpool_drain(pool), LFPOOL_E_IN_SECTION);
	rcu_read_unlock();
	assert_int_equal(lfpool_drain(pool), LFPOOL_E_IN_SECTION);
	assert_int_equal(misuse, LFPOOL_OK);
	assert_true(lfpool_destroy(pool) == SIZE_MAX);
	assert_int_equal(misuse, LFPOOL_E_IN_SECTION);
	assert_int_equal(lfpool_misuse_count(pool), 1);
	/* It lives on. */
	assert_int_equal(lfpool_retired_count(pool), CAPACITY - 1);
	assert_true(stamp_holds(objects[0], SIZE, 0));
	assert_true(rcu_read_ongoing());
	leave();
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
#endif
	for (size_t i = 0; i + 1 < CAPACITY; i++)
		assert_non_null(lfpool_acquire(pool));
	assert_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_release_all(pool), CAPACITY);
	/* Nothing is retired: there is nothing to wait for, in a section or not. */
	enter();
	assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
	leave();
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(no_flavour_is_no_scheme)
{
	lfpool_config_t config = config_of(SIZE, 1);
	lfpool_status_t misuse = LFPOOL_OK;

	config.hooks = (lfpool_hooks_t){.context = &misuse, .misuse = note_misuse};
	lfpool_t *pool = rcu_pool_with(config, NULL);
	void *object = lfpool_acquire(pool);

	assert_null(lfpool_scheme(pool).begin);
	assert_int_equal(lfpool_release_rcu(pool, object), LFPOOL_E_NO_SCHEME);
	assert_int_equal(misuse, LFPOOL_E_NO_SCHEME);
	assert_true(lfpool_in_use(pool, object));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(pool), 0);
	pool = rcu_pool_with(config, &rcu_flavor);
	assert_ptr_equal(lfpool_scheme(pool).context, &rcu_flavor);
	assert_non_null(lfpool_scheme(pool).begin);
	assert_int_equal(lfpool_destroy(pool), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_retired_waits_for_its_reader),
		cmocka_unit_test(the_next_batch_has_a_grace_period_of_its_own),
		cmocka_unit_test(a_thread_that_exits_leaves_nothing_behind),
		cmocka_unit_test(who_acquires_need_not_be_registered),
		cmocka_unit_test(drain_and_destroy_wait_for_readers),
		cmocka_unit_test(drain_and_destroy_inside_a_section),
		cmocka_unit_test(no_flavour_is_no_scheme),
	};

	join_flavour();
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);

	leave_flavour();
	return failed;
}
