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

static void *open_nothing(const struct plan *plan)
{
	static char anything;

	(void)plan;
	return &anything;
}

static void close_nothing(void *shared)
{
	(void)shared;
}

static const char *version(void)
{
	return "liburcu " BENCH_URCU_VERSION;
}

const struct subject subject_synchronize_rcu = {
	.name = "synchronize-rcu",
	.group = "own",
	.what = "malloc(), synchronize_rcu() and free() for each object",
	.version = version,
	.open = open_nothing,
	.close = close_nothing,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};
