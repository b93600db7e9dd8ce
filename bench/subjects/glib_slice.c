/* SPDX-License-Identifier: MIT */
/*
 * glib_slice.c - GLib's slice allocator: magazines of blocks for each thread and size, a depot, slabs of a page.
 *
 * Documented   "Memory Slices": g_slice_alloc(size), given back with g_slice_free1() and the same size.  It never
 *              says NULL: out of memory ends the program.  The calls are inlined for no program.
 * Edges        G_SLICE=always-malloc or debug-blocks, GLib 2.76 or newer, and valgrind turn it into malloc(), and so
 *              does a size too large for its slabs: of ours, 4096.  GLib reads G_SLICE before main(), so what it
 *              says goes into the version that is reported.
 *              Slices are aligned to 16 bytes, as from malloc(), and no more.
 */
#include "../subject.h"

#include <glib.h>
#include <string.h>

static inline void *acquire(void *hand)
{
	return g_slice_alloc(((const struct size *)hand)->object_bytes);
}

static inline void release(void *hand, void *object)
{
	g_slice_free1(((const struct size *)hand)->object_bytes, object);
}

#include "../workloads.h"

static const char *version(void)
{
	static char text[96];
	const char *setting = getenv("G_SLICE");

	(void)snprintf(text, sizeof(text), "glib %u.%u.%u%s%s%.32s", glib_major_version, glib_minor_version, glib_micro_version,
		       glib_check_version(2, 76, 0) ? "" : ", where it is malloc()", setting ? ", G_SLICE=" : "",
		       setting ? setting : "");
	return text;
}

const struct subject subject_glib_slice = {
	.name = "glib-slice",
	.group = "allocator",
	.what = "GLib: g_slice_alloc() and g_slice_free1()",
	.version = version,
	SHARED_BY_ALL(open_size, free, SUBJECT_LOOPS),
};
