/* SPDX-License-Identifier: MIT */
/*
 * callsite.h - where a function was called from: found cheaply, named when it is read.
 *
 * Idea         The C library's backtrace() where it has one; elsewhere nothing is found.  Names come from the dynamic
 *              symbols: a program linked with -rdynamic has them all; else "program+0x1234", which addr2line -e program
 *              0x1234 turns into a line.
 */
#ifndef LFPOOL_CALLSITE_H
#define LFPOOL_CALLSITE_H

#include "base/base.h"

struct text;

/* Once before the first: what backtrace() loads and allocates. */
void callsite_prepare(void);
/* Return addresses, the innermost first, without this library's own as far as they are known to be; how many. */
uint32_t callsite_find(void **frames_out, uint32_t room);
/* "spawn+0x1f < main+0x88" */
void callsite_put(struct text *text, void *const *frames, uint32_t count);

#endif
