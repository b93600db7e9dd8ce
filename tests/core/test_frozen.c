/* SPDX-License-Identifier: MIT */
/* test: threads no-tsan */
/*
 * test_frozen.c - a thread stopped at any instruction of acquire or release holds up nobody, and takes nothing with
 * it but what it was handed.
 *
 * Idea         Two threads acquire and release as fast as they can.  A signal freezes both wherever they are, mostly
 *              in the middle of a call, perhaps moving a magazine from here to there.  While they stand, this thread
 *              takes all there is: it must get everything but what the two can hold, an object on its way in or out
 *              included; then gives it back.  Thousands of times. The handler calls nothing of the pool.
 */
#include "../support/workers.h"

#include <semaphore.h>
#include <signal.h>

enum { VICTIMS = 2, MOST = 6, SIZE = 40 };

/* ---- Stopped by a signal, and going on at another one ---- */

/* The handlers know nothing but this. */
static sem_t frozen;
static sigset_t while_frozen;

static void freeze(int signal_number)
{
	int kept = errno;

	(void)signal_number;
	sem_post(&frozen);
	sigsuspend(&while_frozen);
	errno = kept;
}

static void thaw(int signal_number)
{
	(void)signal_number;
}

static void prepare_signals(void)
{
	struct sigaction action = {.sa_handler = freeze, .sa_flags = SA_RESTART};
	sigset_t thaw_only;

	sem_init(&frozen, 0, 0);
	sigfillset(&while_frozen);
	sigdelset(&while_frozen, SIGUSR2);
	/* A thaw that comes before the victim waits for it stays pending until it does. */
	sigemptyset(&thaw_only);
	sigaddset(&thaw_only, SIGUSR2);
	action.sa_mask = thaw_only;
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	action.sa_handler = thaw;
	REQUIRE(sigaction(SIGUSR2, &action, NULL) == 0);
	REQUIRE(pthread_sigmask(SIG_BLOCK, &thaw_only, NULL) == 0);
}

/* ---- The victims ---- */

static void come_and_go(struct worker *me)
{
	lfpool_t *pool = me->scene;
	void *objects[MOST];

	/* A thread's first call allocates.  Stopped in there, it would have a lock of the allocator's. */
	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	sem_post(&frozen);
	while (!told_to_end(me)) {
		const uint32_t count = 1 + random_below(&me->random, MOST);

		for (uint32_t i = 0; i < count; i++) {
			objects[i] = lfpool_acquire(pool);
			/* All may be in the hands of the thread that checks. */
			if (objects[i])
				memset(objects[i], (int)i + 1, SIZE);
		}
		for (uint32_t i = 0; i < count; i++) {
			REQUIRE(!objects[i] || all_bytes_are(objects[i], SIZE, (unsigned char)(i + 1)));
			REQUIRE(lfpool_release(pool, objects[i]) == LFPOOL_OK);
		}
	}
}

static void freeze_once(const struct workers *victims, lfpool_t *pool, void **objects, bool bulk)
{
	size_t capacity = lfpool_capacity(pool), got;

	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims->worker[i].thread, SIGUSR1) == 0);
	for (int i = 0; i < VICTIMS; i++)
		while (sem_wait(&frozen))
			;
	got = bulk ? lfpool_acquire_bulk(pool, objects, capacity) : acquire_all(pool, objects, capacity);
	REQUIRE(got >= capacity - VICTIMS * MOST);
	REQUIRE(lfpool_active_count(pool) <= capacity && lfpool_available_count(pool) <= VICTIMS * MOST);
	REQUIRE(sort_disjoint(objects, got, SIZE));
	/* Half of it goes back while they stand; the other half they do without for a while. */
	release_all(pool, objects, got / 2);
	for (int i = 0; i < VICTIMS; i++)
		REQUIRE(pthread_kill(victims->worker[i].thread, SIGUSR2) == 0);
	REQUIRE(lfpool_release_bulk(pool, objects + got / 2, got - got / 2) == got - got / 2);
}

static void freeze_often(size_t capacity, size_t cache_capacity, uint32_t flags)
{
	const uint64_t seed = test_seed("frozen");
	struct random r = random_for(seed, VICTIMS);
	lfpool_t *pool = POOL_OF(SIZE, capacity, .cache_capacity = cache_capacity, .flags = flags);
	void **objects = pointers_new(capacity);
	struct workers victims;

	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	workers_start(&victims, VICTIMS, come_and_go, pool, seed);
	for (int i = 0; i < VICTIMS; i++)
		while (sem_wait(&frozen))
			;
	for (int round = 0; round < TIMES(1000, 300); round++) {
		/* Let them run for up to 30 microseconds: where the signal meets them is a matter of chance. */
		for (uint64_t until = now_ns() + random_below(&r, 30000); now_ns() < until;)
			;
		freeze_once(&victims, pool, objects, round % 3 == 0);
	}
	(void)workers_end(&victims);
	assert_int_equal(lfpool_misuse_count(pool), 0);
	pool_close(pool, SIZE);
	free(objects);
}

/* (With caches of the program's own, one step after the other: verify/step.) */
TEST(a_stopped_thread_holds_up_nobody)
{
	freeze_often(32, 0, 0);
	freeze_often(32, 2, 0);
	freeze_often(200, 8, 0);
	freeze_often(32, 4, LFPOOL_CHECK_RACES);
	freeze_often(64, 4, LFPOOL_ZERO);
	freeze_often(32, LFPOOL_CACHE_NONE, 0);
}

int main(void)
{
	prepare_signals();
	return tests_run(NULL, NULL);
}
