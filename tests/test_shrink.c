/* SPDX-License-Identifier: MIT */
/*
 * test_shrink.c - a pool gives up objects: idle ones at once, wherever they lie, the rest exactly as they come back,
 * by whatever way they do; and forgiveness.
 */
#include "kinds.h"

#include <pthread.h>
#include <sched.h>

enum { FIRST = 40, MOST = 300 };

static void require_owes(const lfpool_t *pool, size_t capacity, size_t active, size_t owed)
{
	require_counts(pool, capacity, active);
	REQUIRE(lfpool_shrink_owed(pool) == owed);
}

/* ---- Idle objects ---- */

static void idle(const struct kind *kind)
{
	struct stage s;
	void *held[20], *rest[FIRST + 1];
	size_t count = 0, capacity = FIRST;

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_shrink(s.pool, 0), 0);
	/* Never used; used and free again; with more and more in use. */
	for (int round = 0; round < 5; round++) {
		assert_int_equal(lfpool_shrink(s.pool, 6), 6);
		capacity -= 6;
		require_owes(s.pool, capacity, count, 0);
		assert_int_equal(acquire_all(s.pool, rest, FIRST + 1), capacity - count);
		require_owes(s.pool, capacity, capacity, 0);
		assert_int_equal(lfpool_release_bulk(s.pool, rest, capacity - count), capacity - count);
		held[count] = lfpool_acquire(s.pool);
		assert_non_null(held[count++]);
	}
	release_all(s.pool, held, count);
	require_owes(s.pool, FIRST - 30, 0, 0);
	stage_close(&s);
}

TEST(idle_objects_go_at_once)
{
	on_every_kind(idle);
}

/* Objects lie in a cache of this thread, in two of nobody's, in the shared store, and where nobody has been. */
static void wherever(const struct kind *kind)
{
	struct stage s;
	void *objects[MOST];
	lfpool_cache_t *caches[2];

	stage_open(&s, kind, MOST, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(caches[i] = lfpool_cache_create(s.pool));
		assert_int_equal(lfpool_cache_acquire_bulk(caches[i], objects + 100 * i, 100), 100);
	}
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(lfpool_cache_release_bulk(caches[i], objects + 100 * i, 100), 100);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 3), 3);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, 2), 2);
	assert_int_equal(lfpool_shrink(s.pool, MOST), MOST - 1);
	require_owes(s.pool, 1, 1, 1);
	assert_null(lfpool_cache_acquire(caches[0]));
	assert_int_equal(lfpool_cache_release(caches[1], objects[2]), LFPOOL_OK);
	require_owes(s.pool, 0, 0, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_null(lfpool_cache_acquire(caches[i]));
		lfpool_cache_destroy(caches[i]);
	}
	stage_close(&s);
}

TEST(idle_objects_go_wherever_they_lie)
{
	on_every_kind(wherever);
}

/* ---- Owed ---- */

enum way { ONE, BY_CACHE, BULK, BULK_BY_CACHE, HANDLE, SELF, ALL, BY_EXITING_THREAD, WAYS };

struct return_of {
	lfpool_t *pool;
	lfpool_cache_t *cache;
	void *object;
};

static void *release_and_exit(void *argument)
{
	struct return_of *r = argument;
	REQUIRE(lfpool_release(r->pool, r->object) == LFPOOL_OK);
	/* What stays, if any does, stays in its cache when it exits. */
	REQUIRE(lfpool_release(r->pool, lfpool_acquire(r->pool)) == LFPOOL_OK);
	return NULL;
}

