/* SPDX-License-Identifier: MIT */
/* test_known.c - refusals that the library once handled wrongly, each in a separate test. */
#include "../support/support.h"

#include "refusals.h"

#include "lfpool/registry.h"
#include "lfpool/set.h"
#include "os/os.h"
#include "pool/pool.h"
#include "set/pool_set.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { SIZE = 64, CAPACITY = 100 };

static int nothing_refused(void **state)
{
	(void)state;
	after_munmap = NULL;
	refuse(REFUSE_MMAP, 0, false, 0);
	return 0;
}

/* ---- A kernel without MADV_POPULATE_WRITE ---- */

TEST_WITH(prefault_keeps_contents, nothing_refused, NULL)
{
	static const int unknown[] = {EINVAL, ENOSYS};
	const size_t page = os_page_bytes(), pages = 64;
	struct rusage before, after;

	for (size_t k = 0; k < COUNT(unknown); k++) {
		unsigned char *memory = os_map(pages * page);

		assert_non_null(memory);
		for (size_t i = 0; i < pages; i += 2)
			memset(memory + i * page, 0xaa, page);
		refuse(REFUSE_POPULATE, 1, true, unknown[k]);
		errno = 0;
		assert_true(os_prefault(memory, pages * page));
		assert_int_equal(errno, 0);
		refuse(REFUSE_POPULATE, 0, false, 0);
		for (size_t i = 0; i < pages; i++)
			assert_true(all_bytes_are(memory + i * page, page, i % 2 ? 0 : 0xaa));
		/* They must be writable. */
		assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
		for (size_t i = 0; i < pages; i++)
			((volatile unsigned char *)memory)[i * page] = 1;
		assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
		assert_true(after.ru_minflt - before.ru_minflt < (long)pages / 4);
		os_unmap(memory, pages * page);
	}
}

/* ---- A thread that is refused a cache ---- */

/* design.md, "Borrowed caches": such a thread asks the system again in every 1000th of its calls. */
enum { PATIENT_CALLS = 1000, ATTEMPTS = 4 };

struct refused_thread {
	lfpool_t *pool;
	enum refusal which;
	size_t caches;
};

static void call(lfpool_t *pool, void **object)
{
	if (*object) {
		REQUIRE(lfpool_release(pool, *object) == LFPOOL_OK);
		*object = NULL;
	} else {
		REQUIRE((*object = lfpool_acquire(pool)));
	}
}

static void *be_refused(void *argument)
{
	struct refused_thread *t = argument;
	void *object = NULL;
	size_t asked_at = 0;

	refuse(t->which, 1, true, ENOMEM);
	call(t->pool, &object);
	REQUIRE(refusals_calls(t->which) == 1);
	for (size_t i = 1; refusals_calls(t->which) < ATTEMPTS; i++) {
		const unsigned long before = refusals_calls(t->which);

		call(t->pool, &object);
		if (refusals_calls(t->which) == before) {
			REQUIRE(i - asked_at <= PATIENT_CALLS);
			continue;
		}
		REQUIRE(refusals_calls(t->which) == before + 1);
		/* The call that asks may count as one of them. */
		REQUIRE(i - asked_at == PATIENT_CALLS || i - asked_at == PATIENT_CALLS + 1);
		asked_at = i;
	}
	REQUIRE(stats_of(t->pool).caches_in_use == t->caches);
	refuse(t->which, 0, false, 0);
	/* Memory is available again. */
	for (size_t i = 0; i <= PATIENT_CALLS; i++)
		call(t->pool, &object);
	REQUIRE(stats_of(t->pool).caches_in_use == t->caches + 1);
	REQUIRE(lfpool_release(t->pool, object) == LFPOOL_OK);
	return NULL;
}

TEST_WITH(thread_without_a_cache_asks_the_system_rarely, nothing_refused, NULL)
{
	lfpool_cache_t *caches[12];
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	pthread_t thread;

	for (size_t i = 0; i < COUNT(caches); i++)
		assert_non_null(caches[i] = lfpool_cache_create(pool));
	/* The lot, then its table. */
	for (size_t i = 0; i < 2; i++) {
		struct refused_thread t = {pool, i ? REFUSE_REALLOC : REFUSE_MMAP, COUNT(caches)};

		thread_start(&thread, be_refused, &t);
		pthread_join(thread, NULL);
	}
	for (size_t i = 0; i < COUNT(caches); i++)
		lfpool_cache_destroy(caches[i]);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* Other calls are in all caches, and one more needs a cache, again and again. */
TEST_WITH(call_that_borrows_asks_the_system_rarely, nothing_refused, NULL)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	struct core *core = &pool->core;
	struct cache *caches[LOT_CACHES], *more;

	for (size_t i = 0; i < LOT_CACHES; i++)
		assert_non_null(caches[i] = cache_claim(core, CACHE_FOR_CALL, 0));
	refuse(REFUSE_MMAP, 1, true, ENOMEM);
	for (unsigned long attempt = 1; attempt <= ATTEMPTS; attempt++) {
		assert_null(cache_claim(core, CACHE_FOR_CALL, 0));
		assert_int_equal(refusals_calls(REFUSE_MMAP), attempt);
		for (int i = 0; i < PATIENT_CALLS; i++)
			assert_null(cache_claim(core, CACHE_FOR_CALL, 0));
		assert_int_equal(refusals_calls(REFUSE_MMAP), attempt);
	}
	/* A thread that wants one for long asks at once. */
	assert_null(cache_claim(core, CACHE_FOR_LONG, 0));
	assert_int_equal(refusals_calls(REFUSE_MMAP), ATTEMPTS + 1);
	refuse(REFUSE_MMAP, 0, false, 0);
	for (int i = 0; i < PATIENT_CALLS; i++)
		assert_null(cache_claim(core, CACHE_FOR_CALL, 0));
	assert_non_null(more = cache_claim(core, CACHE_FOR_CALL, 0));
	cache_unclaim(more);
	for (size_t i = 0; i < LOT_CACHES; i++)
		cache_unclaim(caches[i]);
	pool_close(pool, SIZE);
}

