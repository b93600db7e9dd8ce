/* SPDX-License-Identifier: MIT */
/*
 * test_retire.c - the promises of lfpool/retire.h about a retired object: its use has ended, but it is not free, and
 * stays untouched, until its batch is reclaimed; and its place in the pool's dump.
 *
 * (Any sequence of calls, on every kind of pool, with calls that wait for retired objects, with fork and with a
 * refused destroy, against a model: verify/pairs.  Several threads: verify/explore, verify/step, and the stress
 * scenario `retire`.)
 */
#include "../support/schemes.h"
#include "../support/texts.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 40, RETIRED = 15 };

/* ---- Neither in use nor free ---- */

struct slots {
	void **objects;
	size_t active;
};

static bool visit(void *context, void *object, bool active)
{
	struct slots *slots = context;

	for (size_t i = 0; i < RETIRED; i++)
		REQUIRE(!active || object != slots->objects[i]);
	slots->active += active;
	return true;
}

/* objects[0 .. RETIRED - 1] are retired, the others active. */
static void require_out_of_sight(lfpool_t *pool, void **objects, const lfpool_handle_t *handles)
{
	struct slots slots = {.objects = objects};

	for (size_t i = 0; i < CAPACITY; i++) {
		const bool active = i >= RETIRED;

		assert_ptr_equal(lfpool_resolve(pool, handles[i]), active ? objects[i] : NULL);
		assert_true(lfpool_handle_of(pool, objects[i]) == (active ? handles[i] : 0));
		assert_int_equal(lfpool_in_use(pool, objects[i]), active);
		assert_true(lfpool_owns(pool, objects[i]));
		assert_true(stamp_holds(objects[i], SIZE, i));
	}
	(void)lfpool_for_each_slot(pool, visit, &slots);
	/* There free slots have no memory, and a walk visits nothing. */
	assert_int_equal(slots.active,
			 lfpool_quick_stats(pool).backend == LFPOOL_BACKEND_MALLOC ? 0 : CAPACITY - RETIRED);
}

FAKE_TEST(a_retired_object_is_neither_in_use_nor_free)
{
	lfpool_handle_t handles[CAPACITY];
	void *objects[CAPACITY + 1], *again[RETIRED + 1];

	assert_int_equal(acquire_all(pool, objects, CAPACITY + 1), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		stamp_write(objects[i], SIZE, i);
		assert_true(handles[i] = lfpool_handle_of(pool, objects[i]));
	}
	for (size_t i = 0; i < RETIRED; i++)
		assert_int_equal(lfpool_retire(pool, objects[i]), LFPOOL_OK);
	require_out_of_sight(pool, objects, handles);
	assert_null(lfpool_acquire(pool));
	assert_int_equal(lfpool_acquire_bulk(pool, again, RETIRED), 0);
	assert_null(lfpool_acquire_wait(pool, 1000));
	/* Each of these polled in vain. */
	require_out_of_sight(pool, objects, handles);
	fake_end_all(pool);
	for (size_t i = 0; i < RETIRED; i++)
		assert_false(lfpool_in_use(pool, objects[i]));
	assert_int_equal(acquire_all(pool, again, RETIRED + 1), RETIRED);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_ptr_equal(lfpool_resolve(pool, handles[i]), i < RETIRED ? NULL : objects[i]);
}

/* More than fit on the pages that a small pool needs anyway. */
TEST(grown_pool_can_retire_all_objects)
{
	enum { FEW = 12, MANY = 30000 };
	lfpool_t *pool = POOL_OF(SIZE, FEW, .max_capacity = MANY, .scheme = fake_scheme(KEPT));
	void **objects = pointers_new(MANY);

	assert_int_equal(lfpool_grow(pool, MANY), MANY - FEW);
	assert_int_equal(acquire_all(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_retire_bulk(pool, objects, MANY), MANY);
	assert_int_equal(lfpool_quick_stats(pool).retired, MANY);
	assert_null(lfpool_acquire(pool));
	fake_end_all(pool);
	pool_close(pool, SIZE);
	free(objects);
}

/* Debug modes treat an object when it is reclaimed, not when it is retired.  (no-tools: the test writes to free
 * objects.) */
TEST(retired_objects_are_poisoned_when_reclaimed)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .debug = "poison,no-tools", .hooks.misuse = hear,
				 .scheme = fake_scheme(KEPT));
	unsigned char *object = lfpool_acquire(pool);
	void *objects[CAPACITY];

	told_forget();
	stamp_write(object, SIZE, 1);
	assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
	assert_true(stamp_holds(object, SIZE, 1));
	fake_end_all(pool);
	assert_false(stamp_holds(object, SIZE, 1));
	object[7] ^= 1;
	/* Too late: the object's next acquire finds it. */
	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
	assert_int_equal(told.misuse.offset, 7);
	release_all(pool, objects, CAPACITY);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- The dump ---- */

static void require_dumps(const lfpool_t *pool, const char *identity, const char *in_json)
{
	char *json = whole_dump(pool_dump, pool, LFPOOL_JSON);

	require_said(pool, identity);
	require_in(json, in_json);
	free(json);
}

FAKE_TEST(dumps_count_retired_objects)
{
	void *objects[CAPACITY];

	require_dumps(pool, "40 = 0 active + 0 retired + ", ",\"retired\":0,\"");
	assert_int_equal(lfpool_acquire_bulk(pool, objects, 12), 12);
	assert_int_equal(lfpool_retire_bulk(pool, objects, 7), 7);
	require_dumps(pool, "40 = 5 active + 7 retired + ", ",\"retired\":7,\"");
	fake_end_all(pool);
	require_dumps(pool, "40 = 5 active + 0 retired + ", ",\"retired\":0,\"");
}

RUN_TESTS()
