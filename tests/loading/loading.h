/* SPDX-License-Identifier: MIT */
/* loading.h - loads a plug-in, and uses its pool. */
#ifndef LFPOOL_TESTS_LOADING_H
#define LFPOOL_TESTS_LOADING_H

#include <dlfcn.h>
#include <pthread.h>

#include "../../common/require.h"
#include "plug_in.h"

struct loaded {
	void *library;
	const struct plug_in *plug_in;
};

/* The functions of a loaded library. */
static inline struct loaded offered(void *library)
{
	struct loaded l = {.library = library};
	const struct plug_in *(*function)(void);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	/* POSIX's way to convert a data pointer to a function pointer. */
	*(void **)&function = dlsym(library, "plug_in");
	REQUIRE(function);
	l.plug_in = function();
	return l;
}

static inline struct loaded load(const char *path, int mode)
{
	return offered(dlopen(path, RTLD_NOW | mode));
}

static inline void unload(struct loaded l)
{
	REQUIRE(dlclose(l.library) == 0);
}

/* Acquires everything, `missing` less than the capacity, and releases it. */
static inline void use(const struct plug_in *p, lfpool_t *pool, size_t missing)
{
	void *objects[PLUG_IN_CAPACITY + 1];
	size_t got = p->acquire_bulk(pool, objects, PLUG_IN_CAPACITY + 1);

	REQUIRE(got == PLUG_IN_CAPACITY - missing);
	REQUIRE(p->release_bulk(pool, objects, got) == got);
}

#endif
