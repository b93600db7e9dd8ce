/* SPDX-License-Identifier: MIT */
/*
 * pages.h - which pages hold nothing but cold slots, and how to take all of those at once.
 *
 * Idea         The cold store (cold.h) gives slots one by one; to give memory back takes whole pages.  The call holds all
 *              slots of a run of pages: it takes as many counts as there are slots, then their bits; if one bit is missing
 *              it puts all of it back.  A byte for each page, `gone`, says whether it was given back already.
 * Invariants   TR1, TR2 (trim.c).
 * Progress     Lock-free.
 */
#ifndef LFPOOL_PAGES_H
#define LFPOOL_PAGES_H

#include "core/cold.h"

/* Pages whose slots seemed cold. */
struct page_run {
	size_t from;                    /* where the search began                       */
	size_t first_page, pages;       /* pages 0: none was found as far as it went    */
	uint32_t first_slot, last_slot; /* that lie on them, in whole or in part        */
};

/* Pages there are, as far as they are opened. */
size_t pages_end(const struct cold *c);

/* Looks at up to `looks` pages from *at on for a run of at most `most`; *at is where to go on.  False: at the end. */
bool pages_next_run(const struct cold *c, size_t *at, size_t most, size_t looks, struct page_run *run_out);

struct page_hold {
	uint32_t first_slot, last_slot, allowed, borrowed;
};

/* All or nothing. */
bool pages_hold(struct cold *c, const struct page_run *run, struct page_hold *hold_out);
void pages_let_go(struct cold *c, const struct page_hold *hold);

/* Holding them: these pages were given back. */
void pages_mark_gone(struct cold *c, const struct page_run *run);
/* Holding the slot: its pages will be used. */
void pages_unmark(struct cold *c, uint32_t slot);

#endif
