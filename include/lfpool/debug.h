/* SPDX-License-Identifier: MIT */
/*
 * debug.h - debug modes: what a pool looks out for while the program runs.
 *
 *     config.debug = "poison,quarantine=1000,owner";
 *
 *     LFPOOL_DEBUG=poison,owner ./program              # the same, for every pool, without a rebuild
 *
 * Words are separated by commas, without blanks; empty ones are passed over, and of two numbers the last counts.  Those
 * of config.debug and of the environment variable LFPOOL_DEBUG both apply; the variable's numbers win (it is ignored in
 *  set-user-ID programs). A word that is none, or a number out of range, makes lfpool_create() return
 *  LFPOOL_E_CONFIG_DEBUG.
 *
 * A pool with any mode but `zero` and `no-tools` checks every release as LFPOOL_CHECK_RACES does.
 * With any but `check`, `zero` and `no-tools` each call takes the general path:
 * docs/debugging.md has what each mode costs, and how to read what it says.  What is found goes to the misuse hook, as
 * every misuse; without one to stderr.  Malloc mode knows `check` and `zero`.
 *
 * Creation stays O(1): a mode does what it does with an object when that is acquired.  Not poisoned are the objects of
 * pools with hooks.create or hooks.destroy, whose contents survive, and what lfpool_for_each_slot() has shown, once.
 * A pool that the child of a fork inherited is not checked when the child destroys it: calls of the parent's other
 * threads may have stopped midway.
 */
#ifndef LFPOOL_DEBUG_H
#define LFPOOL_DEBUG_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/* Every mode: X(field, word, least, most, text): `least` and `most` bound its number; 0, 0: it has none. */
#define LFPOOL_DEBUG_MAP(X)                                                                                            \
	X(check, "check", 0, 0,                                                                                        \
	  "of two releases of one object at the same instant exactly one succeeds (LFPOOL_CHECK_RACES), and "          \
	  "lfpool_check() runs when the pool is destroyed")                                                            \
	X(poison, "poison", 0, 0,                                                                                      \
	  "a released object is filled with 0x1deadb0b, and a byte that is something else when the object is "         \
	  "handed out again was written to after the release; the first holder of an object finds it filled too")      \
	X(quarantine, "quarantine=", 1, 65536,                                                                         \
	  "a released object is handed out again only after N other releases, or when nothing else is free")           \
	X(guard, "guard", 0, 0,                                                                                        \
	  "at least 16 bytes before and behind each object are filled when it is acquired, and must be intact "        \
	  "when it is released")                                                                                       \
	X(owner, "owner", 0, 0,                                                                                        \
	  "each object remembers which thread acquired it, when, and its lfpool_label(); those still active when "     \
	  "the pool is destroyed are reported")                                                                        \
	X(backtrace, "backtrace=1/", 1, 1000000, "as owner, and of one in N acquires and releases also the call site") \
	X(zero, "zero", 0, 0, "every acquired object is all zero bytes (LFPOOL_ZERO), but in pools with hooks.create") \
	X(no_tools, "no-tools", 0, 0,                                                                                  \
	  "AddressSanitizer, LeakSanitizer, ThreadSanitizer and Valgrind are told nothing of the objects")

/*
 * lfpool_label - say what an object is held for: reports of the modes owner, poison and guard repeat it.
 *
 * object    Active, held by the caller.  Anything else, NULL included, is passed over.
 * label     A string that outlives the pool, or NULL.  It is forgotten when the object is acquired again.
 * Threads   Any.  Wait-free, O(1).  In a pool that keeps no owners, and in malloc mode, it does nothing.
 */
LFPOOL_API void lfpool_label(lfpool_t *pool, const void *object, const char *label);

LFPOOL_C_END_

#endif