/* One object comes back, all that are held for ALL; how many that were. */
static size_t give(struct return_of *r, enum way way, size_t held)
{
	pthread_t thread;

	switch (way) {
	case ONE:
		REQUIRE(lfpool_release(r->pool, r->object) == LFPOOL_OK);
		return 1;
	case BY_CACHE:
		REQUIRE(lfpool_cache_release(r->cache, r->object) == LFPOOL_OK);
		return 1;
	case BULK:
		REQUIRE(lfpool_release_bulk(r->pool, &r->object, 1) == 1);
		return 1;
	case BULK_BY_CACHE:
		REQUIRE(lfpool_cache_release_bulk(r->cache, &r->object, 1) == 1);
		return 1;
	case HANDLE:
		REQUIRE(lfpool_release_handle(r->pool, lfpool_handle_of(r->pool, r->object)) == LFPOOL_OK);
		return 1;
	case SELF:
		REQUIRE(lfpool_release_self(r->object) == LFPOOL_OK);
		return 1;
	case ALL:
		REQUIRE(lfpool_release_all(r->pool) == held);
		return held;
	default:
		thread_start(&thread, release_and_exit, r);
		pthread_join(thread, NULL);
		return 1;
	}
}

static bool has_way(const struct kind *kind, enum way way)
{
	return kind_tracked(kind) || (way != HANDLE && way != ALL);
}

static void owed(const struct kind *kind)
{
	for (enum way way = ONE; way < WAYS; way++) {
		struct stage s;
		void *objects[FIRST];

		if (!has_way(kind, way))
			continue;
		stage_open(&s, kind, FIRST, 0);
		struct return_of r = {.pool = s.pool, .cache = lfpool_cache_create(s.pool)};
		assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
		assert_int_equal(lfpool_shrink(s.pool, 25), 0);
		require_owes(s.pool, FIRST, FIRST, 25);
		size_t back = 0;

		while (back < FIRST) {
			r.object = objects[back];
			back += give(&r, way, FIRST - back);
			size_t paid = back < 25 ? back : 25;

			require_owes(s.pool, FIRST - paid, FIRST - back, 25 - paid);
			if (kind->hooks && kind->backend != LFPOOL_BACKEND_MALLOC)
				assert_int_equal(s.destroyed, paid);
		}
		lfpool_cache_destroy(r.cache);
		require_owes(s.pool, 15, 0, 0);
		stage_close(&s);
	}
}

TEST(a_debt_is_paid_exactly_as_objects_come_back)
{
	on_every_kind(owed);
}

static void in_one_bulk(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 25), 0);
	assert_int_equal(lfpool_release_bulk(s.pool, objects, 20), 20);
	require_owes(s.pool, FIRST - 20, FIRST - 20, 5);
	assert_null(lfpool_acquire(s.pool));
	assert_int_equal(lfpool_release_bulk(s.pool, objects + 20, 20), 20);
	require_owes(s.pool, 15, 0, 0);
	stage_close(&s);
}

TEST(a_debt_is_paid_by_one_bulk_release)
{
	on_every_kind(in_one_bulk);
}

static void at_most(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, 10), 10);
	/* First what is idle, the rest is owed; no more can be owed than there is. */
	assert_int_equal(lfpool_shrink(s.pool, FIRST - 10 + 3), FIRST - 10);
	require_owes(s.pool, 10, 10, 3);
	assert_int_equal(lfpool_shrink(s.pool, 4), 0);
	require_owes(s.pool, 10, 10, 7);
	assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), 0);
	require_owes(s.pool, 10, 10, 10);
	assert_int_equal(lfpool_shrink(s.pool, 1), 0);
	require_owes(s.pool, 10, 10, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(lfpool_release(s.pool, objects[i]), LFPOOL_OK);
		require_owes(s.pool, 9 - i, 9 - i, 9 - i);
	}
	assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), 0);
	require_owes(s.pool, 0, 0, 0);
	stage_close(&s);
}

TEST(no_more_is_taken_or_owed_than_there_is)
{
	on_every_kind(at_most);
}

/* ---- Forgiveness ---- */

static void cancel(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 0);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 30), 0);
	release_all(s.pool, objects, 10);
	require_owes(s.pool, 30, 30, 20);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 20);
	require_owes(s.pool, 30, 30, 0);
	assert_int_equal(lfpool_shrink_cancel(s.pool), 0);
	release_all(s.pool, objects + 10, 5);
	require_owes(s.pool, 30, 25, 0);
	/* Owed again, on top of what is idle. */
	assert_int_equal(lfpool_shrink(s.pool, 8), 5);
	require_owes(s.pool, 25, 25, 3);
	release_all(s.pool, objects + 15, 25);
	require_owes(s.pool, 22, 0, 0);
	stage_close(&s);
}

