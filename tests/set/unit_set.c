/* SPDX-License-Identifier: MIT */
/*
 * unit_set.c - the operating system refuses the n-th call, for every n, while a set is made and used: nothing is left
 * behind, and what was refused can be had the next time.
 */
#include "../support/held.h"
#include "../support/set_support.h"

#include <errno.h>

static const size_t sizes[] = {10, 1000, 60000};

/* True if the n-th call was refused, that is, if there were that many. */
static bool scenario(const lfpool_set_config_t *config, unsigned long n, size_t *without_out)
{
	lfpool_set_t *set = (lfpool_set_t *)(uintptr_t)1;
	void *objects[COUNT(sizes)];

	(void)os_testing_refuse(n);

	const lfpool_status_t status = lfpool_set_create(&set, config);

	if (status != LFPOOL_OK) {
		assert_int_equal(status, LFPOOL_E_NO_MEMORY);
		assert_null(set);
		return os_testing_refuse(0) >= n;
	}
	errno = 0;
	for (size_t i = 0; i < COUNT(sizes); i++)
		objects[i] = lfpool_set_acquire(set, sizes[i]);
	/* The heap's refusal, as the malloc backend meets it, is played here with errno set. */
	if (config->backend != LFPOOL_BACKEND_MALLOC)
		assert_int_equal(errno, 0);

	const bool refused = os_testing_refuse(0) >= n;

	/* At most one did not get his, and he does now. */
	for (size_t i = 0, without = 0; i < COUNT(sizes); i++) {
		without += !objects[i];
		*without_out += !objects[i];
		assert_true(without <= 1);
		if (!objects[i])
			objects[i] = lfpool_set_acquire(set, sizes[i]);
		assert_non_null(objects[i]);
		stamp_write(objects[i], sizes[i], i);
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_true(stamp_holds(objects[i], sizes[i], i));
		assert_int_equal(lfpool_set_release(set, objects[i]), LFPOOL_OK);
		require_intact(lfpool_set_peek(set, lfpool_set_class_of(set, sizes[i])));
	}
	assert_int_equal(lfpool_set_destroy(set), 0);
	return refused;
}

static void refuse_each_in_turn(lfpool_backend_t backend, uint32_t flags, const char *debug)
{
	const lfpool_set_config_t config = {
		.struct_size = sizeof(config), .backend = backend, .flags = flags, .debug = debug, .class_bytes = 100000};
	unsigned long n = 1;
	size_t without = 0;

	/* Once undisturbed: this thread's own table and the list of pools stay. */
	(void)scenario(&config, 0, &without);
	assert_int_equal(without, 0);
	const struct held before = held_now();

	for (; scenario(&config, n, &without); n++)
		require_held(before);
	print_message("backend %d, flags %x, debug %s: each of %lu calls refused, %zu objects\n", (int)backend, (unsigned)flags,
		      debug ? debug : "none", n - 1, without);
	/* Some while the set was made, some while its pools were. */
	assert_true(n - 1 > without && without >= COUNT(sizes));
}

/* The first set of a process also makes the fork handlers, of threads and of sets, and the thread key. */
TEST(the_first_set_of_a_process)
{
	/* The loader's promise to keep the library; the key, with the threads' handlers installed; the key again; the sets'
	 * handlers; the set; its addresses. */
	static const unsigned long nth[] = {1, 3, 2, 3, 2, 2};
	lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
	size_t without = 0;
	lfpool_set_t *set;

	config.class_bytes = 100000;
	for (size_t i = 0; i < COUNT(nth); i++) {
		(void)os_testing_refuse(nth[i]);
		assert_int_equal(lfpool_set_create(&set, &config), LFPOOL_E_NO_MEMORY);
		assert_int_equal(os_testing_refuse(0), nth[i]);
		require_held((struct held){0, 0});
	}
	(void)scenario(&config, 0, &without);
	assert_int_equal(without, 0);
}

TEST(lockfree)
{
	refuse_each_in_turn(LFPOOL_BACKEND_LOCKFREE, 0, NULL);
	refuse_each_in_turn(LFPOOL_BACKEND_LOCKFREE, LFPOOL_PREFAULT, NULL);
	refuse_each_in_turn(LFPOOL_BACKEND_LOCKFREE, 0, "poison,guard,quarantine=3,owner");
}

TEST(mutex)
{
	refuse_each_in_turn(LFPOOL_BACKEND_MUTEX, 0, NULL);
}

TEST(malloc_backend)
{
	refuse_each_in_turn(LFPOOL_BACKEND_MALLOC, 0, NULL);
}

RUN_TESTS()
