/* SPDX-License-Identifier: MIT */
/* string.h - the few declarations that the headers use, for a compiler of another system. */
#ifndef BARE_STRING_H
#define BARE_STRING_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void *memset(void *memory, int byte, size_t count);
void *memcpy(void *to, const void *from, size_t count);
#ifdef __cplusplus
}
#endif
#endif
