/* SPDX-License-Identifier: MIT */
/*
 * parts.h - programs on parts of the library alone.
 */
#ifndef EXPLORE_PARTS_H
#define EXPLORE_PARTS_H

/*
 * src/core/cold.c: slots beyond one word of bits.  A pool of 64 objects, a page each, with addresses for 256 more, which are
 * opened in one step: the first have one word of bits, those others.  A slot has one holder; a thread that was told that there is
 * one gets one; and at the end the counts and the bits say the same.
 *
 *   {  grow by one    }  take one    [  put the newest taken back, or in the set-up slot 64    ]  withdraw it
 *   _  forbid one     =  borrow all that may be, and give them back
 */
void colds_open(void);
void colds_operate(char operation);
/* After all threads. */
void colds_check(void);

/*
 * src/pool/address_map.c: who owns this address, while ranges come and go?  Three ranges are there from the start and to the end;
 * one, between them, comes (+) and goes (-), another, before them all, too (*, /), by one thread.  Who looks (?) must find the
 * three, each time, and of the others their owner or nobody.  (Two changes must not leave an array as it was, or nobody could
 * tell that it was read too early.)  With arrays of so many ranges:
 */
void finds_open(unsigned room);
void finds_change(char operation);
void finds_look(void);

/*
 * How src/set/pool_set.h publishes the pool of a class: who finds it finds it complete, by id or by address.  Who makes it (M)
 * holds the lock of set_open.c, which is not played: one thread does.  Its "pool" is plain data.
 */
void sets_open(void);
void sets_make(void);
/* As lfpool_set_acquire(): the id, and then the pool. */
void sets_look_by_size(void);
/* As lfpool_set_release(), of an address in the window of the class. */
void sets_look_by_address(void);

#endif
