/* SPDX-License-Identifier: MIT */
/* test_handles.c - the promises of lfpool/handle.h about handles and indices: the object that a handle names, and the
 * answers to a stale one.  (When it becomes stale, in any sequence of calls: verify/pairs.  Earlier and other pools:
 * unit_handle.c.  Exactly one of racing releases by a handle succeeds: the scenario handles of lfpool-stress.) */
#include "../support/support.h"
#include "../support/told.h"

enum { SIZE = 40, CAPACITY = 500 };

static lfpool_t *pool_on(lfpool_backend_t backend, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .backend = backend, .hooks.misuse = hear);
}

/* For any bits: nothing, or an object that has exactly this handle. */
static void require_right_answer(lfpool_t *pool, lfpool_handle_t handle)
{
	void *object = lfpool_resolve(pool, handle);

	if (object) {
		assert_true(lfpool_in_use(pool, object));
		assert_true(lfpool_handle_of(pool, object) == handle);
	}
}

TEST(resolve_accepts_any_value)
{
	struct random r = random_for(test_seed("any handle"), 0);
	static const size_t capacities[] = {1, 2, 3, 4, 7, 8, 255, 256, 257, CAPACITY};

	for (size_t c = 0; c < COUNT(capacities); c++) {
		lfpool_t *pool = pool_on(c % 2 ? LFPOOL_BACKEND_MUTEX : LFPOOL_BACKEND_LOCKFREE, capacities[c]);
		void *objects[CAPACITY];
		size_t held = acquire_all(pool, objects, capacities[c] / 2 + 1), right = 0;

		assert_null(lfpool_resolve(pool, 0));
		assert_null(lfpool_resolve(pool, UINT64_MAX));
		for (size_t i = 0; i < held; i++)
			(void)lfpool_handle_of(pool, objects[i]);
		/* The handles of all slots are consecutive if each slot had the same number of uses with one. */
		const lfpool_handle_t first = lfpool_handle_of(pool, objects[0]) - lfpool_index_of(pool, objects[0]) -
					      1;

		for (lfpool_handle_t handle = first; handle < first + 4096; handle++)
			right += lfpool_resolve(pool, handle) != NULL;
		/* Each object once: a handle is one number. */
		assert_int_equal(right, held);
		for (int i = 0; i < 20000; i++)
			require_right_answer(pool, random_next(&r) >> random_below(&r, 64));
		for (size_t i = 0; i < held; i++) {
			const lfpool_handle_t handle = lfpool_handle_of(pool, objects[i]);

			assert_ptr_equal(lfpool_resolve(pool, handle), objects[i]);
			for (unsigned bit = 0; bit < 64; bit++)
				require_right_answer(pool, handle ^ UINT64_C(1) << bit);
		}
		lfpool_destroy(pool);
	}
}

/* ---- Release ---- */

static void require_stale(lfpool_t *pool, lfpool_handle_t handle, const void *object, size_t index, const char *detail)
{
	const uint64_t before = lfpool_quick_stats(pool).misuses;
	const size_t active = lfpool_active_count(pool);

	told_forget();
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_E_STALE);
	assert_int_equal(lfpool_quick_stats(pool).misuses, before + 1);
	assert_int_equal(lfpool_active_count(pool), active);
	assert_ptr_equal(told.misuse.pool, pool);
	assert_int_equal(told.misuse.status, LFPOOL_E_STALE);
	assert_int_equal(told.misuse.count, before + 1);
	assert_true(told.misuse.handle == handle);
	assert_ptr_equal(told.misuse.object, object);
	assert_true(told.misuse.index == index);
	assert_string_equal(told.detail, detail);
}

