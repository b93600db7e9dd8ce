/* SPDX-License-Identifier: MIT */
/* test: once */
/*
 * test_backends.c - which backend a pool gets: from the config, or from the variable LFPOOL_BACKEND.
 *
 * That all three behave the same is shown by tests that run on each: BACKEND_TEST, kinds.h, and the fuzzer's model
 * (verify/fuzz).
 */
#include "../support/support.h"

static const char *const names[] = {"lockfree", "mutex", "malloc"};

BACKEND_TEST(the_environment_overrides_every_config, LFPOOL_BACKEND_MALLOC)
{
	for (int named = LFPOOL_BACKEND_LOCKFREE; named <= LFPOOL_BACKEND_MALLOC; named++) {
		assert_int_equal(setenv("LFPOOL_BACKEND", names[named], 1), 0);
		lfpool_t *pool = POOL_OF(24, 10, .backend = backend);

		assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
		assert_int_equal(lfpool_quick_stats(pool).backend, named);
		pool_close(pool, 24);
		pool = POOL_OF(24, 10, .backend = backend);
		assert_int_equal(lfpool_quick_stats(pool).backend, backend);
		lfpool_destroy(pool);
	}
}

TEST(an_environment_that_names_no_backend_is_refused)
{
	static const char *const wrong[] = {"lockfre", "lockfreee", "Mutex", "MALLOC", "0", "1", " mutex", "malloc "};
	const lfpool_config_t config = config_of(24, 10);

	for (size_t i = 0; i < COUNT(wrong); i++) {
		lfpool_t *pool = (lfpool_t *)(uintptr_t)0x5a5a5a50;

		assert_int_equal(setenv("LFPOOL_BACKEND", wrong[i], 1), 0);
		const lfpool_status_t status = lfpool_create(&pool, &config);

		assert_int_equal(unsetenv("LFPOOL_BACKEND"), 0);
		assert_int_equal(status, LFPOOL_E_CONFIG_BACKEND);
		assert_null(pool);
	}
}

RUN_TESTS()
