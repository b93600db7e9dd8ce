/* SPDX-License-Identifier: MIT */
/* test_evict.c - the promises of lfpool/evict.h to one thread: the victim, the time of the eviction, and refused
 * calls. */
#include "../support/support.h"
#include "../support/told.h"

#include "lfpool/evict.h"

enum { SIZE = 32, CAPACITY = 8 };

static struct {
	size_t count;
	void *object;
	lfpool_handle_t handle;
	uint64_t priority;
	lfpool_t *pool; /* not NULL: the hook checks it */
} evicted;

static void on_evict(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	(void)context;
	evicted.count++;
	evicted.object = object;
	evicted.handle = handle;
	evicted.priority = priority;
	if (evicted.pool) {
		assert_null(lfpool_resolve(evicted.pool, handle));
		assert_null(lfpool_pin(evicted.pool, handle));
		assert_int_equal(lfpool_release(evicted.pool, object), LFPOOL_E_NOT_IN_USE);
		memset(object, 0xEE, SIZE);
	}
}

static lfpool_t *evicting(lfpool_backend_t backend, lfpool_evict_t evict)
{
	memset(&evicted, 0, sizeof(evicted));
	return POOL_OF(SIZE, CAPACITY, .backend = backend, .evict = evict, .hooks.misuse = hear,
		       .hooks.evict = on_evict);
}

static lfpool_handle_t acquire(lfpool_t *pool, uint64_t priority)
{
	lfpool_handle_t handle;
	void *object = lfpool_acquire_evicting(pool, priority, &handle);

	assert_true((object != NULL) == (handle != 0));
	if (object) {
		assert_ptr_equal(lfpool_resolve(pool, handle), object);
		memset(object, 0x11, SIZE);
	}
	return handle;
}

static lfpool_handle_t published(lfpool_t *pool, uint64_t priority)
{
	const lfpool_handle_t handle = acquire(pool, priority);

	assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	return handle;
}

static void fill(lfpool_t *pool, lfpool_handle_t *handles, const uint64_t *priorities)
{
	for (size_t i = 0; i < CAPACITY; i++)
		handles[i] = published(pool, priorities[i]);
}

static const uint64_t mixed[CAPACITY] = {50, 20, 70, 20, 90, 10, 60, 30};

static void require_least(lfpool_t *pool, lfpool_handle_t handle, uint64_t priority)
{
	uint64_t found = UINT64_MAX;

	assert_true(lfpool_least(pool, &found) == handle);
	assert_true(lfpool_least(pool, NULL) == handle);
	assert_true(found == priority);
}

BACKEND_TEST(the_least_is_evicted_and_of_equals_the_oldest, LFPOOL_BACKEND_MALLOC)
{
	static const size_t order[] = {5, 1, 3, 7, 0, 6, 2, 4};
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS);
	lfpool_handle_t handles[CAPACITY], newcomers[CAPACITY];

	fill(pool, handles, mixed);
	assert_int_equal(lfpool_active_count(pool), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++) {
		require_least(pool, handles[order[i]], mixed[order[i]]);
		evicted.pool = backend == LFPOOL_BACKEND_MALLOC ? NULL : pool;
		newcomers[i] = published(pool, 1000);
		evicted.pool = NULL;
		assert_int_equal(evicted.count, i + 1);
		assert_true(evicted.handle == handles[order[i]] && evicted.priority == mixed[order[i]]);
		assert_null(lfpool_resolve(pool, handles[order[i]]));
		require_intact(pool);
	}
	/* Among equal priorities none gives way. */
	assert_true(acquire(pool, 1000) == 0);
	for (size_t i = 0; i < CAPACITY; i++)
		assert_int_equal(lfpool_release_handle(pool, newcomers[i]), LFPOOL_OK);
	assert_int_equal(stats_of(pool).evicted, CAPACITY);
	assert_int_equal(stats_of(pool).not_evicted, 1);
	pool_close(pool, SIZE);
}

