/* SPDX-License-Identifier: MIT */
/*
 * lfpool_rcu.c - lfpool_release_rcu() with liburcu's memb: one call_rcu() for each batch.  With each backend.
 */
#include "memb.h"

#include "../subjects/pool.h"

#include <lfpool/rcu.h>

static inline void *acquire(void *hand)
{
	return lfpool_acquire((lfpool_t *)hand);
}

static void *acquire_wait(void *hand)
{
	return must(lfpool_acquire_wait((lfpool_t *)hand, -1));
}

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release_rcu((lfpool_t *)hand, node);
}

static void settle(void *hand, bool first)
{
	if (first && lfpool_drain((lfpool_t *)hand) != LFPOOL_OK)
		give_up("lfpool-rcu", "it could not be drained");
}

static size_t in_flight(void *shared, size_t deferred)
{
	(void)deferred;
	return lfpool_retired_count((const lfpool_t *)shared);
}

#include "loops.h"

static void *open_with(const struct plan *plan, lfpool_backend_t backend)
{
	memb_start();
	return pool_open_deferring(plan, backend, lfpool_rcu_scheme(&urcu_memb_flavor));
}

static void *open_lockfree(const struct plan *plan)
{
	return open_with(plan, LFPOOL_BACKEND_LOCKFREE);
}

static void *open_mutex(const struct plan *plan)
{
	return open_with(plan, LFPOOL_BACKEND_MUTEX);
}

static void *open_malloc(const struct plan *plan)
{
	return open_with(plan, LFPOOL_BACKEND_MALLOC);
}

const struct subject subject_retire_rcu = {
	.name = "lfpool-rcu",
	.group = "lfpool",
	.what = "lfpool_release_rcu(): one call_rcu() of liburcu, memb, for each batch",
	.traits = TRAIT_BOUNDED | TRAIT_BACKLOG,
	.open = open_lockfree,
	.close = pool_close,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};

const struct subject subject_retire_rcu_mutex = {
	.name = "lfpool-rcu-mutex",
	.group = "lfpool",
	.what = "the same over the backend with a mutex",
	.traits = TRAIT_BOUNDED,
	.open = open_mutex,
	.close = pool_close,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};

const struct subject subject_retire_rcu_malloc = {
	.name = "lfpool-rcu-malloc",
	.group = "lfpool",
	.what = "the same over the backend that calls malloc() and free()",
	.traits = TRAIT_BOUNDED,
	.open = open_malloc,
	.close = pool_close,
	.join = memb_join,
	.leave = memb_leave,
	.loops = RETIRING_LOOPS,
};