TEST(cancel_forgives_what_is_owed)
{
	on_every_kind(cancel);
}

static void grow_against(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open(&s, kind, FIRST, FIRST + 5);
	assert_int_equal(acquire_all(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 10), 0);
	/* Less than is owed, the rest and more, and more than there is room for. */
	assert_int_equal(lfpool_grow(s.pool, 4), 4);
	require_owes(s.pool, FIRST, FIRST, 6);
	assert_int_equal(lfpool_grow(s.pool, 8), 8);
	require_owes(s.pool, FIRST + 2, FIRST, 0);
	assert_int_equal(lfpool_shrink(s.pool, 12), 2);
	require_owes(s.pool, FIRST, FIRST, 10);
	assert_int_equal(lfpool_grow(s.pool, 100), 15);
	require_owes(s.pool, FIRST + 5, FIRST, 0);
	/* Where there is no room at all, forgiveness is still possible. */
	assert_int_equal(lfpool_shrink(s.pool, 7), 5);
	require_owes(s.pool, FIRST, FIRST, 2);
	assert_int_equal(lfpool_set_max_capacity(s.pool, 1), LFPOOL_OK);
	assert_int_equal(lfpool_grow(s.pool, 5), 2);
	require_owes(s.pool, FIRST, FIRST, 0);
	release_all(s.pool, objects, FIRST);
	stage_close(&s);
}

TEST(grow_forgives_first)
{
	on_every_kind(grow_against);
}

static void no_growth(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST];

	stage_open_growing(&s, kind, FIRST, MOST, 4);
	assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST), FIRST);
	assert_int_equal(lfpool_shrink(s.pool, 2), 0);
	assert_null(lfpool_acquire(s.pool));
	assert_null(lfpool_acquire_wait(s.pool, 0));
	require_owes(s.pool, FIRST, FIRST, 2);
	release_all(s.pool, objects, 2);
	require_owes(s.pool, FIRST - 2, FIRST - 2, 0);
	/* Paid: from now on it does. */
	assert_non_null(objects[0] = lfpool_acquire(s.pool));
	require_owes(s.pool, FIRST + 2, FIRST - 1, 0);
	release_all(s.pool, objects, 1);
	release_all(s.pool, objects + 2, FIRST - 2);
	stage_close(&s);
}

TEST(while_it_owes_a_pool_does_not_grow_by_itself)
{
	on_every_kind(no_growth);
}

/* ---- To nothing, and back ---- */

static void to_nothing(const struct kind *kind)
{
	struct stage s;
	void *objects[FIRST + 1];

	stage_open(&s, kind, FIRST, 0);
	for (int round = 0; round < 3; round++) {
		require_whole(s.pool, SIZE);
		assert_int_equal(lfpool_shrink(s.pool, SIZE_MAX), FIRST);
		require_owes(s.pool, 0, 0, 0);
		assert_null(lfpool_acquire(s.pool));
		assert_null(lfpool_acquire_wait(s.pool, 0));
		assert_null(lfpool_acquire_wait(s.pool, 1000));
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, FIRST), 0);
		assert_int_equal(lfpool_release_all(s.pool), 0);
		require_whole(s.pool, SIZE);
		/* One by one. */
		for (size_t i = 0; i < FIRST; i++) {
			assert_int_equal(lfpool_grow(s.pool, 1), 1);
			assert_non_null(objects[i] = lfpool_acquire(s.pool));
			assert_null(lfpool_acquire(s.pool));
			mark_write(objects[i], i);
			require_owes(s.pool, i + 1, i + 1, 0);
		}
		assert_int_equal(lfpool_grow(s.pool, 1), 0);
		for (size_t i = 0; i < FIRST; i++)
			assert_true(mark_holds(objects[i], i));
		release_all(s.pool, objects, FIRST);
		if (kind->hooks && kind->backend != LFPOOL_BACKEND_MALLOC)
			assert_int_equal(s.created - s.destroyed, FIRST);
	}
	stage_close(&s);
}

