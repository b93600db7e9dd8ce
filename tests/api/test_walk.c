/* SPDX-License-Identifier: MIT */
/* test_walk.c - the promises of lfpool/walk.h to one thread: which objects are visited, in which order, how often;
 * which calls are allowed during a walk; how to divide a walk. */
#include "../support/support.h"

enum { SIZE = 40, CAPACITY = 1000 };

static lfpool_t *pool_on(lfpool_backend_t backend, size_t capacity)
{
	return POOL_OF(SIZE, capacity, .backend = backend);
}

/* A visitor's results. */
struct seen {
	lfpool_t *pool;
	void *objects[CAPACITY + 1];
	size_t count, active;
	size_t enough; /* returns false at this number */
};

static bool note(void *context, void *object)
{
	struct seen *seen = context;

	REQUIRE(seen->count <= CAPACITY);
	seen->objects[seen->count++] = object;
	return seen->count != seen->enough;
}

static bool note_slot(void *context, void *object, bool active)
{
	struct seen *seen = context;

	REQUIRE(active == lfpool_in_use(seen->pool, object));
	seen->active += active;
	return note(context, object);
}

/* Every kind of walk visits exactly these, in the order of their addresses. */
static void require_walks_give(lfpool_t *pool, void **expected, size_t count)
{
	struct seen seen = {.pool = pool};
	void *copy[CAPACITY + 1];
	lfpool_cursor_t cursor, parts[3];
	size_t part = 0;

	if (count)
		qsort(expected, count, sizeof(*expected), compare_addresses);
	assert_int_equal(lfpool_for_each_active(pool, note, &seen), count);
	assert_int_equal(seen.count, count);
	lfpool_cursor_open(&cursor, pool);
	lfpool_cursor_split(parts, COUNT(parts), pool);
	assert_int_equal(lfpool_copy_active(pool, copy, CAPACITY + 1), count);
	for (size_t i = 0; i < count; i++) {
		assert_ptr_equal(seen.objects[i], expected[i]);
		assert_ptr_equal(lfpool_cursor_next(&cursor), expected[i]);
		assert_ptr_equal(copy[i], expected[i]);
		/* The parts in sequence make up the whole. */
		void *object;

		while (!(object = lfpool_cursor_next(&parts[part])))
			assert_true(++part < COUNT(parts));
		assert_ptr_equal(object, expected[i]);
	}
	for (int i = 0; i < 3; i++)
		assert_null(lfpool_cursor_next(&cursor));
	for (; part < COUNT(parts); part++)
		assert_null(lfpool_cursor_next(&parts[part]));
}

