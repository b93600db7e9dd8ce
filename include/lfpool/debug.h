/* SPDX-License-Identifier: MIT */
/*
 * debug.h - debug modes: checks that a pool makes while the program runs.
 *
 *     config.debug = "poison,quarantine=1000,owner";
 *
 *     LFPOOL_DEBUG=poison,owner ./program              # the same, for every pool, without a rebuild
 *
 * Modes are separated by commas, without blanks; if a mode is given twice, the second number counts.  A pool has the
 * modes of config.debug and those of the environment variable LFPOOL_DEBUG; if both give a number for a mode, the
 * variable's counts.  Set-user-ID programs ignore the variable.  For an unknown word, or a number out of range,
 * lfpool_create() returns LFPOOL_E_CONFIG_DEBUG.
 *
 * Findings are reported to the misuse hook, or to stderr if there is no such hook.  docs/debugging.md explains them,
 * and lists the cost of each mode.  Every mode except `zero` and `no-tools` includes LFPOOL_CHECK_RACES, and, except
 * for `check`, makes each call take the slow path.  Malloc mode has only `check` and `zero`.
 *
 * `poison` skips objects whose contents must survive: all objects of a pool with hooks.create or hooks.destroy, and
 * objects that lfpool_for_each_slot() has visited, until their next release.
 *
 * In the child of a fork `check` does not check an inherited pool, because calls of the parent's other threads may have
 * stopped midway.
 */
#ifndef LFPOOL_DEBUG_H
#define LFPOOL_DEBUG_H

#include "lfpool/config.h"

LFPOOL_C_BEGIN_

/* Every mode: X(field, word, least, most, text).  The number of a mode is in least .. most; 0, 0: the mode has no
 * number. */
#define LFPOOL_DEBUG_MAP(X)                                                                                          \
	X(check, "check", 0, 0,                                                                                      \
	  "if two threads release an object at the same instant, exactly one release succeeds "                      \
	  "(LFPOOL_CHECK_RACES); lfpool_check() runs when the pool is destroyed")                                    \
	X(poison, "poison", 0, 0,                                                                                    \
	  "a released object is filled with 0x1deadb0b. If a byte has changed at the next acquire, it was "          \
	  "written after the release. Unused objects are filled too")                                                \
	X(quarantine, "quarantine=", 1, 65536,                                                                       \
	  "a released object is acquired again only after N other releases, or if no other object is free")          \
	X(guard, "guard", 0, 0,                                                                                      \
	  "at least 16 bytes before and behind each object are filled when it is acquired, and must be "             \
	  "unchanged when it is released")                                                                           \
	X(owner, "owner", 0, 0,                                                                                      \
	  "each object records the thread that acquired it, the time, and its lfpool_label(); active "               \
	  "objects are reported when the pool is destroyed")                                                         \
	X(backtrace, "backtrace=1/", 1, 1000000, "like owner, with the call site of one in N acquires and releases") \
	X(zero, "zero", 0, 0,                                                                                        \
	  "every acquired object is all zero bytes (LFPOOL_ZERO), except in pools with hooks.create")                \
	X(no_tools, "no-tools", 0, 0,                                                                                \
	  "AddressSanitizer, LeakSanitizer, ThreadSanitizer and Valgrind get no information about the objects")

/*
 * lfpool_label - name the purpose of an object, for reports of the modes owner, poison and guard.
 *
 * Does nothing in malloc mode, or in a pool without the mode owner or backtrace.
 *
 * object    Active, held by the caller.  Any other value has no effect.
 * label     A string that outlives the pool, or NULL.  The next acquire of the object clears it.
 * Threads   Any.  Wait-free, O(1).
 */
LFPOOL_API void lfpool_label(lfpool_t *pool, const void *object, const char *label);

LFPOOL_C_END_

#endif
