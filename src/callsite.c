/* SPDX-License-Identifier: MIT */
/*
 * callsite.c - see callsite.h.
 */
#include "callsite.h"

#include "text.h"

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
	void *frame;

	(void)backtrace(&frame, 1);
#endif
}

#ifdef HAVE_BACKTRACE
static bool is_public(const void *frame)
{
	Dl_info info;

	return dladdr((const char *)frame - 1, &info) && info.dli_sname && strncmp(info.dli_sname, "lfpool_", 7) == 0;
}

/* The first frame that is not this library's, if its public functions' names are known; else the first.  What they call
 * in the library has no name that is known. */
static uint32_t first_foreign(void *const *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < FRAMES_OURS_MAX; i++) {
		if (!is_public(frames[i]))
			continue;
		while (i < count && is_public(frames[i]))
			i++;
		return i;
	}
	return 0;
}
#endif

NOINLINE uint32_t callsite_find(void **frames_out, uint32_t room)
{
#ifdef HAVE_BACKTRACE
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
	const char *call = frame - 1;
	Dl_info info;

	if (!dladdr(call, &info) || !info.dli_fname) {
		text_put(text, "%p", (const void *)frame);
	} else if (info.dli_sname) {
		text_put(text, "%s+0x%zx", info.dli_sname, (size_t)(frame - (const char *)info.dli_saddr));
	} else {
		const char *slash = strrchr(info.dli_fname, '/');

		text_put(text, "%s+0x%zx", slash ? slash + 1 : info.dli_fname,
			 (size_t)(call - (const char *)info.dli_fbase));
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
