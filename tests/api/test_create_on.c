/* SPDX-License-Identifier: MIT */
/* test: threads */
/* test_create_on.c - pools whose objects are in the caller's memory: every kind of pool, on any kind of memory, which
 * the caller gets back afterwards. */
#include "../support/child.h"
#include "../support/kinds.h"

#include "lfpool/resize.h"
#include "lfpool/wait.h"

#include <sys/mman.h>

enum { OBJECTS = 1000, MOST = 3000 };

/* A pool with its objects in this memory. */
static lfpool_status_t create_on(lfpool_t **pool_out, const lfpool_config_t *config, void *memory, size_t bytes)
{
	lfpool_config_t with;

	if (!config)
		return lfpool_create(pool_out, NULL);
	with = *config;
	with.memory = memory;
	with.memory_bytes = bytes;
	return lfpool_create(pool_out, &with);
}

static unsigned char *memory_new(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(memory != MAP_FAILED);
	return memory;
}

KIND_TEST(every_mode_works_in_caller_provided_memory)
{
	struct stage s;
	lfpool_config_t config = stage_config(&s, kind, OBJECTS, MOST);
	const size_t bytes = lfpool_memory_bytes(&config);
	unsigned char *memory = memory_new(bytes);
	void *objects[MOST + 1];

	assert_true(bytes >= MOST * SIZE);
	assert_int_equal(create_on(&s.pool, &config, memory, bytes), LFPOOL_OK);
	assert_int_equal(lfpool_grow(s.pool, MOST), MOST - OBJECTS);
	assert_int_equal(acquire_all(s.pool, objects, MOST + 1), MOST);
	for (size_t i = 0; i < MOST; i++) {
		/* Behind the hooks' word. */
		memset(moved(objects[i], sizeof(unsigned)), 0x5a, SIZE - sizeof(unsigned));
		if (kind->backend != LFPOOL_BACKEND_MALLOC)
			assert_true((unsigned char *)objects[i] - memory >= 0 &&
				    (unsigned char *)objects[i] + SIZE <= memory + bytes);
		assert_true(lfpool_of(objects[i]) == s.pool);
	}
	assert_true(sort_disjoint(objects, MOST, SIZE));
	release_all(s.pool, objects, MOST);
	/* This memory is never given back. */
	assert_false(lfpool_trim(s.pool, 0, SIZE_MAX));
	assert_int_equal(stats_of(s.pool).given_back, 0);
	stage_close(&s);
	/* No tool and no guard covers it any longer. */
	memset(memory, 0x5a, bytes);
	assert_true(all_bytes_are(memory, bytes, 0x5a));
	assert_int_equal(munmap(memory, bytes), 0);
}

TEST(create_on_refuses_memory_that_does_not_fit)
{
	lfpool_config_t config = config_of(SIZE, OBJECTS), bad = config_of(0, OBJECTS);
	const size_t bytes = lfpool_memory_bytes(&config), page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory = memory_new(bytes + page);
	lfpool_t *pool = (lfpool_t *)memory;

	assert_int_equal(bytes % page, 0);
	assert_int_equal(lfpool_memory_bytes(NULL), 0);
	assert_int_equal(lfpool_memory_bytes(&bad), 0);
	assert_int_equal(create_on(&pool, &config, memory, bytes - 1), LFPOOL_E_BUFFER);
	assert_null(pool);
	assert_int_equal(create_on(&pool, &config, memory + 1, bytes + page - 1), LFPOOL_E_BUFFER);
	assert_int_equal(create_on(&pool, &config, NULL, bytes), LFPOOL_E_BUFFER);
	assert_int_equal(create_on(NULL, &config, memory, bytes), LFPOOL_E_ARGUMENT);
	assert_int_equal(create_on(&pool, NULL, memory, bytes), LFPOOL_E_ARGUMENT);
	assert_int_equal(create_on(&pool, &bad, memory, bytes), LFPOOL_E_CONFIG_OBJECT_SIZE);
	config.object_alignment = 2 * page;
	unsigned char *odd = (uintptr_t)memory % (2 * page) ? memory : memory + page;
	assert_int_equal(create_on(&pool, &config, odd, bytes), LFPOOL_E_BUFFER);
	assert_true(all_bytes_are(memory, bytes + page, 0));
	assert_int_equal(munmap(memory, bytes + page), 0);
}

/* Neither creation nor growth touches a page. */
TEST(create_on_touches_no_object_memory)
{
	lfpool_config_t config = CONFIG_OF(64, OBJECTS, .max_capacity = MOST, .flags = LFPOOL_PREFAULT);
	const size_t bytes = lfpool_memory_bytes(&config), page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *memory, *there;
	lfpool_t *pool;

	if (SANITIZED)
		SKIP("sanitizers are told that free objects hold nothing");
	memory = memory_new(bytes);
	there = calloc(bytes / page, 1);
	assert_non_null(there);
	assert_int_equal(create_on(&pool, &config, memory, bytes), LFPOOL_OK);
	assert_int_equal(lfpool_grow(pool, MOST), MOST - OBJECTS);
	assert_int_equal(mincore(memory, bytes, there), 0);
	for (size_t i = 0; i < bytes / page; i++)
		assert_int_equal(there[i] & 1, 0);
	assert_int_equal(lfpool_destroy(pool), 0);
	free(there);
	assert_int_equal(munmap(memory, bytes), 0);
}

