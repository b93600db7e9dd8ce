/* SPDX-License-Identifier: MIT */
/*
 * follow.h - passes the explorer's operations to follow.c; empty unless that is built in.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdint.h>

enum followed { FOLLOW_LOAD, FOLLOW_STORE, FOLLOW_SWAP, FOLLOW_MISS, FOLLOW_FENCE };

#ifdef LFPOOL_FOLLOW
void follow_begin(void);
/* The value before and after. */
void follow(enum followed what, const void *address, uint64_t before, uint64_t after);
/* A call begins; it returned NULL; it got an object, with its number from 0. */
void follow_call(void);
void follow_null(void);
void follow_got(unsigned object);
/* The execution has ended: all sentences must hold. */
void follow_finish(void);
/* Prints the number of times each move was made. */
void follow_end(void);
#else
#define follow_begin() ((void)0)
#define follow(what, address, before, after) ((void)0)
#define follow_call() ((void)0)
#define follow_null() ((void)0)
#define follow_got(object) ((void)0)
#define follow_finish() ((void)0)
#define follow_end() ((void)0)
#endif

#endif
