/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_readers.c - objects that are retired while readers are in sections, for each flavour of liburcu and ck_epoch:
 * reused only after no reader can reach them, but reused at last, even if the pool is destroyed.
 *
 * (Readers and writers of a structure at once: the stress scenarios `rcu` and `epoch`. Threads that exit:
 * verify/pairs.)
 */
#ifdef FLAVOUR_EPOCH
#include "../support/epoch_support.h"
#else
#include "../support/rcu_support.h"
#endif

enum { SIZE = 40, CAPACITY = 6 };

/* ---- Readers hold objects back ---- */

/* An object that no reader holds back any longer: the next call that polls an epoch gets it at once; liburcu's comes
 * with the callback. */
static void *acquire_due(lfpool_t *pool, size_t i)
{
#ifdef FLAVOUR_EPOCH
	return i % 2 ? lfpool_acquire(pool) : lfpool_acquire_wait(pool, 0);
#else
	(void)i;
	return lfpool_acquire_wait(pool, FOR_EVER);
#endif
}

TEST(retired_objects_wait_for_readers)
{
	for (unsigned bulk = 0; bulk < 2; bulk++) {
		lfpool_t *pool = readers_pool_of(SIZE, CAPACITY);
		void *objects[CAPACITY + 1];
		struct reader reader;

		take_all(pool, objects, CAPACITY, SIZE);
		reader_start(&reader);
		if (bulk)
			retire_bulk(pool, objects, CAPACITY);
		else
			retire_each(pool, objects, CAPACITY);
		assert_int_equal(lfpool_quick_stats(pool).retired, CAPACITY);
		/* Each of these polls; an epoch advances by one, and no further. */
		for (unsigned i = 0; i < 20; i++) {
			assert_null(lfpool_acquire(pool));
			assert_false(lfpool_retire_poll(pool));
		}
		assert_null(lfpool_acquire_wait(pool, A_WHILE_NS));
		assert_false(lfpool_retire_poll(pool));
		assert_int_equal(lfpool_quick_stats(pool).retired, CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++) {
			assert_true(stamp_holds(objects[i], SIZE, i));
			assert_false(lfpool_in_use(pool, objects[i]));
		}
		reader_end(&reader);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_non_null(objects[i] = acquire_due(pool, i));
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		release_all(pool, objects, CAPACITY);
		drain_and_destroy(pool, SIZE);
	}
}

/* ---- Draining and destroying ---- */

/* Reads objects of a pool that another thread destroys in the meantime. */
struct late_reader {
	pthread_t thread;
	void *objects[CAPACITY + 1];
	sem_t inside;
	_Atomic(bool) left;
};

static void *read_for_a_while(void *argument)
{
	struct late_reader *reader = argument;
	const uint64_t end = now_ns() + (uint64_t)A_WHILE_NS;

	join_readers();
	enter();
	sem_post(&reader->inside);
	do {
		for (size_t i = 0; i < CAPACITY; i++)
			REQUIRE(stamp_holds(reader->objects[i], SIZE, i));
	} while (now_ns() < end);
	atomic_store(&reader->left, true);
	leave();
	leave_readers();
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
		struct late_reader reader = {.left = false};
		atomic_size_t deactivated = 0;
		lfpool_t *pool = readers_pool(CONFIG_OF(SIZE, CAPACITY, .hooks.context = &deactivated,
							.hooks.deactivate = count_deactivated));

		take_all(pool, reader.objects, CAPACITY, SIZE);
		sem_init(&reader.inside, 0, 0);
		thread_start(&reader.thread, read_for_a_while, &reader);
		await(&reader.inside);
		retire_each(pool, reader.objects, CAPACITY);
		if (drain) {
			assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
			assert_int_equal(lfpool_quick_stats(pool).retired, 0);
			assert_int_equal(deactivated, CAPACITY);
			assert_true(reader.left);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_true(reader.left);
		assert_int_equal(deactivated, CAPACITY);
		pthread_join(reader.thread, NULL);
	}
}

RUN_READERS_TESTS()
