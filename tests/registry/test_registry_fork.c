/* SPDX-License-Identifier: MIT */
/* test: threads once */
/*
 * test_registry_fork.c - a fork while other threads, or the same one in a hook, are in calls on a registry: the child
 * can use the registry, and nothing waits there for a call that it does not have.
 */
#include "../support/child.h"
#include "../support/workers.h"

#include "lfpool/registry.h"

#include <semaphore.h>

enum { SIZE = 64, CAPACITY = 8 };

/* ---- Hooks: where another thread stops, or this one forks ---- */

static struct {
	lfpool_registry_t *registry;
	lfpool_t *pool;
	_Atomic(bool) stops, forks;
	sem_t reached, leave;
	pid_t child;
} scene;

static void come_by(void)
{
	if (atomic_exchange(&scene.forks, false))
		scene.child = child_start();
	if (!atomic_exchange(&scene.stops, false))
		return;
	REQUIRE(sem_post(&scene.reached) == 0);
	while (sem_wait(&scene.leave) != 0)
		;
}

static bool create_hook(void *context, void *object)
{
	(void)context, (void)object;
	come_by();
	return true;
}

static void destroy_hook(void *context, void *object)
{
	(void)context, (void)object;
	come_by();
}

static lfpool_config_t hooked(void)
{
	return CONFIG_OF(SIZE, CAPACITY, .max_capacity = 2 * CAPACITY, .flags = LFPOOL_CREATE_ALL,
			 .hooks = {.create = create_hook, .destroy = destroy_hook});
}

/* With one pool, "b". */
static void open_scene(void)
{
	const lfpool_config_t config = hooked();

	REQUIRE(sem_init(&scene.reached, 0, 0) == 0 && sem_init(&scene.leave, 0, 0) == 0);
	REQUIRE(lfpool_registry_create(&scene.registry, "[small]\nb capacity=2\n", NULL) == LFPOOL_OK);
	REQUIRE(lfpool_registry_create_pool(scene.registry, "b", &config, &scene.pool) == LFPOOL_OK);
}

static void *create_a(void *argument)
{
	const lfpool_config_t config = hooked();
	lfpool_t *pool;

	REQUIRE(lfpool_registry_create_pool(scene.registry, "a", &config, &pool) == LFPOOL_OK);
	return argument;
}

static void *destroy_b(void *argument)
{
	REQUIRE(lfpool_registry_destroy_pool(scene.registry, scene.pool) == 0);
	return argument;
}

static void *shrink_b(void *argument)
{
	REQUIRE(lfpool_registry_switch(scene.registry, NULL, "small", NULL) == LFPOOL_OK);
	return argument;
}

/* ---- Another thread is in a call ---- */

/* The child can call everything; `name` is free, or its pool can be destroyed. */
static void use_registry(const char *name)
{
	const lfpool_config_t config = config_of(SIZE, CAPACITY);
	lfpool_t *pool = lfpool_registry_find(scene.registry, name);
	char text[4096];

	REQUIRE(lfpool_registry_dump(scene.registry, LFPOOL_TEXT, text, sizeof(text)) > 0);
	REQUIRE(!pool || lfpool_registry_destroy_pool(scene.registry, pool) != SIZE_MAX);
	REQUIRE(!lfpool_registry_find(scene.registry, name));
	REQUIRE(lfpool_registry_create_pool(scene.registry, name, &config, &pool) == LFPOOL_OK);
	REQUIRE(lfpool_release(pool, lfpool_acquire(pool)) == LFPOOL_OK);
	REQUIRE(lfpool_registry_switch(scene.registry, NULL, "small", NULL) == LFPOOL_OK);
	REQUIRE(lfpool_registry_destroy(scene.registry) != SIZE_MAX);
}

/* A fork while another thread is in a call; the child calls `use` with `name`. */
static void fork_during(void *(*call)(void *), void (*use)(const char *), const char *name)
{
	pthread_t other;
	pid_t child;

	open_scene();
	atomic_store(&scene.stops, true);
	thread_start(&other, call, NULL);
	while (sem_wait(&scene.reached) != 0)
		;
	child = child_start();
	if (child == 0) {
		use(name);
		_exit(0);
	}
	child_end(child);
	REQUIRE(sem_post(&scene.leave) == 0);
	REQUIRE(pthread_join(other, NULL) == 0);
	assert_int_equal(lfpool_registry_destroy(scene.registry), 0);
}

TEST(a_fork_while_another_thread_makes_a_pool)
{
	fork_during(create_a, use_registry, "a");
}

TEST(a_fork_while_another_thread_destroys_a_pool)
{
	fork_during(destroy_b, use_registry, "b");
}

TEST(a_fork_while_another_thread_switches_the_scenario)
{
	fork_during(shrink_b, use_registry, "b");
}

/* First of all. */
static void destroy_registry(const char *unused)
{
	(void)unused;
	REQUIRE(lfpool_registry_destroy(scene.registry) == 0);
}

TEST(a_child_destroys_a_registry_that_another_thread_was_in)
{
	fork_during(create_a, destroy_registry, NULL);
}

/* ---- In a hook of the calling thread's ---- */

/* Parent and child both finish the call. */
static void fork_inside(void *(*call)(void *), const char *name, bool there)
{
	open_scene();
	atomic_store(&scene.forks, true);
	(void)call(NULL);
	REQUIRE((lfpool_registry_find(scene.registry, name) != NULL) == there);
	REQUIRE(lfpool_registry_destroy(scene.registry) == 0);
	if (scene.child == 0)
		_exit(0);
	child_end(scene.child);
}

TEST(a_fork_in_a_hook_of_a_call)
{
	fork_inside(create_a, "a", true);
	fork_inside(destroy_b, "b", false);
	fork_inside(shrink_b, "b", true);
}

/* ---- The mutex ---- */

static void look_up(struct worker *me)
{
	while (!told_to_end(me))
		REQUIRE(lfpool_registry_find(scene.registry, "b"));
}

static void look_up_in_child(void *argument)
{
	REQUIRE(lfpool_registry_find(scene.registry, "b") == argument);
}

TEST(a_fork_while_another_thread_has_the_mutex)
{
	struct workers others;

	open_scene();
	workers_start(&others, 1, look_up, NULL, 0);
	for (int round = 0; round < TIMES(200, 20); round++)
		child_run(look_up_in_child, scene.pool);
	(void)workers_end(&others);
	assert_int_equal(lfpool_registry_destroy(scene.registry), 0);
}

RUN_TESTS()
