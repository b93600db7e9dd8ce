/* SPDX-License-Identifier: MIT */
/*
 * elsewhere.h - rows that are measured by this program once more, in a process of its own: for figures that what an earlier
 * row left behind would change.
 */
#ifndef LFPOOL_BENCH_ELSEWHERE_H
#define LFPOOL_BENCH_ELSEWHERE_H

#include "gbench.h"

#define ELSEWHERE_THREADS 2 /* of these rows; they run in the other process */

/* The run of such a row: starts `lfpool-bench OPTION SUBJECT WHAT` and reads `count` figures, a line each.  True in the one
 * thread that has them and reports them.  Ends the program, with a message, when it did not work. */
bool elsewhere_run(gbench_state_t *state, const char *option, const char *subject, const char *what, double *figures, int count);

#endif