BACKEND_TEST(equal_priorities_give_way_if_the_config_says_so, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS_OR_EQUAL);
	lfpool_handle_t handles[CAPACITY];

	fill(pool, handles, (const uint64_t[CAPACITY]){0});
	for (size_t i = 0; i < CAPACITY; i++) {
		(void)published(pool, 0);
		assert_true(evicted.handle == handles[i]);
	}
	assert_int_equal(lfpool_release_least(pool, 100), CAPACITY);
	pool_close(pool, SIZE);
}

static bool by_last_digit_down(void *context, uint64_t a, uint64_t b)
{
	assert_ptr_equal(context, &evicted);
	return a % 10 > b % 10;
}

TEST(a_comparison_of_the_caller_decides)
{
	lfpool_t *pool = POOL_OF(SIZE, 4, .evict = LFPOOL_EVICT_LESS, .before = by_last_digit_down,
				 .before_context = &evicted);
	static const uint64_t priorities[] = {13, 27, 35, 47};
	lfpool_handle_t handles[4];

	for (size_t i = 0; i < 4; i++)
		handles[i] = published(pool, priorities[i]);
	require_least(pool, handles[1], 27);
	assert_true(acquire(pool, 8) == 0);
	(void)published(pool, 101);
	require_least(pool, handles[3], 47);
	assert_int_equal(lfpool_release_least(pool, 2), 2);
	require_least(pool, handles[0], 13);
	assert_int_equal(lfpool_destroy(pool), 2);
}

BACKEND_TEST(a_free_object_comes_before_an_eviction, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS);
	lfpool_handle_t handles[CAPACITY];

	fill(pool, handles, mixed);
	assert_true(acquire(pool, 0) == 0);
	assert_int_equal(lfpool_release_handle(pool, handles[4]), LFPOOL_OK);
	assert_true(published(pool, 0) != 0);
	assert_int_equal(evicted.count, 0);
	/* By pointer, and all at once. */
	assert_int_equal(lfpool_release(pool, lfpool_resolve(pool, handles[2])), LFPOOL_OK);
	assert_true(published(pool, 0) != 0);
	assert_int_equal(evicted.count, 0);
	assert_int_equal(lfpool_release_all(pool), CAPACITY);
	for (size_t i = 0; i < CAPACITY; i++)
		(void)published(pool, i);
	assert_int_equal(evicted.count, 0);
	assert_int_equal(lfpool_release_least(pool, CAPACITY), CAPACITY);
	assert_int_equal(evicted.count, CAPACITY);
	pool_close(pool, SIZE);
}

BACKEND_TEST(pinned_and_new_objects_are_not_evicted, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS);
	lfpool_handle_t handles[CAPACITY];

	for (size_t i = 0; i < CAPACITY; i++)
		handles[i] = acquire(pool, i);
	assert_true(lfpool_least(pool, NULL) == 0);
	assert_true(acquire(pool, 100) == 0);
	assert_int_equal(lfpool_release_least(pool, 1), 0);
	for (size_t i = 4; i < CAPACITY; i++)
		assert_int_equal(lfpool_unpin(pool, handles[i]), LFPOOL_OK);
	require_least(pool, handles[4], 4);
	assert_non_null(lfpool_pin(pool, handles[4]));
	require_least(pool, handles[5], 5);
	assert_int_equal(lfpool_set_priority(pool, handles[0], 1), LFPOOL_OK);
	require_least(pool, handles[5], 5);
	assert_int_equal(lfpool_unpin(pool, handles[0]), LFPOOL_OK);
	require_least(pool, handles[0], 1);
	/* Released while it is pinned: it stays until the unpin, and cannot be evicted. */
	assert_int_equal(lfpool_release_handle(pool, handles[4]), LFPOOL_OK);
	assert_int_equal(lfpool_release_least(pool, CAPACITY), 4);
	assert_int_equal(lfpool_active_count(pool), 4);
	assert_int_equal(lfpool_unpin(pool, handles[4]), LFPOOL_OK);
	/* Before the first unpin as well. */
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(lfpool_release_handle(pool, handles[i]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 4 - i);
		assert_int_equal(lfpool_unpin(pool, handles[i]), LFPOOL_OK);
		assert_int_equal(lfpool_active_count(pool), 3 - i);
	}
	pool_close(pool, SIZE);
}

