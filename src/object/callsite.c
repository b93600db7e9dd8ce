/* SPDX-License-Identifier: MIT */
/*
 * callsite.c - where a function was called from: found cheaply, named when it is read.
 *
 * Idea         The C library's backtrace() where it has one; elsewhere nothing is found.  Names come from the dynamic
 *              symbols: a program linked with -rdynamic has them all; else "program+0x1234", which addr2line -e program
 *              0x1234 turns into a line.
 */
#include "base/text.h"
#include "object/owner.h"
#include "os/os.h"

#include <string.h>

/* os_backtrace(), its caller, record() and owner_acquired() are nobody's call site. */
#define FRAMES_OURS 4
#define FRAMES_OURS_MAX 12
#define FRAMES_MAX 32

void callsite_prepare(void)
{
	void *frame;

	(void)os_backtrace(&frame, 1);
}

/* The first frame that is not this library's, as far as can be told: the one behind its last public function before any
 * other function with a name.  What a public function calls in the library has no name that is known. */
static uint32_t first_foreign(void *const *frames, uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count && i < FRAMES_OURS_MAX; i++) {
		const char *name = os_symbol_at((const char *)frames[i] - 1).name;

		if (!name)
			continue;
		if (strncmp(name, "lfpool_", 7) != 0)
			break;
		first = i + 1;
	}
	return first;
}

NOINLINE uint32_t callsite_find(void **frames_out, uint32_t room)
{
	void *frames[FRAMES_MAX];
	const uint32_t found = os_backtrace(frames, FRAMES_MAX);
	uint32_t count = 0;

	if (found <= FRAMES_OURS)
		return 0;

	const uint32_t outside = found - FRAMES_OURS;

	for (uint32_t i = first_foreign(frames + FRAMES_OURS, outside); i < outside && count < room; i++)
		frames_out[count++] = frames[FRAMES_OURS + i];
	return count;
}

static void put_frame(struct text *text, const char *frame)
{
	/* A return address may be the first byte of the next function. */
	const char *call = frame - 1;
	const struct os_symbol symbol = os_symbol_at(call);

	if (!symbol.file) {
		text_put(text, "%p", (const void *)frame);
	} else if (symbol.name) {
		text_put(text, "%s+0x%zx", symbol.name, (size_t)(frame - symbol.name_base));
	} else {
		const char *slash = strrchr(symbol.file, '/');

		text_put(text, "%s+0x%zx", slash ? slash + 1 : symbol.file, (size_t)(call - symbol.file_base));
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
