/* SPDX-License-Identifier: MIT */
/*
 * sets.h - programs on how src/set/pool_set.h publishes the pool of a class: who finds it finds it complete, by id or by address.
 *
 * Who makes it (M) holds the lock of set_open.c, which is not played: one thread does.  Its "pool" is plain data.
 */
#ifndef EXPLORE_SETS_H
#define EXPLORE_SETS_H

/* Before each execution. */
void sets_begin(void);
void sets_make(void);
/* As lfpool_set_acquire(): the id, and then the pool. */
void sets_look_by_size(void);
/* As lfpool_set_release(), of an address in the window of the class. */
void sets_look_by_address(void);

#endif
