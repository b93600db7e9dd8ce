/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_many_pools.c - many pools, one after the other and at once, under long-lived threads: a thread's memory of a
 * destroyed pool is never taken for a new one, even at the same address, and does not accumulate; and the owner of an
 * address. */
#include "../support/workers.h"

/* AT_ONCE: per helper thread, of which there are three */
enum { SIZE = 48, CAPACITY = 60, AT_ONCE = 15 };

static void use(lfpool_t *pool)
{
	void *objects[AT_ONCE];

	/* One by lfpool_acquire(), which may be inlined (tests/CMakeLists.txt). */
	REQUIRE(objects[0] = lfpool_acquire(pool));
	REQUIRE(lfpool_acquire_bulk(pool, objects + 1, AT_ONCE - 1) == AT_ONCE - 1);
	for (size_t i = 0; i < AT_ONCE; i++) {
		REQUIRE(lfpool_owns(pool, objects[i]) && lfpool_of(objects[i]) == pool);
		/* Fresh memory of this pool, not of an earlier one at this address. */
		REQUIRE(all_bytes_are(objects[i], SIZE, 0) || stamp_holds(objects[i], SIZE, (uintptr_t)pool));
		stamp_write(objects[i], SIZE, (uintptr_t)pool);
	}
	REQUIRE(lfpool_release_self(objects[0]) == LFPOOL_OK);
	release_all(pool, objects + 1, AT_ONCE - 1);
}

/* Long-lived threads that use whatever pool is set here. */
static struct {
	lfpool_t *pool; /* NULL: end */
	pthread_barrier_t shown, used;
	struct workers workers;
} helpers;

static void help(struct worker *me)
{
	(void)me;
	for (;;) {
		pthread_barrier_wait(&helpers.shown);
		if (!helpers.pool)
			return;
		use(helpers.pool);
		pthread_barrier_wait(&helpers.used);
	}
}

static void hire(unsigned count)
{
	pthread_barrier_init(&helpers.shown, NULL, count + 1);
	pthread_barrier_init(&helpers.used, NULL, count + 1);
	workers_start(&helpers.workers, count, help, NULL, 0);
}

static void show(lfpool_t *pool)
{
	helpers.pool = pool;
	pthread_barrier_wait(&helpers.shown);
	if (pool)
		pthread_barrier_wait(&helpers.used);
	else
		(void)workers_join(&helpers.workers);
}

static size_t one_after_the_other(int pools)
{
	size_t same_address = 0;
	lfpool_t *last = NULL;

	for (int i = 0; i < pools; i++) {
		lfpool_t *pool = pool_of(SIZE, CAPACITY);

		same_address += pool == last;
		use(pool);
		show(pool);
		pool_close(pool, SIZE);
		last = pool;
	}
	return same_address;
}

TEST(thousand_pools_in_sequence_leave_no_memory)
{
	hire(3);
	one_after_the_other(100);
	const size_t before = resident_bytes(), mapped_before = mapped_bytes();
	const size_t same_address = one_after_the_other(1000);

	print_message("    %zu of 1000 pools came back at the address of the one before\n", same_address);
	assert_in_range(growth(before, resident_bytes()), 0, TIMES(MIB, 64 * MIB));
	assert_in_range(growth(mapped_before, mapped_bytes()), 0, TIMES(4 * MIB, 256 * MIB));
	show(NULL);
}

/* Many at once; half of them replaced while the threads remember the other half; in random order. */
TEST(replaced_pools_are_not_confused_with_others)
{
	enum { POOLS = 200 };
	struct random r = random_for(test_seed("replaced_pools_are_not_confused_with_others"), 0);
	lfpool_t *pools[POOLS];

	hire(2);
	for (int i = 0; i < POOLS; i++)
		pools[i] = pool_of(SIZE, CAPACITY);
	for (int step = 0; step < TIMES(5000, 1000); step++) {
		uint32_t k = random_below(&r, POOLS);

		use(pools[random_below(&r, POOLS)]);
		show(pools[random_below(&r, POOLS)]);
		if (random_below(&r, 2)) {
			void *object = lfpool_acquire(pools[k]);

			assert_int_equal(lfpool_destroy(pools[k]), 1);
			assert_null(lfpool_of(object));
			pools[k] = pool_of(SIZE, CAPACITY);
		}
	}
	/* The pools share nothing: an object belongs to one of them. */
	void *object = lfpool_acquire(pools[7]);
	for (int i = 0; i < POOLS; i++)
		assert_int_equal(lfpool_owns(pools[i], object), i == 7);
	assert_int_equal(lfpool_release(pools[8], object), LFPOOL_E_FOREIGN);
	assert_int_equal(lfpool_release(pools[7], object), LFPOOL_OK);
	for (int i = 0; i < POOLS; i++)
		pool_close(pools[i], SIZE);
	show(NULL);
}

/* Otherwise more pools than a first-level cache has ways would evict each other: inline.h reads the start of a pool. */
TEST(pools_of_one_configuration_begin_at_different_offsets)
{
	enum { POOLS = 64 };
	uint64_t starts = 0, objects = 0;
	lfpool_t *pools[POOLS];

	for (int i = 0; i < POOLS; i++) {
		pools[i] = POOL_OF(64, CAPACITY, .object_alignment = 64);
		starts |= UINT64_C(1) << (uintptr_t)pools[i] % 4096 / 64;
		objects |= UINT64_C(1) << (uintptr_t)lfpool_object_at(pools[i], 0) % 4096 / 64;
	}
	for (int i = 0; i < POOLS; i++)
		pool_close(pools[i], 64);
	assert_int_equal(__builtin_popcountll(starts), 32);
	assert_int_equal(__builtin_popcountll(objects), 64);
}

static size_t mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	size_t lines = 0;
	int character;

	REQUIRE(maps);
	while ((character = getc(maps)) != EOF)
		lines += character == '\n';
	REQUIRE(fclose(maps) == 0);
	return lines;
}

/* docs/faq.md says how many pools Linux's limit on mappings allows. */
TEST(a_pool_takes_at_most_four_mappings)
{
	enum { POOLS = 100 };
	lfpool_t *pools[POOLS];

	if (SANITIZED)
		SKIP("sanitizers map memory of their own");
#ifdef _WIN32
	SKIP("Linux's limit");
#endif
	const size_t before = mappings();

	for (int i = 0; i < POOLS; i++)
		pools[i] = POOL_OF(64, CAPACITY, .max_capacity = 100 * CAPACITY);

	const size_t all = mappings() - before;

	for (int i = 0; i < POOLS; i++)
		pool_close(pools[i], 64);
	print_message("    %zu mappings for %d pools\n", all, POOLS);
	assert_in_range(all, 1, 4 * POOLS + 2);
}

RUN_TESTS()