/* An address belongs to the innermost pool, and to the outer one again after the inner pool is destroyed. */
TEST(a_pool_in_an_object_of_another_hides_no_other_object)
{
	enum { OUTER = 8, OBJECT = 1 << 16, HOSTS = 3 };
	lfpool_config_t config = CONFIG_OF(OBJECT, OUTER, .object_alignment = 4096, .flags = LFPOOL_PLAIN_STRIDE);
	lfpool_config_t inside = config_of(64, 100);
	static const size_t hosts[HOSTS] = {0, 3, OUTER - 1};
	lfpool_t *outer, *inner[HOSTS];
	void *objects[OUTER], *in_inner[HOSTS];

	assert_int_equal(lfpool_create(&outer, &config), LFPOOL_OK);
	assert_int_equal(acquire_all(outer, objects, OUTER), OUTER);
	for (size_t i = 0; i < HOSTS; i++) {
		assert_int_equal(create_on(&inner[i], &inside, lfpool_object_at(outer, hosts[i]), OBJECT), LFPOOL_OK);
		in_inner[i] = lfpool_acquire(inner[i]);
		assert_true(lfpool_of(in_inner[i]) == inner[i]);
	}
	for (size_t i = 0; i < OUTER; i++)
		if (i != hosts[0] && i != hosts[1] && i != hosts[2]) {
			assert_true(lfpool_of(moved(lfpool_object_at(outer, i), OBJECT - 1)) == outer);
			assert_int_equal(lfpool_release_self(lfpool_object_at(outer, i)), LFPOOL_OK);
		}
	for (size_t i = 0; i < HOSTS; i++) {
		assert_true(lfpool_of(moved(lfpool_object_at(outer, hosts[i]), OBJECT - 1)) == outer);
		assert_int_equal(lfpool_release_self(in_inner[i]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(inner[i]), 0);
		assert_true(lfpool_of(in_inner[i]) == outer);
		assert_int_equal(lfpool_release_self(lfpool_object_at(outer, hosts[i])), LFPOOL_OK);
	}
	assert_int_equal(lfpool_destroy(outer), 0);
}

/* ---- Memory that a child of a fork shares ---- */

enum { HELD = 10 };

static void never(void *context, lfpool_t *pool, void *object)
{
	(void)context, (void)pool, (void)object;
	abort();
}

/* The child's copy of the pool is closed, as the objects are the parent's: it gets none, and runs no hook for one. */
static void have_nothing(struct stage *s, void *const *held)
{
	const size_t destroyed = s->destroyed, deactivated = s->deactivated;
	void *objects[2];

	REQUIRE(lfpool_capacity(s->pool) == HELD);
	REQUIRE(!lfpool_acquire(s->pool) && lfpool_grow(s->pool, 1) == 0);
	REQUIRE(lfpool_acquire_bulk_wait(s->pool, NULL, objects, 2, -1) == LFPOOL_E_CLOSED);
	REQUIRE(lfpool_acquire_async(s->pool, never, NULL, NULL) == LFPOOL_E_CLOSED);
	REQUIRE(lfpool_release(s->pool, held[0]) == LFPOOL_OK);
	REQUIRE(!lfpool_acquire(s->pool) && lfpool_capacity(s->pool) == HELD - 1);
	REQUIRE(lfpool_destroy(s->pool) == HELD - 1);
	REQUIRE(s->destroyed == destroyed && s->deactivated == deactivated);
}

static void have_a_copy(lfpool_t *pool, void *const *held)
{
	void *object = lfpool_acquire(pool);

	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
	for (size_t i = 0; i < HELD; i++)
		REQUIRE(lfpool_release(pool, held[i]) == LFPOOL_OK);
	require_counts(pool, OBJECTS, 0);
}

static void fork_with(const struct kind *kind, int sharing)
{
	struct stage s;
	lfpool_config_t config = stage_config(&s, kind, OBJECTS, MOST);
	const size_t bytes = lfpool_memory_bytes(&config);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
	const bool shared = sharing == MAP_SHARED && kind->backend != LFPOOL_BACKEND_MALLOC;
	void *objects[OBJECTS + 1];

	assert_true(memory != MAP_FAILED);
	assert_int_equal(create_on(&s.pool, &config, memory, bytes), LFPOOL_OK);
	/* Some are cached, some are unused. */
	assert_int_equal(acquire_all(s.pool, objects, OBJECTS / 2), OBJECTS / 2);
	release_all(s.pool, objects + HELD, OBJECTS / 2 - HELD);

	const pid_t child = child_start();

	if (child == 0) {
		if (shared)
			have_nothing(&s, objects);
		else
			have_a_copy(s.pool, objects);
		_exit(0);
	}
	child_end(child);
	assert_int_equal(acquire_all(s.pool, objects + HELD, OBJECTS + 1 - HELD), OBJECTS - HELD);
	release_all(s.pool, objects, OBJECTS);
	stage_close(&s);
	assert_int_equal(munmap(memory, bytes), 0);
}

KIND_TEST(a_child_gets_no_object_in_memory_that_it_shares)
{
	fork_with(kind, MAP_SHARED);
	fork_with(kind, MAP_PRIVATE);
}

RUN_TESTS()
