/* SPDX-License-Identifier: MIT */
/*
 * resident.h - how much memory of this process is in RAM.
 *
 * Idea         The kernel's page tables, summed up in /proc/self/smaps_rollup.  /proc/self/statm is quicker to read,
 *              but since Linux 6.2 each CPU counts a part separately, so the figure may be off by some hundred
 *              kilobytes, the size of an empty pool.
 */
#ifndef LFPOOL_RESIDENT_H
#define LFPOOL_RESIDENT_H

/* Bytes.  Ends the program when neither file can be read. */
double resident_bytes(void);
/* The peak, in bytes.  Like statm off by some hundred kilobytes; 0 where the kernel does not report it. */
double resident_peak_bytes(void);

#endif
