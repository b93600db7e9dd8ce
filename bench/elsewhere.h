/* SPDX-License-Identifier: MIT */
/*
 * elsewhere.h - this program once more, in a process of its own: for figures that what an earlier row left behind would
 * change.
 */
#ifndef LFPOOL_BENCH_ELSEWHERE_H
#define LFPOOL_BENCH_ELSEWHERE_H

#include <stdbool.h>

/* Runs it with these arguments, the last of them NULL, and reads `count` figures, a line each.  False when it did not
 * work; it has said why. */
bool elsewhere_run(char **arguments, double *figures, int count);

#endif
