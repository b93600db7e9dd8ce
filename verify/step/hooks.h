/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - hooks that do next to nothing, but notice when one is called out of turn.
 *
 * Idea         The last word of each object says where in its life it is: raw, built, active.  A hook that finds
 *              another word than it should notes a fault.  Nobody else writes there.
 */
#ifndef LFPOOL_VERIFY_HOOKS_H
#define LFPOOL_VERIFY_HOOKS_H

#include "lfpool/lfpool.h"

extern const lfpool_hooks_t hooks_all;       /* the four of an object's life                            */
extern const lfpool_hooks_t hooks_refusing;  /* deactivate always says no: destroy, and create again    */
extern const lfpool_hooks_t hooks_reluctant; /* activate says no to a thread that has asked for it      */
extern const lfpool_hooks_t hooks_building;  /* create and destroy alone                                */

/* Whether hooks_reluctant refuse the calling thread, from now on; and until now. */
bool hooks_refuse_me(bool refuse);

/* Was a hook called out of turn since the last call? */
bool hooks_wrong(void);

#endif
