/* SPDX-License-Identifier: MIT */
/*
 * locked.h - an evicting pool that is not thread-safe, with a mutex around it or without; a template.  Each file that wants it
 * defines POOL, a struct, and CALL(name), what `acquire`, `update`, `release`, `make` and `free` of it are called (heap.h), and
 * UNLOCKED if it is for one thread alone; then it includes this file.
 *
 * Idea         Each call is one critical section.  A new object is filled inside it: else its holder would need a second
 *              one to let it be evicted, or would write to what another has got meanwhile.
 */
#ifndef LFPOOL_BENCH_LOCKED_H
#define LFPOOL_BENCH_LOCKED_H

#include "evicting.h"

struct locked {
	/* The thread that has the lock wants the pool: neighbours. */
	_Alignas(128) pthread_mutex_t mutex;
	struct POOL pool;
};

#ifdef UNLOCKED
#define MUTEX(operation) ((void)0)
#else
#define MUTEX(operation) ((void)pthread_mutex_##operation(&locked->mutex))
#endif

static inline void *acquire_filled(void *hand, uint64_t priority, uint64_t *handle_out)
{
	struct locked *locked = (struct locked *)hand;

	MUTEX(lock);

	void *object = CALL(acquire)(&locked->pool, priority, handle_out);

	MUTEX(unlock);
	return object;
}

static inline bool update(void *hand, uint64_t handle, uint64_t priority)
{
	struct locked *locked = (struct locked *)hand;

	MUTEX(lock);

	const bool done = CALL(update)(&locked->pool, handle, priority);

	MUTEX(unlock);
	return done;
}

static inline bool release(void *hand, uint64_t handle)
{
	struct locked *locked = (struct locked *)hand;

	MUTEX(lock);

	const bool done = CALL(release)(&locked->pool, handle);

	MUTEX(unlock);
	return done;
}

#include "loops.h"

static void *open_locked(const struct plan *plan)
{
	struct locked *locked = (struct locked *)must(aligned_alloc(_Alignof(struct locked), sizeof(*locked)));

	locked->pool = CALL(make)(plan);
	(void)pthread_mutex_init(&locked->mutex, NULL);
	return locked;
}

static void close_locked(void *shared)
{
	struct locked *locked = (struct locked *)shared;

	(void)pthread_mutex_destroy(&locked->mutex);
	CALL(free)(&locked->pool);
	free(locked);
}

#define LOCKED_MEMBERS SHARED_BY_ALL(open_locked, close_locked, EVICTING_LOOPS)

#endif
