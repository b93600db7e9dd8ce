/* SPDX-License-Identifier: MIT */
/* test: native */
/*
 * test_backing.c - LFPOOL_LOCK and LFPOOL_HUGE_PAGES: the system says that the memory is locked, or in huge pages; and
 * what is refused leaves a pool as it was.
 *
 * Witness      /proc/self/status (VmLck) and /proc/self/smaps (AnonHugePages).
 */
#include "../support/child.h"
#include "../support/support.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HUGE_PAGE (2 * MIB)

/* The sum of the lines "key:  n kB" of a file. */
static size_t proc_bytes(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	size_t kib, sum = 0;
	char line[512], format[64];

	REQUIRE(file);
	(void)snprintf(format, sizeof(format), "%s: %%zu kB", key);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, format, &kib) == 1)
			sum += kib * 1024;
	fclose(file);
	return sum;
}

static size_t locked_bytes(void)
{
	return proc_bytes("/proc/self/status", "VmLck");
}

static size_t huge_bytes(void)
{
	return proc_bytes("/proc/self/smaps", "AnonHugePages");
}

static lfpool_t *growing_pool(uint32_t flags, size_t object_size, size_t capacity, size_t max_capacity)
{
	lfpool_config_t config = config_of(object_size, capacity);

	config.flags = flags;
	config.max_capacity = max_capacity;
	return pool_with(&config);
}

/* ---- Locked ---- */

static bool build(void *context, void *object)
{
	(void)context;
	(void)object;
	return true;
}

