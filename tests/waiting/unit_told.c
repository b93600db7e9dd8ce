/* SPDX-License-Identifier: MIT */
/* test: threads once wrap=cell_wake */
/*
 * unit_told.c - a thread that closes a pool stops between its change of a waiting call's cell and the wake-up: the next
 * call that looks at the queue wakes that call (W5), wherever its cell is.
 */
#include "core/cells.h"
#include "os/os.h"

#include "../support/workers.h"

#include "lfpool/wait.h"

#include <sched.h>
#include <semaphore.h>

enum { SIZE = 64 };

static struct {
	lfpool_t *pool;
	size_t told; /* continuations called with NULL */
	_Atomic(bool) returned;
	_Atomic(uintptr_t) closer;
	sem_t reached, leave;
} scene;

void __real_cell_wake(const struct waiters *d, struct cell *cell, uint64_t word);
void __wrap_cell_wake(const struct waiters *d, struct cell *cell, uint64_t word);

void __wrap_cell_wake(const struct waiters *d, struct cell *cell, uint64_t word)
{
	if (atomic_load(&scene.closer) == os_thread_self()) {
		atomic_store(&scene.closer, 0);
		REQUIRE(sem_post(&scene.reached) == 0);
		while (sem_wait(&scene.leave) != 0)
			;
	}
	__real_cell_wake(d, cell, word);
}

static void count(void *context, lfpool_t *pool, void *object)
{
	(void)context, (void)pool;
	REQUIRE(!object);
	scene.told++;
}

static void *wait_for_one(void *argument)
{
	/* It may find the object that was released, as the close is not complete. */
	REQUIRE(lfpool_release(scene.pool, lfpool_acquire_wait(scene.pool, -1)) == LFPOOL_OK);
	atomic_store(&scene.returned, true);
	return argument;
}

static void *close_it(void *argument)
{
	atomic_store(&scene.closer, os_thread_self());
	(void)lfpool_close(scene.pool, 0);
	return argument;
}

/* Behind `continuations` others: in the first lot of cells, or in the tree. */
static void stop_before_a_wake_up(size_t continuations)
{
	void *objects[2];
	pthread_t waiter, closer;

	scene.pool = pool_of(SIZE, 2);
	scene.told = 0;
	atomic_store(&scene.returned, false);
	REQUIRE(sem_init(&scene.reached, 0, 0) == 0 && sem_init(&scene.leave, 0, 0) == 0);
	REQUIRE(acquire_all(scene.pool, objects, 2) == 2);
	for (size_t i = 0; i < continuations; i++)
		REQUIRE(lfpool_acquire_async(scene.pool, count, NULL, NULL) == LFPOOL_OK);
	thread_start(&waiter, wait_for_one, NULL);
	while (stats_of(scene.pool).waiting != continuations + 1)
		sched_yield();
	thread_start(&closer, close_it, NULL);
	while (sem_wait(&scene.reached) != 0)
		;
	assert_int_equal(scene.told, continuations);
	assert_int_equal(lfpool_release(scene.pool, objects[0]), LFPOOL_OK);
	REQUIRE(pthread_join(waiter, NULL) == 0);
	assert_true(atomic_load(&scene.returned));
	REQUIRE(sem_post(&scene.leave) == 0);
	assert_int_equal(lfpool_release(scene.pool, objects[1]), LFPOOL_OK);
	REQUIRE(pthread_join(closer, NULL) == 0);
	assert_int_equal(lfpool_destroy(scene.pool), 0);
}

TEST(a_call_is_woken_though_the_thread_that_closes_has_stopped)
{
	stop_before_a_wake_up(0);
	stop_before_a_wake_up(CELL_LOT);
	stop_before_a_wake_up(5 * CELL_LOT);
}

RUN_TESTS()