BACKEND_TEST(release_by_handle_succeeds_once, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);
	const size_t index = lfpool_index_of(pool, object);

	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	assert_false(lfpool_in_use(pool, object));
	require_stale(pool, handle, object, index, "The slot is free.");
	/* In use again, by another acquire. */
	void *again = lfpool_acquire(pool);

	assert_ptr_equal(again, object);
	require_stale(pool, handle, object, index, "The slot holds another object now.");
	assert_int_equal(lfpool_release(pool, again), LFPOOL_OK);
	require_stale(pool, 0, NULL, SIZE_MAX, "This pool has no such slot.");
	require_stale(pool, UINT64_MAX, NULL, SIZE_MAX, "This pool has no such slot.");
	/* Slot 1, before its first use. */
	require_stale(pool, 1, moved(object, -(ptrdiff_t)(index * stride_of(pool, object))), 0, "The slot is free.");
	/* A release by pointer also makes it stale, and a refusal by pointer reports no handle. */
	assert_non_null(object = lfpool_acquire(pool));
	const lfpool_handle_t other = lfpool_handle_of(pool, object);

	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	require_stale(pool, other, object, index, "The slot is free.");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.misuse.handle, 0);
	assert_true(told.misuse.index == index);
	pool_close(pool, SIZE);
}

/* Every address from before the first object to behind the last. */
BACKEND_TEST(index_and_inner_address_lead_to_the_object, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	void *objects[CAPACITY];
	const ptrdiff_t stride = (ptrdiff_t)stride_of(pool, lfpool_object_at(pool, 0));

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_true(sort_disjoint(objects, CAPACITY, SIZE));
	for (ptrdiff_t i = 0; i < CAPACITY; i++) {
		assert_int_equal(lfpool_index_of(pool, objects[i]), i);
		assert_ptr_equal(lfpool_object_at(pool, (size_t)i), objects[i]);
		for (ptrdiff_t offset = 0; offset < stride; offset++) {
			const void *const inner = moved(objects[i], offset);

			assert_ptr_equal(lfpool_object_start(pool, inner), offset < SIZE ? objects[i] : NULL);
			assert_true(lfpool_index_of(pool, inner) == (offset ? SIZE_MAX : (size_t)i));
		}
	}
	/* Also for free objects. */
	release_all(pool, objects, CAPACITY);
	assert_int_equal(lfpool_index_of(pool, objects[7]), 7);
	assert_ptr_equal(lfpool_object_at(pool, 7), objects[7]);
	assert_ptr_equal(lfpool_object_start(pool, moved(objects[7], SIZE - 1)), objects[7]);
	assert_null(lfpool_object_at(pool, CAPACITY));
	assert_null(lfpool_object_at(pool, SIZE_MAX));
	const void *const strangers[] = {moved(objects[0], -1), moved(objects[CAPACITY - 1], stride), &pool, NULL,
					 (void *)UINTPTR_MAX};

	assert_int_equal(lfpool_handle_of(pool, objects[7]), 0);
	for (size_t i = 0; i < COUNT(strangers); i++) {
		assert_int_equal(lfpool_handle_of(pool, strangers[i]), 0);
		assert_null(lfpool_object_start(pool, strangers[i]));
		assert_true(lfpool_index_of(pool, strangers[i]) == SIZE_MAX);
	}
	lfpool_destroy(pool);
}

/* The malloc backend: handles become stale too; only active objects have an address. */
TEST(handles_go_stale_in_malloc_mode)
{
	lfpool_t *pool = pool_on(LFPOOL_BACKEND_MALLOC, CAPACITY);
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);
	const size_t index = lfpool_index_of(pool, object);

	assert_ptr_equal(lfpool_resolve(pool, handle), object);
	assert_null(lfpool_resolve(pool, 0));
	assert_ptr_equal(lfpool_object_at(pool, index), object);
	assert_ptr_equal(lfpool_object_start(pool, object), object);
	assert_null(lfpool_object_start(pool, moved(object, 1)));
	assert_null(lfpool_object_start(pool, &pool));
	require_stale(pool, 0, NULL, SIZE_MAX, "This pool has no such slot.");
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	assert_null(lfpool_resolve(pool, handle));
	require_stale(pool, handle, NULL, SIZE_MAX, "The slot is free.");
	assert_null(lfpool_object_at(pool, index));
	assert_null(lfpool_object_at(pool, SIZE_MAX));
	lfpool_destroy(pool);
}

RUN_TESTS()
