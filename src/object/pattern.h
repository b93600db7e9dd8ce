/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - memory filled with a pattern of four bytes, and whether it still is.  It lies there as the processor stores it: a
 * debugger shows the number.
 */
#ifndef LFPOOL_PATTERN_H
#define LFPOOL_PATTERN_H

#include "base/base.h"

#include <string.h>

#define PATTERN_POISON UINT32_C(0x1deadb0b) /* an object after its release           */
#define PATTERN_GUARD UINT32_C(0xc35aa53c)  /* the bytes beside an active object     */
#define PATTERN_WORD sizeof(uint64_t)

/* What belongs at `offset` from the start. */
static inline unsigned char pattern_byte(uint32_t pattern, size_t offset)
{
	unsigned char bytes[sizeof(pattern)];

	memcpy(bytes, &pattern, sizeof(pattern));
	return bytes[offset % sizeof(pattern)];
}

static inline uint64_t pattern_twice(uint32_t pattern)
{
	return (uint64_t)pattern << 32 | pattern;
}

static inline void pattern_fill(void *memory, size_t bytes, uint32_t pattern)
{
	const uint64_t word = pattern_twice(pattern);
	char *at = memory;

	for (; bytes >= PATTERN_WORD; bytes -= PATTERN_WORD, at += PATTERN_WORD)
		memcpy(at, &word, PATTERN_WORD);
	memcpy(at, &word, bytes);
}

/* The first byte that is wrong, `bytes` if none is; *wrong_out: how many are. */
static inline size_t pattern_first_wrong(const void *memory, size_t bytes, uint32_t pattern, size_t *wrong_out)
{
	const uint64_t word = pattern_twice(pattern);
	const unsigned char *at = memory;
	size_t first = bytes, offset = 0;

	*wrong_out = 0;
	while (offset + PATTERN_WORD <= bytes && memcmp(at + offset, &word, PATTERN_WORD) == 0)
		offset += PATTERN_WORD;
	for (; offset < bytes; offset++) {
		if (at[offset] == pattern_byte(pattern, offset))
			continue;
		first = first < bytes ? first : offset;
		++*wrong_out;
	}
	return first;
}

#endif
