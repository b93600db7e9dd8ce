/* SPDX-License-Identifier: MIT */
/* test: threads */
/*
 * test_retire_threads.c - many threads that retire (lfpool/retire.h): one batch of each place is with the scheme at a
 * time, nothing waits for more than two grace periods, who exits leaves nothing behind, and who stops holds up
 * nobody.
 */
#include "../support/schemes.h"

#include <sched.h>

enum { SIZE = 24, CAPACITY = 500, THREADS = 4 };

static const lfpool_backend_t backends[] = {LFPOOL_BACKEND_LOCKFREE, LFPOOL_BACKEND_MUTEX, LFPOOL_BACKEND_MALLOC};

static struct fake fake;

static lfpool_t *pool_on(lfpool_backend_t backend, enum scheme_kind how)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.backend = backend;
	config.scheme = fake_scheme(&fake, how);
	return pool_with(&config);
}

static void each_way(void (*body)(lfpool_t *pool))
{
	for (size_t b = 0; b < COUNT(backends); b++)
		for (enum scheme_kind how = 0; how < SCHEME_KINDS; how++) {
			lfpool_t *pool = pool_on(backends[b], how);

			body(pool);
			fake_end_all(&fake, pool);
			require_whole(pool, SIZE);
			assert_int_equal(lfpool_destroy(pool), 0);
		}
}

/* ---- Retiring and reclaiming ---- */

struct work {
	lfpool_t *pool;
	unsigned thread;
	size_t goal; /* so many it retires */
	atomic_size_t *busy;
	size_t retired;
};

/* Acquires, writes, reads, and retires, in ones and in bulk. */
static void *retire_often(void *argument)
{
	struct work *w = argument;
	struct random random = random_for(w->thread, w->thread);
	void *objects[16];

	for (size_t round = 0; w->retired < w->goal; round++) {
		const size_t wanted = 1 + random_below(&random, 16);
		const size_t count = lfpool_acquire_bulk(w->pool, objects, wanted);

		for (size_t i = 0; i < count; i++)
			stamp_write(objects[i], SIZE, w->thread * 1000 + i);
		for (size_t i = 0; i < count; i++)
			REQUIRE(stamp_holds(objects[i], SIZE, w->thread * 1000 + i));
		if (round % 2)
			REQUIRE(lfpool_retire_bulk(w->pool, objects, count) == count);
		else
			for (size_t i = 0; i < count; i++)
				REQUIRE(lfpool_retire(w->pool, objects[i]) == LFPOOL_OK);
		for (size_t i = 0; i < count; i++)
			REQUIRE(lfpool_retire(w->pool, NULL) == LFPOOL_OK);
		w->retired += count;
		if (!count)
			sched_yield();
	}
	atomic_fetch_sub(w->busy, 1);
	return NULL;
}

static void retire_with_threads(lfpool_t *pool)
{
	atomic_size_t busy = THREADS;
	struct work work[THREADS];
	pthread_t threads[THREADS];
	size_t retired = 0;

	atomic_store(&fake.yes, true);
	for (unsigned i = 0; i < THREADS; i++) {
		work[i] = (struct work){.pool = pool, .thread = i, .goal = TIMES(12000, 3000), .busy = &busy};
		thread_start(&threads[i], retire_often, &work[i]);
	}
	while (atomic_load(&busy))
		(void)fake_period(&fake, pool);
	atomic_store(&fake.yes, false);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		retired += work[i].retired;
	}
	assert_true(retired >= THREADS * work[0].goal);
	require_intact(pool);
	assert_int_equal(lfpool_active_count(pool), lfpool_retired_count(pool));
	/* Whoever they were and wherever they retired: nothing waits for more than two grace periods. */
	(void)fake_period(&fake, pool);
	(void)fake_period(&fake, pool);
	assert_int_equal(lfpool_retired_count(pool), 0);
	assert_int_equal(fake.begun, fake.ended);
}

TEST(threads_retire_while_batches_are_reclaimed)
{
	each_way(retire_with_threads);
}

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
static void retire_and_leave(lfpool_t *pool)
{
	void *objects[CAPACITY];
	struct leaver leavers[CAPACITY / 2];
	size_t batches;

	assert_int_equal(acquire_all(pool, objects, CAPACITY), CAPACITY);
	for (size_t i = 0; i < COUNT(leavers); i++) {
		pthread_t thread;

		leavers[i] = (struct leaver){.pool = pool, .objects = objects + 2 * i, .count = 2};
		thread_start(&thread, retire_and_exit, &leavers[i]);
		pthread_join(thread, NULL);
	}
	assert_int_equal(lfpool_retired_count(pool), CAPACITY);
	batches = fake.begun;
	assert_in_range(batches, 1, LFPOOL_PLACES_MAX);
	assert_int_equal(fake_period(&fake, pool), batches);
	/* The first of each place is free, and what waited there is the next. */
	assert_int_equal(lfpool_retired_count(pool), CAPACITY - batches);
	assert_int_equal(fake.begun, 2 * batches);
	assert_int_equal(fake_period(&fake, pool), batches);
	assert_int_equal(lfpool_retired_count(pool), 0);
}

TEST(threads_that_exit_leave_nothing_behind)
{
	each_way(retire_and_leave);
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
	fake_end_all(&fake, pool);
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
static void go_round(bool in_ready)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);
	void *objects[CAPACITY];
	struct crowd crowd;

	config.scheme = fake_scheme(&fake, ASKED);
	config.scheme.begin = begin_and_stop;
	config.scheme.ready = ready_and_stop;
	lfpool_t *pool = pool_with(&config);

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
	fake_end_all(&fake, pool);
	require_whole(pool, SIZE);
	assert_int_equal(lfpool_destroy(pool), 0);
}

TEST(who_retires_goes_round_a_thread_that_is_stopped_in_begin)
{
	go_round(false);
}

TEST(who_retires_goes_round_a_thread_that_is_stopped_in_ready)
{
	go_round(true);
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
	pthread_t thread;

	(void)context, (void)batch;
	if (meanwhile.by_other)
		return true;
	meanwhile.by_other = true;
	thread_start(&thread, poll_as_other, meanwhile.pool);
	pthread_join(thread, NULL);
	return false;
}

TEST(a_poll_says_what_another_thread_reclaimed_meanwhile)
{
	lfpool_config_t config = config_of(SIZE, CAPACITY);

	config.scheme.begin = begin_two;
	config.scheme.ready = ready_for_other;
	lfpool_t *pool = pool_with(&config);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_retire_while_batches_are_reclaimed),
		cmocka_unit_test(threads_that_exit_leave_nothing_behind),
		cmocka_unit_test(who_retires_goes_round_a_thread_that_is_stopped_in_begin),
		cmocka_unit_test(who_retires_goes_round_a_thread_that_is_stopped_in_ready),
		cmocka_unit_test(a_poll_says_what_another_thread_reclaimed_meanwhile),
	};

	return cmocka_run_group_tests_name("retire: threads", tests, NULL, NULL);
}
