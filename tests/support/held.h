/* SPDX-License-Identifier: MIT */
/*
 * held.h - what the library holds of the operating system, for tests that have it refuse a call: nothing may be left
 * behind.  Only in programs that are linked with the testing build (os/os.h, LFPOOL_TESTING).
 */
#ifndef LFPOOL_TESTS_HELD_H
#define LFPOOL_TESTS_HELD_H

#include "os/os.h"
#include "support.h"

struct held {
	size_t mapped, blocks;
};

static inline struct held held_now(void)
{
	struct held h;

	os_testing_held(&h.mapped, &h.blocks);
	return h;
}

/* As much as before, and no more. */
static inline void require_held(struct held before)
{
	const struct held now = held_now();

	REQUIRE(now.mapped == before.mapped && now.blocks == before.blocks);
}

#endif