TEST(all_of_a_pool_is_locked)
{
	enum { SIZE = 64, CAPACITY = 2000, MORE = 3000, CACHES = 20 };
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};
	lfpool_cache_t *caches[CACHES];

	for (size_t i = 0; i < COUNT(backends); i++) {
		const size_t before = locked_bytes();
		lfpool_config_t config = config_of(SIZE, CAPACITY);

		config.flags = LFPOOL_LOCK;
		config.max_capacity = CAPACITY + MORE;
		config.backend = backends[i];
		lfpool_t *pool = pool_with(&config);
		size_t locked = growth(before, locked_bytes());

		/* The objects, their state words, and what else there is. */
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

/* A program that locks whatever it maps from now on, mlockall(2), locks what a pool has, not what it may grow to. */
TEST(what_has_no_access_is_not_resident)
{
	enum { SIZE = 4096, CAPACITY = 16, MOST = 768 };

	/* In a child: it cannot be undone for what follows.  With CAP_IPC_LOCK, or within RLIMIT_MEMLOCK. */
	const pid_t child = fork();

	REQUIRE(child >= 0);
	if (!child) {
		if (mlockall(MCL_FUTURE))
			_exit(2);
		const size_t before = proc_bytes("/proc/self/status", "VmRSS");
		lfpool_t *pool = growing_pool(0, SIZE, CAPACITY, MOST);

		_exit(growth(before, proc_bytes("/proc/self/status", "VmRSS")) < (size_t)MOST * SIZE / 2 ? 0 : 1 + !pool);
	}
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(what_hooks_need_is_locked)
{
	enum { CAPACITY = 200000 };
	size_t locked[2];

	for (int with = 0; with < 2; with++) {
		const size_t before = locked_bytes();
		lfpool_config_t config = config_of(1, CAPACITY);

		config.flags = LFPOOL_LOCK;
		/* Otherwise the same: debug modes would add guards. */
		if (with)
			config.hooks.create = build;
		lfpool_t *pool = pool_with(&config);

		locked[with] = growth(before, locked_bytes());
		lfpool_destroy(pool);
		assert_int_equal(locked_bytes(), before);
	}
	assert_true(locked[1] >= locked[0] + CAPACITY);
}

/* In a process that may lock no more than `bytes`. */
static void where_little_can_be_locked(size_t bytes, void (*run)(void))
{
	const pid_t child = child_start();

	if (child == 0) {
		const struct rlimit limit = {bytes, bytes};

		REQUIRE(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
		/* The superuser has no limit. */
		REQUIRE(getuid() != 0 || setuid(65534) == 0);
		run();
		_exit(0);
	}
	child_end(child);
}

static void create_is_refused(void)
{
	lfpool_config_t config = config_of(64, 10000);
	lfpool_t *pool = (lfpool_t *)(uintptr_t)0x10;

	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	lfpool_destroy(pool);

	const size_t before = mapped_bytes();

	config.flags = LFPOOL_LOCK;
	for (int hooks = 0; hooks < 2; hooks++) {
		config.hooks.create = hooks ? build : NULL;
		REQUIRE(lfpool_create(&pool, &config) == LFPOOL_E_LOCK);
		REQUIRE(!pool);
		REQUIRE(mapped_bytes() == before);
		REQUIRE(locked_bytes() == 0);
	}
	/* A smaller one has room. */
	config.capacity = 100;
	config.cache_capacity = 16;
	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	require_whole(pool, 64);
	lfpool_destroy(pool);
}

TEST(a_create_that_is_refused_leaves_nothing)
{
	where_little_can_be_locked(MIB / 4, create_is_refused);
}

static void growth_is_refused(void)
{
	enum { SIZE = 1024, CAPACITY = 100, MAX = 20000 };
	lfpool_t *pool = growing_pool(LFPOOL_LOCK, SIZE, CAPACITY, MAX);
	const size_t added = lfpool_grow(pool, MAX - CAPACITY);

	/* 4 MiB less the rest of the pool, but not all of 20 MiB. */
	REQUIRE(added >= 2000 && added <= 4096);
	REQUIRE(lfpool_capacity(pool) == CAPACITY + added);
	REQUIRE(lfpool_grow(pool, MAX) <= 4096 / SIZE);
	require_whole(pool, SIZE);
	/* Gone and back again, without the system. */
	REQUIRE(lfpool_shrink(pool, added) == added);
	REQUIRE(lfpool_grow(pool, added) == added);
	require_whole(pool, SIZE);
	REQUIRE(lfpool_destroy(pool) == 0);
	REQUIRE(locked_bytes() == 0);
}

TEST(a_growth_that_is_refused_adds_fewer)
{
	where_little_can_be_locked(4 * MIB, growth_is_refused);
}

static void a_lot_is_refused(void)
{
	lfpool_config_t config = config_of(8, 2000);
	lfpool_cache_t *caches[100];
	size_t made = 0;
	lfpool_t *pool;

	config.flags = LFPOOL_LOCK;
	config.cache_capacity = 256;
	REQUIRE(lfpool_create(&pool, &config) == LFPOOL_OK);
	while (made < COUNT(caches) && (caches[made] = lfpool_cache_create(pool)))
		made++;
	/* Those of the first lot are there already. */
	REQUIRE(made >= 8 && made < 20);
	for (size_t i = 0; i < made; i++)
		lfpool_cache_destroy(caches[i]);
	require_whole(pool, 8);
	lfpool_destroy(pool);
}

TEST(caches_that_are_refused)
{
	where_little_can_be_locked(7 * MIB / 32, a_lot_is_refused);
}

/* ---- Huge pages ---- */

/* A test that needs them is skipped where the system gives none. */
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

static void *lowest(lfpool_t *pool)
{
	const size_t capacity = lfpool_capacity(pool);
	void **objects = pointers_new(capacity), *first;

	assert_int_equal(acquire_all(pool, objects, capacity), capacity);
	assert_true(sort_disjoint(objects, capacity, 1));
	first = objects[0];
	release_all(pool, objects, capacity);
	free(objects);
	return first;
}

static void visit_bytes(lfpool_t *pool, size_t object_size)
{
	const size_t capacity = lfpool_capacity(pool);
	void **objects = pointers_new(capacity);

	assert_int_equal(acquire_all(pool, objects, capacity), capacity);
	for (size_t i = 0; i < capacity; i++)
		memset(objects[i], 0x5a, object_size);
	release_all(pool, objects, capacity);
	free(objects);
}

TEST(objects_begin_on_a_huge_page)
{
	static const size_t capacities[] = {1, 1000, 100000};
	static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

	for (size_t i = 0; i < COUNT(capacities); i++)
		for (size_t k = 0; k < COUNT(backends); k++) {
			const size_t before = mapped_bytes();
			lfpool_config_t config = config_of(48, capacities[i]);

			config.flags = LFPOOL_HUGE_PAGES;
			config.backend = backends[k];
			lfpool_t *pool = pool_with(&config);

			/* What it took to find such a boundary is given back. */
			assert_true(growth(before, mapped_bytes()) < 100 * capacities[i] + 2 * HUGE_PAGE + MIB);
			assert_int_equal((uintptr_t)lowest(pool) % HUGE_PAGE, 0);
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
		/* Objects, and 4 MiB of state words. */
		assert_true(growth(before, huge_bytes()) >= (size_t)SIZE * CAPACITY + 2 * HUGE_PAGE);
		assert_int_equal(lfpool_grow(pool, CAPACITY), CAPACITY);
		visit_bytes(pool, SIZE);
		assert_true(growth(before, huge_bytes()) >= (size_t)SIZE * 2 * CAPACITY + 2 * HUGE_PAGE);
		require_intact(pool);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* A pool that grows a little at a time does not end up in small pages. */
TEST(growing_step_by_step)
{
	enum { SIZE = 4096, STEP = 10, CAPACITY = 4096 };

	require_huge_pages();

	const size_t before = huge_bytes();
	lfpool_t *pool = growing_pool(LFPOOL_HUGE_PAGES, SIZE, STEP, CAPACITY);

	do
		visit_bytes(pool, SIZE);
	while (lfpool_grow(pool, STEP));
	assert_int_equal(lfpool_capacity(pool), CAPACITY);
	/* All but the page with which it began, at most. */
	assert_true(growth(before, huge_bytes()) >= (size_t)SIZE * CAPACITY - HUGE_PAGE);
	require_whole(pool, SIZE);
	lfpool_destroy(pool);
}

RUN_TESTS()