BACKEND_TEST(plain_objects_of_an_evicting_pool_are_never_victims, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS);
	void *objects[CAPACITY];
	uint64_t priority;

	for (size_t i = 0; i < CAPACITY - 1; i++)
		assert_non_null(objects[i] = lfpool_acquire(pool));
	const lfpool_handle_t plain = lfpool_handle_of(pool, objects[0]), one = published(pool, 7);

	assert_null(lfpool_acquire(pool));
	assert_int_equal(evicted.count, 0);
	assert_false(lfpool_get_priority(pool, plain, &priority));
	assert_int_equal(lfpool_set_priority(pool, plain, 1), LFPOOL_E_STALE);
	const lfpool_handle_t other = published(pool, 8);

	assert_true(evicted.handle == one);
	assert_int_equal(lfpool_release_least(pool, CAPACITY), 1);
	assert_false(lfpool_get_priority(pool, other, &priority));
	release_all(pool, objects, CAPACITY - 1);
	pool_close(pool, SIZE);
}

/* `may_be_evicted`: the handle's object may have been evicted, so the refusal is not misuse. */
static void require_refused(lfpool_t *pool, lfpool_status_t status, bool may_be_evicted)
{
	assert_int_equal(status, LFPOOL_E_STALE);
	assert_int_equal(told.misuse.status, may_be_evicted ? LFPOOL_OK : LFPOOL_E_STALE);
	assert_int_equal(lfpool_active_count(pool), 1);
	told_forget();
}

BACKEND_TEST(priorities_of_other_handles_are_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = evicting(backend, LFPOOL_EVICT_LESS), *other = evicting(backend, LFPOOL_EVICT_LESS);
	const lfpool_handle_t stale = published(pool, 5), foreign = published(other, 6);
	uint64_t priority = 99;

	assert_int_equal(lfpool_release_handle(pool, stale), LFPOOL_OK);
	const lfpool_handle_t handle = published(pool, 7), bad[] = {0, UINT64_MAX, stale, foreign};

	for (size_t i = 0; i < COUNT(bad); i++) {
		const bool may_be_evicted = bad[i] == stale || bad[i] == foreign;

		require_refused(pool, lfpool_set_priority(pool, bad[i], 1), may_be_evicted);
		require_refused(pool, lfpool_release_handle(pool, bad[i]), may_be_evicted);
		require_refused(pool, lfpool_unpin(pool, bad[i]), false);
		assert_false(lfpool_get_priority(pool, bad[i], &priority));
	}
	assert_int_equal(priority, 99);
	assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_E_NOT_PINNED);
	assert_true(lfpool_get_priority(pool, handle, &priority));
	assert_int_equal(priority, 7);
	assert_int_equal(lfpool_set_priority(pool, handle, 8), LFPOOL_OK);
	require_least(pool, handle, 8);
	assert_int_equal(lfpool_release_handle(other, foreign), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(other), 0);
	assert_int_equal(lfpool_release_handle(pool, handle), LFPOOL_OK);
	pool_close(pool, SIZE);
}

TEST(plain_pools_refuse_evicting_calls)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .hooks.misuse = hear);
	lfpool_handle_t handle = 1;
	uint64_t priority;
	void *object = lfpool_acquire(pool);

	assert_null(lfpool_acquire_evicting(pool, 1, &handle));
	assert_true(handle == 0 && lfpool_least(pool, &priority) == 0 && lfpool_release_least(pool, 1) == 0);
	handle = lfpool_handle_of(pool, object);
	assert_false(lfpool_get_priority(pool, handle, &priority));
	assert_int_equal(lfpool_set_priority(pool, handle, 1), LFPOOL_E_STALE);
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	pool_close(pool, SIZE);
}

