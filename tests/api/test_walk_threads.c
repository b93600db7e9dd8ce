/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_walk_threads.c - walks while other threads acquire and release: what is active throughout is visited once,
 * anything at most once, and what hooks.activate wrote is visible; lfpool_release_all() against releases.
 */
#include "../support/support.h"

#include <stdatomic.h>

enum { CAPACITY = 600, KEPT = 100, WORKERS = 3, MOST = 32 };

struct scene {
	lfpool_t *pool;
	unsigned rounds;
	_Atomic(bool) over;
};

/* ---- The promises 1 and 2 ---- */

static void *churn(void *argument)
{
	struct scene *scene = argument;
	void *objects[MOST];

	for (size_t count = 1; !atomic_load_explicit(&scene->over, memory_order_relaxed); count = count % MOST + 1) {
		REQUIRE(acquire_all(scene->pool, objects, count) == count);
		release_all(scene->pool, objects, count);
	}
	return NULL;
}

/* Marks of one walk, by the place of the object in the pool. */
struct marks {
	uintptr_t first;
	size_t stride;
	unsigned char visited[CAPACITY];
};

static bool mark(void *context, void *object)
{
	struct marks *marks = context;
	const size_t i = ((uintptr_t)object - marks->first) / marks->stride;

	REQUIRE(i < CAPACITY && (uintptr_t)object == marks->first + i * marks->stride);
	REQUIRE(!marks->visited[i]++);
	return true;
}

static bool first_slot(void *context, void *object, bool active)
{
	(void)active;
	*(uintptr_t *)context = (uintptr_t)object;
	return false;
}

static void require_kept(const struct marks *marks, void **kept)
{
	for (size_t i = 0; i < KEPT; i++)
		REQUIRE(marks->visited[((uintptr_t)kept[i] - marks->first) / marks->stride] == 1);
}

static void walk_whole(const struct scene *scene, struct marks *marks, void **kept)
{
	memset(marks->visited, 0, sizeof(marks->visited));
	REQUIRE(lfpool_for_each_active(scene->pool, mark, marks) >= KEPT);
	require_kept(marks, kept);
}

static void walk_in_parts(const struct scene *scene, struct marks *marks, void **kept)
{
	lfpool_cursor_t parts[5];
	void *object;

	memset(marks->visited, 0, sizeof(marks->visited));
	lfpool_cursor_split(parts, COUNT(parts), scene->pool);
	for (size_t i = COUNT(parts); i-- > 0;)
		while ((object = lfpool_cursor_next(&parts[i])))
			(void)mark(marks, object);
	require_kept(marks, kept);
}

static void walk_beside_others(lfpool_backend_t backend, uint32_t flags)
{
	void *objects[2 * KEPT], *kept[KEPT];
	struct scene scene = {.rounds = TIMES(2000, 200)};
	struct marks marks;

	scene.pool = POOL_OF(24, CAPACITY, .backend = backend, .flags = flags, .cache_capacity = 16);
	/* Every other one of the first. */
	assert_int_equal(acquire_all(scene.pool, objects, 2 * KEPT), 2 * KEPT);
	assert_true(sort_disjoint(objects, 2 * KEPT, 24));
	for (size_t i = 0; i < KEPT; i++) {
		kept[i] = objects[2 * i];
		assert_int_equal(lfpool_release(scene.pool, objects[2 * i + 1]), LFPOOL_OK);
	}
	lfpool_for_each_slot(scene.pool, first_slot, &marks.first);
	marks.stride = stride_of(scene.pool, kept[0]);
	const struct threads threads = threads_start(WORKERS, churn, &scene, 0);
	for (unsigned round = 0; round < scene.rounds; round++) {
		walk_whole(&scene, &marks, kept);
		walk_in_parts(&scene, &marks, kept);
	}
	atomic_store(&scene.over, true);
	threads_join(&threads);
	assert_int_equal(lfpool_copy_active(scene.pool, objects, 2 * KEPT), KEPT);
	for (size_t i = 0; i < KEPT; i++)
		assert_ptr_equal(objects[i], kept[i]);
	assert_int_equal(lfpool_release_all(scene.pool), KEPT);
	require_whole(scene.pool, 24);
	lfpool_destroy(scene.pool);
}

TEST(walks_beside_acquires_and_releases)
{
	walk_beside_others(LFPOOL_BACKEND_LOCKFREE, 0);
	walk_beside_others(LFPOOL_BACKEND_LOCKFREE, LFPOOL_CHECK_RACES);
	walk_beside_others(LFPOOL_BACKEND_MUTEX, 0);
}

/* ---- The promise 3: what hooks.activate wrote (and no lock, no atomic orders it but the walk) ---- */

struct made {
	uint64_t number, complement;
};

static bool make(void *context, void *object)
{
	struct made *made = object;

	(void)context;
	made->number = (uintptr_t)object;
	made->complement = ~made->number;
	return true;
}

static bool look(void *context, void *object)
{
	const struct made *made = object;

	REQUIRE(made->number == (uintptr_t)object && made->complement == ~made->number);
	++*(size_t *)context;
	return true;
}

static void *acquire_many(void *argument)
{
	struct scene *scene = argument;

	for (unsigned i = 0; i < scene->rounds; i++)
		REQUIRE(lfpool_acquire(scene->pool));
	return NULL;
}

static void *acquire_in_bulk(void *argument)
{
	struct scene *scene = argument;
	void *objects[200];

	for (unsigned i = 0; i < scene->rounds; i += COUNT(objects))
		REQUIRE(lfpool_acquire_bulk(scene->pool, objects, COUNT(objects)) == COUNT(objects));
	return NULL;
}

