/* SPDX-License-Identifier: MIT */
/*
 * failures_retire.c - the operating system refuses the n-th call while a pool with a scheme is made and used, for
 * every n: it is not made, and nothing is left behind; or it works.  Retiring and reclaiming never fail.
 */
#include "../support/held.h"
#include "../support/schemes.h"

#include <errno.h>

enum { SIZE = 24, CAPACITY = 30, CALLS = 60 };

/* With what there is. */
static void live(lfpool_t *pool)
{
	void *objects[CAPACITY];

	errno = 0;
	for (int round = 0; round < 3; round++) {
		const size_t count = lfpool_acquire_bulk(pool, objects, CAPACITY);

		/* The malloc backend may be refused an object. */
		REQUIRE(count == CAPACITY || lfpool_backend(pool) == LFPOOL_BACKEND_MALLOC);
		for (size_t i = 0; i < count; i++)
			stamp_write(objects[i], SIZE, i);
		for (size_t i = 0; i < count / 2; i++)
			REQUIRE(lfpool_retire(pool, objects[i]) == LFPOOL_OK);
		REQUIRE(lfpool_retire_bulk(pool, objects + count / 2, count - count / 2) == count - count / 2);
		REQUIRE(lfpool_retired_count(pool) == count);
		for (size_t i = 0; i < count; i++)
			REQUIRE(stamp_holds(objects[i], SIZE, i));
		fake_end_all(pool);
	}
	REQUIRE(errno == 0 || lfpool_backend(pool) == LFPOOL_BACKEND_MALLOC);
}

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(const lfpool_config_t *given, enum scheme_kind how, unsigned long n, bool *made_out)
{
	lfpool_config_t config = *given;
	lfpool_t *pool = (lfpool_t *)(uintptr_t)1;

	config.scheme = fake_scheme(how);
	(void)os_testing_refuse(n);
	const lfpool_status_t status = lfpool_create(&pool, &config);

	*made_out = status == LFPOOL_OK;
	if (status != LFPOOL_OK) {
		assert_true(status == LFPOOL_E_NO_MEMORY || (config.flags & LFPOOL_LOCK && status == LFPOOL_E_LOCK));
		assert_null(pool);
		assert_int_equal(fake.begun, 0);
		return os_testing_refuse(0) >= n;
	}
	live(pool);
	const bool refused = os_testing_refuse(0) >= n;

	live(pool);
	pool_close(pool, SIZE);
	return refused;
}

static void refuse_each_in_turn(uint32_t flags, lfpool_backend_t backend)
{
	const lfpool_config_t config = CONFIG_OF(SIZE, CAPACITY, .flags = flags, .backend = backend);
	unsigned long refused = 0, not_made = 0;

	for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
		bool made;

		/* Once undisturbed: this thread's own table and the list of pools stay for the next pool. */
		(void)scenario(&config, how, 0, &made);
		assert_true(made);
		const struct held before = held_now();

		for (unsigned long n = 1; n <= CALLS; n++) {
			refused += scenario(&config, how, n, &made);
			not_made += !made;
			require_held(before);
		}
	}
	print_message("flags %x, backend %d: each of %lu calls refused, %lu of them while it was made\n", (unsigned)flags,
		      (int)backend, refused, not_made);
	/* The memory for what is retired among them. */
	assert_true(not_made >= 2 * 2);
}

BACKEND_TEST(each_call_refused, LFPOOL_BACKEND_MALLOC)
{
	static const uint32_t flags[] = {0, LFPOOL_PREFAULT, LFPOOL_LOCK, LFPOOL_ZERO | LFPOOL_HUGE_PAGES};
	for (size_t f = 0; f < COUNT(flags); f++)

		refuse_each_in_turn(flags[f], backend);
}

/* How often creating it failed with this status, each call being refused in turn. */
static unsigned long refusals(bool scheme, uint32_t flags, lfpool_status_t status)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	unsigned long count = 0;

	config.flags = flags;
	for (unsigned long n = 1; n <= CALLS; n++) {
		lfpool_t *pool;

		config.scheme = scheme ? fake_scheme(KEPT) : (lfpool_scheme_t){0};
		(void)os_testing_refuse(n);
		count += lfpool_create(&pool, &config) == status;
		(void)os_testing_refuse(0);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	return count;
}

/* One mapping more than without a scheme, which is locked like any other. */
TEST(the_memory_for_retired_objects_is_refused_like_any_other)
{
	assert_int_equal(refusals(true, 0, LFPOOL_E_NO_MEMORY), refusals(false, 0, LFPOOL_E_NO_MEMORY) + 1);
	assert_int_equal(refusals(true, LFPOOL_LOCK, LFPOOL_E_NO_MEMORY), refusals(false, LFPOOL_LOCK, LFPOOL_E_NO_MEMORY) + 1);
	assert_int_equal(refusals(true, LFPOOL_LOCK, LFPOOL_E_LOCK), refusals(false, LFPOOL_LOCK, LFPOOL_E_LOCK) + 1);
}

static bool build_some(void *context, void *object)
{
	size_t *left = context;

	(void)object;
	return (*left)-- > 0;
}

/* It is made, and given up again, with what it was to remember retired objects in. */
TEST(nothing_is_left_of_a_pool_whose_objects_cannot_be_built)
{
	size_t left = 0;
	const lfpool_config_t config = CONFIG_OF(SIZE, CAPACITY, .flags = LFPOOL_CREATE_ALL, .scheme = fake_scheme(KEPT),
						 .hooks = {.context = &left, .create = build_some});
	lfpool_t *pool;

	assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CREATE);
	const struct held before = held_now();

	for (size_t built = 1; built < CAPACITY; built++) {
		left = built;
		assert_int_equal(lfpool_create(&pool, &config), LFPOOL_E_CREATE);
		require_held(before);
	}
}

RUN_TESTS()
