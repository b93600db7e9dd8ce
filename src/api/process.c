/* SPDX-License-Identifier: MIT */
/*
 * process.c - what a process needs once, before its first pool: the library stays loaded, handlers of fork, thread exits.
 *
 * Progress     process_open(): may enter the kernel.  The handlers take the lock of the live pools.
 */
#include "api/life.h"

#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/pool.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

static bool has_fork_handlers, notices_exits;

/* In the child of a fork: the calls of other threads that waited or served are gone, and what they had in their hands may have
 * another holder now.  Not under the lock: hooks and continuations run. */
static void unlock_in_child(void)
{
	lfpool_t *pool;

	os_forget_thread_id();
	live_pools_unlock();
	for (size_t place = 0; (pool = live_pools_next(&place));)
		waiters_forget_calls(pool);
	for (size_t place = 0; (pool = live_pools_next(&place));)
		if (pool->core)
			resize_serve_if_wanted(pool, NULL);
}

bool process_open(void)
{
	live_pools_lock();
	bool ready = has_fork_handlers && notices_exits;

	live_pools_unlock();
	if (ready)
		return true;

	/* Takes the loader's lock, so not under ours: a library's constructor, which creates a pool, takes them in the other
	 * order.  More than one thread may come here. */
	bool keys_usable;

	if (!os_stay_loaded(&keys_usable))
		return false;
	live_pools_lock();
	/* Each once, also when the other was refused. */
	has_fork_handlers = has_fork_handlers || os_at_fork(live_pools_lock, live_pools_unlock, unlock_in_child);
	notices_exits = notices_exits || threads_notice_exits(keys_usable);
	ready = has_fork_handlers && notices_exits;
	live_pools_unlock();
	return ready;
}
