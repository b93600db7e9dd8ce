/* SPDX-License-Identifier: MIT */
/*
 * subject.c - what subjects have in common, see subject.h.
 */
#include "subject.h"

void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "lfpool-bench: out of memory\n");
		exit(3);
	}
	return pointer;
}

/* weak: a test may want to go on. */
__attribute__((weak)) void give_up(const char *subject, const char *why)
{
	fprintf(stderr, "lfpool-bench: %s: %s\n", subject, why);
	exit(3);
}

void *open_plan(const struct plan *plan)
{
	struct plan *own = must(malloc(sizeof(*own)));

	*own = *plan;
	return own;
}

void *join_shared(void *shared)
{
	return shared;
}

void leave_nothing(void *hand)
{
	(void)hand;
}
