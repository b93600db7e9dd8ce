/* SPDX-License-Identifier: MIT */
/*
 * held.h - what the library holds of the operating system, for tests that have it refuse a call: nothing may be left
 * behind.  Only in programs that are linked with the testing build (os/os.h, LFPOOL_TESTING).
 */
#ifndef LFPOOL_TESTS_HELD_H
#define LFPOOL_TESTS_HELD_H

#include "os/os.h"
#include "support.h"

struct had {
	size_t mapped, blocks;
};

static inline struct had had_now(void)
{
	struct had h;

	os_testing_held(&h.mapped, &h.blocks);
	return h;
}

/* As much as before, and no more. */
static inline void require_had(struct had before)
{
	const struct had now = had_now();

	REQUIRE(now.mapped == before.mapped && now.blocks == before.blocks);
}

#endif
