/* SPDX-License-Identifier: MIT */
/* test: debug */
/* test_debug_quarantine.c - the mode quarantine: released objects are reused late.  (None is ever missing: the
 * programs quarantine-* of verify/explore; with everything else, by several threads: verify/pairs.) */
#include "../support/support.h"

enum { OBJECTS = 500, RELEASES = 3000 };

static void come_back_late(lfpool_backend_t backend, size_t cache_capacity, size_t quarantine)
{
	size_t released_at[OBJECTS] = {0};
	char words[40];

	snprintf(words, sizeof(words), "poison,quarantine=%zu", quarantine);
	lfpool_t *pool = POOL_OF(24, OBJECTS, .backend = backend, .cache_capacity = cache_capacity, .debug = words);
	void *all[OBJECTS];

	assert_int_equal(acquire_all(pool, all, OBJECTS), OBJECTS);
	release_all(pool, all, OBJECTS);
	for (size_t releases = 1; releases <= RELEASES; releases++) {
		void *object = lfpool_acquire(pool);
		size_t *const at = &released_at[lfpool_index_of(pool, object)];

		assert_true(*at == 0 || releases - 1 - *at >= quarantine);
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
		*at = releases;
	}
	pool_close(pool, 24);
}

/* While others are free, an object is not handed out again before N others were released. */
BACKEND_TEST(quarantine_delays_reuse, LFPOOL_BACKEND_MUTEX)
{
	for (size_t quarantine = 1; quarantine <= 100; quarantine += 33) {
		come_back_late(backend, 0, quarantine);
		come_back_late(backend, LFPOOL_CACHE_NONE, quarantine);
	}
}

RUN_TESTS()
