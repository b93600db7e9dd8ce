/* SPDX-License-Identifier: MIT */
/*
 * second.c - the calls of second.cc: src/core/magazine.h as it is shipped, its verbs those of verbs.h.
 */
#include "second.h"

#include "core/magazine.h"

static struct lfpool_magazine *magazine(void)
{
	return (struct lfpool_magazine *)(void *)second_words;
}

void second_make(void)
{
	magazine_make_empty(magazine(), 1);
}

uintptr_t second_pop(void)
{
	return magazine_pop(magazine(), SECOND_SLOTS, true);
}

bool second_push(uintptr_t object)
{
	return magazine_push(magazine(), SECOND_SLOTS, object);
}

uintptr_t second_take(void)
{
	const uint64_t top = load_acquire(&magazine()->top);

	second_heavy_fence();
	return magazine_take(magazine(), SECOND_SLOTS, top, 0);
}
