/* SPDX-License-Identifier: MIT */
/* test: threads wrap=cell_vacate */
/*
 * unit_fork_others.c - a fork while another thread is in the middle of a call: the child calls each continuation that
 * had not begun to run, returns from fork() in mutex mode, and no debug mode mistakes its copy of a pool for a
 * damaged one.
 *
 * (At every instruction of a call: verify/step, step.fork and step.heirs.)
 */
#include "core/cells.h"

#include "../support/child.h"
#include "../support/kinds.h"
#include "../support/workers.h"

#include "lfpool/evict.h"
#include "lfpool/handle.h"

#include <sched.h>
#include <semaphore.h>

/* ---- The place where the other thread stops ---- */

static struct {
	_Atomic(bool) armed;
	sem_t reached, leave;
} halt;

static void halt_open(void)
{
	REQUIRE(sem_init(&halt.reached, 0, 0) == 0 && sem_init(&halt.leave, 0, 0) == 0);
	atomic_store(&halt.armed, true);
}

static void halt_here(void)
{
	if (!atomic_exchange(&halt.armed, false))
		return;
	REQUIRE(sem_post(&halt.reached) == 0);
	while (sem_wait(&halt.leave) != 0)
		;
}

static void halt_await(void)
{
	while (sem_wait(&halt.reached) != 0)
		;
}

/* A server has taken a continuation's cell, and is about to vacate it and to call the continuation. */
void __real_cell_vacate(struct waiters *d, struct cell *cell);
void __wrap_cell_vacate(struct waiters *d, struct cell *cell);

void __wrap_cell_vacate(struct waiters *d, struct cell *cell)
{
	halt_here();
	__real_cell_vacate(d, cell);
}

/* ---- Continuations ---- */

static struct {
	lfpool_t *pool;
	void *object; /* in use */
	unsigned calls, with_object;
} scene;

