/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_epoch_gate.c - what ties a pool to an epoch: how it is made and refused, how few records and callbacks it has,
 * and whose record is not taken.
 */
#include "../support/epoch_support.h"

enum { SIZE = 24, MANY = 10000, THREADS = 4 };

/* ---- Made, and refused ---- */

static bool refuse_memory;

/* In the place of the C library's, for the whole program. */
int posix_memalign(void **memory_out, size_t alignment, size_t size)
{
	if (refuse_memory)
		return ENOMEM;
	*memory_out = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
	return *memory_out ? 0 : ENOMEM;
}

TEST(a_gate_is_made_or_refused)
{
	ck_epoch_t epoch;
	lfpool_epoch_t *gate;

	ck_epoch_init(&epoch);
	assert_int_equal(lfpool_epoch_create(NULL, &epoch), LFPOOL_E_ARGUMENT);
	gate = (lfpool_epoch_t *)(void *)&epoch;
	assert_int_equal(lfpool_epoch_create(&gate, NULL), LFPOOL_E_ARGUMENT);
	assert_null(gate);
	refuse_memory = true;
	gate = (lfpool_epoch_t *)(void *)&epoch;
	const lfpool_status_t status = lfpool_epoch_create(&gate, &epoch);

	refuse_memory = false;
	assert_int_equal(status, LFPOOL_E_NO_MEMORY);
	assert_null(gate);
	assert_int_equal(lfpool_epoch_create(&gate, &epoch), LFPOOL_OK);
	assert_int_equal(records_of(&epoch), 0);
	lfpool_epoch_destroy(gate);
	lfpool_epoch_destroy(NULL);
	assert_null(lfpool_epoch_scheme(NULL).begin);
	assert_null(lfpool_epoch_scheme(NULL).ready);
}

/* ---- Records and callbacks ---- */

/* What the pool has deferred, and what came back. */
static void sum_callbacks(const struct scene *s, size_t *pending_out, size_t *done_out)
{
	*pending_out = *done_out = 0;
	for (const ck_epoch_record_t *record = NULL; (record = record_next(&s->epoch, record)) != NULL;) {
		*pending_out += record->n_pending;
		*done_out += record->n_dispatch;
	}
}

static void require_callbacks(const struct scene *s, size_t pending, size_t done)
{
	size_t pending_now, done_now;

	sum_callbacks(s, &pending_now, &done_now);
	assert_int_equal(pending_now, pending);
	assert_int_equal(done_now, done);
}

TEST(a_callback_is_for_a_batch)
{
	static void *objects[MANY + 1];
	struct scene s;

	open_scene(&s, SIZE, MANY);
	for (size_t round = 1; round <= 3; round++) {
		take_all(s.pool, objects, MANY, SIZE);
		ck_epoch_begin(&s.record, NULL);
		for (size_t i = 0; i < MANY; i++)
			assert_int_equal(lfpool_release_epoch(s.pool, &s.record, objects[i]), LFPOOL_OK);
		require_callbacks(&s, 1, 2 * (round - 1));
		(void)ck_epoch_end(&s.record, NULL);
		assert_int_equal(lfpool_drain(s.pool), LFPOOL_OK);
		require_callbacks(&s, 0, 2 * round);
		/* One thread, one place. */
		assert_int_equal(records_of(&s.epoch), 2);
	}
	close_scene(&s);
}

struct retiring {
	pthread_t thread;
	struct scene *scene;
};

static void *retire_some(void *argument)
{
	struct retiring *r = argument;
	ck_epoch_record_t *record = record_new(&r->scene->epoch);

	for (unsigned i = 0; i < 300; i++) {
		void *object = lfpool_acquire(r->scene->pool);

		if (object)
			REQUIRE(lfpool_release_epoch(r->scene->pool, record, object) == LFPOOL_OK);
	}
	ck_epoch_unregister(record);
	return NULL;
}

/* However many threads come and go. */
TEST(records_are_as_few_as_places)
{
	enum { ROUNDS = 40 };
	struct retiring r[THREADS];
	struct scene s;

	open_scene(&s, SIZE, 50);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < THREADS; i++) {
			r[i].scene = &s;
			thread_start(&r[i].thread, retire_some, &r[i]);
		}
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(r[i].thread, NULL);
	}
	/* The test's own and the threads', which recycle theirs. */
	assert_in_range(records_of(&s.epoch), 2, LFPOOL_PLACES_MAX + 1 + THREADS);
	close_scene(&s);
}