TEST(to_nothing_and_back)
{
	on_every_kind(to_nothing);
}

/* Released once more, by a holder that did not know: refused, and nothing comes back. */
static void after_it_went(const struct kind *kind)
{
	struct stage s;
	void *object;

	if (!kind_tracked(kind) || kind->backend == LFPOOL_BACKEND_MALLOC)
		return;
	stage_open(&s, kind, 1, 0);
	assert_non_null(object = lfpool_acquire(s.pool));
	lfpool_handle_t handle = lfpool_handle_of(s.pool, object);

	assert_ptr_equal(lfpool_resolve(s.pool, handle), object);
	assert_int_equal(lfpool_shrink(s.pool, 1), 0);
	/* Owed is not gone: it is used as ever. */
	assert_ptr_equal(lfpool_resolve(s.pool, handle), object);
	assert_true(lfpool_in_use(s.pool, object));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_OK);
	assert_false(lfpool_in_use(s.pool, object));
	assert_null(lfpool_resolve(s.pool, handle));
	assert_int_equal(lfpool_release(s.pool, object), LFPOOL_E_NOT_IN_USE);
	assert_int_equal(lfpool_release_handle(s.pool, handle), LFPOOL_E_STALE);
	require_owes(s.pool, 0, 0, 0);
	assert_int_equal(lfpool_misuse_count(s.pool), 2);
	assert_int_equal(lfpool_destroy(s.pool), 0);
}

TEST(what_went_is_not_in_use)
{
	on_every_kind(after_it_went);
}

/* ---- A model ---- */

struct model {
	size_t capacity, max, owed, held;
	void *objects[MOST];
};

static void model_release(struct model *m, size_t count)
{
	size_t paid = count < m->owed ? count : m->owed;

	m->held -= count;
	m->owed -= paid;
	m->capacity -= paid;
}

static size_t model_grow(struct model *m, size_t count)
{
	size_t forgiven = count < m->owed ? count : m->owed, room = m->max > m->capacity ? m->max - m->capacity : 0;
	size_t added = count - forgiven < room ? count - forgiven : room;

	m->owed -= forgiven;
	m->capacity += added;
	return forgiven + added;
}

static size_t model_shrink(struct model *m, size_t count)
{
	size_t most = m->capacity - m->owed, idle_objects = m->capacity - m->held;

	count = count < most ? count : most;
	size_t gone = count < idle_objects ? count : idle_objects;

	m->capacity -= gone;
	m->owed += count - gone;
	return gone;
}

static void shuffle_last(struct model *m, struct random *random)
{
	size_t i = random_below(random, (uint32_t)m->held);
	void *object = m->objects[i];

	m->objects[i] = m->objects[m->held - 1];
	m->objects[m->held - 1] = object;
}

static void model_step(struct stage *s, struct model *m, struct random *random, lfpool_cache_t *cache)
{
	size_t count = random_below(random, 20);

	switch (random_below(random, 10)) {
	case 0:
	case 1:
		REQUIRE(lfpool_grow(s->pool, count) == model_grow(m, count));
		break;
	case 2:
		REQUIRE(lfpool_shrink(s->pool, count) == model_shrink(m, count));
		break;
	case 3:
		if (random_below(random, 4) == 0) {
			REQUIRE(lfpool_shrink_cancel(s->pool) == m->owed);
			m->owed = 0;
		}
		break;
	case 4:
		m->max = random_below(random, MOST + 1);
		REQUIRE(lfpool_set_max_capacity(s->pool, m->max) == LFPOOL_OK);
		break;
	case 5:
	case 6:
		count = count < MOST - m->held ? count : MOST - m->held;
		size_t expected = count < m->capacity - m->held ? count : m->capacity - m->held;

		REQUIRE((random_below(random, 2) ? lfpool_acquire_bulk(s->pool, m->objects + m->held, count) :
			 lfpool_cache_acquire_bulk(cache, m->objects + m->held, count)) == expected);
		m->held += expected;
		break;
	case 7:
		count = count < m->held ? count : m->held;
		REQUIRE((random_below(random, 2) ? lfpool_release_bulk(s->pool, m->objects + m->held - count, count) :
			 lfpool_cache_release_bulk(cache, m->objects + m->held - count, count)) == count);
		model_release(m, count);
		break;
	default:
		if (m->held) {
			shuffle_last(m, random);
			REQUIRE(lfpool_release(s->pool, m->objects[m->held - 1]) == LFPOOL_OK);
			model_release(m, 1);
		}
		break;
	}
	REQUIRE(lfpool_capacity(s->pool) == m->capacity && lfpool_shrink_owed(s->pool) == m->owed);
	REQUIRE(lfpool_max_capacity(s->pool) == m->max);
}

