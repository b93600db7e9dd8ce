/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a cache for each thread, found through one thread-local table, handed back when the thread exits.
 *
 * Idea         A thread's table is indexed by the pool's place in the registry and holds {pool id, cache}.  Ids are
 *              never used twice, so an entry of a destroyed pool never matches; the next pool in that place
 *              overwrites it.  A fresh thread points to an entry that matches nothing, so the look-up needs no test
 *              for "no table".  At thread exit a pthread key's destructor hands the caches of living pools back;
 *              calls after that (from other destructors) find the `gone` entry and borrow a cache for each call.
 * Invariants   L1  thread_mask + 1 entries exist, a power of two, more than any place that has an entry.
 * Progress     Look-up: wait-free.  First use by a thread: may enter the kernel.  Exit: takes the registry's lock.
 */
#include "os.h"
#include "pool.h"
#include "registry.h"
#include "threads.h"

#include <errno.h>

static struct thread_entry nothing, gone;
THREAD_LOCAL struct thread_entry *thread_entries = &nothing;
THREAD_LOCAL uintptr_t thread_mask;
static THREAD_LOCAL struct serving *serving;

static pthread_key_t exit_key;
static bool has_fork_handlers, has_exit_key;

/* The key's destructor. */
static void hand_back(void *memory)
{
	struct thread_entry *entries = memory;
	uintptr_t mask = thread_mask;

	thread_entries = &gone;
	thread_mask = 0;
	registry_lock();
	for (uintptr_t i = 0; i <= mask; i++) {
		lfpool_t *pool = entries[i].pool_id ? registry_find(entries[i].pool_id) : NULL;

		if (pool)
			pool->backend->cache_destroy(entries[i].handle);
	}
	registry_unlock();
	os_heap_free(entries);
}

/* In the child of a fork: the calls of other threads that waited are gone. */
static void unlock_in_child(void)
{
	registry_visit(demand_forget_calls);
	registry_unlock();
}

bool threads_open(void)
{
	registry_lock();
	/* Each once, also when the other was refused. */
	has_fork_handlers = has_fork_handlers || os_at_fork(registry_lock, registry_unlock, unlock_in_child);
	has_exit_key = has_exit_key || os_thread_key_create(&exit_key, hand_back);
	bool ready = has_fork_handlers && has_exit_key;

	registry_unlock();
	return ready;
}

struct serving **thread_serving(void)
{
	return &serving;
}

uint32_t thread_hint(void)
{
	uint64_t address = (uintptr_t)&thread_entries;

	/* Fibonacci hashing: thread-local blocks lie at regular distances. */
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* Makes the table large enough for `place` (L1). */
static bool table_ensure(size_t place)
{
	struct thread_entry *before = thread_entries == &nothing ? NULL : thread_entries;
	size_t had = before ? thread_mask + 1 : 0;
	size_t wanted = had ? had : 4;

	if (place < had)
		return true;
	while (wanted <= place)
		wanted *= 2;

	struct thread_entry *grown = os_heap_resize(NULL, wanted * sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; i < wanted; i++)
		grown[i] = i < had ? before[i] : (struct thread_entry){0};
	if (!os_thread_key_set(exit_key, grown)) {
		os_heap_free(grown);
		return false;
	}
	thread_entries = grown;
	thread_mask = wanted - 1;
	os_heap_free(before);
	return true;
}

/* The calling thread's cache of this pool, made if need be; NULL: it cannot have one now. */
static COLD struct handle *attach(lfpool_t *pool)
{
	const size_t place = registry_place(pool->id);
	const int errno_before = errno;
	struct handle *handle = NULL;

	if (pool->thread_caches && thread_entries != &gone && table_ensure(place))
		handle = pool->backend->cache_create(pool);
	if (handle)
		thread_entries[place] = (struct thread_entry){pool->id, handle};
	errno = errno_before;
	return handle;
}

struct handle *thread_handle(lfpool_t *pool)
{
	struct handle *handle = thread_find(pool->id);

	return handle ? handle : attach(pool);
}

static COLD void *acquire_first(lfpool_t *pool)
{
	struct handle *handle = attach(pool);

	return handle ? lfpool_cache_acquire_inline(&handle->face) : pool->backend->acquire(pool);
}

static COLD lfpool_status_t release_first(lfpool_t *pool, void *object)
{
	struct handle *handle = attach(pool);

	return handle ? lfpool_cache_release_inline(&handle->face, object) : pool_release(pool, object);
}

void *lfpool_acquire(lfpool_t *pool)
{
	struct handle *handle = thread_find(pool->id);

	if (likely(handle))
		return lfpool_cache_acquire_inline(&handle->face);

	void *object = acquire_first(pool);

	KEEP_FRAME();
	return object;
}

lfpool_status_t lfpool_release(lfpool_t *pool, void *object)
{
	struct handle *handle = thread_find(pool->id);

	if (likely(handle))
		return lfpool_cache_release_inline(&handle->face, object);

	lfpool_status_t status = release_first(pool, object);

	KEEP_FRAME();
	return status;
}

size_t lfpool_acquire_bulk(lfpool_t *pool, void **objects_out, size_t count)
{
	struct handle *handle = thread_handle(pool);
	size_t done = 0;

	if (handle)
		return lfpool_cache_acquire_bulk(&handle->face, objects_out, count);
	while (done < count && (objects_out[done] = pool->backend->acquire(pool)))
		done++;
	return done;
}

size_t lfpool_release_bulk(lfpool_t *pool, void *const *objects, size_t count)
{
	struct handle *handle = thread_handle(pool);
	size_t done = 0;

	if (handle)
		return lfpool_cache_release_bulk(&handle->face, objects, count);
	for (size_t i = 0; i < count; i++)
		done += objects[i] && pool_release(pool, objects[i]) == LFPOOL_OK;
	return done;
}
