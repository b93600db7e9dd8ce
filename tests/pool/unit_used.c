/* SPDX-License-Identifier: MIT */
/* unit_used.c - walks, reports and checks look only at slots that were ever used, however much the pool has grown. */
#include "pool/slots.h"

#include "../support/support.h"

#include "core/cache.h"
#include "pool/pool.h"

enum { GROWN = 1 << 20, USED = 100 };

static size_t looked_at(const lfpool_t *pool)
{
	const struct core *core = &pool->core;
	const size_t used = census_used(core);
	size_t end, slots = 0;

	for (size_t slot = census_run(core, 1, &end); slot <= used; slot = census_run(core, end, &end))
		slots += end - slot;
	return slots;
}

TEST(walks_of_a_grown_pool_end_near_the_last_used_slot)
{
	void *objects[USED];
	lfpool_t *pool = POOL_OF(16, 1, .max_capacity = GROWN);

	assert_int_equal(lfpool_grow(pool, SIZE_MAX), GROWN - 1);
	assert_int_equal(acquire_all(pool, objects, USED), USED);
	assert_in_range(looked_at(pool), USED, 2 * USED);
	assert_int_equal(stats_of(pool).active, USED);
	release_all(pool, objects, USED);
	lfpool_destroy(pool);
}

RUN_TESTS()
