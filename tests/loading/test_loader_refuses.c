/* SPDX-License-Identifier: MIT */
/*
 * test_loader_refuses.c - the loader refuses to keep a plug-in: then the plug-in gets no pool, and can be unloaded.
 *
 * Idea         The plug-in calls the program's dlopen() instead of the C library's.
 */
#include "../../common/test.h"
#include "loading.h"

static unsigned refused;
static bool refuse;

__attribute__((visibility("default"))) void *dlopen(const char *path, int mode)
{
	void *(*real)(const char *, int);

	if (refuse && mode & RTLD_NODELETE) {
		refused++;
		return NULL;
	}
	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	REQUIRE(real);
	return real(path, mode);
}

TEST(no_pool_until_the_loader_keeps_the_plug_in)
{
	struct loaded l = load(PLUG_IN_STATIC, RTLD_LOCAL);

	refuse = true;
	assert_null(l.plug_in->open());
	assert_int_equal(refused, 1);
	unload(l);
	assert_null(dlopen(PLUG_IN_STATIC, RTLD_NOW | RTLD_NOLOAD));

	l = load(PLUG_IN_STATIC, RTLD_LOCAL);
	assert_null(l.plug_in->open());
	assert_int_equal(refused, 2);
	refuse = false;

	lfpool_t *pool = l.plug_in->open();

	assert_non_null(pool);
	use(l.plug_in, pool, 0);
	assert_int_equal(l.plug_in->destroy(pool), 0);
	unload(l);
	assert_non_null(dlopen(PLUG_IN_STATIC, RTLD_NOW | RTLD_NOLOAD));
}

RUN_TESTS()
