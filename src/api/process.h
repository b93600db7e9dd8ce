/* SPDX-License-Identifier: MIT */
/*
 * process.h - once per process, before the first pool.
 */
#ifndef LFPOOL_PROCESS_H
#define LFPOOL_PROCESS_H

#include <stdbool.h>

/* False when the system refuses; another call tries again. */
bool process_open(void);

#endif