TEST(a_gate_serves_one_pool_after_another)
{
	struct scene s;
	struct reader reader;

	open_scene(&s, SIZE, 10);
	for (unsigned i = 0; i < 5; i++) {
		void *objects[11];

		take_all(s.pool, objects, 10, SIZE);
		reader_start(&reader, &s.epoch);
		for (size_t k = 0; k < 10; k++)
			assert_int_equal(lfpool_release_epoch(s.pool, &s.record, objects[k]), LFPOOL_OK);
		assert_null(lfpool_acquire(s.pool));
		reader_end(&reader);
		assert_int_equal(lfpool_destroy(s.pool), 0);
		s.pool = epoch_pool_with(config_of(SIZE, 10), s.gate);
	}
	assert_int_equal(records_of(&s.epoch), 3);
	close_scene(&s);
}

TEST(pools_share_an_epoch)
{
	struct scene s;
	lfpool_epoch_t *gate;
	struct reader reader;
	void *objects[11];

	open_scene(&s, SIZE, 10);
	assert_int_equal(lfpool_epoch_create(&gate, &s.epoch), LFPOOL_OK);
	lfpool_t *other = epoch_pool_with(config_of(SIZE, 1), gate);
	void *object = lfpool_acquire(other);

	take_all(s.pool, objects, 10, SIZE);
	reader_start(&reader, &s.epoch);
	assert_int_equal(lfpool_release_epoch(other, &s.record, object), LFPOOL_OK);
	for (size_t k = 0; k < 10; k++)
		assert_int_equal(lfpool_release_epoch(s.pool, &s.record, objects[k]), LFPOOL_OK);
	assert_null(lfpool_acquire(other));
	assert_null(lfpool_acquire(s.pool));
	reader_end(&reader);
	assert_non_null(object = lfpool_acquire(other));
	assert_int_equal(lfpool_retired_count(s.pool), 10);
	assert_int_equal(lfpool_release(other, object), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(other), 0);
	close_scene(&s);
	lfpool_epoch_destroy(gate);
}

/* ---- Whose record it is ---- */

static void note_misuse(void *context, const lfpool_misuse_t *misuse)
{
	*(lfpool_status_t *)context = misuse->status;
}

TEST(the_record_of_another_epoch_is_refused)
{
	lfpool_config_t config = config_of(SIZE, 1);
	lfpool_status_t misuse = LFPOOL_OK;
	struct scene s, other;

	open_scene(&s, SIZE, 1);
	open_scene(&other, SIZE, 1);
	assert_int_equal(lfpool_destroy(s.pool), 0);
	config.hooks = (lfpool_hooks_t){.context = &misuse, .misuse = note_misuse};
	s.pool = epoch_pool_with(config, s.gate);
	lfpool_t *without = pool_with(&config);

	for (unsigned i = 0; i < 2; i++) {
		lfpool_t *pool = i ? without : s.pool;
		void *object = lfpool_acquire(pool);

		assert_int_equal(lfpool_release_epoch(pool, &other.record, object), LFPOOL_E_NO_SCHEME);
		assert_int_equal(misuse, LFPOOL_OK);
		assert_int_equal(lfpool_misuse_count(pool), 0);
		assert_int_equal(lfpool_retired_count(pool), 0);
		assert_true(lfpool_in_use(pool, object));
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	}
	/* The right record, the wrong object: a misuse like any other. */
	assert_int_equal(lfpool_release_epoch(s.pool, &s.record, &s), LFPOOL_E_FOREIGN);
	assert_int_equal(misuse, LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release_epoch(s.pool, &s.record, NULL), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(without), 0);
	close_scene(&s);
	close_scene(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gate_is_made_or_refused),
		cmocka_unit_test(a_callback_is_for_a_batch),
		cmocka_unit_test(records_are_as_few_as_places),
		cmocka_unit_test(a_gate_serves_one_pool_after_another),
		cmocka_unit_test(pools_share_an_epoch),
		cmocka_unit_test(the_record_of_another_epoch_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
