/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_stack.c - the calls use at most the bytes of stack that docs/real-time.md promises ("Stack").
 *
 * Each row of calls runs on a thread whose stack is filled with a pattern.  The lowest changed byte afterwards shows
 * how deep the calls went: this library, the C library, the dynamic linker, and the thread's end.
 */
#include "../support/support.h"

#include "lfpool/evict.h"
#include "lfpool/registry.h"
#include "lfpool/set.h"

#include <sys/mman.h>

enum { STACK = 256 << 10, PATTERN = 0xa5, MANY = 20, TEXT = 1 << 16 };
enum { NEED = 8 << 10 }; /* docs/real-time.md has this number */

static lfpool_t *shared;
static char text[TEXT];

static bool visit(void *context, void *object)
{
	return context || object;
}

static void then(void *context, lfpool_t *pool, void *object)
{
	(void)context;
	if (object)
		(void)lfpool_release(pool, object);
}

static void pair(void)
{
	REQUIRE(lfpool_release(shared, lfpool_acquire(shared)) == LFPOOL_OK);
}

/* A line on stderr, or the hook. */
static void misuse(void)
{
	lfpool_t *pool = pool_of(64, 10);
	char *object = lfpool_acquire(pool);

	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK && lfpool_release(pool, object) == LFPOOL_E_NOT_IN_USE);
	REQUIRE(lfpool_release(pool, object + 1) != LFPOOL_OK && lfpool_destroy(pool) == 0);
}

static void reports(void)
{
	lfpool_stats_t stats;
	lfpool_advice_t advice;

	REQUIRE(lfpool_stats(shared, &stats) == LFPOOL_OK && lfpool_advise(shared, &advice) == LFPOOL_OK);
	REQUIRE(lfpool_dump(shared, LFPOOL_TEXT, text, TEXT) < TEXT &&
		lfpool_dump(shared, LFPOOL_JSON, text, TEXT) < TEXT);
	REQUIRE(!lfpool_check(shared, NULL));
}

static void many(void)
{
	void *objects[MANY];

	REQUIRE(lfpool_acquire_bulk(shared, objects, MANY) == MANY &&
		lfpool_for_each_active(shared, visit, NULL) == MANY);
	REQUIRE(lfpool_resolve(shared, lfpool_handle_of(shared, objects[0])) == objects[0]);
	REQUIRE(lfpool_release_all(shared) == MANY);
}

static void waits(void)
{
	void *objects[MANY];

	REQUIRE(lfpool_acquire_async(shared, then, NULL, NULL) == LFPOOL_OK);
	REQUIRE(lfpool_acquire_bulk_wait(shared, NULL, objects, MANY, 1000) == LFPOOL_OK);
	REQUIRE(lfpool_release_bulk(shared, objects, MANY) == MANY);
	REQUIRE(lfpool_acquire_bulk_wait(shared, NULL, objects, MANY, 0) == LFPOOL_OK);
	REQUIRE(lfpool_release_bulk(shared, objects, MANY) == MANY);
}

static void sizes(void)
{
	REQUIRE(lfpool_grow(shared, 10) == 10 && lfpool_shrink(shared, 10) == 10);
	while (lfpool_trim(shared, 0, SIZE_MAX))
		;
}

