/* SPDX-License-Identifier: MIT */
/* unit_handle.c - the parts of a handle: the pool's count, which is far from every other pool's, and the slot.  (Its
 * wrap: verify/narrow, wraps.c.) */
#include "../support/support.h"

#include "core/arena.h"
#include "pool/heap.h"
#include "pool/pool.h"

/* N3 in handle.c.  Among all numbers up to the denominator of a convergent, that denominator comes nearest to a
 * multiple of 2^64. */
TEST(salts_are_far_apart)
{
	uint64_t larger = 0, smaller = SALT_STEP, before = 0, at = 1;
	unsigned convergents = 0;

	/* Euclid's algorithm on 2^64 and SALT_STEP; 2^64 does not fit, and -SALT_STEP is the same modulo SALT_STEP. */
	for (uint64_t quotient = -SALT_STEP / SALT_STEP + 1; smaller; convergents++) {
		const uint64_t distance = at * SALT_STEP, remainder = larger - quotient * smaller;

		assert_true((distance < -distance ? distance : -distance) > UINT64_MAX / 5 / at);
		larger = smaller;
		smaller = remainder;
		const uint64_t next = quotient * at + before;

		before = at;
		at = next;
		quotient = smaller ? larger / smaller : 0;
	}
	assert_int_equal(larger, 1);
	assert_true(convergents > 40);
}

TEST(each_pool_has_the_next_salt)
{
	_Alignas(128) static char buffer[100000];
	lfpool_config_t config = config_of(16, 10);
	lfpool_t *pool = pool_of(16, 10), *other;
	const uint64_t first = pool->salt;

	lfpool_destroy(pool);
	pool = pool_of(16, 10);
	assert_int_equal(lfpool_create_in(&other, &config, buffer, sizeof(buffer)), LFPOOL_OK);
	assert_true(pool->salt == first + SALT_STEP);
	assert_true(other->salt == first + 2 * SALT_STEP);
	lfpool_destroy(other);
	lfpool_destroy(pool);
}

/* The fewest bits for the count. */
TEST(a_handle_names_nothing_in_a_later_pool)
{
	enum { LATER = 512 };
	lfpool_handle_t old[LATER];

	for (size_t i = 0; i < LATER; i++) {
		lfpool_t *pool = POOL_OF(16, 10, .max_capacity = ((size_t)1 << 31) - 1);

		old[i] = lfpool_handle_of(pool, lfpool_acquire(pool));
		for (size_t k = 0; k < i; k++)
			assert_null(lfpool_resolve(pool, old[k]));
		lfpool_destroy(pool);
	}
}

/* There is no object where malloc mode keeps its cells. */
TEST(lfpool_of_rejects_cells_of_malloc_mode)
{
	lfpool_t *pool = POOL_OF(16, 10, .backend = LFPOOL_BACKEND_MALLOC);
	void *object = lfpool_acquire(pool);

	assert_ptr_equal(lfpool_of(object), pool);
	/* Only the start is known there: handle.h. */
	assert_null(lfpool_of((char *)object + 1));
	for (uint32_t slot = 1; slot <= 10; slot++)
		assert_null(lfpool_of(arena_object(&pool->core.arena, slot)));
	/* A foreign address with a label before it that leads to another object's cell, to a free one, or to another
	 * pool. */
	lfpool_t *other = pool_of(16, 3);
	const void *const labels[] = {heap_label(object), arena_object(&pool->core.arena, 10), lfpool_acquire(other)};
	const void *words[4];

	for (size_t i = 0; i < COUNT(labels); i++) {
		words[0] = words[1] = words[2] = words[3] = labels[i];
		assert_null(lfpool_of(&words[2]));
	}
	lfpool_destroy(other);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	lfpool_destroy(pool);
}

RUN_TESTS()
