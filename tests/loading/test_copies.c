/* SPDX-License-Identifier: MIT */
/*
 * test_copies.c - several copies of lfpool in one process: a static one in this program, which exports its symbols
 * and contains only some of lfpool's functions; static ones in plug-ins; and the shared library.
 *
 * Idea         All calls of a plug-in must go to one copy, its own, however it and others are loaded.  With
 *              interposable symbols a plug-in would call this program's lfpool_acquire(), and its own
 *              lfpool_acquire_wait(), which this program lacks.
 */
#include "../support/support.h"
#include "loading.h"

enum { COPIES = 4 };

static unsigned misuses;

static void on_misuse(void *context, const lfpool_misuse_t *misuse)
{
	(void)context;
	(void)misuse;
	misuses++;
}

/* Each copy has its own pools: another copy's are foreign and unknown to it. */
static void use_beside(const struct loaded *l, size_t count)
{
	lfpool_t *mine = POOL_OF(PLUG_IN_SIZE, PLUG_IN_CAPACITY, .hooks.misuse = on_misuse), *theirs[COPIES];
	void *object = lfpool_acquire(mine), *other[COPIES];
	const unsigned misuses_before = misuses;

	for (size_t i = 0; i < count; i++) {
		const struct plug_in *p = l[i].plug_in;

		theirs[i] = p->open();
		REQUIRE(theirs[i]);
		other[i] = p->acquire_wait(theirs[i], 0);
		use(p, theirs[i], 1);
		assert_ptr_equal(p->of(other[i]), theirs[i]);
		assert_null(p->of(object));
		assert_null(lfpool_of(other[i]));
		assert_int_equal(lfpool_release(mine, other[i]), LFPOOL_E_FOREIGN);
		assert_int_equal(p->active_count(theirs[i]), 1);
	}
	assert_int_equal(misuses - misuses_before, count);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++)
			assert_ptr_equal(l[i].plug_in->of(other[k]), i == k ? theirs[k] : NULL);
		assert_int_equal(l[i].plug_in->release(theirs[i], other[i]), LFPOOL_OK);
		assert_int_equal(l[i].plug_in->destroy(theirs[i]), 0);
	}
	assert_int_equal(lfpool_release(mine, object), LFPOOL_OK);
	assert_int_equal(lfpool_destroy(mine), 0);
}

struct all {
	struct loaded l[COPIES];
	size_t count;
};

static void *use_in_thread(void *argument)
{
	const struct all *all = argument;

	use_beside(all->l, all->count);
	return NULL;
}

static void use_all(struct all *all)
{
	pthread_t thread;

	use_beside(all->l, all->count);
	/* Each copy runs its own clean-up. */
	REQUIRE(pthread_create(&thread, NULL, use_in_thread, all) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
}

TEST(copies_loaded_with_rtld_local_are_separate)
{
	struct all all = {.l = {load(PLUG_IN_STATIC, RTLD_LOCAL), load(PLUG_IN_OTHER, RTLD_LOCAL)}, .count = 2};

	use_all(&all);
}

TEST(copies_loaded_with_rtld_global_are_separate)
{
	struct all all = {.l = {load(PLUG_IN_STATIC, RTLD_GLOBAL), load(PLUG_IN_OTHER, RTLD_GLOBAL)}, .count = 2};

	use_all(&all);
}

/* The plug-in's libraries are loaded into a separate namespace, including the C library.  glibc's pthread keys are
 * not safe there: each C library hands out the same ones.  So this program's keys must keep their values. */
TEST(copies_in_dlmopen_namespaces_leave_keys_alone)
{
	enum { KEYS = 8 };
	struct all all = {.count = 0};
	pthread_key_t keys[KEYS];
	const char *const paths[] = {PLUG_IN_SHARED, PLUG_IN_STATIC, PLUG_IN_SHARED, PLUG_IN_OTHER};

	for (size_t i = 0; i < COPIES; i++)
		all.l[all.count++] = offered(dlmopen(LM_ID_NEWLM, paths[i], RTLD_NOW));
	for (size_t i = 0; i < KEYS; i++)
		REQUIRE(pthread_key_create(&keys[i], NULL) == 0 && pthread_setspecific(keys[i], &keys[i]) == 0);
	use_all(&all);
	for (size_t i = 0; i < KEYS; i++)
		assert_ptr_equal(pthread_getspecific(keys[i]), &keys[i]);
}

RUN_TESTS()
