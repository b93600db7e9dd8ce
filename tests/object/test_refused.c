/* SPDX-License-Identifier: MIT */
/*
 * test_refused.c - hooks that refuse: a call searches for other objects, wherever they are cached, tries each once,
 * and returns NULL only if none is good; refused objects are not lost.
 *
 * Idea         Explicit caches represent threads, so that the place of each object is known.
 */
#include "../support/support.h"

enum { MOST = 16, CACHES = 8 };

struct connection {
	int number; /* from 0 on, in the order in which they were built */
};

static struct server {
	int dialled, hung_up, most; /* built and destroyed so far; create refuses to have more than `most` at once */
	unsigned looks[MOST];       /* validates of each, by its number */
	unsigned tries[MOST];       /* activates                                                           */
	bool dead[MOST];            /* validate refuses */
	bool refused[MOST];         /* activate refuses */
} server;

static bool dial(void *context, void *object)
{
	(void)context;
	if (server.dialled - server.hung_up >= server.most)
		return false;
	*(struct connection *)object = (struct connection){.number = server.dialled++ % MOST};
	return true;
}

static bool look(void *context, void *object)
{
	const struct connection *c = object;

	(void)context;
	server.looks[c->number]++;
	return !server.dead[c->number];
}

static bool activate(void *context, void *object)
{
	const struct connection *c = object;

	(void)context;
	server.tries[c->number]++;
	return !server.refused[c->number];
}

static void hang_up(void *context, void *object)
{
	(void)context, (void)object;
	server.hung_up++;
}

static lfpool_t *pool_opened(lfpool_backend_t backend, size_t capacity, int most, const char *debug)
{
	server = (struct server){.most = most};
	return POOL_OF(sizeof(struct connection), capacity, .backend = backend, .debug = debug,
		       .hooks = {.create = dial, .validate = look, .activate = activate, .destroy = hang_up});
}

static void forget_tries(void)
{
	memset(server.looks, 0, sizeof(server.looks));
	memset(server.tries, 0, sizeof(server.tries));
}

static void require_each_once(void)
{
	for (int i = 0; i < MOST; i++)
		assert_true(server.looks[i] <= 1 && server.tries[i] <= 1);
}

/* Builds one object in each of `count` caches, and releases it. */
static void one_in_each(lfpool_t *pool, lfpool_cache_t **caches, size_t count, void **objects)
{
	for (size_t i = 0; i < count; i++) {
		assert_non_null(caches[i] = lfpool_cache_create(pool));
		assert_non_null(objects[i] = lfpool_cache_acquire(caches[i]));
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(lfpool_cache_release(caches[i], objects[i]), LFPOOL_OK);
}

BACKEND_TEST(a_dead_object_hides_no_good_one_in_another_cache, LFPOOL_BACKEND_MUTEX)
{
	lfpool_cache_t *caches[2];
	void *objects[2];
	lfpool_t *pool = pool_opened(backend, 2, MOST, NULL);

	one_in_each(pool, caches, 2, objects);
	server.dead[0] = true;
	server.most = 0;
	for (int i = 0; i < 100; i++) {
		forget_tries();
		assert_ptr_equal(lfpool_cache_acquire(caches[0]), objects[1]);
		require_each_once();
		assert_int_equal(lfpool_cache_release(caches[0], objects[1]), LFPOOL_OK);
	}
	require_intact(pool);
	lfpool_destroy(pool);
}

/* Whichever is the good one. */
BACKEND_TEST(dead_objects_in_quarantine_hide_no_good_one, LFPOOL_BACKEND_MUTEX)
{
	for (int good = 0; good < 5; good++) {
		lfpool_t *pool = pool_opened(backend, 5, MOST, "quarantine=100");
		void *objects[5];

		assert_int_equal(acquire_all(pool, objects, 5), 5);
		for (int i = 0; i < 5; i++)
			server.dead[((struct connection *)objects[i])->number] = i != good;
		release_all(pool, objects, 5);
		server.most = 0;
		forget_tries();
		assert_ptr_equal(lfpool_acquire(pool), objects[good]);
		require_each_once();
		assert_null(lfpool_acquire(pool));
		release_all(pool, &objects[good], 1);
		lfpool_destroy(pool);
	}
}

BACKEND_TEST(one_refused_object_hides_no_other, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_opened(backend, 10, MOST, NULL);
	void *objects[10];

	assert_int_equal(acquire_all(pool, objects, 10), 10);
	server.refused[((struct connection *)objects[9])->number] = true;
	release_all(pool, objects, 10);
	for (int i = 0; i < 100; i++) {
		void *object;

		forget_tries();
		assert_non_null(object = lfpool_acquire(pool));
		require_each_once();
		assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	}
	assert_int_equal(acquire_all(pool, objects, 10), 9);
	require_intact(pool);
	release_all(pool, objects, 9);
	assert_int_equal(server.hung_up, 0);
	lfpool_destroy(pool);
}

/* They are there again when the hook accepts them. */
BACKEND_TEST(a_call_tries_each_object_once_before_null, LFPOOL_BACKEND_MUTEX)
{
	lfpool_cache_t *caches[CACHES];
	void *objects[CACHES];
	lfpool_t *pool = pool_opened(backend, CACHES, MOST, NULL);

	one_in_each(pool, caches, CACHES, objects);
	memset(server.refused, true, sizeof(server.refused));
	for (int i = 0; i < 20; i++) {
		forget_tries();
		assert_null(lfpool_cache_acquire(caches[i % CACHES]));
		for (int k = 0; k < CACHES; k++)
			assert_int_equal(server.tries[k], 1);
		assert_int_equal(lfpool_active_count(pool), 0);
		assert_int_equal(stats_of(pool).unaccounted, 0);
		require_intact(pool);
	}
	/* Only one is accepted; it is found among all that were refused before. */
	server.refused[3] = false;
	forget_tries();
	void *object = lfpool_cache_acquire(caches[0]);

	assert_non_null(object);
	assert_int_equal(((struct connection *)object)->number, 3);
	require_each_once();
	memset(server.refused, false, sizeof(server.refused));
	assert_int_equal(lfpool_cache_release(caches[0], object), LFPOOL_OK);
	assert_int_equal(server.hung_up, 0);
	pool_close(pool, sizeof(struct connection));
}

BACKEND_TEST(trim_and_shrink_reach_refused_objects, LFPOOL_BACKEND_MUTEX)
{
	for (int shrink = 0; shrink < 2; shrink++) {
		lfpool_t *pool = pool_opened(backend, 10, MOST, NULL);
		void *objects[10];

		assert_int_equal(acquire_all(pool, objects, 10), 10);
		release_all(pool, objects, 10);
		memset(server.refused, true, sizeof(server.refused));
		assert_null(lfpool_acquire(pool));
		if (shrink) {
			assert_int_equal(lfpool_shrink(pool, 10), 10);
			assert_int_equal(lfpool_capacity(pool), 0);
		} else {
			assert_false(lfpool_trim(pool, 0, SIZE_MAX));
		}
		assert_int_equal(server.hung_up, 10);
		require_intact(pool);
		lfpool_destroy(pool);
	}
}

BACKEND_TEST(a_waiting_call_reports_the_refusal_and_finds_the_object_later, LFPOOL_BACKEND_MUTEX)
{
	lfpool_t *pool = pool_opened(backend, 1, MOST, NULL);
	void *object = lfpool_acquire(pool), *again;

	server.refused[0] = true;
	assert_int_equal(lfpool_release(pool, object), LFPOOL_OK);
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, &again, 1, 0), LFPOOL_E_REFUSED);
	server.refused[0] = false;
	assert_int_equal(lfpool_acquire_bulk_wait(pool, NULL, &again, 1, 0), LFPOOL_OK);
	assert_ptr_equal(again, object);
	release_all(pool, &again, 1);
	pool_close(pool, sizeof(struct connection));
}

