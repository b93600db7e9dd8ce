/* SPDX-License-Identifier: MIT */
/*
 * unit_check_backends.c - lfpool_check() on the mutex and malloc backends: what is theirs alone is damaged, and named.
 */
#include "../support/support.h"

#include "core/cache.h"
#include "os/os.h"
#include "pool/pool.h"

#define LOAD(p) atomic_load_explicit((p), memory_order_relaxed)
#define STORE(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)

static void expect_violation(const lfpool_t *pool, const char *expected)
{
	const char *violated = lfpool_check(pool, NULL);

	if (!violated || strncmp(violated, expected, strlen(expected)) != 0)
		fail_msg("expected \"%s\", got \"%s\"", expected, violated ? violated : "nothing");
}

/* The list lies in the free objects, so a user can break it. */
TEST(the_list_of_the_mutex_backend)
{
	for (int damage = 0; damage < 6; damage++) {
		lfpool_config_t config = config_of(24, 10);
		void *objects[5], *saved;

		config.backend = LFPOOL_BACKEND_MUTEX;
		/* Its links lie in free objects, unless a sanitizer is told that those are nobody's to touch. */
		config.debug = "no-tools";
		lfpool_t *pool = pool_with(&config);

		assert_null(lfpool_check(pool, NULL));
		assert_int_equal(acquire_all(pool, objects, 5), 5);
		assert_null(lfpool_check(pool, NULL));
		release_all(pool, objects, 3);
		assert_null(lfpool_check(pool, NULL));
		memcpy(&saved, objects[2], sizeof(saved));
		void *last = moved(objects[0], 9 * (ptrdiff_t)stride_of(pool, objects[0]));

		switch (damage) {
		case 0:
			memcpy(objects[2], &objects[2], sizeof(void *));
			expect_violation(pool, "C1: a free slot lies in two places");
			break;
		case 1:
			memcpy(objects[2], &objects[4], sizeof(void *));
			expect_violation(pool, "A1: an object that is in use lies");
			break;
		case 2:
			memcpy(objects[2], &(void *){moved(objects[0], 1)}, sizeof(void *));
			expect_violation(pool, "M1:");
			break;
		case 3:
			memcpy(objects[2], &(void *){NULL}, sizeof(void *));
			expect_violation(pool, "M2: the list does not hold");
			break;
		case 4:
			memcpy(objects[2], &last, sizeof(void *));
			expect_violation(pool, "C1: a slot that was never used");
			break;
		default:
			STORE(&pool->arena->face.state[6], 3);
			expect_violation(pool, "A1: the state of a slot that was never used");
			STORE(&pool->arena->face.state[6], 0);
		}
		memcpy(objects[2], &saved, sizeof(saved));
		assert_null(lfpool_check(pool, NULL));
		release_all(pool, objects + 3, 2);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* Slots as in the lock-free backend; each that is in use has an object, and the object has a label. */
TEST(the_cells_of_the_malloc_backend)
{
	lfpool_config_t config = config_of(24, 10);
	void *objects[2] = {NULL, NULL}, *label, *saved;

	config.backend = LFPOOL_BACKEND_MALLOC;
	lfpool_t *pool = pool_with(&config);

	assert_int_equal(acquire_all(pool, objects, 2), 2);
	release_all(pool, objects, 1);
	assert_null(lfpool_check(pool, NULL));
	for (uint32_t slot = 1; slot <= pool->backend->used(pool); slot++) {
		_Atomic(void *) *cell = arena_object(pool->arena, slot);
		void *object = LOAD(cell);

		if (!object) {
			STORE(cell, &config);
			expect_violation(pool, "E1: a free slot");
			STORE(cell, NULL);
			continue;
		}
		assert_ptr_equal(object, objects[1]);
		STORE(cell, NULL);
		expect_violation(pool, "E1: an active slot");
		STORE(cell, object);
		label = moved(object, -16);
		memcpy(&saved, label, sizeof(saved));
		memset(label, 1, sizeof(saved));
		expect_violation(pool, "E1: an active slot");
		memcpy(label, &saved, sizeof(saved));
	}
	assert_null(lfpool_check(pool, NULL));
	release_all(pool, objects + 1, 1);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(no_memory_for_the_check)
{
	for (unsigned backend = LFPOOL_BACKEND_LOCKFREE; backend <= LFPOOL_BACKEND_MUTEX; backend++) {
		lfpool_config_t config = config_of(24, 10);

		config.backend = (lfpool_backend_t)backend;
		lfpool_t *pool = pool_with(&config);
		size_t mapped, blocks, mapped_after, blocks_after;

		os_testing_held(&mapped, &blocks);
		(void)os_testing_refuse(1);
		assert_string_equal(lfpool_check(pool, NULL), "no memory for the check");
		(void)os_testing_refuse(0);
		assert_null(lfpool_check(pool, NULL));
		os_testing_held(&mapped_after, &blocks_after);
		assert_int_equal(blocks, blocks_after);
		lfpool_destroy(pool);
	}
}

RUN_TESTS()
