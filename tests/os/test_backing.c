/* SPDX-License-Identifier: MIT */
/* test: native */
/*
 * test_backing.c - LFPOOL_PREFAULT, LFPOOL_LOCK and LFPOOL_HUGE_PAGES: the system confirms that the memory is
 * resident, locked, or in huge pages.  (A system that refuses: tests/refusals.)
 *
 * Witness      /proc/self/status (VmLck) and /proc/self/smaps (AnonHugePages).
 */
#include "../support/child.h"
#include "../support/support.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define HUGE_PAGE (2 * MIB)

static size_t huge_bytes(void)
{
	return proc_bytes("/proc/self/smaps", "AnonHugePages");
}

static lfpool_t *growing_pool(uint32_t flags, size_t object_size, size_t capacity, size_t max_capacity)
{
	return POOL_OF(object_size, capacity, .flags = flags, .max_capacity = max_capacity);
}

/* ---- Resident before the first use ---- */

static long page_faults(void)
{
	struct rusage usage;

	REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
	return usage.ru_minflt + usage.ru_majflt;
}

/* Writes to all of them, by an array that is already resident. */
static void use_all(lfpool_t *pool, void **objects, size_t size)
{
	const size_t count = lfpool_capacity(pool);

	REQUIRE(acquire_all(pool, objects, count) == count);
	for (size_t i = 0; i < count; i++)
		memset(objects[i], 1, size);
	release_all(pool, objects, count);
}

static void visit_bytes(lfpool_t *pool, size_t size)
{
	void **objects = pointers_new(lfpool_capacity(pool));

	use_all(pool, objects, size);
	free(objects);
}

/* The page faults of a first use, compared with a pool that is not prefaulted. */
TEST(prefault_touches_all_memory_at_creation)
{
	enum { CAPACITY = 8192, SIZE = 4096 };
	void **objects = pointers_new(CAPACITY);
	long faults[2];

	/* Once through everything: then code and stack are paged in, and the thread is known. */
	memset(objects, 1, CAPACITY * sizeof(*objects));
	lfpool_t *pool = pool_of(SIZE, 10);

	use_all(pool, objects, SIZE);
	lfpool_destroy(pool);
	for (uint32_t prefault = 0; prefault < 2; prefault++) {
		const size_t before = resident_bytes();

		pool = POOL_OF(SIZE, CAPACITY, .flags = prefault * LFPOOL_PREFAULT);
		assert_int_equal(growth(before, resident_bytes()) >= (size_t)CAPACITY * SIZE, prefault);
		/* The thread's first call on the pool may make its cache. */
		assert_int_equal(lfpool_release(pool, lfpool_acquire(pool)), LFPOOL_OK);
		faults[prefault] = page_faults();
		use_all(pool, objects, SIZE);
		faults[prefault] = page_faults() - faults[prefault];
		assert_int_equal(lfpool_destroy(pool), 0);
	}
	print_message("    page faults: %ld without, %ld with LFPOOL_PREFAULT\n", faults[0], faults[1]);
	assert_true(faults[0] >= 16 && faults[1] <= 2);
	free(objects);
}

/* ---- Locked ---- */

TEST(all_of_a_pool_is_locked)
{
	enum { SIZE = 64, CAPACITY = 2000, MORE = 3000, CACHES = 20 };
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};
	lfpool_cache_t *caches[CACHES];

	for (size_t i = 0; i < COUNT(backends); i++) {
		const size_t before = locked_bytes();

		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .flags = LFPOOL_LOCK, .max_capacity = CAPACITY + MORE,
					 .backend = backends[i]);
		size_t locked = growth(before, locked_bytes());

		/* The objects, their states, and the rest. */
		assert_true(locked >= (size_t)CAPACITY * (SIZE + 4));
		/* Growing. */
		assert_int_equal(lfpool_grow(pool, MORE / 2), MORE / 2);
		assert_true(growth(before, locked_bytes()) >= locked + (size_t)MORE / 2 * SIZE - MIB / 64);
		/* Caches beyond the first lot. */
		locked = growth(before, locked_bytes());
		for (size_t k = 0; k < CACHES; k++)
			assert_non_null(caches[k] = lfpool_cache_create(pool));
		if (backends[i] == LFPOOL_BACKEND_LOCKFREE)
			assert_true(growth(before, locked_bytes()) > locked);
		for (size_t k = 0; k < CACHES; k++)
			lfpool_cache_destroy(caches[k]);
		require_whole(pool, SIZE);
		assert_int_equal(lfpool_destroy(pool), 0);
		assert_int_equal(locked_bytes(), before);
	}
}

static void lock_and_create(void *nothing)
{
	enum { SIZE = 4096, CAPACITY = 16, MOST = 768 };

	(void)nothing;
	REQUIRE(mlockall(MCL_FUTURE) == 0);
	const size_t before = resident_bytes();

	(void)growing_pool(0, SIZE, CAPACITY, MOST);
	REQUIRE(growth(before, resident_bytes()) < (size_t)MOST * SIZE / 2);
}

/* A program that locks all later mappings, mlockall(2), locks the memory of a pool, but not the addresses for its
 * growth.  In a child, because it cannot be undone.  With CAP_IPC_LOCK, or within RLIMIT_MEMLOCK. */
TEST(mlockall_locks_only_accessible_memory)
{
	child_run(lock_and_create, NULL);
}

/* ---- Huge pages ---- */

/* Tests that need them are skipped if the system gives none. */
static void require_huge_pages(void)
{
	char text[128] = "";
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");

	if (file) {
		REQUIRE(fgets(text, sizeof(text), file));
		fclose(file);
	}
	if (!*text || strstr(text, "[never]"))
		SKIP("no transparent huge pages here");
}

TEST(objects_begin_on_a_huge_page)
{
	static const size_t capacities[] = {1, 1000, 100000};
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

	for (size_t i = 0; i < COUNT(capacities); i++)
		for (size_t k = 0; k < COUNT(backends); k++) {
			const size_t before = mapped_bytes();

			lfpool_t *pool = POOL_OF(48, capacities[i], .flags = LFPOOL_HUGE_PAGES, .backend = backends[k]);

			/* The addresses used to find such a boundary were given back. */
			assert_true(growth(before, mapped_bytes()) < 100 * capacities[i] + 2 * HUGE_PAGE + MIB);
			assert_int_equal((uintptr_t)lfpool_object_at(pool, 0) % HUGE_PAGE, 0);
			require_whole(pool, 48);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

TEST(objects_and_states_lie_in_huge_pages)
{
	enum { SIZE = 64, CAPACITY = 1 << 20 };

	require_huge_pages();
	for (uint32_t flags = 0; flags <= LFPOOL_PREFAULT; flags += LFPOOL_PREFAULT) {
		const size_t before = huge_bytes();
		lfpool_t *pool = growing_pool(flags | LFPOOL_HUGE_PAGES, SIZE, CAPACITY, 2 * CAPACITY);

		visit_bytes(pool, SIZE);
		/* Objects, and states. */
		assert_true(growth(before, huge_bytes()) >= (size_t)SIZE * CAPACITY + 2 * HUGE_PAGE);
		assert_int_equal(lfpool_grow(pool, CAPACITY), CAPACITY);
		visit_bytes(pool, SIZE);
		assert_true(growth(before, huge_bytes()) >= (size_t)SIZE * 2 * CAPACITY + 2 * HUGE_PAGE);
		require_intact(pool);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

RUN_TESTS()