static uint64_t model_seed;

static void as_the_model(const struct kind *kind)
{
	struct random random = random_for(model_seed, 0);
	struct model m = {.capacity = FIRST, .max = MOST};
	struct stage s;

	stage_open(&s, kind, FIRST, MOST);
	lfpool_cache_t *cache = lfpool_cache_create(s.pool);
	for (int step = 0; step < TIMES(3000, 500); step++) {
		model_step(&s, &m, &random, cache);
		if (step % 16 == 0)
			require_owes(s.pool, m.capacity, m.held, m.owed);
	}
	release_all(s.pool, m.objects, m.held);
	model_release(&m, m.held);
	lfpool_cache_destroy(cache);
	require_owes(s.pool, m.capacity, 0, m.owed);
	stage_close(&s);
}

TEST(random_calls_do_what_the_model_does)
{
	model_seed = test_seed("random_calls_do_what_the_model_does");
	on_every_kind(as_the_model);
}

/* ---- Threads ---- */

enum { THREADS = 3, ROUNDS = TIMES(60, 12) };

struct team {
	struct stage *stage;
	pthread_barrier_t start;
	size_t shrink_by, gone[THREADS];
	atomic_size_t next;
};

static void *shrink_at_once(void *argument)
{
	struct team *team = argument;
	size_t me = atomic_fetch_add(&team->next, 1);

	pthread_barrier_wait(&team->start);
	team->gone[me] = lfpool_shrink(team->stage->pool, team->shrink_by);
	return NULL;
}

/* Some objects are in use, some not; all together no more is taken and owed than there is. */
static void at_once(const struct kind *kind)
{
	for (size_t i = 0; i < ROUNDS; i++) {
		static const size_t by[] = {SIZE_MAX, 5, FIRST};
		struct stage s;
		struct team team = {.stage = &s, .shrink_by = by[i % COUNT(by)]};
		pthread_t threads[THREADS];
		void *objects[FIRST];
		size_t held = i * 7 % (FIRST + 1), gone = 0;

		stage_open(&s, kind, FIRST, 0);
		assert_int_equal(lfpool_acquire_bulk(s.pool, objects, held), held);
		pthread_barrier_init(&team.start, NULL, THREADS);
		for (size_t k = 0; k < THREADS; k++)
			thread_start(&threads[k], shrink_at_once, &team);
		for (size_t k = 0; k < THREADS; k++)
			pthread_join(threads[k], NULL);
		for (size_t k = 0; k < THREADS; k++)
			gone += team.gone[k];
		size_t wanted = team.shrink_by < FIRST / THREADS ? THREADS * team.shrink_by : FIRST;
		size_t at_once_at_most = wanted < FIRST - held ? wanted : FIRST - held;

		assert_int_equal(gone, at_once_at_most);
		require_owes(s.pool, FIRST - gone, held, wanted - gone);
		release_all(s.pool, objects, held);
		require_owes(s.pool, FIRST - wanted, 0, 0);
		pthread_barrier_destroy(&team.start);
		stage_close(&s);
	}
}

TEST(threads_that_shrink_at_once_take_no_more_than_there_is)
{
	on_every_kind(at_once);
}

/* Workers acquire and release while the pool shrinks and grows; never more objects are out than it has. */
struct busy {
	struct stage *stage;
	atomic_bool stop;
	atomic_size_t out;
};

