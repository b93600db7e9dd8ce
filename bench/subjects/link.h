/* SPDX-License-Identifier: MIT */
/*
 * link.h - a list of free objects, linked through the objects themselves.
 */
#ifndef LFPOOL_BENCH_LINK_H
#define LFPOOL_BENCH_LINK_H

#include "../objects.h"

struct link {
	struct link *next;
};

/* NULL: there is none. */
static inline void *link_pop(struct link **first)
{
	struct link *link = *first;

	if (link)
		*first = link->next;
	return link;
}

static inline void link_push(struct link **first, void *object)
{
	struct link *link = (struct link *)object;

	link->next = *first;
	*first = link;
}

#endif
