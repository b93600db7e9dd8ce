/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_shrink_random.c - a pool shrinks and grows at random: as a model says, and while other threads use it.
 */
#include "../support/owing.h"

#include <pthread.h>
#include <sched.h>

enum { FIRST = 40, MOST = 300 };

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
	case 1: REQUIRE(lfpool_grow(s->pool, count) == model_grow(m, count)); break;
	case 2: REQUIRE(lfpool_shrink(s->pool, count) == model_shrink(m, count)); break;
	case 3:
		if (random_below(random, 4) == 0) {
			REQUIRE(lfpool_shrink_cancel(s->pool) == m->owed);
			m->owed = 0;
		}
		break;
	case 4:
		m->max = random_below(random, MOST + 1);
		REQUIRE(lfpool_limit(s->pool, m->max) == LFPOOL_OK);
		break;
	case 5:
	case 6:
		count = count < MOST - m->held ? count : MOST - m->held;
		size_t expected = count < m->capacity - m->held ? count : m->capacity - m->held;

		REQUIRE((random_below(random, 2) ? lfpool_acquire_bulk(s->pool, m->objects + m->held, count)
						 : lfpool_cache_acquire_bulk(cache, m->objects + m->held, count)) == expected);
		m->held += expected;
		break;
	case 7:
		count = count < m->held ? count : m->held;
		REQUIRE((random_below(random, 2)
				 ? lfpool_release_bulk(s->pool, m->objects + m->held - count, count)
				 : lfpool_cache_release_bulk(cache, m->objects + m->held - count, count)) == count);
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

TEST_WITH(random_calls_do_what_the_model_does, NULL, kind_teardown)
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
KIND_TEST(threads_that_shrink_at_once_take_no_more_than_there_is)
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

TEST_WITH(a_pool_shrinks_and_grows_while_others_use_it, NULL, kind_teardown)
{
	model_seed = test_seed("a_pool_shrinks_and_grows_while_others_use_it");
	on_every_kind(while_busy);
}

RUN_TESTS()
