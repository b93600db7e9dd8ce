/* SPDX-License-Identifier: MIT */
/* test_pins.c - the promises of lfpool/handle.h about pins: a pinned object stays until its last unpin, whichever
 * call releases or retires it in the meantime, and a refused call changes nothing. */
#include "../support/schemes.h"
#include "../support/told.h"
#include "../support/workers.h"

#include <stdatomic.h>

enum { SIZE = 24, CAPACITY = 40, PINS_MOST = 1023 };

static lfpool_t *pool_on(lfpool_backend_t backend)
{
	return POOL_OF(SIZE, CAPACITY, .backend = backend, .hooks.misuse = hear);
}

/* A new object, and its handle. */
static void *handled(lfpool_t *pool, lfpool_handle_t *handle_out)
{
	void *object = lfpool_acquire(pool);

	assert_non_null(object);
	*handle_out = lfpool_handle_of(pool, object);
	assert_true(*handle_out != 0);
	return object;
}

static void require_refused(lfpool_t *pool, lfpool_status_t status, lfpool_status_t expected, size_t active)
{
	assert_int_equal(status, expected);
	assert_int_equal(told.misuse.status, expected);
	assert_int_equal(lfpool_active_count(pool), active);
	told_forget();
}

/* The object was released while pinned: its handle resolves to nothing, and a second release is refused. */
static void require_pending(lfpool_t *pool, void *object, lfpool_handle_t handle)
{
	const size_t active = lfpool_active_count(pool);
	void *found[CAPACITY];

	assert_null(lfpool_resolve(pool, handle));
	assert_null(lfpool_pin(pool, handle));
	assert_true(lfpool_handle_of(pool, object) == 0);
	assert_false(lfpool_in_use(pool, object));
	assert_int_equal(lfpool_copy_active(pool, found, CAPACITY), active - 1);
	require_refused(pool, lfpool_release_handle(pool, handle), LFPOOL_E_STALE, active);
	require_refused(pool, lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE, active);
	require_intact(pool);
}

enum way { BY_POINTER, BY_HANDLE, BY_CACHE, BY_MANY, BY_RELEASE_ALL, WAYS };

static void release_by(lfpool_t *pool, enum way way, void *object, lfpool_handle_t handle)
{
	lfpool_cache_t *cache;

	switch (way) {
	case BY_POINTER: assert_int_equal(lfpool_release(pool, object), LFPOOL_OK); break;
	case BY_HANDLE: assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK); break;
	case BY_CACHE:
		assert_non_null(cache = lfpool_cache_create(pool));
		assert_int_equal(lfpool_cache_release(cache, object), LFPOOL_OK);
		lfpool_cache_destroy(cache);
		break;
	case BY_MANY: assert_int_equal(lfpool_release_bulk(pool, &object, 1), 1); break;
	default: assert_int_equal(lfpool_release_all(pool), 1); break;
	}
}

BACKEND_TEST(a_release_of_a_pinned_object_takes_effect_at_the_last_unpin, LFPOOL_BACKEND_MALLOC)
{
	for (int way = 0; way < WAYS; way++) {
		lfpool_t *pool = pool_on(backend);
		lfpool_handle_t handle;
		void *object = handled(pool, &handle);

		assert_ptr_equal(lfpool_pin(pool, handle), object);
		assert_ptr_equal(lfpool_pin(pool, handle), object);
		release_by(pool, (enum way)way, object, handle);
		require_pending(pool, object, handle);
		memset(object, way, SIZE);
		assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
		require_pending(pool, object, handle);
		assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 0);
		require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_STALE, 0);
		pool_close(pool, SIZE);
	}
}

BACKEND_TEST(pins_are_counted_up_to_a_limit, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = pool_on(backend);
	lfpool_handle_t handle;
	void *object = handled(pool, &handle);

	for (int i = 0; i < PINS_MOST; i++)
		assert_ptr_equal(lfpool_pin(pool, handle), object);
	assert_null(lfpool_pin(pool, handle));
	assert_ptr_equal(lfpool_resolve(pool, handle), object);
	for (int i = 0; i < PINS_MOST; i++)
		assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_NOT_PINNED, 1);
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	pool_close(pool, SIZE);
}

