/* SPDX-License-Identifier: MIT */
/*
 * test_priority_no_kernel.c - no call on an evicting pool but create and destroy enters the kernel, as long as calls do
 * not meet: all of them are made, by one thread, in a process that may not (no_kernel.h).
 */
#include "no_kernel.h"

#include "priority_support.h"

enum { SIZE = 40, CAPACITY = 300 };

static lfpool_priority_t *pool;
static lfpool_handle_t handles[CAPACITY + 1];
static size_t evicted;

static bool before(void *context, uint64_t a, uint64_t b)
{
	(void)context;
	return a < b;
}

static void on_evict(void *context, const lfpool_evicted_t *e)
{
	(void)context;
	MUST(!lfpool_priority_is_active(e->pool, e->handle));
	evicted++;
}

static bool visit(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context;
	MUST(lfpool_priority_look(pool, handle) == object);
	MUST(lfpool_priority_update(pool, handle, priority + 1) == LFPOOL_OK);
	return true;
}

static void fill(void)
{
	for (size_t i = 0; i < CAPACITY; i++) {
		MUST(lfpool_priority_acquire(pool, i * 7919 % CAPACITY, NULL, &handles[i]));
		MUST(lfpool_priority_publish(pool, handles[i]) == LFPOOL_OK);
	}
	MUST(!lfpool_priority_acquire(pool, 0, NULL, &handles[CAPACITY]));
}

static void call_everything(void)
{
	uint64_t priority;

	fill();
	for (size_t i = 0; i < CAPACITY; i++) {
		MUST(lfpool_priority_pin(pool, handles[i]));
		MUST(lfpool_priority_get(pool, handles[i], &priority));
		MUST(lfpool_priority_update(pool, handles[i], priority * 31 % 1000) == LFPOOL_OK);
		MUST(lfpool_priority_unpin(pool, handles[i]) == LFPOOL_OK);
		MUST(lfpool_priority_unpin(pool, handles[i]) == LFPOOL_E_NOT_PINNED);
	}
	for (size_t i = 0; i < 2 * CAPACITY; i++) {
		MUST(lfpool_priority_acquire(pool, 2000 + i, NULL, &handles[i % CAPACITY]));
		MUST(lfpool_priority_publish(pool, handles[i % CAPACITY]) == LFPOOL_OK);
	}
	MUST(lfpool_priority_for_each(pool, visit, NULL) == CAPACITY);
	MUST(lfpool_priority_pin(pool, handles[0]));
	MUST(lfpool_priority_peek_min(pool, &priority) && lfpool_priority_release_min(pool, 20) == 20);
	for (size_t i = 0; i < CAPACITY; i++)
		if (lfpool_priority_is_active(pool, handles[i]))
			MUST(lfpool_priority_release(pool, handles[i]) == LFPOOL_OK);
	MUST(lfpool_priority_release(pool, handles[0]) == LFPOOL_E_STALE && lfpool_priority_count(pool) == 1);
	MUST(lfpool_priority_unpin(pool, handles[0]) == LFPOOL_OK && lfpool_priority_count(pool) == 0);
	MUST(priority_stats_of(pool).refused > 0 && lfpool_priority_capacity(pool) == CAPACITY);
}

static void open_pool(bool with_hooks)
{
	lfpool_priority_config_t config = priority_config_of(SIZE, CAPACITY);

	if (with_hooks) {
		config.before = before;
		config.on_evict = on_evict;
	}
	pool = priority_with(&config);
}

static void strictly(void)
{
	open_pool(true);
	shut_strict();
	for (int round = 0; round < 3; round++)
		call_everything();
	MUST(evicted == 3 * (2 * CAPACITY + 20));
}

static void by_filter(void)
{
	open_pool(false);
	shut_filter();
	for (int round = 0; round < 3; round++)
		call_everything();
}

TEST(every_call_of_one_thread)
{
	assert_int_equal(run_in_process(strictly), 0);
	assert_int_equal(run_in_process(by_filter), 0);
}

static void create(void)
{
	shut_filter();
	open_pool(false);
}

static void destroy(void)
{
	open_pool(false);
	shut_filter();
	(void)lfpool_priority_destroy(pool);
}

TEST(what_makes_system_calls_does_not_survive)
{
	assert_int_equal(run_in_process(create), -SIGSYS);
	assert_int_equal(run_in_process(destroy), -SIGSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_of_one_thread),
		cmocka_unit_test(what_makes_system_calls_does_not_survive),
	};

	return cmocka_run_group_tests_name("priority: no kernel", tests, NULL, NULL);
}
