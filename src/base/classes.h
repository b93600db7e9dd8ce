/* SPDX-License-Identifier: MIT */
/*
 * classes.h - size classes: computes the class of a size, and the size of a class.
 *
 * Idea         A class number is computed, so no table is searched.  Sizes are counted in units of the alignment.  Up
 *              to 2 * steps units, each number of units has its own class.  Above that, each range from one power of
 *              two to the next has `steps` classes at equal distances, like floating-point numbers with a mantissa of
 *              log2(steps) bits.  So a class number consists of the position of the leading bit, followed by the next
 *              log2(steps) bits.
 *                 Let m be the number of units, rounded up, minus one.  Let 2^d be the distance between classes near m:
 *                     class = steps * d + (m >> d)        m >> d is in steps .. 2 * steps - 1, or d = 0
 *                     size  = ((m >> d) + 1) << d         the largest number of units in this class
 * Invariants   X1  class_of() is monotone; class_size(class_of(n)) >= n, and class_size(class_of(n) - 1) < n.
 *              X2  an object of at most steps * alignment bytes wastes at most alignment - 1 bytes of its class.  A
 *                  larger object wastes less than 1 / (steps + 1) of its class.  (That class has at least (steps + 1) *
 *                  2^d units, and less than 2^d of them are surplus.)
 *              tests/base/unit_classes.c checks both invariants for every size, against a list of the classes.
 * Progress     Wait-free, O(1).
 */
#ifndef LFPOOL_CLASSES_H
#define LFPOOL_CLASSES_H

#include "base/base.h"

struct classes {
	uint32_t count;
	uint8_t alignment_shift; /* log2 of the alignment */
	uint8_t steps_shift;     /* log2 of the steps     */
};

/* The m of the head comment: the number of units of a size, minus one.  Size 0 is treated as size 1. */
static inline uint64_t class_units(const struct classes *c, size_t size)
{
	return (uint64_t)(size - (size != 0)) >> c->alignment_shift;
}

/* The class number of a size of m + 1 units. */
static inline size_t class_of_units(const struct classes *c, uint64_t m)
{
	/* `^ 63` has the result of `63 -`, and lets the compiler emit a single instruction. */
	const unsigned leading = (unsigned)__builtin_clzll(m | UINT64_C(1) << c->steps_shift) ^ 63;
	const unsigned d = leading - c->steps_shift;

	return ((size_t)d << c->steps_shift) + (size_t)(m >> d);
}

/* The class number of a size.  A result of `count` or more means that the size is too large. */
static inline size_t class_of(const struct classes *c, size_t size)
{
	return class_of_units(c, class_units(c, size));
}

static inline size_t class_size(const struct classes *c, size_t number)
{
	const size_t steps = (size_t)1 << c->steps_shift;
	const size_t d = number < steps ? 0 : (number >> c->steps_shift) - 1;

	return (number - d * steps + 1) << (d + c->alignment_shift);
}

/* `largest`: the largest size, at least 1. */
static inline struct classes classes_for(size_t alignment, size_t steps, size_t largest)
{
	struct classes c = {
		.alignment_shift = (uint8_t)__builtin_ctzll(alignment),
		.steps_shift = (uint8_t)__builtin_ctzll(steps),
	};

	c.count = (uint32_t)class_of(&c, largest) + 1;
	return c;
}

#endif