BACKEND_TEST(for_each_active_visits_each_object_once_in_address_order, LFPOOL_BACKEND_MUTEX)
{
	struct random r = random_for(test_seed("walk"), 0);

	for (int round = 0; round < 30; round++) {
		const size_t capacity = 1 + random_below(&r, CAPACITY);
		lfpool_t *pool = pool_on(backend, capacity);
		void *objects[CAPACITY + 1];
		size_t held = acquire_all(pool, objects, random_below(&r, (uint32_t)capacity + 1));

		require_walks_give(pool, objects, held);
		/* Any of them, then one, then none. */
		for (size_t i = 0; i < held;) {
			if (random_below(&r, 3) == 0) {
				i++;
				continue;
			}
			assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
			objects[i] = objects[--held];
		}
		require_walks_give(pool, objects, held);
		for (size_t few = held > 0; few + 1 > 0; few--) {
			release_all(pool, objects + few, held - few);
			held = few;
			require_walks_give(pool, objects, held);
		}
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

/* Also with a last magazine that is short, and with more parts than magazines. */
BACKEND_TEST(parts_of_a_walk_differ_by_at_most_one_magazine, LFPOOL_BACKEND_MUTEX)
{
	enum { MAGAZINE = 8, PARTS = 13 };
	static const size_t capacities[] = {1, 7, 8, 9, 63, 65, 100, 129, CAPACITY - 1};

	for (size_t c = 0; c < COUNT(capacities); c++) {
		lfpool_t *pool = POOL_OF(SIZE, capacities[c], .backend = backend, .cache_capacity = 2 * MAGAZINE);
		void *objects[CAPACITY];

		assert_int_equal(acquire_all(pool, objects, CAPACITY), capacities[c]);
		for (size_t count = 1; count <= PARTS; count++) {
			size_t least = SIZE_MAX, most = 0, sum = 0;
			lfpool_cursor_t parts[PARTS];

			lfpool_cursor_split(parts, count, pool);
			for (size_t i = 0; i < count; i++) {
				size_t visited = 0;

				while (lfpool_cursor_next(&parts[i]))
					visited++;
				least = visited < least ? visited : least;
				most = visited > most ? visited : most;
				sum += visited;
			}
			assert_int_equal(sum, capacities[c]);
			assert_in_range(most - least, 0, MAGAZINE);
		}
		release_all(pool, objects, capacities[c]);
		assert_int_equal(lfpool_destroy(pool), 0);
	}
}

TEST(visitor_that_returns_false_ends_the_walk)
{
	lfpool_t *pool = pool_of(SIZE, CAPACITY);
	void *objects[CAPACITY], *copy[5] = {NULL};
	struct seen seen = {.pool = pool, .enough = 3};

	assert_int_equal(acquire_all(pool, objects, 10), 10);
	assert_true(sort_disjoint(objects, 10, SIZE));
	assert_int_equal(lfpool_for_each_active(pool, note, &seen), 3);
	assert_int_equal(seen.count, 3);
	assert_int_equal(lfpool_copy_active(pool, copy, 4), 4);
	for (size_t i = 0; i < 4; i++)
		assert_ptr_equal(copy[i], objects[i]);
	assert_null(copy[4]);
	assert_int_equal(lfpool_copy_active(pool, copy, 0), 0);
	assert_int_equal(lfpool_copy_active(pool, NULL, 0), 0);
	seen = (struct seen){.pool = pool, .enough = 1};
	assert_int_equal(lfpool_for_each_slot(pool, note_slot, &seen), 1);
	lfpool_destroy(pool);
}

/* Each copy equals its object, in the order of the addresses; the array beyond the requested length is unchanged. */
BACKEND_TEST(copy_active_returns_all_active_objects, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	void *objects[CAPACITY], *active[CAPACITY];
	char copies[10 * SIZE + 1];

	assert_int_equal(acquire_all(pool, objects, 20), 20);
	for (size_t i = 0; i < 20; i++)
		stamp_write(objects[i], SIZE, i);
	for (size_t i = 0; i < 20; i += 2)
		assert_int_equal(lfpool_release(pool, objects[i]), LFPOOL_OK);
	assert_int_equal(lfpool_copy_active(pool, active, CAPACITY), 10);
	for (size_t bytes = 0; bytes <= SIZE; bytes += SIZE / 4)
		for (size_t count = 7; count <= 11; count += 4) {
			const size_t copied = count < 10 ? count : 10;

			memset(copies, 'x', sizeof(copies));
			assert_int_equal(lfpool_copy_active_objects(pool, copies, count, bytes), copied);
			for (size_t i = 0; i < copied; i++)
				assert_memory_equal(copies + i * bytes, active[i], bytes);
			for (size_t i = copied * bytes; i < sizeof(copies); i++)
				assert_int_equal(copies[i], 'x');
		}
	assert_int_equal(lfpool_copy_active_objects(pool, copies, 10, SIZE + 1), 0);
	assert_int_equal(lfpool_copy_active_objects(pool, NULL, 0, SIZE), 0);
	assert_int_equal(lfpool_release_all(pool), 10);
	assert_int_equal(lfpool_copy_active_objects(pool, copies, 10, SIZE), 0);
	lfpool_destroy(pool);
}

BACKEND_TEST(for_each_slot_visits_active_and_free_slots, LFPOOL_BACKEND_MALLOC)
{
	lfpool_t *pool = pool_on(backend, CAPACITY);
	struct seen seen = {.pool = pool};
	void *objects[CAPACITY];

	assert_int_equal(acquire_all(pool, objects, 17), 17);
	/* A free slot of the malloc backend has no memory: a walk over slots visits nothing, not even active ones. */
	if (backend == LFPOOL_BACKEND_MALLOC) {
		assert_int_equal(lfpool_for_each_slot(pool, note_slot, &seen) + seen.count, 0);
		release_all(pool, objects, 17);
		lfpool_destroy(pool);
		return;
	}
	assert_int_equal(lfpool_for_each_slot(pool, note_slot, &seen), CAPACITY);
	assert_int_equal(seen.count, CAPACITY);
	assert_int_equal(seen.active, 17);
	assert_true(sort_disjoint(seen.objects, CAPACITY, SIZE));
	for (size_t i = 0; i < CAPACITY; i++) {
		assert_true(lfpool_owns(pool, seen.objects[i]));
		assert_true(all_bytes_are(seen.objects[i], SIZE, 0));
	}
	/* Those removed by a shrink count as free. */
	assert_int_equal(acquire_all(pool, objects + 17, CAPACITY - 17), CAPACITY - 17);
	release_all(pool, objects, 300);
	assert_int_equal(lfpool_shrink(pool, 100), 100);
	seen = (struct seen){.pool = pool};
	assert_int_equal(lfpool_for_each_slot(pool, note_slot, &seen), CAPACITY);
	assert_int_equal(seen.active, CAPACITY - 300);
	lfpool_destroy(pool);
}

/* ---- Inside a walk ---- */

static bool release_this(void *context, void *object)
{
	const struct seen *seen = context;

	REQUIRE(lfpool_release(seen->pool, object) == LFPOOL_OK);
	return note(context, object);
}

/* In a nested walk, which releases the object it visits. */
static bool release_the_others(void *context, void *object)
{
	const struct seen *seen = context;
	lfpool_cursor_t cursor;
	void *other;

	lfpool_cursor_open(&cursor, seen->pool);
	while ((other = lfpool_cursor_next(&cursor)))
		if (other != object)
			REQUIRE(lfpool_release(seen->pool, other) == LFPOOL_OK);
	return note(context, object);
}

/* Acquires one for each visited object: new ones behind the walk are not visited. */
static bool acquire_another(void *context, void *object)
{
	const struct seen *seen = context;

	(void)lfpool_acquire(seen->pool);
	return note(context, object);
}

BACKEND_TEST(visitor_may_release_and_acquire, LFPOOL_BACKEND_MUTEX)
{
	static const struct {
		bool (*visit)(void *context, void *object);
		size_t before, visited_least, visited_most, after;
	} rows[] = {{release_this, CAPACITY, CAPACITY, CAPACITY, 0},
		    {release_the_others, CAPACITY, 1, 1, 1},
		    {acquire_another, CAPACITY / 2, CAPACITY / 2, CAPACITY, CAPACITY}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		lfpool_t *pool = pool_on(backend, CAPACITY);
		struct seen seen = {.pool = pool};
		void *objects[CAPACITY];

		assert_int_equal(acquire_all(pool, objects, rows[i].before), rows[i].before);
		const size_t visited = lfpool_for_each_active(pool, rows[i].visit, &seen);

		assert_in_range(visited, rows[i].visited_least, rows[i].visited_most);
		assert_int_equal(visited, seen.count);
		/* No object twice. */
		assert_true(sort_disjoint(seen.objects, seen.count, SIZE));
		assert_int_equal(lfpool_active_count(pool), rows[i].after);
		assert_int_equal(lfpool_release_all(pool), rows[i].after);
		pool_close(pool, SIZE);
	}
}

/* ---- All at once ---- */

static bool count_it(void *context, void *object)
{
	(void)object;
	++*(size_t *)context;
	return true;
}

BACKEND_TEST(release_all_releases_exactly_the_active_objects, LFPOOL_BACKEND_MUTEX)
{
	for (unsigned i = 0; i < 4; i++) {
		const bool hooked = i & 1;
		size_t deactivated = 0;
		void *objects[CAPACITY];
		lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .backend = backend,
					 .cache_capacity = i < 2 ? 0 : LFPOOL_CACHE_NONE, .hooks.context = &deactivated,
					 .hooks.deactivate = hooked ? count_it : NULL);

		assert_int_equal(lfpool_release_all(pool), 0);
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		release_all(pool, objects, 300);
		deactivated = 0;
		assert_int_equal(lfpool_release_all(pool), CAPACITY - 300);
		assert_int_equal(deactivated, hooked ? CAPACITY - 300 : 0);
		assert_int_equal(lfpool_release_all(pool), 0);
		for (size_t k = 0; k < CAPACITY; k++)
			assert_false(lfpool_in_use(pool, objects[k]));
		assert_int_equal(lfpool_quick_stats(pool).misuses, 0);
		/* A holder that releases it now comes too late. */
		assert_int_equal(lfpool_release(pool, objects[CAPACITY - 1]), LFPOOL_E_NOT_IN_USE);
		pool_close(pool, SIZE);
	}
}

RUN_TESTS()
