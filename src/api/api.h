/* SPDX-License-Identifier: MIT */
/*
 * api.h - functions that the files of src/api share; src/registry uses some of them too.
 */
#ifndef LFPOOL_API_H
#define LFPOOL_API_H

#include "pool/pool.h"

/* ---- A pool's life in steps: create.c, life.c ---- */

/* Like lfpool_create(), but places the objects in `window`.  Malloc mode ignores the window, because its objects are on
 * the heap. */
lfpool_status_t pool_create_by(lfpool_t **pool_out, const lfpool_config_t *config, const struct window *window);
/* The last part of creation, with an imported config and an open lifecycle.  If it fails, it closes `lifecycle`. */
lfpool_status_t pool_open_as(lfpool_t **pool_out, const lfpool_config_t *config, const struct debug_modes *modes,
			     struct lifecycle *lifecycle, const struct window *window);
/* *bytes_out: the bytes of all objects, rounded up to whole pages.  False if the number overflows. */
bool pool_object_bytes(const lfpool_config_t *config, const struct lifecycle *lifecycle, size_t *bytes_out);

/* buffer.c: lfpool_create() and lfpool_memory_bytes() of a pool in a buffer; no argument is NULL. */
lfpool_status_t pool_create_in_buffer(lfpool_t **pool_out, const lfpool_config_t *given);
size_t pool_bytes_in_buffer(const lfpool_config_t *given);

/* process.c: sets up the process, once, before the first pool.  False when the system refuses; the next call tries
 * again. */
bool process_open(void);
/* A mutex for the layers above src/api.  The fork handlers take it too, so the child finds the mutex free and the data
 * behind it consistent.  A call that holds such a mutex must not open or close a fork_mutex, and must not fork.
 * fork_mutex_open() returns false when the system refuses. */
struct fork_mutex {
	os_mutex_t mutex;
	struct fork_mutex *next;
};
bool fork_mutex_open(struct fork_mutex *m);
void fork_mutex_close(struct fork_mutex *m);
/* process_forks(): the number of forks that led to this process.  process_forker(): the thread that called the last of
 * these forks. */
uint32_t process_forks(void);
uintptr_t process_forker(void);

bool pool_any_heap(void);

/* trim.c: after a shrink, returns up to `bytes` bytes of cold slots to the system. */
void trim_removed(lfpool_t *pool, size_t bytes);

/* check.c: debug mode `check` calls it before the pool is destroyed.  Reports a misuse if the pool is not intact. */
void check_last(lfpool_t *pool);

/* ---- Acquire and release through the cache `head` (NULL: without a cache): calls.c ---- */

/* A wait that hooks.exhausted asks for ends no later than `deadline_ns`, on the clock of os_now_ns().  0: the call must
 * not wait.  UINT64_MAX: only the hook limits the wait. */
void *pool_acquire(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);
void pool_exhausted(lfpool_t *pool, struct cache_head *head);

/* ---- Calls that wait: wait.c ---- */

/* waiters_wait_for() waits for `count` objects, until `deadline_ns` on the clock of os_now_ns().  waiters_take() takes
 * `count` objects without a wait.  Both get all `count` objects, or none.  They return LFPOOL_OK, LFPOOL_E_EXHAUSTED if
 * too few were free, LFPOOL_E_REFUSED if a hook refused an object, or LFPOOL_E_CLOSED.  waiters_wait() waits for one
 * object, and returns it or NULL. */
lfpool_status_t waiters_wait_for(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count,
				 uint64_t deadline_ns);
lfpool_status_t waiters_take(lfpool_t *pool, struct cache_head *head, void **objects_out, size_t count);
void *waiters_wait(lfpool_t *pool, struct cache_head *head, uint64_t deadline_ns);

#endif
