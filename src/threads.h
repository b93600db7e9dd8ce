/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the calling thread's cache of a pool, found by the pool's id: the look-up (threads.c has the rest).
 *
 * Progress     Wait-free.
 */
#ifndef LFPOOL_THREADS_H
#define LFPOOL_THREADS_H

#include "base.h"

struct handle;

struct thread_entry {
	uint64_t pool_id;
	struct handle *handle;
};

/* Static TLS: small enough for dlopen, and read without a call. */
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

/* L1, threads.c.  Never NULL. */
extern THREAD_LOCAL struct thread_entry *thread_entries;
extern THREAD_LOCAL uintptr_t thread_mask;

/* NULL: the thread has none yet, or can have none; or the id is 0. */
static inline struct handle *thread_find(uint64_t pool_id)
{
	const struct thread_entry *e = &thread_entries[pool_id & thread_mask];

	return likely(e->pool_id == pool_id) ? e->handle : NULL;
}

#endif
