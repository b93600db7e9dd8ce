/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_threads.c - threads that retire (lfpool/retire.h): one that exits leaves nothing behind, one that stops in the
 * scheme holds up nobody, and a poll says what others reclaimed meanwhile.
 *
 * (Many at once: the stress scenario `retire`.)
 */
#include "../support/schemes.h"

#include <sched.h>

enum { SIZE = 24, CAPACITY = 500 };

/* ---- Threads that exit ---- */

struct leaver {
	lfpool_t *pool;
	void **objects;
	size_t count;
};

static void *retire_and_exit(void *argument)
{
	struct leaver *leaver = argument;

	for (size_t i = 0; i < leaver->count; i++)
		REQUIRE(lfpool_retire(leaver->pool, leaver->objects[i]) == LFPOOL_OK);
	return NULL;
}

/* Threads that retire two objects each and are gone. */
FAKE_TEST(threads_that_exit_leave_nothing_behind)
{
	void *objects[CAPACITY];
	struct leaver leavers[CAPACITY / 2];
	size_t batches;

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	for (size_t i = 0; i < COUNT(leavers); i++) {
		leavers[i] = (struct leaver){.pool = pool, .objects = objects + 2 * i, .count = 2};
		threads_run(1, retire_and_exit, &leavers[i], 0);
	}
	assert_int_equal(lfpool_retired_count(pool), CAPACITY);
	batches = fake.begun;
	assert_in_range(batches, 1, LFPOOL_PLACES_MAX);
	assert_int_equal(fake_period(pool), batches);
	/* The first of each place is free, and what waited there is the next. */
	assert_int_equal(lfpool_retired_count(pool), CAPACITY - batches);
	assert_int_equal(fake.begun, 2 * batches);
	assert_int_equal(fake_period(pool), batches);
	assert_int_equal(lfpool_retired_count(pool), 0);
}

/* ---- A thread that is stopped in the scheme ---- */

static struct {
	atomic_int armed, inside, go_on;
	atomic_size_t place;
	bool in_ready;
} stop;

/* The first other thread that comes here for the test's own place stays until it is told to go on. */
static void stop_here(const lfpool_batch_t *batch, bool in_ready)
{
	if (!atomic_load(&stop.armed)) {
		atomic_store(&stop.place, lfpool_batch_place(batch));
		return;
	}
	if (in_ready != stop.in_ready || lfpool_batch_place(batch) != atomic_load(&stop.place) ||
	    !atomic_exchange(&stop.armed, false))
		return;
	atomic_store(&stop.inside, true);
	while (!atomic_load(&stop.go_on))
		sched_yield();
}

static void begin_and_stop(void *context, lfpool_batch_t *batch)
{
	stop_here(batch, false);
	fake_begin(context, batch);
}

static bool ready_and_stop(void *context, const lfpool_batch_t *batch)
{
	stop_here(batch, true);
	return fake_ready(context, batch);
}

struct crowd {
	lfpool_t *pool;
	pthread_t thread[2 * LFPOOL_PLACES_MAX];
	size_t threads;
	atomic_size_t done;
};

/* Lives on until all may go: the next thread has another place. */
static void *retire_and_ask(void *argument)
{
	struct crowd *crowd = argument;

	REQUIRE(lfpool_retire(crowd->pool, lfpool_acquire(crowd->pool)) == LFPOOL_OK);
	(void)lfpool_retire_poll(crowd->pool);
	atomic_fetch_add(&crowd->done, 1);
	while (!atomic_load(&stop.go_on))
		usleep(1000);
	return NULL;
}

/* Threads, until one of them retires in the place that this thread uses, and is stopped there. */
static void stop_one(struct crowd *crowd, lfpool_t *pool, bool in_ready)
{
	memset(crowd, 0, sizeof(*crowd));
	crowd->pool = pool;
	atomic_store(&stop.armed, false);
	atomic_store(&stop.inside, false);
	atomic_store(&stop.go_on, false);
	stop.in_ready = in_ready;
	assert_int_equal(lfpool_retire(pool, lfpool_acquire(pool)), LFPOOL_OK);
	fake_end_all(pool);
	atomic_store(&fake.yes, true);
	atomic_store(&stop.armed, true);
	while (!atomic_load(&stop.inside)) {
		REQUIRE(crowd->threads < COUNT(crowd->thread));
		thread_start(&crowd->thread[crowd->threads++], retire_and_ask, crowd);
		while (!atomic_load(&stop.inside) && atomic_load(&crowd->done) < crowd->threads)
			sched_yield();
	}
}

/* It holds up what was retired in its place; all others go on retiring, and get what they retire. */
static void go_on_beside_it(bool in_ready)
{
	lfpool_scheme_t scheme = fake_scheme(ASKED);
	void *objects[CAPACITY];
	struct crowd crowd;

	scheme.begin = begin_and_stop;
	scheme.ready = ready_and_stop;
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = scheme);

	stop_one(&crowd, pool, in_ready);
	for (size_t round = 0; round < 4; round++) {
		assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY - 1);
		for (size_t i = 0; i < CAPACITY - 1; i++)
			assert_int_equal(lfpool_retire(pool, objects[i]), LFPOOL_OK);
		while (lfpool_retire_poll(pool))
			;
		assert_int_equal(lfpool_retired_count(pool), 1);
	}
	atomic_store(&stop.go_on, true);
	for (size_t i = 0; i < crowd.threads; i++)
		pthread_join(crowd.thread[i], NULL);
	fake_end_all(pool);
	pool_close(pool, SIZE);
}

TEST(a_thread_that_is_stopped_in_begin_holds_up_nobody)
{
	go_on_beside_it(false);
}

TEST(a_thread_that_is_stopped_in_ready_holds_up_nobody)
{
	go_on_beside_it(true);
}

/* ---- What a poll says ---- */

static struct {
	lfpool_t *pool;
	bool begun, by_other;
} meanwhile;

static void retire_one(void)
{
	REQUIRE(lfpool_retire(meanwhile.pool, lfpool_acquire(meanwhile.pool)) == LFPOOL_OK);
}

/* The first batch's place is held: another object goes to another place. */
static void begin_two(void *context, lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	if (meanwhile.begun)
		return;
	meanwhile.begun = true;
	retire_one();
}

static void *poll_as_other(void *pool)
{
	REQUIRE(lfpool_retire_poll(pool));
	return NULL;
}

/* One batch is not ready; while that is said another thread reclaims the other one. */
static bool ready_for_other(void *context, const lfpool_batch_t *batch)
{
	(void)context, (void)batch;
	if (meanwhile.by_other)
		return true;
	meanwhile.by_other = true;
	threads_run(1, poll_as_other, meanwhile.pool, 0);
	return false;
}

TEST(a_poll_says_what_another_thread_reclaimed_meanwhile)
{
	lfpool_t *pool = POOL_OF(SIZE, CAPACITY, .scheme = {.begin = begin_two, .ready = ready_for_other});

	meanwhile.pool = pool;
	retire_one();
	assert_int_equal(lfpool_retired_count(pool), 2);
	assert_true(lfpool_retire_poll(pool));
	/* The other thread's, not this one's own. */
	assert_int_equal(lfpool_retired_count(pool), 1);
	assert_true(lfpool_retire_poll(pool));
	assert_false(lfpool_retire_poll(pool));
	assert_int_equal(lfpool_destroy(pool), 0);
}

RUN_TESTS()