TEST(priorities_of_doubles_keep_their_order)
{
	static const double values[] = {-1e300, -2.5, -1e-300, -0.0, 0.0, 1e-300, 2.5, 1e300};

	for (size_t i = 0; i < COUNT(values); i++) {
		const uint64_t priority = lfpool_priority_of_double(values[i]);

		assert_true(lfpool_priority_to_double(priority) == values[i]);
		assert_true(!i || priority > lfpool_priority_of_double(values[i - 1]));
	}
}

/* ---- Compared with a model ---- */

enum { MODEL_ROOM = 4200 };

/* An active object; the model's array is unordered. */
struct modelled {
	lfpool_handle_t handle;
	uint64_t priority, born;
	bool pinned;
};

static struct {
	lfpool_t *pool;
	struct random random;
	bool (*before)(void *context, uint64_t a, uint64_t b);
	uint32_t range; /* priorities are below this */
	uint64_t births;
	size_t count;
	struct modelled active[MODEL_ROOM];
} model;

static bool model_before(uint64_t a, uint64_t b)
{
	return model.before ? model.before(&evicted, a, b) : a < b;
}

/* Looks at all objects; NULL: all are pinned. */
static struct modelled *model_least(void)
{
	struct modelled *least = NULL;

	for (struct modelled *m = model.active; m < model.active + model.count; m++)
		if (!m->pinned && (!least || model_before(m->priority, least->priority) ||
				   (m->born < least->born && !model_before(least->priority, m->priority))))
			least = m;
	return least;
}

static void model_forget(struct modelled *m)
{
	assert_null(lfpool_resolve(model.pool, m->handle));
	*m = model.active[--model.count];
}

static uint64_t model_priority(void)
{
	return random_below(&model.random, model.range);
}

static void model_acquire(bool publishes)
{
	const bool full = model.count == lfpool_capacity(model.pool);
	struct modelled *least = full ? model_least() : NULL;
	const uint64_t priority = model_priority();
	const bool gives_way = least && model_before(least->priority, priority);
	const size_t evictions = evicted.count;
	const lfpool_handle_t handle = acquire(model.pool, priority);

	assert_true((handle != 0) == (!full || gives_way));
	assert_int_equal(evicted.count, evictions + gives_way);
	if (gives_way) {
		assert_true(evicted.handle == least->handle && evicted.priority == least->priority);
		model_forget(least);
	}
	if (!handle)
		return;
	if (publishes)
		assert_int_equal(lfpool_unpin(model.pool, handle), LFPOOL_OK);
	model.active[model.count++] = (struct modelled){handle, priority, ++model.births, !publishes};
}

static void model_release(struct modelled *m)
{
	assert_int_equal(lfpool_release_handle(model.pool, m->handle), LFPOOL_OK);
	if (m->pinned)
		assert_int_equal(lfpool_unpin(model.pool, m->handle), LFPOOL_OK);
	model_forget(m);
}

static void model_release_least(void)
{
	struct modelled *least = model_least();
	const size_t evictions = evicted.count;

	assert_int_equal(lfpool_release_least(model.pool, 1), least != NULL);
	assert_int_equal(evicted.count, evictions + (least != NULL));
	if (least) {
		assert_true(evicted.handle == least->handle && evicted.priority == least->priority);
		model_forget(least);
	}
}

static void model_set_priority(struct modelled *m)
{
	m->priority = model_priority();
	assert_int_equal(lfpool_set_priority(model.pool, m->handle, m->priority), LFPOOL_OK);
}

static void model_pin_or_unpin(struct modelled *m)
{
	if (m->pinned)
		assert_int_equal(lfpool_unpin(model.pool, m->handle), LFPOOL_OK);
	else
		assert_non_null(lfpool_pin(model.pool, m->handle));
	m->pinned = !m->pinned;
}