/* Three threads acquire all 3000 objects, two of them in the other's way; walks look at what they visit meanwhile. */
static void look_while_acquired(lfpool_t *pool, bool (*looker)(void *, void *), void *(*others)(void *))
{
	struct scene scene = {.pool = pool, .rounds = 1000};
	const struct threads one = threads_start(1, acquire_many, &scene, 0), two = threads_start(2, others, &scene, 0);
	size_t seen;

	do {
		seen = 0;
		REQUIRE(lfpool_for_each_active(pool, looker, &seen) == seen);
	} while (seen < 3000);
	threads_join(&one);
	threads_join(&two);
	assert_int_equal(lfpool_destroy(pool), 3000);
}

static const lfpool_backend_t tracked[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX};

TEST(what_activate_wrote_is_visible)
{
	for (size_t round = 0; round < TIMES(60, 20); round++)
		look_while_acquired(POOL_OF(sizeof(struct made), 3000, .backend = tracked[round % 2], .hooks.activate = make),
				    look, acquire_many);
}

/* ---- What LFPOOL_ZERO wrote, too: by acquires of one, and of many ---- */

static int compare_addresses_down(const void *a, const void *b)
{
	return compare_addresses(b, a);
}

static bool look_at_zero(void *context, void *object)
{
	REQUIRE(all_bytes_are(object, 64, 0));
	++*(size_t *)context;
	return true;
}

TEST(what_is_visited_is_zeroed)
{
	void **objects = pointers_new(3000);

	for (size_t round = 0; round < TIMES(60, 20); round++) {
		lfpool_t *pool = POOL_OF(64, 3000, .backend = tracked[round % 2], .flags = LFPOOL_ZERO);

		assert_int_equal(acquire_all(pool, objects, 3000), 3000);
		for (size_t i = 0; i < 3000; i++)
			memset(objects[i], 0xff, 64);
		/* Bulk calls take them upwards or downwards. */
		qsort(objects, 3000, sizeof(*objects), round / 2 % 2 ? compare_addresses : compare_addresses_down);
		release_all(pool, objects, 3000);
		look_while_acquired(pool, look_at_zero, acquire_in_bulk);
	}
	free(objects);
}

/* ---- lfpool_release_all() ---- */

static bool count_it(void *context, void *object)
{
	(void)object;
	/* relaxed: read after the threads are joined. */
	atomic_fetch_add_explicit((atomic_size_t *)context, 1, memory_order_relaxed);
	return true;
}

static void ignore(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	REQUIRE(misuse->status == LFPOOL_E_NOT_IN_USE);
}

struct share {
	lfpool_t *pool;
	void **objects;
	size_t count, released;
	bool all;
	pthread_barrier_t *start;
};

static void *release_share(void *argument)
{
	struct share *share = argument;

	pthread_barrier_wait(share->start);
	if (share->all)
		share->released = lfpool_release_all(share->pool);
	for (size_t i = 0; i < share->count; i++)
		share->released += lfpool_release(share->pool, share->objects[i]) == LFPOOL_OK;
	return NULL;
}

/* Two that release one by one, two that release all. */
static void release_all_against_releases(lfpool_backend_t backend, bool hooked)
{
	atomic_size_t deactivated = 0;
	void *objects[CAPACITY];
	size_t by_all = 0;
	lfpool_t *pool = POOL_OF(24, CAPACITY, .backend = backend, .flags = hooked ? 0 : LFPOOL_CHECK_RACES,
				 .hooks.misuse = ignore, .hooks.context = &deactivated,
				 .hooks.deactivate = hooked ? count_it : NULL);

	for (int round = 0; round < TIMES(300, 60); round++) {
		pthread_barrier_t start;
		struct share shares[4];
		size_t released = 0;

		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
		pthread_barrier_init(&start, NULL, 4);
		for (size_t i = 0; i < 4; i++)
			shares[i] = (struct share){pool,  objects + i % 2 * CAPACITY / 2, i < 2 ? CAPACITY / 2 : 0, 0, i >= 2,
						   &start};
		threads_run(4, release_share, shares, sizeof(shares[0]));
		for (size_t i = 0; i < 4; i++) {
			released += shares[i].released;
			by_all += i >= 2 ? shares[i].released : 0;
		}
		pthread_barrier_destroy(&start);
		/* Each object once, by whomever. */
		assert_int_equal(released, CAPACITY);
		if (hooked)
			assert_int_equal(atomic_exchange(&deactivated, 0), CAPACITY);
		require_whole(pool, 24);
		atomic_store(&deactivated, 0);
	}
	print_message("    %zu by lfpool_release_all()\n", by_all);
	lfpool_destroy(pool);
}

TEST(release_all_against_releases_of_the_same_objects)
{
	release_all_against_releases(LFPOOL_BACKEND_LOCKFREE, false);
	release_all_against_releases(LFPOOL_BACKEND_LOCKFREE, true);
	release_all_against_releases(LFPOOL_BACKEND_MUTEX, false);
	release_all_against_releases(LFPOOL_BACKEND_MUTEX, true);
}

/* Acquiring is legal: what was handed out and what was released add up. */
TEST(release_all_beside_acquires)
{
	for (int round = 0; round < TIMES(100, 30); round++) {
		lfpool_t *pool = pool_of(24, 3000);
		struct scene scene = {.pool = pool, .rounds = 1000};
		const struct threads threads = threads_start(3, acquire_many, &scene, 0);
		size_t released = 0;

		for (int i = 0; i < 20; i++)
			released += lfpool_release_all(pool);
		threads_join(&threads);
		assert_int_equal(lfpool_active_count(pool), 3000 - released);
		assert_int_equal(lfpool_release_all(pool), 3000 - released);
		require_whole(pool, 24);
		lfpool_destroy(pool);
	}
}

RUN_TESTS()
