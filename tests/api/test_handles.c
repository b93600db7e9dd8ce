/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_handles.c - what lfpool/handle.h promises about handles and indices: which object a handle names, when it goes
 * stale, what is said of it then.
 */
#include "../support/support.h"
#include "../support/told.h"

#include <stdatomic.h>

enum { SIZE = 40, CAPACITY = 500 };

static const lfpool_backend_t tracked[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

static lfpool_t *pool_on(lfpool_backend_t backend, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .backend = backend, .hooks.misuse = hear);
}

BACKEND_TEST(a_handle_names_its_object_until_it_is_released, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	lfpool_handle_t first[CAPACITY], handles[CAPACITY];
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_true(first[i] = lfpool_handle_of(pool, objects[i]));
		assert_true(lfpool_handle_of(pool, objects[i]) == first[i]);
		for (size_t k = 0; k < i; k++)
			assert_true(first[i] != first[k]);
	}
	for (int round = 0; round < 5; round++) {
		for (size_t i = 0; i < CAPACITY; i++) {
			handles[i] = lfpool_handle_of(pool, objects[i]);
			assert_ptr_equal(lfpool_resolve(pool, handles[i]), objects[i]);
			assert_ptr_equal(lfpool_resolve(pool, first[i]), round ? NULL : objects[i]);
		}
		release_all(pool, objects, CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_null(lfpool_resolve(pool, handles[i]));
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_null(lfpool_resolve(pool, handles[i]));
	}
	handles[0] = lfpool_handle_of(pool, objects[0]);
	assert_int_equal(lfpool_release_all(pool), CAPACITY);
	assert_null(lfpool_resolve(pool, handles[0]));
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

BACKEND_TEST(what_is_no_active_object_has_no_handle, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY), *other = pool_of(SIZE, 3);
	char *object = lfpool_acquire(pool), *foreign = lfpool_acquire(other);

	assert_true(lfpool_handle_of(pool, object));
	assert_int_equal(lfpool_handle_of(pool, object + 1), 0);
	assert_int_equal(lfpool_handle_of(pool, foreign), 0);
	assert_int_equal(lfpool_handle_of(pool, &pool), 0);
	assert_int_equal(lfpool_handle_of(pool, NULL), 0);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_handle_of(pool, object), 0);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	lfpool_destroy(other);
	lfpool_destroy(pool);
}

/* Whatever the bits say: nothing, or an object that has this very handle. */
static void require_right_answer(lfpool_t *pool, lfpool_handle_t handle)
{
	void *object = lfpool_resolve(pool, handle);

	if (object) {
		assert_true(lfpool_in_use(pool, object));
		assert_true(lfpool_handle_of(pool, object) == handle);
	}
}

TEST(any_value_may_be_resolved)
{
	struct random r = random_for(test_seed("any handle"), 0);
	static const size_t capacities[] = {1, 2, 3, 4, 7, 8, 255, 256, 257, CAPACITY};

	for (size_t c = 0; c < COUNT(capacities); c++) {
		lfpool_t *pool = pool_on(tracked[c % 2], capacities[c]);
		void *objects[CAPACITY];
		size_t held = acquire_all(pool, objects, capacities[c] / 2 + 1), right = 0;

		assert_null(lfpool_resolve(pool, 0));
		assert_null(lfpool_resolve(pool, UINT64_MAX));
		for (size_t i = 0; i < held; i++)
			(void)lfpool_handle_of(pool, objects[i]);
		/* Those of all slots lie side by side, when as many uses of each had one. */
		const lfpool_handle_t first = lfpool_handle_of(pool, objects[0]) - lfpool_index_of(pool, objects[0]) - 1;

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
	const size_t before = lfpool_misuse_count(pool), active = lfpool_active_count(pool);

	told_forget();
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_E_STALE);
	assert_int_equal(lfpool_misuse_count(pool), before + 1);
	assert_int_equal(lfpool_active_count(pool), active);
	assert_ptr_equal(told.misuse.pool, pool);
	assert_int_equal(told.misuse.status, LFPOOL_E_STALE);
	assert_int_equal(told.misuse.count, before + 1);
	assert_true(told.misuse.handle == handle);
	assert_ptr_equal(told.misuse.object, object);
	assert_true(told.misuse.index == index);
	assert_string_equal(told.detail, detail);
}

