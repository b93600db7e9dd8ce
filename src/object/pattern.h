/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - memory filled with a pattern of four bytes, and whether it still is.
 */
#ifndef LFPOOL_PATTERN_H
#define LFPOOL_PATTERN_H

#include "base/base.h"

#define PATTERN_POISON UINT32_C(0x1deadb0b) /* an object after its release           */
#define PATTERN_GUARD UINT32_C(0xc35aa53c)  /* the bytes beside an active object     */

void pattern_fill(void *memory, size_t bytes, uint32_t pattern);
/* The first byte that is wrong, `bytes` if none is; *wrong_out: how many are. */
size_t pattern_first_wrong(const void *memory, size_t bytes, uint32_t pattern, size_t *wrong_out);
/* What belongs at `offset` from the start. */
unsigned char pattern_byte(uint32_t pattern, size_t offset);

#endif
