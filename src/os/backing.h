/* SPDX-License-Identifier: MIT */
/*
 * backing.h - what stands behind a pool's addresses: memory as it is touched, or at once, or locked.
 *
 * Idea         Flags of the config say it for all that a pool maps: at creation, when it grows, when caches are added.
 *              LFPOOL_PREFAULT   the pages are touched.
 *              LFPOOL_LOCK       mlock(2), which touches them too, and asks about its limit before it does.
 *              (LFPOOL_HUGE_PAGES is a wish about addresses, and so the arena's: os_wish_huge().)
 * Progress     Enters the kernel, unless there is nothing to do.
 */
#ifndef LFPOOL_BACKING_H
#define LFPOOL_BACKING_H

#include "base/base.h"

#include "lfpool/lfpool.h"

#define BACKING_FLAGS (LFPOOL_PREFAULT | LFPOOL_LOCK | LFPOOL_HUGE_PAGES)

/* Whole pages, mapped and accessible.  LFPOOL_E_NO_MEMORY, LFPOOL_E_LOCK: refused; some of them may be backed. */
lfpool_status_t backing_give(uint32_t flags, void *address, size_t bytes);
/* As os_map(), and backed; NULL when either is refused. */
void *backing_map(uint32_t flags, size_t bytes);

#endif