BACKEND_TEST(a_release_by_handle_succeeds_once, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);
	const size_t index = lfpool_index_of(pool, object);

	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	assert_false(lfpool_in_use(pool, object));
	require_stale(pool, handle, object, index, "The slot is free.");
	/* Again in use, by somebody else. */
	void *again = lfpool_acquire(pool);

	assert_ptr_equal(again, object);
	require_stale(pool, handle, object, index, "The slot holds another object now.");
	assert_int_equal(lfpool_release(pool, again), LFPOOL_OK);
	require_stale(pool, 0, NULL, SIZE_MAX, "This pool has no such slot.");
	require_stale(pool, UINT64_MAX, NULL, SIZE_MAX, "This pool has no such slot.");
	/* Slot 1, before its first use. */
	require_stale(pool, 1, moved(object, -(ptrdiff_t)(index * stride_of(pool, object))), 0, "The slot is free.");
	/* A pointer's release makes it stale too, and a refusal by pointer tells no handle. */
	assert_non_null(object = lfpool_acquire(pool));
	const lfpool_handle_t other = lfpool_handle_of(pool, object);

	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	require_stale(pool, other, object, index, "The slot is free.");
	assert_int_equal(lfpool_release(pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(told.misuse.handle, 0);
	assert_true(told.misuse.index == index);
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

TEST(all_by_handle)
{
	for (int none = 0; none < 2; none++) {
		lfpool_handle_t handles[CAPACITY];
		void *objects[CAPACITY];
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .cache_capacity = none ? LFPOOL_CACHE_NONE : 0);

		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			handles[i] = lfpool_handle_of(pool, objects[i]);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(lfpool_release_handle(pool, handles[i]), LFPOOL_OK);
		require_whole(pool, SIZE);
		lfpool_destroy(pool);
	}
}

/* A pool in a buffer prints none. */
#ifndef IN_BUFFER
TEST(the_message_when_there_is_no_hook)
{
	char text[512], expected[512];
	FILE *file = tmpfile();
	const int kept = dup(STDERR_FILENO);
	lfpool_t *pool = POOL_OF(SIZE, 1, .name = "ships");
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);

	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_true(file && kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	const lfpool_status_t status = lfpool_release_handle(pool, handle);

	assert_true(dup2(kept, STDERR_FILENO) >= 0);
	close(kept);
	assert_int_equal(status, LFPOOL_E_STALE);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	snprintf(expected, sizeof(expected),
		 "lfpool: pool \"ships\", object %p: release by a handle that names no active object of this pool; "
		 "refused.  The slot is free.  Further misuse of this pool is counted, not printed.\n",
		 object);
	assert_string_equal(text, expected);
	lfpool_destroy(pool);
}
#endif

/* ---- The others ---- */

/* Pools alike in all, one after the other and side by side. */
BACKEND_TEST(a_handle_is_of_its_pool, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY), *other = pool_on(backend, CAPACITY);
	void *object = lfpool_acquire(pool), *others = lfpool_acquire(other);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);

	assert_true(lfpool_handle_of(other, others) != handle);
	assert_null(lfpool_resolve(other, handle));
	assert_int_equal(lfpool_destroy(pool), 1);
	pool = pool_on(backend, CAPACITY);
	object = lfpool_acquire(pool);
	assert_null(lfpool_resolve(pool, handle));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_release(other, others), LFPOOL_OK);
	lfpool_destroy(pool);
	lfpool_destroy(other);
}

TEST(in_the_malloc_backend_handles_go_stale_too)
{
	lfpool_t *pool = pool_on(LFPOOL_BACKEND_MALLOC, CAPACITY);
	void *object = lfpool_acquire(pool);
	const lfpool_handle_t handle = lfpool_handle_of(pool, object);
	const size_t index = lfpool_index_of(pool, object);

	assert_ptr_equal(lfpool_resolve(pool, handle), object);
	assert_int_equal(lfpool_handle_of(pool, NULL), 0);
	assert_null(lfpool_resolve(pool, 0));
	assert_true(index < CAPACITY);
	require_stale(pool, 0, NULL, SIZE_MAX, "This pool has no such slot.");
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	assert_null(lfpool_resolve(pool, handle));
	require_stale(pool, handle, NULL, SIZE_MAX, "The slot is free.");
	assert_int_equal(lfpool_active_count(pool), 0);
	lfpool_destroy(pool);
}

BACKEND_TEST(indices_are_the_places_of_the_objects, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	assert_true(sort_disjoint(objects, CAPACITY, SIZE));
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_int_equal(lfpool_index_of(pool, objects[i]), i);
		assert_true(lfpool_index_of(pool, moved(objects[i], 1)) == SIZE_MAX);
	}
	release_all(pool, objects, CAPACITY);
	assert_int_equal(lfpool_index_of(pool, objects[7]), 7);
	assert_true(lfpool_index_of(pool, &pool) == SIZE_MAX);
	assert_true(lfpool_index_of(pool, NULL) == SIZE_MAX);
	lfpool_destroy(pool);
}

