/* SPDX-License-Identifier: MIT */
/*
 * second.h - a magazine under Relacy: what the C side, which is compiled as the library is, and the C++ side know of each other.
 */
#ifndef EXPLORE_SECOND_H
#define EXPLORE_SECOND_H

#include <stdbool.h>
#include <stdint.h>

#define SECOND_SLOTS 4
#define SECOND_WORDS (4 + SECOND_SLOTS)

#ifdef __cplusplus
extern "C" {
#endif

/* The magazine's addresses.  What the words hold is Relacy's. */
extern uint64_t second_words[SECOND_WORDS];

void second_make(void);
uintptr_t second_pop(void);
bool second_push(uintptr_t object);
uintptr_t second_take(void);
void second_heavy_fence(void);

#ifdef __cplusplus
}
#endif

#endif