static void model_step(void)
{
	const uint32_t what = random_below(&model.random, 16);
	struct modelled *any = &model.active[random_below(&model.random, (uint32_t)model.count)];

	if (what < 5 || !model.count)
		model_acquire(what != 0);
	else if (what == 5)
		model_release(any);
	else if (what == 6)
		model_release_least();
	else if (what < 11)
		model_pin_or_unpin(any);
	else
		model_set_priority(any);

	const struct modelled *least = model_least();

	if (least)
		require_least(model.pool, least->handle, least->priority);
	else
		assert_true(lfpool_least(model.pool, NULL) == 0);
}

/* Pools of two blocks and of many, and of more than a block of blocks. */
TEST(the_victim_is_the_least_of_a_model)
{
	static const size_t capacities[] = {65, 1000, MODEL_ROOM};
	const uint64_t seed = test_seed("model");

	for (unsigned c = 0; c < COUNT(capacities) * 3; c++) {
		memset(&model, 0, sizeof(model));
		memset(&evicted, 0, sizeof(evicted));
		model.random = random_for(seed, c);
		model.before = c % 3 == 2 ? by_last_digit_down : NULL;
		model.range = c % 3 == 1 ? 5 : UINT32_MAX;
		model.pool = POOL_OF(SIZE, capacities[c / 3], .evict = LFPOOL_EVICT_LESS, .hooks.evict = on_evict,
				     .before = model.before, .before_context = &evicted);
		for (size_t i = 0; i < capacities[c / 3]; i++)
			model_acquire(true);
		for (int i = 0; i < TIMES(2000, 200); i++) {
			model_step();
			if (i % 64 == 0)
				require_intact(model.pool);
		}
		require_intact(model.pool);
		assert_int_equal(lfpool_destroy(model.pool), model.count);
	}
}

/* ---- With other features of a pool ---- */

TEST(a_pool_that_grows_evicts_when_it_cannot_grow)
{
	lfpool_t *pool = POOL_OF(SIZE, 2, .max_capacity = 300, .growth_step = 7, .evict = LFPOOL_EVICT_LESS);

	for (uint64_t i = 0; i < 300; i++)
		(void)published(pool, i);
	assert_int_equal(lfpool_capacity(pool), 300);
	assert_int_equal(stats_of(pool).evicted, 0);
	assert_true(published(pool, 300) != 0);
	assert_int_equal(stats_of(pool).evicted, 1);
	require_intact(pool);
	assert_int_equal(lfpool_destroy(pool), 300);
}

TEST(victims_pay_for_a_pending_shrink)
{
	lfpool_t *pool = evicting(LFPOOL_BACKEND_LOCKFREE, LFPOOL_EVICT_LESS);
	lfpool_handle_t handles[CAPACITY];

	fill(pool, handles, mixed);
	assert_int_equal(lfpool_shrink(pool, 3), 0);
	assert_true(published(pool, 100) != 0);
	assert_int_equal(evicted.count, 4);
	assert_int_equal(lfpool_capacity(pool), CAPACITY - 3);
	require_intact(pool);
	/* After growing again: it must find free objects. */
	assert_int_equal(lfpool_grow(pool, 3), 3);
	assert_true(published(pool, 0) != 0);
	assert_int_equal(evicted.count, 4);
	assert_int_equal(lfpool_release_least(pool, CAPACITY), CAPACITY - 2);
	pool_close(pool, SIZE);
}

static size_t activated, deactivated;

static bool activate(void *context, void *object)
{
	(void)context, (void)object;
	activated++;
	return true;
}

static bool deactivate(void *context, void *object)
{
	(void)context;
	/* After hooks.evict. */
	if (evicted.pool)
		assert_int_equal(*(unsigned char *)object, 0xEE);
	deactivated++;
	return true;
}

TEST(an_eviction_ends_one_use_and_begins_another)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .evict = LFPOOL_EVICT_LESS, .hooks.evict = on_evict,
				 .hooks.misuse = hear, .hooks.activate = activate, .hooks.deactivate = deactivate);
	lfpool_handle_t handles[CAPACITY];

	memset(&evicted, 0, sizeof(evicted));
	activated = deactivated = 0;
	fill(pool, handles, mixed);
	evicted.pool = pool;
	(void)published(pool, 100);
	assert_true(activated == CAPACITY + 1 && deactivated == 1);
	evicted.pool = NULL;
	assert_int_equal(lfpool_release_least(pool, CAPACITY), CAPACITY);
	assert_int_equal(deactivated, CAPACITY + 1);
	pool_close(pool, SIZE);
}

