/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_stamps.c - an object has one holder at a time, and what the last one wrote is there for the next.
 *
 * Idea         Whoever holds an object writes a number of its own over the whole of it, with plain stores, and reads
 *              the whole of it before letting go.  Two holders would spoil each other's stamp; a missing
 *              happens-before edge between two holders is a data race that ThreadSanitizer reports.  Objects change
 *              hands through the pool and through a table that all threads swap with.  Explicit caches do too, as with
 *              fibers that migrate: a thread uses one for a few steps, among calls without one.
 */
#define LFPOOL_INLINE_KEEP_NAMES
#include "../support/support.h"

#include "lfpool/inline.h"

#include <stdatomic.h>

#ifdef IN_BUFFER
/* No more caches can be had than theirs and the spare ones. */
enum { THREADS = 8 };
#else
enum { THREADS = 16 };
#endif
enum { HELD = 8, TABLE = 32, SPARE = 4, SIZE = 72 };

struct object {
	uint64_t number;
	unsigned char rest[SIZE - sizeof(uint64_t)];
};

struct scene {
	lfpool_t *pool;
	uint64_t seed;
	unsigned steps;
	bool enough; /* objects for everybody: NULL is a bug */
	_Atomic(void *) table[TABLE];
	_Atomic(lfpool_cache_t *) spare[SPARE];
	atomic_uint workers; /* so far */
};

struct worker {
	struct scene *scene;
	struct random random;
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

static void take(struct worker *w, struct object *object)
{
	/* As its last holder left it, or never used. */
	REQUIRE(object->number == 0 ? all_bytes_are(object, sizeof(*object), 0) : whole(object, object->number));
	stamp(object, ++w->next_number);
	w->held[w->count] = object;
	w->numbers[w->count++] = w->next_number;
}

/* Removes a random object that is held, with its stamp checked. */
static struct object *give(struct worker *w)
{
	size_t k = random_below(&w->random, (uint32_t)w->count);
	struct object *object = w->held[k];

