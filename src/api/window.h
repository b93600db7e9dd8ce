/* SPDX-License-Identifier: MIT */
/*
 * window.h - the interface for sets: pools whose objects are in a range of addresses that the set has chosen.
 *
 * Idea         A set finds the class of an address by arithmetic.  So the set reserves one range of addresses, and cuts
 *              the range into windows of one size, a power of two.  A pool made in a window has its objects there, and
 *              its other memory elsewhere.  The layers above src/api use this header and the fork functions of api.h,
 *              but nothing else of src/api.
 * Invariants   Y2  every object of a pool made in a window is completely in that window; an inaccessible page is
 *                  between the objects of two windows.
 * Progress     Inline functions do not enter the kernel; the other functions may.
 */
#ifndef LFPOOL_WINDOW_H
#define LFPOOL_WINDOW_H

#include "base/base.h"

#include "lfpool/lfpool.h"
#include "pool/threads.h"

/* A row of adjacent windows. */
struct windows {
	uintptr_t base; /* the address of window 0                                  */
	uint32_t count; /* 0: malloc() places the objects                           */
	uint32_t shift; /* a window has 2^shift bytes                               */
	char *reserved; /* the mapping; NULL: no mapping                            */
	size_t reserved_bytes;
};

/* A range of addresses without access. */
struct window_range {
	char *at;
	size_t bytes;
};

/* The number of the window that holds the address; `count` or more if no window does. */
static inline uintptr_t window_of(const struct windows *w, const void *address)
{
	return ((uintptr_t)address - w->base) >> w->shift;
}

/* The part of a window that objects may use. */
struct window_range window_range(const struct windows *w, size_t number);

/* Reserves `count` windows of at least `most` bytes.  False if the system refuses, or the number of bytes overflows. */
bool windows_open(struct windows *w, size_t count, size_t most, size_t alignment);
void windows_close(struct windows *w);

/*
 * *bytes_out: the bytes that a window must have for config->max_capacity objects, including the bytes that debug modes
 * of the config or the environment add.  0 for LFPOOL_BACKEND_MALLOC, whose objects are on the heap; SIZE_MAX if the
 * number overflows.  Returns the status that lfpool_create() returns for this config.
 */
lfpool_status_t window_bytes(const lfpool_config_t *config, size_t *bytes_out);
/* Lowers config->max_capacity, and capacity with it, until the objects fit in the range; not below 1. */
void window_fit(lfpool_config_t *config, struct window_range range);
/* Like lfpool_create(), but places the objects in the range.  A failure leaves the range unchanged. */
lfpool_status_t window_create_pool(lfpool_t **pool_out, const lfpool_config_t *config, struct window_range range);

/* The id of a pool, and the offset of its entry in the tables of threads.  From these two, window_cache() finds the
 * calling thread's cache of the pool, or returns NULL.  So the fast path of a set does not read the pool. */
uint64_t window_pool_id(const lfpool_t *pool);
uintptr_t window_pool_at(const lfpool_t *pool);
static inline lfpool_cache_t *window_cache(uint64_t id, uintptr_t at)
{
	return thread_find_at(id, at);
}

/*
 * One lock for all threads that make pools in windows, so that each window gets one pool.  Once the process has made a
 * pool, the fork handlers take this lock (process.c), so the child finds it free.  No hook runs while a thread holds
 * it.
 */
void windows_lock(void);
void windows_unlock(void);

#endif
