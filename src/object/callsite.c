/* SPDX-License-Identifier: MIT */
/*
 * callsite.c - see callsite.h.
 */
#include "object/callsite.h"

#include "base/text.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAVE_BACKTRACE 1
#endif
#endif

/* This function, record() and owner_acquired() are nobody's call site. */
#define FRAMES_OURS 3
#define FRAMES_OURS_MAX 12
#define FRAMES_MAX 32

void callsite_prepare(void)
{
#ifdef HAVE_BACKTRACE
	KEEP_ERRNO();
	void *frame;

	(void)backtrace(&frame, 1);
#endif
}

#ifdef HAVE_BACKTRACE
/* The first frame that is not this library's, as far as can be told: the one behind its last public function before any
 * other function with a name.  What a public function calls in the library has no name that is known. */
static uint32_t first_foreign(void *const *frames, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count && i < FRAMES_OURS_MAX; i++) {
		Dl_info info;

		if (!dladdr((const char *)frames[i] - 1, &info) || !info.dli_sname)
			continue;
		if (strncmp(info.dli_sname, "lfpool_", 7) != 0)
			break;
		first = i + 1;
	}
	return first;
}
#endif

NOINLINE uint32_t callsite_find(void **frames_out, uint32_t room)
{
#ifdef HAVE_BACKTRACE
	KEEP_ERRNO();
	void *frames[FRAMES_MAX];
	const int found = backtrace(frames, FRAMES_MAX);
	uint32_t count = 0;

	if (found <= FRAMES_OURS)
		return 0;

	const uint32_t outside = (uint32_t)found - FRAMES_OURS;

	for (uint32_t i = first_foreign(frames + FRAMES_OURS, outside); i < outside && count < room; i++)
		frames_out[count++] = frames[FRAMES_OURS + i];
	return count;
#else
	(void)frames_out;
	(void)room;
	return 0;
#endif
}

static void put_frame(struct text *text, const char *frame)
{
	/* A return address may be the first byte of the next function. */
	KEEP_ERRNO();
	const char *call = frame - 1;
	Dl_info info;

	if (!dladdr(call, &info) || !info.dli_fname) {
		text_put(text, "%p", (const void *)frame);
	} else if (info.dli_sname) {
		text_put(text, "%s+0x%zx", info.dli_sname, (size_t)(frame - (const char *)info.dli_saddr));
	} else {
		const char *slash = strrchr(info.dli_fname, '/');

		text_put(text, "%s+0x%zx", slash ? slash + 1 : info.dli_fname, (size_t)(call - (const char *)info.dli_fbase));
	}
}

void callsite_put(struct text *text, void *const *frames, uint32_t count)
{
	const char *between = "";

	for (uint32_t i = 0; i < count; i++) {
		text_put(text, "%s", between);
		put_frame(text, frames[i]);
		between = " < ";
	}
}