/* Every address from before the first object to behind the last. */
TEST(an_index_and_an_address_lead_to_the_object)
{
	for (size_t b = 0; b < COUNT(tracked); b++) {
		lfpool_t *pool = pool_on(tracked[b], CAPACITY);
		void *objects[CAPACITY];
		const ptrdiff_t stride = (ptrdiff_t)stride_of(pool, lfpool_object_at(pool, 0));

		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		assert_true(sort_disjoint(objects, CAPACITY, SIZE));
		for (ptrdiff_t i = 0; i < CAPACITY; i++) {
			assert_ptr_equal(lfpool_object_at(pool, (size_t)i), objects[i]);
			for (ptrdiff_t offset = 0; offset < stride; offset++)
				assert_ptr_equal(lfpool_object_start(pool, moved(objects[i], offset)),
						 offset < SIZE ? objects[i] : NULL);
		}
		release_all(pool, objects, CAPACITY);
		assert_ptr_equal(lfpool_object_at(pool, 7), objects[7]);
		assert_ptr_equal(lfpool_object_start(pool, moved(objects[7], SIZE - 1)), objects[7]);
		assert_null(lfpool_object_at(pool, CAPACITY));
		assert_null(lfpool_object_at(pool, SIZE_MAX));
		assert_null(lfpool_object_start(pool, moved(objects[0], -1)));
		assert_null(lfpool_object_start(pool, moved(objects[CAPACITY - 1], stride)));
		assert_null(lfpool_object_start(pool, NULL));
		assert_null(lfpool_object_start(pool, (void *)UINTPTR_MAX));
		lfpool_destroy(pool);
	}
}

TEST(with_malloc_only_active_objects_have_an_address)
{
	lfpool_t *pool = pool_on(LFPOOL_BACKEND_MALLOC, CAPACITY);
	void *object = lfpool_acquire(pool);
	const size_t index = lfpool_index_of(pool, object);

	assert_ptr_equal(lfpool_object_at(pool, index), object);
	assert_ptr_equal(lfpool_object_start(pool, object), object);
	assert_null(lfpool_object_start(pool, moved(object, 1)));
	assert_null(lfpool_object_start(pool, &pool));
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_null(lfpool_object_at(pool, index));
	assert_null(lfpool_object_at(pool, SIZE_MAX));
	lfpool_destroy(pool);
}

/* ---- Threads ---- */

struct race {
	lfpool_t *pool;
	lfpool_handle_t handle;
	const void *object;
	pthread_barrier_t start, end;
	int rounds;
	atomic_uint released, refused;
};

static void *release_by_handle(void *argument)
{
	struct race *race = argument;

	for (int i = 0; i < race->rounds; i++) {
		pthread_barrier_wait(&race->start);
		atomic_fetch_add(lfpool_release_handle(race->pool, race->handle) == LFPOOL_OK ? &race->released : &race->refused,
				 1);
		REQUIRE(!lfpool_resolve(race->pool, race->handle));
		pthread_barrier_wait(&race->end);
	}
	return NULL;
}

static void *resolve(void *argument)
{
	struct race *race = argument;

	for (int i = 0; i < race->rounds; i++) {
		pthread_barrier_wait(&race->start);
		for (int k = 0; k < 100; k++) {
			const void *object = lfpool_resolve(race->pool, race->handle);

			REQUIRE(!object || object == race->object);
		}
		pthread_barrier_wait(&race->end);
	}
	return NULL;
}

/* No LFPOOL_CHECK_RACES: releases by handle need none among themselves.  Acquires of the slot go on meanwhile. */
TEST(of_racing_releases_by_one_handle_one_succeeds)
{
	struct race race = {.rounds = TIMES(3000, 500)};

	race.pool = pool_on(LFPOOL_BACKEND_LOCKFREE, 2);
	pthread_barrier_init(&race.start, NULL, 4);
	pthread_barrier_init(&race.end, NULL, 4);
	const struct threads releasers = threads_start(2, release_by_handle, &race, 0),
			     other = threads_start(1, resolve, &race, 0);

	for (int i = 0; i < race.rounds; i++) {
		race.object = lfpool_acquire(race.pool);
		race.handle = lfpool_handle_of(race.pool, race.object);
		atomic_store(&race.released, 0);
		atomic_store(&race.refused, 0);
		pthread_barrier_wait(&race.start);
		/* It may be the same slot, under another handle. */
		for (int k = 0; k < 20; k++)
			REQUIRE(lfpool_release(race.pool, lfpool_acquire(race.pool)) == LFPOOL_OK);
		pthread_barrier_wait(&race.end);
		REQUIRE(atomic_load(&race.released) == 1 && atomic_load(&race.refused) == 1);
		REQUIRE(lfpool_active_count(race.pool) == 0);
	}
	threads_join(&releasers);
	threads_join(&other);
	require_whole(race.pool, SIZE);
	lfpool_destroy(race.pool);
}

RUN_TESTS()
