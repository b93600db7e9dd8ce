/* SPDX-License-Identifier: MIT */
/*
 * os_none.c - no system behind os.h, with LFPOOL_EMBEDDED: a pool in a buffer asks for nothing but the time.  Empty without.
 */
#include "base/absent.h"
#include "os/backing.h"
#include "os/os.h"

#include <time.h>

#ifdef LFPOOL_EMBEDDED

/* clang-format off */
NONE(4096, size_t, os_page_bytes, void)
NONE(false, bool, os_asymmetric, void)
NEVER(unsigned, os_processors, void)
NEVER(unsigned, os_processor_block, void)
NEVER(bool, os_guard, void *address, size_t bytes)
NEVER(bool, os_open, void *address, size_t bytes)
NEVER(void *, os_map, size_t bytes)
NEVER(void *, os_map_aligned, size_t bytes, size_t offset, size_t alignment, bool open)
NEVER(void, os_unmap, void *address, size_t bytes)
NEVER(void, os_wish_huge, void *address, size_t bytes)
NEVER(void, os_yield, void)
NEVER(void, os_heavy_fence, void)
NEVER(void, os_sleep_on, _Atomic(uint64_t) *word, uint64_t seen, uint64_t deadline_ns)
NEVER(void, os_wake, _Atomic(uint64_t) *word)
NEVER(lfpool_status_t, backing_give, uint32_t flags, void *address, size_t bytes)
NEVER(void *, backing_map, uint32_t flags, size_t bytes)
/* clang-format on */

uint64_t os_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