/* ---- Existing objects before new ones ---- */

BACKEND_TEST(callers_that_take_turns_share_one_object, LFPOOL_BACKEND_MUTEX)
{
	lfpool_cache_t *caches[CACHES];
	lfpool_t *pool = pool_opened(backend, MOST, MOST, NULL);

	for (int i = 0; i < CACHES; i++)
		assert_non_null(caches[i] = lfpool_cache_create(pool));
	for (int i = 0; i < 10 * CACHES; i++) {
		void *object = lfpool_cache_acquire(caches[i % CACHES]);

		assert_non_null(object);
		assert_int_equal(lfpool_cache_release(caches[i % CACHES], object), LFPOOL_OK);
	}
	assert_int_equal(server.dialled, 1);
	lfpool_destroy(pool);
}

static bool put_down(void *context, void *object)
{
	return context && object;
}

/* Its slot is cold again, and a call that finds the other object does not meet it. */
BACKEND_TEST(an_object_that_deactivate_refused_leaves_no_unbuilt_slot_in_a_cache, LFPOOL_BACKEND_MUTEX)
{
	server = (struct server){.most = MOST};

	lfpool_t *pool = POOL_OF(sizeof(struct connection), 4, .backend = backend,
				 .hooks = {.create = dial, .deactivate = put_down, .destroy = hang_up});
	lfpool_cache_t *cache = lfpool_cache_create(pool);
	void *object = lfpool_cache_acquire(cache);

	assert_int_equal(stats_of(pool).untouched, 3);
	assert_int_equal(lfpool_cache_release(cache, object), LFPOOL_OK);
	assert_int_equal(server.hung_up, 1);
	assert_int_equal(stats_of(pool).untouched, 4);
	assert_int_equal(stats_of(pool).releases, 1);
	require_intact(pool);
	lfpool_destroy(pool);
}

/* The capacity is larger than the number that create can build, and at most that number is in use. */
BACKEND_TEST(null_only_if_every_object_that_create_can_build_is_in_use, LFPOOL_BACKEND_MUTEX)
{
	enum { CAN = 4 };
	struct random random = random_for(test_seed("null_only_if_every_object_that_create_can_build_is_in_use"), 0);
	lfpool_t *pool = pool_opened(backend, MOST, CAN, NULL);
	lfpool_cache_t *caches[CACHES];
	void *held[CAN];
	size_t count = 0;

	for (int i = 0; i < CACHES; i++)
		assert_non_null(caches[i] = lfpool_cache_create(pool));
	for (int i = 0; i < 2000; i++) {
		lfpool_cache_t *cache = caches[random_below(&random, CACHES)];

		if (count == CAN) {
			assert_null(lfpool_cache_acquire(cache));
			count--;
			assert_int_equal(lfpool_cache_release(cache, held[count]), LFPOOL_OK);
		} else if (count && random_below(&random, 2)) {
			count--;
			assert_int_equal(lfpool_cache_release(cache, held[count]), LFPOOL_OK);
		} else {
			assert_non_null(held[count] = lfpool_cache_acquire(cache));
			count++;
		}
	}
	release_all(pool, held, count);
	lfpool_destroy(pool);
}

RUN_TESTS()
