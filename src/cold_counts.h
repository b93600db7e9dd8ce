/* SPDX-License-Identifier: MIT */
/*
 * cold_counts.h - the counts and the bits of the cold store, for cold.c and pages.c alone.
 */
#ifndef LFPOOL_COLD_COUNTS_H
#define LFPOOL_COLD_COUNTS_H

#include "cold.h"

void cold_allowed_add(struct cold *c, size_t count);
void cold_spare_add(struct cold *c, size_t count);
/* Up to `count` of them; say how many. */
uint32_t cold_allowed_take(struct cold *c, size_t count);
size_t cold_spare_take(struct cold *c, size_t count);

/* Sets `bits` of a word, whose slots are the caller's. */
void cold_set_bits(struct cold *c, uint64_t word, uint64_t bits);

#endif
