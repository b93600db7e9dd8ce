/* SPDX-License-Identifier: MIT */
/*
 * backing.h - LFPOOL_PREFAULT and LFPOOL_LOCK, for all mappings of a pool: at creation, in growth, and for new caches.
 *
 * Idea         LFPOOL_PREFAULT touches the pages.  LFPOOL_LOCK calls mlock(2), which touches them too.
 *              (LFPOOL_HUGE_PAGES affects addresses, so the arena handles it: os_wish_huge().)
 * Progress     Enters the kernel, unless there is nothing to do.
 */
#ifndef LFPOOL_BACKING_H
#define LFPOOL_BACKING_H

#include "base/base.h"

#include "lfpool/lfpool.h"

#define BACKING_FLAGS (LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_HUGE_PAGES)

/* The pages are mapped and accessible.  LFPOOL_E_NO_MEMORY, LFPOOL_E_LOCK: refused; some pages may be backed. */
lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes);
/* os_map() and backing_give(); NULL when either is refused. */
void *backing_map(uint32_t flags, size_t bytes);

#endif
