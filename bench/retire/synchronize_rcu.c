/* SPDX-License-Identifier: MIT */
/*
 * synchronize_rcu.c - malloc(), and for each update synchronize_rcu() and free(): no callback, no worker, and each update
 * waits for a grace period.
 */
#include "memb.h"

static inline void defer(void *hand, void *node)
{
	(void)hand;
	urcu_memb_synchronize_rcu();
	free(node);
}

#define acquire node_malloc
#define acquire_wait node_malloc_wait
#define settle settle_nothing
#define in_flight none_in_flight
#define UPDATES_DIVISOR 1024
#include "loops.h"

const struct subject subject_synchronize_rcu = {
	.name = "synchronize-rcu",
	.what = "malloc(), synchronize_rcu() and free() for each object",
	OWN_MEMB_MEMBERS(memb_open_nothing, leave_nothing),
};
