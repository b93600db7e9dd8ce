/* SPDX-License-Identifier: MIT */
/*
 * test_loading.c - plug-ins that use lfpool, loaded and unloaded: linked with the shared library, and with a static
 * copy inside.  This program itself has no lfpool.
 *
 * Idea         A thread's exit runs lfpool's clean-up code, so that code must not be unloaded earlier.  And reloading
 *              must not make the process larger, or use another pthread key.
 */
#include "../support/support.h"
#include "loading.h"

#include <limits.h>
#include <semaphore.h>
#include <sys/wait.h>

enum { ROUNDS = 2000, WARM = 200 };

static const char *const plug_ins[] = {PLUG_IN_SHARED, PLUG_IN_STATIC};

/* ---- The process's resources ---- */

static size_t keys_left(void)
{
	static pthread_key_t keys[PTHREAD_KEYS_MAX];
	size_t count = 0;

	while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
		count++;
	for (size_t i = 0; i < count; i++)
		REQUIRE(pthread_key_delete(keys[i]) == 0);
	return count;
}

/* ---- A thread that uses the plug-in ---- */

struct visit {
	const struct plug_in *plug_in;
	lfpool_t *pool;
	sem_t used, leave;
	bool wait_outside; /* before it exits, when the plug-in may be unloaded */
	pthread_t thread;
};

static void *visit(void *argument)
{
	struct visit *v = argument;

	use(v->plug_in, v->pool, 0);
	REQUIRE(sem_post(&v->used) == 0);
	while (v->wait_outside && sem_wait(&v->leave))
		;
	return NULL;
}

static void visit_start(struct visit *v, const struct plug_in *p, lfpool_t *pool, bool wait_outside)
{
	*v = (struct visit){.plug_in = p, .pool = pool, .wait_outside = wait_outside};
	REQUIRE(sem_init(&v->used, 0, 0) == 0 && sem_init(&v->leave, 0, 0) == 0);
	REQUIRE(pthread_create(&v->thread, NULL, visit, v) == 0);
	while (sem_wait(&v->used))
		;
}

static void one_load(const char *path, bool thread_stays)
{
	struct loaded l = load(path, RTLD_LOCAL);
	lfpool_t *pool = l.plug_in->open();
	struct visit v;

	REQUIRE(pool);
	visit_start(&v, l.plug_in, pool, thread_stays);
	if (!thread_stays)
		REQUIRE(pthread_join(v.thread, NULL) == 0);
	use(l.plug_in, pool, 0);
	REQUIRE(l.plug_in->destroy(pool) == 0);
	unload(l);
	if (thread_stays) {
		REQUIRE(sem_post(&v.leave) == 0);
		REQUIRE(pthread_join(v.thread, NULL) == 0);
	}
}

static void load_again_and_again(const char *path)
{
	size_t before = 0, keys = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (round == WARM) {
			before = mapped_bytes();
			keys = keys_left();
		}
		one_load(path, round % 2);
	}
	assert_true(mapped_bytes() <= before + MIB);
	assert_true(keys > 900);
	assert_int_equal(keys_left(), keys);
}

TEST(reloading_leaks_neither_memory_nor_keys)
{
	for (size_t i = 0; i < COUNT(plug_ins); i++)
		load_again_and_again(plug_ins[i]);
}

/* In a child, which ends by exit() while a thread that used the pool is running. */
TEST(a_plug_in_s_destructor_uses_its_pool_when_the_process_ends)
{
	for (size_t i = 0; i < COUNT(plug_ins); i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			static struct visit v;
			struct loaded l = load(plug_ins[i], RTLD_LOCAL);
			lfpool_t *pool = l.plug_in->open();

			visit_start(&v, l.plug_in, pool, true);
			use(l.plug_in, pool, 0);
			l.plug_in->leave(pool);
			exit(1);
		}
		REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), PLUG_IN_FINE);
	}
}

/* Only a plug-in that has made a pool stays loaded. */
TEST(a_plug_in_that_made_no_pool_is_unloaded)
{
	unload(load(PLUG_IN_UNUSED, RTLD_LOCAL));
	assert_null(dlopen(PLUG_IN_UNUSED, RTLD_NOW | RTLD_NOLOAD));
}

RUN_TESTS()
