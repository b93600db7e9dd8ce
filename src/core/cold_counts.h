/* SPDX-License-Identifier: MIT */
/*
 * cold_counts.h - the counts and the bits of the cold store, for cold.c, cold_bits.c and pages.c alone.
 */
#ifndef LFPOOL_COLD_COUNTS_H
#define LFPOOL_COLD_COUNTS_H

#include "core/cold.h"

void cold_allowed_add(struct cold *c, uint32_t count);
/* Up to `count` of them; says how many. */
uint32_t cold_allowed_take(struct cold *c, size_t count);

/* The right to take up to `count` slots that are cold and not allowed; says how many.  They count as objects until they are
 * given back, in the hands of the caller. */
uint32_t cold_borrow(struct cold *c, uint32_t count);
void cold_give_back(struct cold *c, uint32_t count);

/* ---- cold_bits.c ---- */

/* Which of a word's slots seem cold.  A look. */
uint64_t cold_look(const struct cold *c, uint64_t word);
/* Makes `bits` of a word, whose slots are the caller's, cold. */
void cold_give_bits(struct cold *c, uint64_t word, uint64_t bits);
/* Takes all of `bits`, if they are cold. */
bool cold_take_bits(struct cold *c, uint64_t word, uint64_t bits);
/* A thread that has taken a count finds a slot (O1). */
uint32_t cold_take_any(struct cold *c);

#endif
