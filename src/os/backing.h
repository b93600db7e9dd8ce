/* SPDX-License-Identifier: MIT */
/*
 * backing.h - backs a pool's pages with memory when they are touched, or at once, or locked.
 *
 * Idea         Flags of the config apply to all mappings of a pool: at creation, in growth, and for new caches.
 *              LFPOOL_PREFAULT   touches the pages.
 *              LFPOOL_LOCK       mlock(2), which checks its limit first, and touches the pages too.
 *              (LFPOOL_HUGE_PAGES affects addresses, so the arena handles it: os_wish_huge().)
 * Progress     Enters the kernel, unless there is nothing to do.
 */
#ifndef LFPOOL_BACKING_H
#define LFPOOL_BACKING_H

#include "base/base.h"

#include "lfpool/lfpool.h"

#define BACKING_FLAGS (LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_HUGE_PAGES)

/* Whole pages, mapped and accessible.  LFPOOL_E_NO_MEMORY, LFPOOL_E_LOCK: refused; some pages may be backed. */
lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes);
/* os_map() and backing_give(); NULL when either is refused. */
void *backing_map(uint32_t flags, size_t bytes);

#endif
