/* SPDX-License-Identifier: MIT */
/*
 * victims.h - an evicting pool takes the object with the least rank (order.h) from its holder.
 *
 * Idea         A victim leaves as a released object does (arena.h, A3): by a CAS from the word that the search has
 *              seen, without pins.  If it fails, another thread has pinned, released or evicted the object, and the
 *              search begins again.
 * Progress     Lock-free, except the hooks.
 */
#ifndef LFPOOL_VICTIMS_H
#define LFPOOL_VICTIMS_H

#include "evict/order.h"
#include "pool/pool.h"

/* Evicts the candidate with the least rank.  `newcomer`: only if it gives way to this priority; NULL: in any case.
 * False: no object gave way.  *slot_out: its slot, whose object's use has ended; another one, or SLOT_NONE, with a
 * quarantine. */
bool victims_evict(lfpool_t *pool, const uint64_t *newcomer, uint32_t *slot_out);

#endif