static void *come_and_go(void *argument)
{
	struct busy *b = argument;
	lfpool_t *pool = b->stage->pool;
	void *objects[FIRST];

	/* relaxed: a sign only. */
	for (size_t i = 0; !atomic_load_explicit(&b->stop, memory_order_relaxed); i++) {
		size_t wanted = i % (FIRST / 2) + 1, count = 0;

		if (i % 3) {
			count = lfpool_acquire_bulk(pool, objects, wanted);
		} else {
			while (count < wanted && (objects[count] = lfpool_acquire(pool)))
				count++;
		}
		atomic_fetch_add(&b->out, count);
		for (size_t k = 0; k < count; k++)
			mark_write(objects[k], i * 64 + k);
		for (size_t k = 0; k < count; k++)
			REQUIRE(mark_holds(objects[k], i * 64 + k));
		atomic_fetch_sub(&b->out, count);
		if (i % 2)
			REQUIRE(lfpool_release_bulk(pool, objects, count) == count);
		else
			release_all(pool, objects, count);
	}
	return NULL;
}

static void while_busy(const struct kind *kind)
{
	struct random random = random_for(model_seed, 1);
	struct stage s;
	struct busy b = {.stage = &s};
	pthread_t threads[THREADS];
	size_t capacity = FIRST;

	stage_open(&s, kind, FIRST, MOST);
	for (size_t k = 0; k < THREADS; k++)
		thread_start(&threads[k], come_and_go, &b);
	for (size_t round = 0; round < 2 * ROUNDS; round++) {
		size_t by = random_below(&random, (uint32_t)capacity + 1);

		REQUIRE(lfpool_shrink(s.pool, by) <= by);
		/* What is owed is paid sooner or later: nobody holds on to anything. */
		while (lfpool_shrink_owed(s.pool))
			sched_yield();
		capacity -= by;
		/* Paid means gone: no more than this are out, now and until it grows. */
		for (int i = 0; i < 10; i++)
			REQUIRE(atomic_load(&b.out) <= capacity);
		by = random_below(&random, FIRST);
		if (capacity + by <= MOST) {
			REQUIRE(lfpool_grow(s.pool, by) == by);
			capacity += by;
		}
		/* Owed and forgiven, some of it in between paid. */
		by = random_below(&random, (uint32_t)capacity + 1);
		size_t gone = lfpool_shrink(s.pool, by);

		REQUIRE(gone <= by);
		size_t forgiven = lfpool_shrink_cancel(s.pool);

		REQUIRE(gone + forgiven <= by);
		capacity -= by - forgiven;
	}
	/* relaxed: a sign only. */
	atomic_store_explicit(&b.stop, true, memory_order_relaxed);
	for (size_t k = 0; k < THREADS; k++)
		pthread_join(threads[k], NULL);
	require_owes(s.pool, capacity, 0, 0);
	stage_close(&s);
}

TEST(a_pool_shrinks_and_grows_while_others_use_it)
{
	model_seed = test_seed("a_pool_shrinks_and_grows_while_others_use_it");
	on_every_kind(while_busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIND_TEST(idle_objects_go_at_once),
		KIND_TEST(idle_objects_go_wherever_they_lie),
		KIND_TEST(a_debt_is_paid_exactly_as_objects_come_back),
		KIND_TEST(a_debt_is_paid_by_one_bulk_release),
		KIND_TEST(no_more_is_taken_or_owed_than_there_is),
		KIND_TEST(cancel_forgives_what_is_owed),
		KIND_TEST(grow_forgives_first),
		KIND_TEST(while_it_owes_a_pool_does_not_grow_by_itself),
		KIND_TEST(to_nothing_and_back),
		KIND_TEST(what_went_is_not_in_use),
		KIND_TEST(random_calls_do_what_the_model_does),
		KIND_TEST(threads_that_shrink_at_once_take_no_more_than_there_is),
		KIND_TEST(a_pool_shrinks_and_grows_while_others_use_it),
	};

	return cmocka_run_group_tests_name("shrink", tests, NULL, NULL);
}