/* ---- A class of a set that cannot be made ---- */

/* Pages of the set's addresses that have memory. */
static size_t resident_pages(const lfpool_set_t *set)
{
	static unsigned char resident[1 << 16];
	const size_t page = os_page_bytes();
	size_t count = 0;

	for (size_t at = 0; at < set->windows.reserved_bytes; at += sizeof(resident) * page) {
		const size_t left = set->windows.reserved_bytes - at,
			     some = left / page < sizeof(resident) ? left : sizeof(resident) * page;

		REQUIRE(mincore(set->windows.reserved + at, some, resident) == 0);
		for (size_t i = 0; i < (some + page - 1) / page; i++)
			count += resident[i] & 1;
	}
	return count;
}

/* Each call of this kind is refused in turn while a class is made; returns the number of failed attempts. */
static unsigned long refuse_a_class(const lfpool_set_config_t *config, enum refusal which)
{
	unsigned long nth = 0;
	void *object = NULL;
	lfpool_set_t *set;

	REQUIRE(lfpool_set_create(&set, config) == LFPOOL_OK);

	const size_t resident = resident_pages(set), locked = locked_bytes();

	for (;;) {
		refuse(which, ++nth, false, ENOMEM);
		errno = 0;
		object = lfpool_set_acquire(set, SIZE);
		if (errno)
			fprintf(stderr, "%s, call %lu: errno %d\n", refusal_kinds[which].name, nth, errno);
		REQUIRE(errno == 0);
		refuse(which, 0, false, 0);
		if (object)
			break;
		REQUIRE(resident_pages(set) == resident && locked_bytes() == locked);
	}
	REQUIRE(lfpool_set_release(set, object) == LFPOOL_OK);
	REQUIRE(lfpool_set_destroy(set) == 0);
	return nth - 1;
}

TEST_WITH(refused_class_of_a_set_keeps_no_memory, nothing_refused, NULL)
{
	static const uint32_t flags[] = {LFPOOL_PREFAULT, LFPOOL_LOCK};

	for (size_t i = 0; i < COUNT(flags); i++) {
		lfpool_set_config_t config = LFPOOL_SET_CONFIG_INIT;
		unsigned long refused = 0;

		config.pool.capacity = CAPACITY;
		config.largest = 256;
		config.pool.flags = flags[i];
		/* Its memory comes after the objects. */
		config.pool.debug = "poison";
		for (int which = 0; which < REFUSALS; which++)
			refused += refuse_a_class(&config, (enum refusal)which);
		assert_true(refused > 4);
	}
}

/* ---- fork() while another thread is in lfpool_destroy() ---- */

static bool child_lived = true;

static bool fork_returns(void)
{
	int status = 0;

	fflush(stdout);
	alarm(HANGS_AFTER_SECONDS);

	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	alarm(0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *fork_once(void *argument)
{
	(void)argument;
	child_lived = child_lived && fork_returns();
	return NULL;
}

static void fork_on_another_thread(void)
{
	pthread_t thread;

	after_munmap = NULL;
	thread_start(&thread, fork_once, NULL);
	pthread_join(thread, NULL);
	after_munmap = fork_on_another_thread;
}

static void ignore(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	(void)pool;
	(void)object;
}

TEST_WITH(fork_between_any_two_unmappings_of_a_destroy, nothing_refused, NULL)
{
	lfpool_t *pool = pool_of(SIZE, 1);

	REQUIRE(lfpool_acquire(pool));
	/* Enough of them to need a second lot of cells. */
	for (int i = 0; i < 40; i++)
		assert_int_equal(lfpool_acquire_async(pool, ignore, NULL, NULL), LFPOOL_OK);
	after_munmap = fork_on_another_thread;
	assert_int_equal(lfpool_destroy(pool), 1);
	after_munmap = NULL;
	assert_true(child_lived);
}

/* ---- Two pools with the same address, one after the other ---- */

/* AddressSanitizer also maps memory, so the second pool gets another address. */
#ifndef __SANITIZE_ADDRESS__

static lfpool_registry_t *registry;
static lfpool_t *another;

static void make_another(void)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);

	after_munmap = NULL;
	REQUIRE(lfpool_registry_create_pool(registry, "a", &config, &another) == LFPOOL_OK);
}

/* The second pool is made before the call that destroys the first one returns; its row comes first. */
TEST_WITH(reused_address_keeps_the_newer_row, nothing_refused, NULL)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool;

	REQUIRE(lfpool_registry_create(&registry, NULL, NULL) == LFPOOL_OK);
	REQUIRE(lfpool_registry_create_pool(registry, "b", &config, &pool) == LFPOOL_OK);
	after_munmap = make_another;
	assert_int_equal(lfpool_registry_destroy_pool(registry, pool), 0);
	assert_ptr_equal(another, pool);
	assert_ptr_equal(lfpool_registry_find(registry, "a"), another);
	assert_null(lfpool_registry_find(registry, "b"));
	assert_int_equal(lfpool_registry_destroy_pool(registry, another), 0);
	assert_null(lfpool_registry_find(registry, "a"));
	assert_int_equal(lfpool_registry_destroy(registry), 0);
}
#endif

RUN_TESTS()
