/* SPDX-License-Identifier: MIT */
/*
 * check.h - what the parts of lfpool_check() share: each used slot is free in one place, or in use.
 *
 * Idea         check_core() walks the free lists and reports every slot it meets; a bit for each says which were
 *              met.  What is left over must be in use.  A function returns NULL, or which invariant is violated;
 *              `where` is then the slot or the magazine.  Nothing found is trusted: numbers are compared with their
 *              limits before they are followed, and what has been met already ends the walk, so a circle does.
 */
#ifndef LFPOOL_CHECK_H
#define LFPOOL_CHECK_H

#include "pool/open.h"
#include "pool/pool.h"

struct check {
	const struct arena *arena;
	size_t used;                   /* slots that were ever handed out are among 1 .. this */
	size_t met;                    /* free ones, so far                                   */
	size_t fresh, fresh_end;       /* slots fresh + 1 .. fresh_end were not, all the same */
	unsigned char *slots, *others; /* a bit each; `others`: magazines                     */
	bool of_heap;                  /* they are                                            */
	size_t where;
};

/* `bits`: room for check_bytes(); NULL: of the heap, and false when the system refuses it. */
bool check_open(struct check *c, const struct arena *arena, size_t used, size_t others, unsigned char *bits);
void check_close(struct check *c);
/* Sets a bit; true if it was set before. */
bool check_mark(unsigned char *bits, size_t index);
bool check_marked(const unsigned char *bits, size_t index);

/* At `slot` of the lists there is a free object. */
const char *check_free(struct check *c, uint32_t slot);
/* The free ones in quarantine.  `lifecycle` may be NULL. */
const char *check_held_back(struct check *c, const struct lifecycle *lifecycle);
/* The retired ones, which are not free either; after the free ones. */
const char *check_retired(struct check *c, const struct retired *retired);
/* The cold store; `from_chunks` as for cold_used(). */
const char *check_cold(struct check *c, const struct cold *cold, size_t from_chunks);
/* After all the free ones: the others are in use, and what was never used is as it was made. */
const char *check_rest(struct check *c);

/* ---- The core ---- */

/* All but the sums; where_out as lfpool_check(). */
const char *check_core(const lfpool_t *pool, size_t *where_out);

/* The debug mode `check`: is the pool intact in the end?  Tells of a misuse if it is not. */
void check_last(lfpool_t *pool);

#define CHECK_NO_MEMORY "no memory for the check"

#endif