static void note(void *context, lfpool_t *pool, void *object)
{
	REQUIRE(context == &scene && pool == scene.pool);
	scene.calls++;
	scene.with_object += object != NULL;
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

static void *close_it(void *argument)
{
	(void)lfpool_close(scene.pool, 0);
	return argument;
}

static void *release_it(void *argument)
{
	REQUIRE(lfpool_release(scene.pool, scene.object) == LFPOOL_OK);
	return argument;
}

/* The queue's one continuation, while another thread is about to call it: called once in the parent and once in the
 * child, with an object if `given`. */
static void fork_before_a_call(void *(*serve)(void *), bool given)
{
	void *other;
	pthread_t server;
	pid_t child;

	scene.pool = pool_of(SIZE, 2);
	scene.calls = scene.with_object = 0;
	scene.object = lfpool_acquire(scene.pool);
	other = lfpool_acquire(scene.pool);
	REQUIRE(scene.object && other);
	REQUIRE(lfpool_acquire_async(scene.pool, note, &scene, NULL) == LFPOOL_OK);
	halt_open();
	thread_start(&server, serve, NULL);
	halt_await();
	assert_int_equal(scene.calls, 0);
	child = child_start();
	if (child == 0) {
		REQUIRE(lfpool_release(scene.pool, other) == LFPOOL_OK);
		(void)lfpool_destroy(scene.pool);
		REQUIRE(scene.calls == 1 && scene.with_object == given);
		_exit(0);
	}
	child_end(child);
	REQUIRE(sem_post(&halt.leave) == 0);
	REQUIRE(pthread_join(server, NULL) == 0);
	assert_int_equal(scene.calls, 1);
	assert_int_equal(scene.with_object, given);
	REQUIRE(lfpool_release(scene.pool, other) == LFPOOL_OK);
	assert_int_equal(lfpool_destroy(scene.pool), given ? 0 : 1);
}

TEST(a_continuation_that_a_close_is_about_to_call_is_called_in_the_child)
{
	fork_before_a_call(close_it, false);
}

TEST(a_continuation_that_a_release_is_about_to_call_is_called_in_the_child)
{
	fork_before_a_call(release_it, true);
}

/* ---- Mutex mode ---- */

static void *wait_for_all(void *pool)
{
	void *objects[4];

	REQUIRE(lfpool_acquire_bulk_wait(pool, NULL, objects, COUNT(objects), -1) == LFPOOL_OK);
	REQUIRE(lfpool_release_bulk(pool, objects, COUNT(objects)) == COUNT(objects));
	return NULL;
}

/* Holds the pool's mutex most of the time. */
static void use_the_mutex(struct worker *me)
{
	while (!told_to_end(me))
		(void)lfpool_release(me->scene, lfpool_acquire(me->scene));
}

static void use_in_child(void *argument)
{
	lfpool_t *pool = argument;
	void *object = lfpool_acquire(pool);

	/* The call that waited for four is gone, and its object is free, unless another call held it. */
	REQUIRE(stats_of(pool).waiting == 0);
	REQUIRE(lfpool_release(pool, object) == LFPOOL_OK);
}

TEST(the_child_of_a_fork_in_mutex_mode_is_not_locked_out)
{
	lfpool_t *pool = POOL_OF(SIZE, 4, .max_capacity = 4, .backend = LFPOOL_BACKEND_MUTEX);
	struct workers others;
	void *objects[4];
	pthread_t waiter;

	if (SANITIZED)
		SKIP("the sanitizers' own allocators are not ready for a fork in the midst of them");
	assert_int_equal(acquire_all(pool, objects, COUNT(objects)), COUNT(objects));
	thread_start(&waiter, wait_for_all, pool);
	while (stats_of(pool).waiting != 1)
		sched_yield();
	/* For the waiting call, which needs three more. */
	assert_int_equal(lfpool_release(pool, objects[0]), LFPOOL_OK);
	workers_start(&others, 1, use_the_mutex, pool, 0);
	for (int round = 0; round < 200; round++)
		child_run(use_in_child, pool);
	(void)workers_end(&others);
	assert_int_equal(lfpool_release_bulk(pool, objects + 1, 3), 3);
	REQUIRE(pthread_join(waiter, NULL) == 0);
	assert_int_equal(lfpool_destroy(pool), 0);
}

/* ---- Debug modes ---- */

static void count_finding(void *context, const lfpool_misuse_t *misuse)
{
	print_message("    in the child: %s\n", misuse->detail);
	++*(unsigned *)context;
}

static bool halt_in_hook(void *context, void *object)
{
	(void)context;
	(void)object;
	halt_here();
	return true;
}

static void *acquire_one(void *pool)
{
	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	return NULL;
}

static void *acquire_least(void *pool)
{
	lfpool_handle_t handle;

	REQUIRE(lfpool_acquire_evicting(pool, 1, &handle));
	lfpool_unpin(pool, handle);
	REQUIRE(lfpool_release_handle(pool, handle) == LFPOOL_OK);
	return NULL;
}

static void check_in_child(lfpool_evict_t evict, void *(*call)(void *))
{
	unsigned findings = 0;
	lfpool_t *pool = POOL_OF(SIZE, 10, .debug = "poison,guard,quarantine=4,check", .evict = evict,
				 .hooks = {.context = &findings, .misuse = count_finding, .activate = halt_in_hook});
	pthread_t other;
	pid_t child;

	halt_open();
	thread_start(&other, call, pool);
	halt_await();
	child = child_start();
	if (child == 0) {
		/* The object that the other thread held is lost here, which is no damage. */
		REQUIRE(lfpool_destroy(pool) <= 1);
		REQUIRE(findings == 0);
		_exit(0);
	}
	child_end(child);
	REQUIRE(sem_post(&halt.leave) == 0);
	REQUIRE(pthread_join(other, NULL) == 0);
	assert_int_equal(lfpool_destroy(pool), 0);
	assert_int_equal(findings, 0);
}

TEST(debug_modes_accept_a_child_s_copy_of_a_pool)
{
	check_in_child(LFPOOL_EVICT_NONE, acquire_one);
	check_in_child(LFPOOL_EVICT_LESS, acquire_least);
}

RUN_TESTS()
