/* SPDX-License-Identifier: MIT */
/* test: component */
/*
 * test_rcu_batches.c - what liburcu sees of retired objects: a callback for each batch; and what runs in the callback:
 * hooks, continuations, the next batch.
 */
#include "../support/rcu_support.h"

enum { SIZE = 24, MANY = 10000, THREADS = 4 };

/* ---- One callback for each batch ---- */

static struct rcu_flavor_struct counting; /* rcu_flavor, but that it counts */
static atomic_size_t calls, objects_in_calls;

static void count_call(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	if (function != flavor_barrier_called) {
		atomic_fetch_add(&calls, 1);
		atomic_fetch_add(&objects_in_calls, lfpool_batch_count(lfpool_batch_of(head)));
	}
	rcu_flavor.update_call_rcu(head, function);
}

static lfpool_t *open_counting(void **objects_out)
{
	counting = rcu_flavor;
	counting.update_call_rcu = count_call;
	lfpool_t *pool = rcu_pool_with(config_of(SIZE, MANY), &counting);

	assert_int_equal(acquire_all(pool, objects_out, MANY), MANY);
	calls = objects_in_calls = 0;
	return pool;
}

static void close_counting(lfpool_t *pool, size_t expected_calls)
{
	require_drained(pool, SIZE);
	assert_int_equal(calls, expected_calls);
	assert_int_equal(objects_in_calls, MANY);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(a_callback_is_for_a_batch)
{
	static void *objects[MANY];
	struct reader reader;
	lfpool_t *pool = open_counting(objects);

	reader_start(&reader);
	retire_each(pool, objects, MANY);
	assert_int_equal(calls, 1);
	assert_int_equal(objects_in_calls, 1);
	assert_int_equal(lfpool_retired_count(pool), MANY);
	reader_end(&reader);
	close_counting(pool, 2);

	/* What comes at once is one batch, if none is there. */
	pool = open_counting(objects);
	retire_bulk(pool, objects, MANY);
	close_counting(pool, 1);
}

struct retiring {
	lfpool_t *pool;
	void **objects;
};

static void *retire_share(void *argument)
{
	struct retiring *share = argument;

	join_readers();
	retire_each(share->pool, share->objects, MANY / THREADS);
	leave_readers();
	return NULL;
}

/* Each thread retires in a place, which others may have too. */
TEST(threads_have_at_most_two_callbacks_each)
{
	static void *objects[MANY];
	struct retiring shares[THREADS];
	struct reader reader;
	lfpool_t *pool = open_counting(objects);

	reader_start(&reader);
	for (size_t i = 0; i < THREADS; i++)
		shares[i] = (struct retiring){.pool = pool, .objects = objects + i * (MANY / THREADS)};
	threads_run(THREADS, retire_share, shares, sizeof(shares[0]));
	assert_in_range(calls, 1, THREADS);
	assert_int_equal(objects_in_calls, calls);
	const size_t places = calls;

	reader_end(&reader);
	close_counting(pool, 2 * places);
}

/* ---- In the callback ---- */

struct life {
	lfpool_t *pool, *other;
	pthread_t owner;
	atomic_size_t deactivated, destroyed;
	bool refuse;
};

/* Uses both pools, as any thread may. */
static bool on_deactivate(void *context, void *object)
{
	struct life *life = context;
	void *another = lfpool_acquire(life->pool), *of_the_other = lfpool_acquire(life->other);

	REQUIRE(!pthread_equal(pthread_self(), life->owner));
	REQUIRE(another != object);
	/* Its own deactivation is not what is looked at here. */
	REQUIRE(!another);
	REQUIRE(of_the_other && lfpool_release(life->other, of_the_other) == LFPOOL_OK);
	REQUIRE(stamp_holds(object, SIZE, (uintptr_t)object));
	atomic_fetch_add(&life->deactivated, 1);
	return !life->refuse;
}

static void on_destroy(void *context, void *object)
{
	(void)object;
	atomic_fetch_add(&((struct life *)context)->destroyed, 1);
}

TEST(hooks_run_in_the_callback)
{
	for (unsigned refuse = 0; refuse < 2; refuse++) {
		struct life life = {.other = pool_of(SIZE, 1), .owner = pthread_self(), .refuse = refuse};
		struct reader reader;

		life.pool = readers_pool(
			CONFIG_OF(SIZE, 1, .hooks = {.context = &life, .deactivate = on_deactivate, .destroy = on_destroy}));
		for (size_t round = 1; round <= 3; round++) {
			void *object = lfpool_acquire(life.pool);

			assert_non_null(object);
			stamp_write(object, SIZE, (uintptr_t)object);
			reader_start(&reader);
			retire(life.pool, object);
			assert_null(lfpool_acquire_wait(life.pool, A_WHILE_NS));
			assert_int_equal(life.deactivated, round - 1);
			reader_end(&reader);
			assert_int_equal(lfpool_drain(life.pool), LFPOOL_OK);
			assert_int_equal(life.deactivated, round);
			assert_int_equal(life.destroyed, refuse * round);
		}
		assert_int_equal(lfpool_destroy(life.pool), 0);
		assert_int_equal(life.deactivated, 3);
		assert_int_equal(life.destroyed, refuse ? 3 : 1);
		assert_int_equal(lfpool_destroy(life.other), 0);
	}
}

/* A list whose nodes retire one another: each becomes free one grace period after the one before it. */
struct chain {
	lfpool_t *pool;
	atomic_size_t ended;
};

struct chained {
	struct chained *next;
};

static bool retire_next(void *context, void *object)
{
	struct chain *chain = context;
	struct chained *next = ((struct chained *)object)->next;

	if (next)
		REQUIRE(lfpool_release_rcu(chain->pool, next) == LFPOOL_OK);
	atomic_fetch_add(&chain->ended, 1);
	return true;
}

TEST(a_pool_is_destroyed_when_its_hooks_retire_no_more)
{
	enum { LINKS = 8 };
	struct chained *first = NULL;
	struct chain chain = {.ended = 0};

	chain.pool = readers_pool(
		CONFIG_OF(sizeof(struct chained), LINKS, .hooks = {.context = &chain, .deactivate = retire_next}));
	for (size_t i = 0; i < LINKS; i++) {
		struct chained *next = lfpool_acquire(chain.pool);

		assert_non_null(next);
		next->next = first;
		first = next;
	}
	retire(chain.pool, first);
	assert_int_equal(lfpool_destroy(chain.pool), 0);
	assert_int_equal(chain.ended, LINKS);
}

static void got_one(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(object && lfpool_release(pool, object) == LFPOOL_OK);
	sem_post(context);
}

TEST(a_continuation_is_served_from_the_callback)
{
	lfpool_t *pool = readers_pool_of(SIZE, 1);
	void *object = lfpool_acquire(pool);
	struct reader reader;
	sem_t served;
	int value;

	sem_init(&served, 0, 0);
	reader_start(&reader);
	retire(pool, object);
	for (int i = 0; i < 3; i++)
		assert_int_equal(lfpool_acquire_async(pool, got_one, &served, NULL), LFPOOL_OK);
	assert_null(lfpool_acquire_wait(pool, A_WHILE_NS));
	assert_int_equal(sem_getvalue(&served, &value), 0);
	assert_int_equal(value, 0);
	reader_end(&reader);
	for (int i = 0; i < 3; i++)
		await(&served);
	drain_and_destroy(pool, SIZE);
}

/* ---- Many pools ---- */

TEST(pools_share_a_flavour)
{
	enum { POOLS = 20, OF_EACH = 5 };
	struct random random = {test_seed("pools_share_a_flavour")};
	lfpool_t *pools[POOLS];
	struct reader reader;

	for (size_t i = 0; i < POOLS; i++)
		pools[i] = readers_pool_of(SIZE, OF_EACH);
	reader_start(&reader);
	for (unsigned step = 0; step < 2 * POOLS * OF_EACH; step++) {
		lfpool_t *pool = pools[random_below(&random, POOLS)];
		void *object = lfpool_acquire(pool);

		if (object)
			retire(pool, object);
		else
			assert_int_equal(lfpool_retired_count(pool), OF_EACH);
	}
	reader_end(&reader);
	/* In any order; some with a backlog. */
	for (size_t left = POOLS; left; left--) {
		const size_t i = random_below(&random, (uint32_t)left);

		if (random_below(&random, 2))
			require_drained(pools[i], SIZE);
		assert_int_equal(lfpool_destroy(pools[i]), 0);
		pools[i] = pools[left - 1];
	}
}

RUN_READERS_TESTS()
