/* SPDX-License-Identifier: MIT */
/*
 * process.c - process-wide setup before the first pool: keeps the library loaded, handles fork, notices thread exits.
 *
 * Locks        A handler takes all locks before a fork, in the order in which calls take them: `list_mutex`, windows
 *              (window.h), registries, live pools, pools in mutex mode.  The child releases all locks before it runs a
 *              hook or a continuation.
 * Progress     process_open(): may enter the kernel.
 */
#include "api/api.h"
#include "api/window.h"

#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/slots.h"
#include "pool/threads.h"
#include "waiting/waiters.h"

/* ---- Fork: the handlers hold every lock of the library, so that its data are consistent in the child ---- */

static void lock_pool(lfpool_t *pool)
{
	if (pool->locked)
		os_mutex_lock(&pool->mutex);
}

static void unlock_pool(lfpool_t *pool)
{
	if (pool->locked)
		os_mutex_unlock(&pool->mutex);
}

/* The handlers take this lock first, because no call takes it while it holds another lock. */
static os_mutex_t list_mutex = OS_MUTEX_INITIALIZER;
static struct fork_mutex *fork_mutexes;

static void lock_all(void)
{
	os_mutex_lock(&list_mutex);
	windows_lock();
	for (struct fork_mutex *m = fork_mutexes; m; m = m->next)
		os_mutex_lock(&m->mutex);
	live_pools_lock();
	live_pools_each(lock_pool);
}

static void unlock_all(void)
{
	live_pools_each(unlock_pool);
	live_pools_unlock();
	for (struct fork_mutex *m = fork_mutexes; m; m = m->next)
		os_mutex_unlock(&m->mutex);
	windows_unlock();
	os_mutex_unlock(&list_mutex);
}

bool fork_mutex_open(struct fork_mutex *m)
{
	if (!process_open() || !os_mutex_open(&m->mutex))
		return false;
	os_mutex_lock(&list_mutex);
	m->next = fork_mutexes;
	fork_mutexes = m;
	os_mutex_unlock(&list_mutex);
	return true;
}

void fork_mutex_close(struct fork_mutex *m)
{
	struct fork_mutex **at = &fork_mutexes;

	os_mutex_lock(&list_mutex);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	os_mutex_unlock(&list_mutex);
	os_mutex_close(&m->mutex);
}

/* Written only in the child of a fork, while it has one thread. */
static uint32_t forks;
static uintptr_t forker;

uint32_t process_forks(void)
{
	return forks;
}

uintptr_t process_forker(void)
{
	return forker;
}

/* The child has a copy of the pool's records, but shares the objects with its parent.  So the child closes its copy of
 * the pool, and runs no hooks for that copy: no object gets a second holder, and no hook changes an object. */
static void disown(lfpool_t *pool)
{
	struct cold *cold = &pool->core.cold;
	uint32_t slot;

	pool->disowned = true;
	waiters_close(&pool->waiters);
	cold_close(cold);
	while ((slot = slots_take(pool, NULL)))
		cold_withdraw(cold, slot);
	pool->each_call = NULL;
	pool->quarantine = NULL;
	pool->aside = NULL;
}

static bool is_shared(const lfpool_t *pool)
{
	const struct arena *arena = &pool->core.arena;
	const uintptr_t end = arena->zero + (uintptr_t)(arena->slots + 1) * arena->stride;

	return arena->lent && os_is_shared(arena->objects, end - (uintptr_t)arena->objects);
}

/* Runs in the child of a fork.  The calls of other threads are gone, and slots that were given to them can be given to
 * other calls.  The locks are released first, because this function runs hooks and continuations. */
static void unlock_in_child(void)
{
	lfpool_t *pool;

	os_forget_thread_id();
	forks++;
	forker = os_thread_self();
	unlock_all();
	for (size_t place = 0; (pool = live_pools_next(&place));) {
		pool->inherited = true;
		waiters_forget_calls(pool);
		if (is_shared(pool))
			disown(pool);
	}
	for (size_t place = 0; (pool = live_pools_next(&place));)
		resize_serve_if_wanted(pool, NULL);
}

/* ---- Once ---- */

static bool has_fork_handlers, notices_exits;

bool process_open(void)
{
	live_pools_lock();
	bool ready = has_fork_handlers && notices_exits;

	live_pools_unlock();
	if (ready)
		return true;

	/* os_stay_loaded() takes the loader's lock.  The constructor of another library runs with that lock held, and
	 * takes the lock of the live pools if it creates a pool.  So this call must not hold the lock of the live pools
	 * here.  Several threads may be here at once. */
	bool keys_usable;

	if (!os_stay_loaded(&keys_usable))
		return false;
	live_pools_lock();
	/* The fork handlers and the notice of exits are each set up once, even if the other one fails. */
	has_fork_handlers = has_fork_handlers || os_at_fork(lock_all, unlock_all, unlock_in_child);
	notices_exits = notices_exits || threads_notice_exits(keys_usable);
	ready = has_fork_handlers && notices_exits;
	live_pools_unlock();
	return ready;
}
