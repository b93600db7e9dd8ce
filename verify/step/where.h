/* SPDX-License-Identifier: MIT */
/*
 * where.h - the name of a place in the program: symbol+offset, and what to type to get the source line.
 */
#ifndef LFPOOL_VERIFY_WHERE_H
#define LFPOOL_VERIFY_WHERE_H

#include <stddef.h>
#include <stdint.h>

/* Writes it to `text`; always terminated.  Reads the program's file: not for handlers. */
void where(char *text, size_t room, uintptr_t place);

#endif
