/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_epoch.c - objects that are released when ConcurrencyKit's ck_epoch says so: not while a section may reach them,
 * and not never.
 */
#include "../support/epoch_support.h"

enum { SIZE = 40, CAPACITY = 6 };

/* ---- Sections hold objects back ---- */

TEST(what_is_retired_waits_for_its_sections)
{
	for (unsigned bulk = 0; bulk < 2; bulk++) {
		struct scene s;
		void *objects[CAPACITY + 1];
		struct reader reader;

		open_scene(&s, SIZE, CAPACITY);
		take_all(s.pool, objects, CAPACITY, SIZE);
		reader_start(&reader, &s.epoch);
		if (bulk)
			assert_int_equal(lfpool_retire_bulk(s.pool, objects, CAPACITY), CAPACITY);
		for (size_t i = 0; i < CAPACITY && !bulk; i++)
			assert_int_equal(lfpool_release_epoch(s.pool, &s.record, objects[i]), LFPOOL_OK);
		assert_int_equal(lfpool_retired_count(s.pool), CAPACITY);
		/* Each of these asks; the epoch goes on by one, and no further. */
		for (unsigned i = 0; i < 20; i++) {
			assert_null(lfpool_acquire(s.pool));
			assert_false(lfpool_retire_poll(s.pool));
		}
		assert_null(lfpool_acquire_wait(s.pool, A_WHILE_NS));
		assert_int_equal(lfpool_retired_count(s.pool), CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++) {
			assert_true(stamp_holds(objects[i], SIZE, i));
			assert_false(lfpool_in_use(s.pool, objects[i]));
		}
		reader_end(&reader);
		/* Nobody but these calls asks: each gets one, at once. */
		for (size_t i = 0; i < CAPACITY; i++)
			assert_non_null(objects[i] = i % 2 ? lfpool_acquire(s.pool) : lfpool_acquire_wait(s.pool, 0));
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		release_all(s.pool, objects, CAPACITY);
		close_scene(&s);
	}
}

/* Sections follow each other, and there is never none: two more epochs, and the objects are there. */
TEST(sections_that_began_later_hold_nothing_back_for_ever)
{
	struct scene s;
	struct reader readers[2];
	void *object;

	open_scene(&s, SIZE, 1);
	reader_start(&readers[0], &s.epoch);
	assert_non_null(object = lfpool_acquire(s.pool));
	assert_int_equal(lfpool_release_epoch(s.pool, &s.record, object), LFPOOL_OK);
	object = NULL;
	for (unsigned i = 1; i <= 6 && !object; i++) {
		object = lfpool_acquire(s.pool);
		/* The first section is still open. */
		assert_true(i > 1 || !object);
		reader_start(&readers[i % 2], &s.epoch);
		reader_end(&readers[(i + 1) % 2]);
		if (object || i == 6)
			reader_end(&readers[i % 2]);
	}
	assert_non_null(object);
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	close_scene(&s);
}

/* The thread's own section holds its objects back too; it may acquire, retire and ask inside. */
TEST(inside_a_section_of_ones_own)
{
	struct scene s;
	void *objects[CAPACITY + 1];

	open_scene(&s, SIZE, CAPACITY);
	ck_epoch_begin(&s.record, NULL);
	take_all(s.pool, objects, CAPACITY, SIZE);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal(lfpool_release_epoch(s.pool, &s.record, objects[i]), LFPOOL_OK);
	for (unsigned i = 0; i < 10; i++)
		assert_null(lfpool_acquire(s.pool));
	for (size_t i = 0; i < CAPACITY; i++)
		assert_true(stamp_holds(objects[i], SIZE, i));
	(void)ck_epoch_end(&s.record, NULL);
	assert_non_null(objects[0] = lfpool_acquire(s.pool));
	assert_int_equal(lfpool_release(s.pool, objects[0]), LFPOOL_OK);
	close_scene(&s);
}

/* ---- Threads that come and go ---- */

static void *retire_and_exit(void *argument)
{
	struct scene *s = argument;
	ck_epoch_record_t *record = record_new(&s->epoch);
	void *object;

	ck_epoch_begin(record, NULL);
	REQUIRE(object = lfpool_acquire(s->pool));
	REQUIRE(lfpool_release_epoch(s->pool, record, object) == LFPOOL_OK);
	(void)ck_epoch_end(record, NULL);
	ck_epoch_unregister(record);
	return NULL;
}

TEST(a_thread_that_exits_leaves_nothing_behind)
{
	enum { THREADS = 60 };
	struct scene s;
	struct reader reader;
	pthread_t thread;

	open_scene(&s, SIZE, THREADS);
	for (unsigned held = 0; held < 2; held++) {
		if (held)
			reader_start(&reader, &s.epoch);
		for (unsigned i = 0; i < THREADS; i++) {
			thread_start(&thread, retire_and_exit, &s);
			pthread_join(thread, NULL);
		}
		if (held) {
			assert_int_equal(lfpool_retired_count(s.pool), THREADS);
			reader_end(&reader);
		}
		require_drained(&s);
	}
	close_scene(&s);
}

/* ---- Draining and destroying ---- */

struct late_reader {
	pthread_t thread;
	struct scene *scene;
	void *objects[CAPACITY + 1];
	sem_t inside;
	_Atomic(bool) left;
};

static void *read_for_a_while(void *argument)
{
	struct late_reader *reader = argument;
	ck_epoch_record_t *record = record_new(&reader->scene->epoch);

	ck_epoch_begin(record, NULL);
	sem_post(&reader->inside);
	for (const uint64_t end = now_ns() + (uint64_t)A_WHILE_NS; now_ns() < end;)
		for (size_t i = 0; i < CAPACITY; i++)
			REQUIRE(stamp_holds(reader->objects[i], SIZE, i));
	atomic_store(&reader->left, true);
	ordered_before(&sections);
	(void)ck_epoch_end(record, NULL);
	ck_epoch_unregister(record);
	return NULL;
}

TEST(drain_and_destroy_wait_for_sections)
{
	for (unsigned drain = 0; drain < 2; drain++) {
		struct scene s;
		struct late_reader reader = {.scene = &s};

		open_scene(&s, SIZE, CAPACITY);
		take_all(s.pool, reader.objects, CAPACITY, SIZE);
		sem_init(&reader.inside, 0, 0);
		thread_start(&reader.thread, read_for_a_while, &reader);
		await(&reader.inside);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(lfpool_release_epoch(s.pool, &s.record, reader.objects[i]), LFPOOL_OK);
		if (drain) {
			assert_int_equal(lfpool_drain(s.pool), LFPOOL_OK);
			assert_true(reader.left);
			assert_int_equal(lfpool_retired_count(s.pool), 0);
		}
		assert_int_equal(lfpool_destroy(s.pool), 0);
		assert_true(reader.left);
		pthread_join(reader.thread, NULL);
		s.pool = NULL;
		close_scene(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_retired_waits_for_its_sections),
		cmocka_unit_test(sections_that_began_later_hold_nothing_back_for_ever),
		cmocka_unit_test(inside_a_section_of_ones_own),
		cmocka_unit_test(a_thread_that_exits_leaves_nothing_behind),
		cmocka_unit_test(drain_and_destroy_wait_for_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