BACKEND_TEST(a_second_unpin_and_other_handles_are_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = pool_on(backend), *other = pool_on(backend);
	lfpool_handle_t handle, foreign, next;
	void *object = handled(pool, &handle);

	(void)handled(other, &foreign);
	assert_null(lfpool_pin(pool, 0));
	assert_null(lfpool_pin(pool, UINT64_MAX));
	assert_null(lfpool_pin(pool, foreign));
	require_refused(pool, lfpool_unpin(pool, 0), LFPOOL_E_STALE, 1);
	require_refused(pool, lfpool_unpin(pool, UINT64_MAX), LFPOOL_E_STALE, 1);
	require_refused(pool, lfpool_unpin(pool, foreign), LFPOOL_E_STALE, 1);
	require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_NOT_PINNED, 1);
	assert_ptr_equal(lfpool_pin(pool, handle), object);
	assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_NOT_PINNED, 1);
	assert_string_equal(lfpool_status_string(LFPOOL_E_NOT_PINNED), "unpin of an object that is not pinned");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	/* A later use of the slot, pinned: the old handle does not reach it. */
	(void)handled(pool, &next);
	assert_non_null(lfpool_pin(pool, next));
	assert_null(lfpool_pin(pool, handle));
	require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_STALE, 1);
	assert_int_equal(lfpool_unpin(pool, next), LFPOOL_OK);
	assert_int_equal(lfpool_release_handle(pool, next), LFPOOL_OK);
	assert_int_equal(lfpool_release_handle(other, foreign), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(other), 0);
	pool_close(pool, SIZE);
}

BACKEND_TEST(a_retire_of_a_pinned_object_takes_effect_at_the_last_unpin, LFPOOL_BACKEND_MALLOC)
{
	for (int many = 0; many < 2; many++) {
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = backend, .hooks.misuse = hear,
					 .scheme = fake_scheme(ASKED));
		lfpool_handle_t handle;
		void *object = handled(pool, &handle);

		assert_non_null(lfpool_pin(pool, handle));
		if (many)
			assert_int_equal(lfpool_retire_bulk(pool, &object, 1), 1);
		else
			assert_int_equal(lfpool_retire(pool, object), LFPOOL_OK);
		require_pending(pool, object, handle);
		require_refused(pool, lfpool_retire(pool, object), LFPOOL_E_NOT_IN_USE, 1);
		assert_int_equal(stats_of(pool).retired, 0);
		assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
		assert_int_equal(stats_of(pool).retired, 1);
		require_refused(pool, lfpool_unpin(pool, handle), LFPOOL_E_STALE, 1);
		require_intact(pool);
		atomic_store(&fake.yes, 1);
		assert_int_equal(lfpool_drain(pool), LFPOOL_OK);
		assert_int_equal(stats_of(pool).retired, 0);
		pool_close(pool, SIZE);
	}
}

static size_t taken_down;

static bool take_down(void *context, void *object)
{
	(void)context, (void)object;
	taken_down++;
	return true;
}

TEST(hooks_deactivate_runs_at_the_last_unpin)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .hooks.deactivate = take_down, .hooks.misuse = hear);
	lfpool_handle_t handle;
	void *object = handled(pool, &handle);

	assert_non_null(lfpool_pin(pool, handle));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(taken_down, 0);
	assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	assert_int_equal(taken_down, 1);
	pool_close(pool, SIZE);
}

TEST(an_object_that_is_pinned_when_its_pool_is_destroyed_counts_as_active)
{
	for (int released = 0; released < 2; released++) {
		lfpool_t *pool = pool_on(LFPOOL_BACKEND_LOCKFREE);
		lfpool_handle_t handle;
		void *object = handled(pool, &handle);

		assert_non_null(lfpool_pin(pool, handle));
		if (released)
			assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pool), 1);
	}
}

/* ---- Threads ---- */

static struct {
	lfpool_t *pool;
	_Atomic(lfpool_handle_t) handle; /* of the object that all threads pin */
	atomic_size_t pinned, ended;
} shared;

/* An object holds its own handle, from before other threads can pin it until its slot is reused. */
static void pin_and_release(struct worker *me, lfpool_handle_t handle)
{
	const lfpool_handle_t *object = lfpool_pin(shared.pool, handle);

	if (!object)
		return;
	atomic_fetch_add(&shared.pinned, 1);
	if (random_below(&me->random, 4) == 0)
		atomic_fetch_add(&shared.ended, lfpool_release_handle(shared.pool, handle) == LFPOOL_OK);
	REQUIRE(*object == handle);
	REQUIRE(lfpool_unpin(shared.pool, handle) == LFPOOL_OK);
}

static void work(struct worker *me)
{
	for (int i = 0; i < TIMES(30000, 3000); i++) {
		const lfpool_handle_t handle = atomic_load(&shared.handle);

		if (lfpool_resolve(shared.pool, handle)) {
			pin_and_release(me, handle);
		} else {
			lfpool_handle_t *object = lfpool_acquire(shared.pool);

			REQUIRE(object);
			*object = lfpool_handle_of(shared.pool, object);
			atomic_store(&shared.handle, *object);
		}
	}
}

TEST(the_last_unpin_of_any_thread_frees)
{
	struct workers all;

	shared.pool = POOL_OF(SIZE, 200000, .hooks.misuse = expected_misuse);
	workers_start(&all, 3, work, NULL, test_seed("pins"));
	workers_join(&all);
	assert_true(atomic_load(&shared.pinned) > 0 && atomic_load(&shared.ended) > 0);
	const size_t active = lfpool_active_count(shared.pool);

	assert_int_equal(lfpool_release_all(shared.pool), active);
	pool_close(shared.pool, SIZE);
}

RUN_TESTS()
