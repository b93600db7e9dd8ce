/* SPDX-License-Identifier: MIT */
/*
 * called.c - general allocators, each called through its own library: malloc() and free() of the C library, of
 * Debian's mimalloc, jemalloc and tcmalloc, and of snmalloc and rpmalloc if their source folders are named.
 *
 * Idea         dlopen(), so that none of them replaces the process's malloc() or another library's.  The calls go
 *              through a pointer, like linked calls into a shared library, but without the jump through a table.  The
 *              loops are the same machine code for all.
 * TLS          The libraries keep their threads' data in the static TLS block, where main() has reserved room.
 */
#include "../subject.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <string.h>

struct calls {
	void *(*acquire)(size_t bytes);
	void (*release)(void *object);
	size_t object_bytes;
};

#define SUBJECT_HAS_SIZES

static inline void *acquire_size(void *hand, size_t bytes)
{
	return ((const struct calls *)hand)->acquire(bytes);
}

static inline void *acquire(void *hand)
{
	return acquire_size(hand, ((const struct calls *)hand)->object_bytes);
}

static inline void release(void *hand, void *object)
{
	((const struct calls *)hand)->release(object);
}

#include "../loops.h"

static void *open_calls(struct calls calls, const struct plan *plan)
{
	struct calls *opened = (struct calls *)must(malloc(sizeof(*opened)));

	*opened = calls;
	opened->object_bytes = plan->object_bytes;
	return opened;
}

/* POSIX allows a function's address to be stored this way; ISO C has no conversion. */
static bool find(void *library, const char *symbol, void *function_out)
{
	void *address = dlsym(library, symbol);

	memcpy(function_out, &address, sizeof(address));
	return address != NULL;
}

/* Returns the reason why the library cannot be called; NULL: it can. */
static const char *load(struct calls *calls, const char *file, const char *package, const char *acquires,
			const char *releases)
{
	void *library;
	char *reason;

	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (library && find(library, acquires, &calls->acquire) && find(library, releases, &calls->release))
		return NULL;
	if (asprintf(&reason, "missing: %s (%s)", package, dlerror()) < 0)
		must(NULL);
	return reason;
}

/* The library's file: Debian's names contain the version. */
static const char *file_of(const struct calls *calls)
{
	static char path[4096];
	void *address;
	Dl_info info;

	memcpy(&address, &calls->acquire, sizeof(address));
	if (!dladdr(address, &info) || !realpath(info.dli_fname, path))
		return "";
	return strrchr(path, '/') + 1;
}

#define ALLOCATOR(id, its_name, its_what, its_version, its_open, its_absence) \
	const struct subject subject_##id = {                                 \
		.name = its_name,                                             \
		.group = "allocator",                                         \
		.what = its_what,                                             \
		.version = its_version,                                       \
		.absent = its_absence,                                        \
		SHARED_BY_ALL(its_open, free, SUBJECT_LOOPS),                 \
	}

#define CALLED(id, its_name, file, package, acquires, releases)                                                  \
	static struct calls id;                                                                                  \
	static const char *id##_absent(void)                                                                     \
	{                                                                                                        \
		return load(&id, file, package, acquires, releases);                                             \
	}                                                                                                        \
	static const char *id##_version(void)                                                                    \
	{                                                                                                        \
		return file_of(&id);                                                                             \
	}                                                                                                        \
	static void *id##_open(const struct plan *plan)                                                          \
	{                                                                                                        \
		return open_calls(id, plan);                                                                     \
	}                                                                                                        \
	ALLOCATOR(id, its_name, acquires "() and " releases "() of its shared library", id##_version, id##_open, \
		  id##_absent)

CALLED(mimalloc, "mimalloc", "libmimalloc.so.2", "libmimalloc2.0", "mi_malloc", "mi_free");
CALLED(jemalloc, "jemalloc", "libjemalloc.so.2", "libjemalloc2", "malloc", "free");
CALLED(tcmalloc, "tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", "tc_malloc", "tc_free");
#if defined(BENCH_HAS_SNMALLOC)
CALLED(snmalloc_called, "snmalloc-called", BENCH_SNMALLOC_LIBRARY, BENCH_SNMALLOC_LIBRARY, "sn_malloc", "sn_free");
#endif
#if defined(BENCH_HAS_RPMALLOC)
CALLED(rpmalloc_called, "rpmalloc-called", BENCH_RPMALLOC_LIBRARY, BENCH_RPMALLOC_LIBRARY, "rpmalloc", "rpfree");
#endif

static void *open_malloc(const struct plan *plan)
{
	return open_calls((struct calls){malloc, free, 0}, plan);
}

ALLOCATOR(malloc, "malloc", "malloc() and free() of the C library", gnu_get_libc_version, open_malloc, NULL);
