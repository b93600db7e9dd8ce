/* SPDX-License-Identifier: MIT */
/*
 * lfpool_rcu.c - lfpool_release_rcu() with liburcu's memb: one call_rcu() for each batch.  With each backend.
 */
#include "memb.h"

#include "../subjects/pool.h"

#include <lfpool/rcu.h>

static inline void defer(void *hand, void *node)
{
	(void)lfpool_release_rcu((lfpool_t *)hand, node);
}

#define acquire pool_acquire
#define acquire_wait pool_acquire_wait
#define settle pool_settle
#define in_flight pool_in_flight
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

#define SUBJECT(its_name, its_what, its_traits, its_open) \
	{.name = its_name,                                \
	 .group = "lfpool",                               \
	 .what = its_what,                                \
	 .traits = TRAIT_BOUNDED | its_traits,            \
	 MEMB_MEMBERS(its_open, pool_close)}

const struct subject subject_retire_rcu = SUBJECT(
	"lfpool-rcu", "lfpool_release_rcu(): one call_rcu() of liburcu, memb, for each batch", TRAIT_BACKLOG, open_lockfree);
const struct subject subject_retire_rcu_mutex = SUBJECT("lfpool-rcu-mutex", "the same over the backend with a mutex", 0,
							open_mutex);
const struct subject subject_retire_rcu_malloc = SUBJECT(
	"lfpool-rcu-malloc", "the same over the backend that calls malloc() and free()", 0, open_malloc);