	REQUIRE(whole(object, w->numbers[k]));
	w->held[k] = w->held[--w->count];
	w->numbers[k] = w->numbers[w->count];
	return object;
}

static void acquire_some(struct worker *w)
{
	lfpool_t *pool = w->scene->pool;
	void *objects[HELD];
	size_t wanted = 1, got;

	switch (random_below(&w->random, 4)) {
	case 0: got = (objects[0] = lfpool_acquire(pool)) != NULL; break;
	case 1: got = (objects[0] = lfpool_cache_acquire(w->cache)) != NULL; break;
	case 2: got = (objects[0] = lfpool_cache_acquire_inline(w->cache)) != NULL; break;
	default:
		wanted = 1 + random_below(&w->random, (uint32_t)(HELD - w->count));
		got = lfpool_acquire_bulk(pool, objects, wanted);
	}
	REQUIRE(got == wanted || !w->scene->enough);
	while (got)
		take(w, objects[--got]);
}

static void release_some(struct worker *w)
{
	void *objects[HELD];
	size_t count = 0;

	switch (random_below(&w->random, 4)) {
	case 0: REQUIRE(lfpool_release(w->scene->pool, give(w)) == LFPOOL_OK); break;
	case 1: REQUIRE(lfpool_cache_release(w->cache, give(w)) == LFPOOL_OK); break;
	case 2: REQUIRE(lfpool_cache_release_inline(w->cache, give(w)) == LFPOOL_OK); break;
	default:
		while (w->count && random_below(&w->random, 4))
			objects[count++] = give(w);
		REQUIRE(lfpool_release_bulk(w->scene->pool, objects, count) == count);
	}
}

static void swap_one(struct worker *w)
{
	/* release: our stamp.  acquire: the stamp of whoever put it there. */
	struct object *object = atomic_exchange_explicit(&w->scene->table[random_below(&w->random, TABLE)], give(w),
							 memory_order_acq_rel);

	if (object)
		take(w, object);
}

static void swap_caches(struct worker *w)
{
	/* acq_rel: hands over what we did with ours, receives what others did with the spare one. */
	w->cache = atomic_exchange_explicit(&w->scene->spare[random_below(&w->random, SPARE)], w->cache, memory_order_acq_rel);
}

static void *work(void *argument)
{
	struct scene *scene = argument;
	const unsigned index = atomic_fetch_add(&scene->workers, 1);
	struct worker worker = {
		.scene = scene, .random = random_for(scene->seed, index), .next_number = (uint64_t)(index + 1) << 40};
	struct worker *w = &worker;

	REQUIRE(w->cache = lfpool_cache_create(scene->pool));
	for (unsigned step = 0; step < scene->steps; step++) {
		uint32_t choice = random_below(&w->random, 8);

		if (w->count < HELD && (choice < 4 || w->count == 0))
			acquire_some(w);
		else if (choice < 7)
			release_some(w);
		else
			swap_one(w);
		if (choice == 0)
			swap_caches(w);
		for (size_t k = 0; step % 32 == 0 && k < w->count; k++)
			REQUIRE(whole(w->held[k], w->numbers[k]));
	}
	while (w->count)
		REQUIRE(lfpool_release(scene->pool, give(w)) == LFPOOL_OK);
	lfpool_cache_destroy(w->cache);
	return NULL;
}

static void run(const char *name, lfpool_t *pool, bool enough)
{
	unsigned steps = enough ? TIMES(20000, 4000) : TIMES(8000, 2000);
	struct scene scene = {.pool = pool, .seed = test_seed(name), .steps = steps, .enough = enough};

	for (unsigned i = 0; i < SPARE; i++) {
		lfpool_cache_t *cache = lfpool_cache_create(pool);

		assert_non_null(cache);
		atomic_init(&scene.spare[i], cache);
	}
	threads_run(THREADS, work, &scene, 0);
	for (unsigned i = 0; i < TABLE; i++) {
		/* relaxed: the threads are joined. */
		struct object *object = atomic_load_explicit(&scene.table[i], memory_order_relaxed);

		REQUIRE(!object || whole(object, object->number));
		assert_int_equal(lfpool_release(scene.pool, object), LFPOOL_OK);
	}
	/* The other spare ones need not be destroyed first. */
	lfpool_cache_destroy(scene.spare[0]);
	lfpool_cache_destroy(scene.spare[1]);
	assert_int_equal(lfpool_misuse_count(scene.pool), 0);
	require_whole(scene.pool, SIZE);
	assert_int_equal(lfpool_destroy(scene.pool), 0);
}

/*
 * Exactly as many objects as can be out: each thread holds HELD at most, or one fewer and the one it carries to or
 * from the table, which holds TABLE.  One NULL would be a free object that was not found.
 */
TEST(one_holder_at_a_time_with_just_enough_objects)
{
	static const size_t cache_capacities[] = {0, 2, LFPOOL_CACHE_NONE};

	for (size_t i = 0; i < COUNT(cache_capacities); i++)
		run("just enough", POOL_OF(SIZE, THREADS * HELD + TABLE, .cache_capacity = cache_capacities[i]), true);
}

TEST(one_holder_at_a_time_with_too_few_objects)
{
	static const uint32_t flags[] = {0, LFPOOL_CHECK_RACES, LFPOOL_ZERO};

	for (size_t i = 0; i < COUNT(flags); i++)
		run("too few", POOL_OF(SIZE, 50, .flags = flags[i]), false);
}

TEST(one_holder_at_a_time_with_plenty)
{
	run("plenty", pool_of(SIZE, 100000), true);
}

/* Threads that fight over one or two objects, in the tightest of loops: owner and thieves meet at the last object of
 * a magazine. */
struct fighter {
	lfpool_t *pool;
	uint64_t number;
	unsigned rounds;
};

static void *fight(void *argument)
{
	struct fighter *f = argument;

	for (unsigned i = 0; i < f->rounds; i++) {
		void *object = lfpool_acquire(f->pool);

		if (!object)
			continue;
		stamp_write(object, SIZE, f->number);
		REQUIRE(stamp_holds(object, SIZE, f->number));
		REQUIRE(lfpool_release(f->pool, object) == LFPOOL_OK);
	}
	return NULL;
}

static void fight_over(size_t capacity, size_t cache_capacity, size_t threads)
{
	struct fighter fighters[THREADS];
	lfpool_t *pool = POOL_OF(SIZE, capacity, .cache_capacity = cache_capacity);
	for (size_t i = 0; i < threads; i++)
		fighters[i] = (struct fighter){.pool = pool, .number = (uint64_t)(i + 1) << 40, .rounds = TIMES(150000, 15000)};
	threads_run(threads, fight, fighters, sizeof(fighters[0]));
	require_whole(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(one_holder_at_a_time_of_the_last_object)
{
	fight_over(1, 0, 2);
	fight_over(1, LFPOOL_CACHE_NONE, 3);
	fight_over(2, 2, 4);
	fight_over(3, 8192, 4);
}

/* Threads make caches, use them and leave them to the next thread to destroy; and objects, by their own caches, to release. */
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
	for (unsigned i = 0; i < 3; i++) {
		REQUIRE(stamp_holds(l->held[i], SIZE, i));
		REQUIRE(lfpool_cache_release_inline(l->cache, l->held[i]) == LFPOOL_OK);
	}
	for (unsigned i = 0; i < 100; i++) {
		REQUIRE(objects[i] = i < 3 ? lfpool_acquire(l->pool) : lfpool_cache_acquire_inline(l->cache));
		stamp_write(objects[i], SIZE, i);
	}
	REQUIRE(!lfpool_cache_acquire_inline(l->cache));
	for (int i = 3; i < 100; i++)
		REQUIRE(lfpool_cache_release_inline(l->cache, objects[i]) == LFPOOL_OK);
	memcpy(l->held, objects, sizeof(l->held));
	return NULL;
}

TEST(caches_and_objects_outlive_the_threads_that_made_them)
{
	struct legacy l = {.pool = pool_of(SIZE, 100)};

	assert_int_equal(acquire_all(l.pool, l.held, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		stamp_write(l.held[i], SIZE, i);
	for (int i = 0; i < TIMES(2000, 300); i++) {
		threads_run(1, inherit, &l, 0);
		assert_int_equal(lfpool_active_count(l.pool), 3);
	}
	release_all(l.pool, l.held, 3);
	require_whole(l.pool, SIZE);
	lfpool_destroy(l.pool);
}

RUN_TESTS()
