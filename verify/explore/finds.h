/* SPDX-License-Identifier: MIT */
/*
 * finds.h - programs on src/pool/address_map.c alone: who owns this address, while ranges come and go?
 *
 * Three ranges are there from the start and to the end; one, between them, comes (+) and goes (-), another, before them
 * all, too (*, /), by one thread.  Who looks (?) must find the three, each time, and of the others their owner or
 * nobody.  (Two changes must not leave an array as it was, or nobody could tell that it was read too early.)
 */
#ifndef EXPLORE_FINDS_H
#define EXPLORE_FINDS_H

/* Before the set-up, with arrays of so many ranges; at its end; before each execution. */
void finds_open(unsigned room);
void finds_save(void);
void finds_begin(void);
void finds_change(char operation);
void finds_look(void);

#endif
