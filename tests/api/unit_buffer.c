/* SPDX-License-Identifier: MIT */
/*
 * unit_buffer.c - all caches of a pool in a buffer are in use: nothing is mapped for another.
 */
#include "../support/support.h"

#include "os/os.h"
#include "pool/pool.h"

TEST(caches_of_the_first_lot_alone)
{
	lfpool_config_t config = config_of(24, 100);
	struct cache *claimed[LFPOOL_BUFFER_CACHES];
	void *memory = NULL;
	lfpool_t *pool;

	assert_int_equal(posix_memalign(&memory, LFPOOL_BUFFER_ALIGNMENT, lfpool_buffer_bytes(&config)), 0);
	(void)os_testing_refuse(0);
	assert_int_equal(lfpool_create_in(&pool, &config, memory, lfpool_buffer_bytes(&config)), LFPOOL_OK);

	struct core *core = (struct core *)(uintptr_t)pool->core;

	for (size_t i = 0; i < COUNT(claimed); i++)
		assert_non_null(claimed[i] = cache_claim(core, CACHE_FOR_CALL, 0));
	assert_null(cache_claim(core, CACHE_FOR_CALL, 0));
	assert_null(cache_claim(core, CACHE_FOR_LONG, 0));
	for (size_t i = 0; i < COUNT(claimed); i++)
		cache_unclaim(claimed[i]);
	require_whole(pool, 24);
	assert_int_equal(lfpool_destroy(pool), 0);
	assert_int_equal(os_testing_refuse(0), 0);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_of_the_first_lot_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