TEST(debug_modes_find_writes_to_a_victim)
{
	lfpool_t *pool = POOL_OF(SIZE, 2, .evict = LFPOOL_EVICT_LESS, .hooks.misuse = hear,
				 .debug = "poison,quarantine=1,no-tools");
	lfpool_handle_t handle;
	unsigned char *object = lfpool_acquire_evicting(pool, 1, &handle);

	assert_int_equal(lfpool_unpin(pool, handle), LFPOOL_OK);
	assert_int_equal(lfpool_release_least(pool, 1), 1);
	told_forget();
	object[SIZE - 1] ^= 1;
	for (uint64_t i = 2; i < 6; i++)
		(void)published(pool, i);
	assert_int_equal(told.misuse.status, LFPOOL_E_WRITTEN_WHEN_FREE);
	(void)lfpool_release_all(pool);
	(void)lfpool_destroy(pool);
}

TEST(closed_pool_evicts_nothing)
{
	lfpool_t *pool = evicting(LFPOOL_BACKEND_LOCKFREE, LFPOOL_EVICT_LESS);
	lfpool_handle_t handles[CAPACITY];

	fill(pool, handles, mixed);
	(void)lfpool_close(pool, 0);
	assert_true(acquire(pool, 1000) == 0);
	assert_int_equal(evicted.count, 0);
	assert_int_equal(lfpool_destroy(pool), CAPACITY);
}

static bool refuse(void *context, void *object)
{
	(void)context, (void)object;
	return activated-- != 0;
}

TEST(a_slot_whose_newcomer_a_hook_refuses_is_free)
{
	lfpool_t *pool = POOL_OF(SIZE, 2, .evict = LFPOOL_EVICT_LESS, .hooks.activate = refuse);

	activated = 2;
	(void)published(pool, 1);
	(void)published(pool, 2);
	assert_true(acquire(pool, 3) == 0);
	assert_int_equal(lfpool_active_count(pool), 1);
	activated = 1;
	assert_true(published(pool, 0) != 0);
	require_intact(pool);
	assert_int_equal(lfpool_destroy(pool), 2);
}

/* Two pools that are made and used in the same way: a handle names no object of the other pool. */
BACKEND_TEST(a_handle_of_another_evicting_pool_is_refused, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pools[2] = {evicting(backend, LFPOOL_EVICT_LESS), evicting(backend, LFPOOL_EVICT_LESS)};
	lfpool_handle_t handles[2][CAPACITY];
	uint64_t priority;

	for (size_t p = 0; p < 2; p++)
		for (size_t i = 0; i < CAPACITY; i++)
			handles[p][i] = published(pools[p], i);
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_true(handles[0][i] != handles[1][i]);
		for (size_t p = 0; p < 2; p++) {
			lfpool_t *other = pools[!p];

			assert_null(lfpool_resolve(other, handles[p][i]));
			assert_null(lfpool_pin(other, handles[p][i]));
			assert_int_equal(lfpool_unpin(other, handles[p][i]), LFPOOL_E_STALE);
			assert_int_equal(lfpool_set_priority(other, handles[p][i], 7), LFPOOL_E_STALE);
			assert_false(lfpool_get_priority(other, handles[p][i], &priority));
			assert_int_equal(lfpool_release_handle(other, handles[p][i]), LFPOOL_E_STALE);
		}
	}
	for (size_t p = 0; p < 2; p++) {
		assert_int_equal(lfpool_active_count(pools[p]), CAPACITY);
		for (size_t i = 0; i < CAPACITY; i++)
			assert_int_equal(lfpool_release_handle(pools[p], handles[p][i]), LFPOOL_OK);
		assert_int_equal(lfpool_destroy(pools[p]), 0);
	}
}

RUN_TESTS()
