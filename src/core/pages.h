/* SPDX-License-Identifier: MIT */
/*
 * pages.h - finds pages that have only cold slots, and takes all slots of such pages at once.
 *
 * Idea         The cold store (cold.h) hands out single slots, but memory is given back in whole pages.  So a call
 *              takes all slots of a run of pages: a count for each slot, then their bits.  If one bit is missing, it
 *              puts all of them back.  A byte for each page, `gone`, says whether the page was given back already.
 * Invariants   TR1, TR2 (trim.c).
 * Progress     Lock-free.
 */
#ifndef LFPOOL_PAGES_H
#define LFPOOL_PAGES_H

#include "core/cold.h"

/* Pages whose slots seemed cold. */
struct page_run {
	size_t from;                    /* the first page of the search                 */
	size_t first_page, pages;       /* pages 0: the search found none               */
	uint32_t first_slot, last_slot; /* slots on these pages, in whole or in part    */
};

/* The number of opened pages. */
size_t pages_end(const struct cold *c);

/* Searches up to `looks` pages from *at on for a run of at most `most`, and sets *at for the next search.  False at the
 * end. */
bool pages_next_run(const struct cold *c, size_t *at, size_t most, size_t looks, struct page_run *run_out);

struct page_hold {
	uint32_t first_slot, last_slot, allowed, borrowed;
};

/* All or nothing. */
bool pages_hold(struct cold *c, const struct page_run *run, struct page_hold *hold_out);
void pages_let_go(struct cold *c, const struct page_hold *hold);

/* By the holder of the run: these pages were given back. */
void pages_mark_gone(struct cold *c, const struct page_run *run);
/* By the holder of the slot: its pages will be used. */
void pages_unmark(struct cold *c, uint32_t slot);

#endif
