/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - see pattern.h.  The patterns lie in memory as the processor stores them: a debugger shows the number.
 */
#include "object/pattern.h"

#include <string.h>

#define WORD_BYTES sizeof(uint64_t)

unsigned char pattern_byte(uint32_t pattern, size_t offset)
{
	unsigned char bytes[sizeof(pattern)];

	memcpy(bytes, &pattern, sizeof(pattern));
	return bytes[offset % sizeof(pattern)];
}

static uint64_t twice(uint32_t pattern)
{
	return (uint64_t)pattern << 32 | pattern;
}

void pattern_fill(void *memory, size_t bytes, uint32_t pattern)
{
	const uint64_t word = twice(pattern);
	char *at = memory;

	for (; bytes >= WORD_BYTES; bytes -= WORD_BYTES, at += WORD_BYTES)
		memcpy(at, &word, WORD_BYTES);
	memcpy(at, &word, bytes);
}

size_t pattern_first_wrong(const void *memory, size_t bytes, uint32_t pattern, size_t *wrong_out)
{
	const uint64_t word = twice(pattern);
	const unsigned char *at = memory;
	size_t first = bytes, offset = 0;

	*wrong_out = 0;
	while (offset + WORD_BYTES <= bytes && memcmp(at + offset, &word, WORD_BYTES) == 0)
		offset += WORD_BYTES;
	for (; offset < bytes; offset++) {
		if (at[offset] == pattern_byte(pattern, offset))
			continue;
		first = first < bytes ? first : offset;
		++*wrong_out;
	}
	return first;
}