static void exhaustion(void)
{
	lfpool_t *pool = pool_of(64, 3);
	void *objects[4];
	lfpool_cache_t *cache = lfpool_cache_create(pool);

	REQUIRE(cache && lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	for (int i = 0; i < 4; i++)
		objects[i] = lfpool_cache_acquire(cache);
	REQUIRE(!objects[3] && !lfpool_acquire_wait(pool, 1000) && lfpool_release_bulk(pool, objects, 3) == 3);
	lfpool_cache_destroy(cache);
	REQUIRE(lfpool_destroy(pool) == 0);
}

static void eviction(void)
{
	lfpool_config_t config = config_of(64, 100);
	lfpool_handle_t handle;

	config.evict = LFPOOL_EVICT_LESS;
	lfpool_t *pool = pool_with(&config);

	for (uint64_t i = 0; i < 200; i++)
		if (lfpool_acquire_evicting(pool, i, &handle))
			REQUIRE(lfpool_unpin(pool, handle) == LFPOOL_OK);
	REQUIRE(lfpool_release_least(pool, 100) == 100 && lfpool_destroy(pool) == 0);
}

static void several(void)
{
	static const char profile[] = "ships capacity=10\nset/128 capacity=10\n[night]\nships capacity=20\n";
	lfpool_set_config_t config;
	lfpool_config_t ship = config_of(64, 1);
	lfpool_registry_t *registry;
	lfpool_set_t *set;
	lfpool_t *ships;

	REQUIRE(lfpool_registry_create(&registry, profile, NULL) == LFPOOL_OK);
	REQUIRE(lfpool_registry_create_pool(registry, "ships", &ship, &ships) == LFPOOL_OK);
	lfpool_set_config_init(&config);
	config.largest = 128;
	config.registry = registry;
	config.pool.name = "set";
	REQUIRE(lfpool_set_create(&set, &config) == LFPOOL_OK);
	REQUIRE(lfpool_set_release(set, lfpool_set_acquire(set, 100)) == LFPOOL_OK);
	REQUIRE(lfpool_set_dump(set, LFPOOL_TEXT, text, TEXT) < TEXT && lfpool_set_destroy(set) == 0);
	REQUIRE(lfpool_registry_switch(registry, NULL, "night", NULL) == LFPOOL_OK);
	REQUIRE(lfpool_registry_dump(registry, LFPOOL_JSON, text, TEXT) < TEXT &&
		lfpool_registry_destroy(registry) == 0);
}

static void debugging(void)
{
	lfpool_config_t config = config_of(64, 100);

	config.debug = "owner,poison,guard,quarantine=10,check";
	lfpool_t *pool = pool_with(&config);
	void *object = lfpool_acquire(pool);

	REQUIRE(lfpool_dump(pool, LFPOOL_TEXT, text, TEXT) < TEXT && lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_E_NOT_IN_USE && (object = lfpool_acquire(pool)));
	REQUIRE(lfpool_destroy(pool) == 1);
}

static void names(void)
{
	lfpool_config_t config = config_of(64, 100);

	config.debug = "owner,backtrace=1/1";
	lfpool_t *pool = pool_with(&config);
	void *object = lfpool_acquire(pool);

	REQUIRE(lfpool_dump(pool, LFPOOL_TEXT, text, TEXT) < TEXT && lfpool_release(pool, object) == LFPOOL_OK);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_E_NOT_IN_USE && (object = lfpool_acquire(pool)));
	REQUIRE(lfpool_destroy(pool) == 1);
}

static const struct row {
	const char *name;
	void (*run)(void);
} rows[] = {
	{"acquire and release", pair},      {"misuse", misuse},     {"reports", reports},
	{"many, handles, walks", many},     {"waits", waits},       {"grow, shrink, trim", sizes},
	{"exhaustion, caches", exhaustion}, {"eviction", eviction}, {"sets, registries", several},
	{"debug modes", debugging},         {"backtraces", names},
};

struct probe {
	const struct row *row;
	const unsigned char *top; /* the frame of the thread's function */
};

static void *run_row(void *argument)
{
	struct probe *probe = argument;

	probe->top = __builtin_frame_address(0);
	probe->row->run();
	return NULL;
}

static void run_on(unsigned char *stack, size_t bytes, struct probe *probe)
{
	pthread_attr_t attributes;
	pthread_t thread;

	REQUIRE(pthread_attr_init(&attributes) == 0);
	REQUIRE((stack ? pthread_attr_setstack(&attributes, stack, bytes)
		       : pthread_attr_setstacksize(&attributes, bytes)) == 0);
	REQUIRE(pthread_create(&thread, &attributes, run_row, probe) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0 && pthread_attr_destroy(&attributes) == 0);
}

static size_t need_of(const struct row *row)
{
	unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct probe probe = {.row = row};
	size_t untouched = 0;

	REQUIRE(stack != MAP_FAILED);
	memset(stack, PATTERN, STACK);
	run_on(stack, STACK, &probe);
	while (stack[untouched] == PATTERN)
		untouched++;

	const size_t need = (size_t)(probe.top - stack) - untouched;

	REQUIRE(munmap(stack, STACK) == 0);
	return need;
}

TEST(calls_need_no_more_stack_than_the_document_says)
{
	if (SANITIZED)
		SKIP("frames are larger under sanitizers");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t need = need_of(&rows[i]);

		print_message("%5zu bytes of stack: %s\n", need, rows[i].name);
		assert_in_range(need, 1, NEED);
	}
}

static int open_shared(void **state)
{
	lfpool_config_t config = config_of(64, 1000);

	(void)state;
	config.max_capacity = 2000;
	shared = pool_with(&config);
	return 0;
}

int main(void)
{
	return tests_run(open_shared, NULL);
}
