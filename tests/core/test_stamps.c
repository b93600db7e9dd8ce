/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_stamps.c - an object has one holder at a time, and the next one finds the last one's writes.
 *
 * Idea         The holder of an object writes a unique number over all of it, with plain stores, and reads all of it
 *              before releasing.  Two holders would destroy each other's stamp; a missing happens-before edge between
 *              two holders is a data race that ThreadSanitizer reports.  Objects change hands through the pool.
 *
 * (Threads that fight over the last object: the programs last-* of verify/explore, the stress scenario `exhaustion`.)
 */
#define LFPOOL_INLINE_KEEP_NAMES_
#include "../support/workers.h"

#include "lfpool/inline.h"
#include "lfpool/report.h"

/* In a buffer at most twelve can have a cache. */
enum { THREADS = 12, HELD = 8, SIZE = 72 };

struct object {
	uint64_t number;
	unsigned char rest[SIZE - sizeof(uint64_t)];
};

struct scene {
	lfpool_t *pool;
	unsigned steps;
	bool enough; /* enough objects for all: NULL is a bug */
};

struct holder {
	struct scene *scene;
	struct random *random;
	lfpool_cache_t *cache;
	uint64_t next_number;
	size_t count;
	struct object *held[HELD];
	uint64_t numbers[HELD];
};

static void stamp(struct object *object, uint64_t number)
{
	object->number = number;
	stamp_write(object->rest, sizeof(object->rest), number);
}

static bool whole(const struct object *object, uint64_t number)
{
	return object->number == number && stamp_holds(object->rest, sizeof(object->rest), number);
}

static void take(struct holder *w, struct object *object)
{
	/* Unchanged since its last holder, or never used. */
	REQUIRE(object->number == 0 ? all_bytes_are(object, sizeof(*object), 0) : whole(object, object->number));
	stamp(object, ++w->next_number);
	w->held[w->count] = object;
	w->numbers[w->count++] = w->next_number;
}

/* Removes a random held object, after checking its stamp. */
static struct object *give(struct holder *w)
{
	size_t k = random_below(w->random, (uint32_t)w->count);
	struct object *object = w->held[k];

	REQUIRE(whole(object, w->numbers[k]));
	w->held[k] = w->held[--w->count];
	w->numbers[k] = w->numbers[w->count];
	return object;
}

static void acquire_some(struct holder *w)
{
	lfpool_t *pool = w->scene->pool;
	void *objects[HELD];
	size_t wanted = 1, got;

	switch (random_below(w->random, 4)) {
	case 0: got = (objects[0] = lfpool_acquire(pool)) != NULL; break;
	case 1: got = (objects[0] = lfpool_cache_acquire(w->cache)) != NULL; break;
	case 2: got = (objects[0] = lfpool_cache_acquire_inline_(w->cache)) != NULL; break;
	default:
		wanted = 1 + random_below(w->random, (uint32_t)(HELD - w->count));
		got = lfpool_acquire_bulk(pool, objects, wanted);
	}
	REQUIRE(got == wanted || !w->scene->enough);
	while (got)
		take(w, objects[--got]);
}

static void release_some(struct holder *w)
{
	void *objects[HELD];
	size_t count = 0;

	switch (random_below(w->random, 4)) {
	case 0: REQUIRE(lfpool_release(w->scene->pool, give(w)) == LFPOOL_OK); break;
	case 1: REQUIRE(lfpool_cache_release(w->cache, give(w)) == LFPOOL_OK); break;
	case 2: REQUIRE(lfpool_cache_release_inline_(w->cache, give(w)) == LFPOOL_OK); break;
	default:
		while (w->count && random_below(w->random, 4))
			objects[count++] = give(w);
		REQUIRE(lfpool_release_bulk(w->scene->pool, objects, count) == count);
	}
}

static void work(struct worker *me)
{
	struct scene *scene = me->scene;
	struct holder holder = {.scene = scene, .random = &me->random, .next_number = (uint64_t)(me->number + 1) << 40};
	struct holder *w = &holder;

	REQUIRE(w->cache = lfpool_cache_create(scene->pool));
	for (unsigned step = 0; step < scene->steps; step++) {
		uint32_t choice = random_below(w->random, 8);

		if (w->count < HELD && (choice < 4 || w->count == 0))
			acquire_some(w);
		else
			release_some(w);
		for (size_t k = 0; step % 32 == 0 && k < w->count; k++)
			REQUIRE(whole(w->held[k], w->numbers[k]));
	}
	while (w->count)
		REQUIRE(lfpool_release(scene->pool, give(w)) == LFPOOL_OK);
	lfpool_cache_destroy(w->cache);
}

static void run(const char *name, lfpool_t *pool, bool enough)
{
	unsigned steps = enough ? TIMES(20000, 4000) : TIMES(8000, 2000);
	struct scene scene = {.pool = pool, .steps = steps, .enough = enough};

	(void)workers_run(THREADS, work, &scene, test_seed(name));
	assert_int_equal(lfpool_quick_stats(scene.pool).misuses, 0);
	require_whole(scene.pool, SIZE);
	assert_int_equal(lfpool_destroy(scene.pool), 0);
}

/* Exactly as many objects as can be out: a NULL would mean that a free object was not found. */
TEST(one_holder_at_a_time_with_just_enough_objects)
{
	static const size_t cache_capacities[] = {0, 2, LFPOOL_CACHE_NONE};

	for (size_t i = 0; i < COUNT(cache_capacities); i++)
		run("just enough", POOL_OF(SIZE, THREADS * HELD, .cache_capacity = cache_capacities[i]), true);
}

TEST(one_holder_at_a_time_with_too_few_objects)
{
	static const uint32_t flags[] = {0, LFPOOL_CHECK_RACES, LFPOOL_ZERO};

	for (size_t i = 0; i < COUNT(flags); i++)
		run("too few", POOL_OF(SIZE, 50, .flags = flags[i]), false);
}

RUN_TESTS()
