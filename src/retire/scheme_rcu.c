/* SPDX-License-Identifier: MIT */
/*
 * scheme_rcu.c - lfpool/rcu.h: a batch is one callback of call_rcu().
 *
 * Idea         A flavour's struct has pointers to all its functions, so the same code works for every flavour.
 * Progress     The same as that of call_rcu(), which sometimes takes a lock and may wake its worker.  rcu_barrier()
 *              blocks.
 */
#include "lfpool/rcu.h"
#include "lfpool/retire.h"

#include <urcu/call-rcu.h>
#include <urcu/flavor.h>

_Static_assert(sizeof(struct rcu_head) <= LFPOOL_BATCH_ROOM, "a batch has room for a callback");

/* Called when the grace period is over. */
static void reclaim(struct rcu_head *head)
{
	lfpool_batch_reclaim((lfpool_batch_t *)head);
}

static void begin(void *context, lfpool_batch_t *batch)
{
	const struct rcu_flavor_struct *flavor = context;

	flavor->update_call_rcu((void *)batch->room, reclaim);
}

/* QSBR regards every online thread as inside a section.  So the thread becomes offline for a moment, and the flavour is
 * asked again. */
static bool in_section(const struct rcu_flavor_struct *flavor)
{
	if (!flavor->read_ongoing())
		return false;
	flavor->thread_offline();

	const bool inside = flavor->read_ongoing();

	flavor->thread_online();
	return inside;
}

static bool wait(void *context)
{
	const struct rcu_flavor_struct *flavor = context;

	if (in_section(flavor))
		return false;
	flavor->barrier();
	return true;
}

lfpool_scheme_t lfpool_rcu_scheme(const struct rcu_flavor_struct *flavor)
{
	const lfpool_scheme_t none = {0};

	/* The functions above convert the context back. */
	return flavor ? (lfpool_scheme_t){.context = (void *)(uintptr_t)flavor, .begin = begin, .wait = wait} : none;
}
