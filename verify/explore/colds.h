/* SPDX-License-Identifier: MIT */
/*
 * colds.h - programs on src/core/cold.c alone: slots beyond one word of bits.
 *
 * A pool of 64 objects, a page each, with addresses for 256 more, which are opened in one step: the first have one word
 * of bits, those others.  A slot has one holder; a thread that was told that there is one gets one; and at the end the
 * counts and the bits say the same.
 *
 *   {  grow by one    }  take one    [  put the newest taken back, or in the set-up slot 64    ]  withdraw it
 *   _  forbid one     =  borrow all that may be, and give them back
 */
#ifndef EXPLORE_COLDS_H
#define EXPLORE_COLDS_H

#include "explore.h"

/* Before the set-up; at its end; before each execution; after all threads. */
void colds_open(void);
void colds_save(void);
void colds_begin(void);
void colds_check(void);
void colds_operate(char operation);

#endif
