/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_migration.c - explicit caches that move from thread to thread, as with a fiber that migrates, and the three
 * ways into one pool mixed: the thread's own cache, the cache functions, the inlined hits.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

#include <stdatomic.h>

enum { THREADS = 8, FIBERS = 12, HELD = 20, SIZE = 56 };

/* A fiber: a cache and the objects it holds.  Whoever takes it out of the table is its one user until he puts it
 * back. */
struct fiber {
	lfpool_cache_t *cache;
	uint64_t number;
	size_t count;
	void *held[HELD];
	uint64_t numbers[HELD];
};

struct scene {
	lfpool_t *pool;
	uint64_t seed;
	unsigned steps;
	_Atomic(struct fiber *) parked[FIBERS];
};

struct worker {
	struct scene *scene;
	unsigned index;
	pthread_t thread;
};

static void run_fiber(struct scene *scene, struct fiber *f, struct random *r)
{
	for (uint32_t step = random_below(r, 40); step; step--) {
		uint32_t way = random_below(r, 3);

		if (f->count == 0 || (f->count < HELD && random_below(r, 2))) {
			void *object = way == 0 ? lfpool_acquire(scene->pool)
				     : way == 1 ? lfpool_cache_acquire(f->cache)
						: lfpool_cache_acquire_inline(f->cache);

			REQUIRE(object);
			stamp_write(object, SIZE, ++f->number);
			f->numbers[f->count] = f->number;
			f->held[f->count++] = object;
		} else {
			size_t k = random_below(r, (uint32_t)f->count);
			void *object = f->held[k];

			REQUIRE(stamp_holds(object, SIZE, f->numbers[k]));
			f->numbers[k] = f->numbers[--f->count];
			f->held[k] = f->held[f->count];
			lfpool_status_t status = way == 0 ? lfpool_release(scene->pool, object)
					       : way == 1 ? lfpool_cache_release(f->cache, object)
							  : lfpool_cache_release_inline(f->cache, object);
			REQUIRE(status == LFPOOL_OK);
		}
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;
	struct random r = random_for(w->scene->seed, w->index);

	for (unsigned step = 0; step < w->scene->steps; step++) {
		_Atomic(struct fiber *) *place = &w->scene->parked[random_below(&r, FIBERS)];
		/* acquire: all that the fiber's last thread did. */
		struct fiber *fiber = atomic_exchange_explicit(place, NULL, memory_order_acquire);

		if (!fiber)
			continue;
		run_fiber(w->scene, fiber, &r);
		/* Somebody may have parked another one here: go on with that. */
		do
			/* acq_rel: hands over what we did, receives what others did. */
			fiber = atomic_exchange_explicit(&w->scene->parked[random_below(&r, FIBERS)], fiber,
							 memory_order_acq_rel);
		while (fiber);
	}
	return NULL;
}

static void migrate(const lfpool_config_t *config)
{
	struct scene scene = {.pool = pool_with(config), .seed = test_seed("migrate"), .steps = TIMES(20000, 1500)};
	struct worker workers[THREADS];
	struct fiber *fibers = calloc(FIBERS, sizeof(*fibers));
	size_t active = 0;

	assert_non_null(fibers);
	for (unsigned i = 0; i < FIBERS; i++) {
		fibers[i].number = (uint64_t)(i + 1) << 40;
		assert_non_null(fibers[i].cache = lfpool_cache_create(scene.pool));
		atomic_init(&scene.parked[i], &fibers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.scene = &scene, .index = i};
		thread_start(&workers[i].thread, work, &workers[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < FIBERS; i++)
		active += fibers[i].count;
	assert_int_equal(lfpool_active_count(scene.pool), active);
	for (unsigned i = 0; i < FIBERS; i++) {
		for (size_t k = 0; k < fibers[i].count; k++)
			REQUIRE(stamp_holds(fibers[i].held[k], SIZE, fibers[i].numbers[k]));
		assert_int_equal(lfpool_release_bulk(scene.pool, fibers[i].held, fibers[i].count), fibers[i].count);
		if (i % 2)
			lfpool_cache_destroy(fibers[i].cache);
	}
	require_whole(scene.pool, SIZE);
	assert_int_equal(lfpool_destroy(scene.pool), 0);
	free(fibers);
}

TEST(caches_migrate)
{
	/* Just enough for what the fibers can hold. */
	lfpool_config_t config = config_of(SIZE, FIBERS * HELD);

	migrate(&config);
	config.cache_capacity = 2;
	migrate(&config);
	config.cache_capacity = 0;
	config.capacity = 50000;
	migrate(&config);
}

/* Threads make caches, use them and leave them to the next thread to destroy. */
struct legacy {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	void *held[3];
};

static void *inherit(void *argument)
{
	struct legacy *l = argument;
	void *objects[100];

	lfpool_cache_destroy(l->cache);
	REQUIRE(l->cache = lfpool_cache_create(l->pool));
	for (int i = 0; i < 3; i++)
		REQUIRE(lfpool_cache_release_inline(l->cache, l->held[i]) == LFPOOL_OK);
	for (int i = 0; i < 100; i++)
		REQUIRE(objects[i] = lfpool_cache_acquire_inline(l->cache));
	REQUIRE(!lfpool_cache_acquire_inline(l->cache));
	for (int i = 3; i < 100; i++)
		REQUIRE(lfpool_cache_release_inline(l->cache, objects[i]) == LFPOOL_OK);
	memcpy(l->held, objects, sizeof(l->held));
	return NULL;
}

TEST(a_cache_outlives_the_thread_that_made_it)
{
	struct legacy l = {.pool = pool_of(SIZE, 100)};
	pthread_t thread;

	assert_int_equal(acquire_all(l.pool, l.held, 3), 3);
	for (int i = 0; i < TIMES(2000, 300); i++) {
		thread_start(&thread, inherit, &l);
		pthread_join(thread, NULL);
		assert_int_equal(lfpool_active_count(l.pool), 3);
	}
	release_all(l.pool, l.held, 3);
	require_whole(l.pool, SIZE);
	lfpool_destroy(l.pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caches_migrate),
		cmocka_unit_test(a_cache_outlives_the_thread_that_made_it),
	};

	return cmocka_run_group_tests_name("migration", tests, NULL, NULL);
}
