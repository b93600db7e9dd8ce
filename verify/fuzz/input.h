/* SPDX-License-Identifier: MIT */
/*
 * input.h - a string of bytes, read as choices.
 *
 * Idea         Every choice is one byte (two for a wider range), and past the end every choice is 0. So each string
 *              of bytes is a valid test, a small change of it is a small change of the test, and a fuzzer can shorten
 *              a failing string without knowing its meaning.
 */
#ifndef LFPOOL_FUZZ_INPUT_H
#define LFPOOL_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *at, *end;
};

static inline bool input_is_over(const struct input *in)
{
	return in->at == in->end;
}

static inline uint32_t input_byte(struct input *in)
{
	return input_is_over(in) ? 0 : *in->at++;
}

/* 0 .. bound - 1; bound is at most 65536. */
static inline uint32_t input_below(struct input *in, uint32_t bound)
{
	uint32_t value = input_byte(in);

	if (bound > 256)
		value = value << 8 | input_byte(in);
	return value % bound;
}

#endif
