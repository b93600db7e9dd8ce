/* SPDX-License-Identifier: MIT */
/*
 * lives.h - a process uses the library while the system refuses: all public functions that may enter the kernel, in
 * lives of pools of all kinds.
 *
 * Idea         A life continues after any refusal, and requires the promises that hold even then: the statuses in
 *              the headers, every object, kept contents, errno left alone.  A `strict` life requires that everything
 *              succeeds.
 */
#ifndef LFPOOL_TESTS_REFUSALS_LIVES_H
#define LFPOOL_TESTS_REFUSALS_LIVES_H

#include "refusals.h"

#include "lfpool/lfpool.h"

#include <stdatomic.h>

#define FUNCTIONS_MAX 128
#define NAME_BYTES 40

/* Results that children leave for their parent. */
struct shared {
	char failure[256];
	char function[FUNCTIONS_MAX][NAME_BYTES];
	atomic_uint functions;
	atomic_bool made[REFUSALS];    /* a function made such a call */
	unsigned long calls[REFUSALS]; /* in a life without refusals */
	struct held held;
};

struct life {
	const char *name;
	void (*live)(const struct life *life, bool strict);
	uint32_t flags;
	lfpool_backend_t backend;
	const char *debug;
	bool hooks, forks;
};

extern struct shared *shared;
extern const struct life lives[];
extern const size_t life_count;

/* A promise is broken: ends the process. */
_Noreturn void must_failed(const char *condition, int line);

/* From here on errno has a value that no call may change. */
void errno_mark(void);

#endif
