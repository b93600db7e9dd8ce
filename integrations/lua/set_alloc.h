/* SPDX-License-Identifier: MIT */
/*
 * set_alloc.h - memory for Lua from a set of pools: set_alloc is a lua_Alloc, for Lua 5.1 to 5.4.
 *
 *     lfpool_set_t *set = set_alloc_open();
 *     lua_State *L = lua_newstate(set_alloc, set);
 *     ...
 *     lua_close(L);
 *     lfpool_set_destroy(set);
 *
 * Any number of states, in any threads, may share a set.  Blocks of up to 4 KiB come from the set.  Larger blocks come
 * from malloc, and so does a small block while every object of its class is in use.
 */
#ifndef LFPOOL_LUA_SET_ALLOC_H
#define LFPOOL_LUA_SET_ALLOC_H

#include "lfpool/set.h"

/* Makes a set for Lua's blocks.  NULL: the system refuses memory. */
lfpool_set_t *set_alloc_open(void);

/* As lua_Alloc; `set` is the lfpool_set_t.  A block that shrinks stays where it is if there is no memory for a smaller
 * one. */
void *set_alloc(void *set, void *block, size_t old_size, size_t new_size);

#endif
