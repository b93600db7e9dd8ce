/* SPDX-License-Identifier: MIT */
/*
 * resident.h - how much memory of this process is in RAM.
 *
 * Idea         The kernel's page tables, summed up in /proc/self/smaps_rollup.  The figure in /proc/self/statm is
 *              quicker to read, but since Linux 6.2 each CPU keeps a part of it for itself: up to some hundred
 *              kilobytes off, which is as much as an empty pool has.
 */
#ifndef LFPOOL_RESIDENT_H
#define LFPOOL_RESIDENT_H

/* Bytes.  Ends the program when neither file can be read. */
double resident_bytes(void);
/* The most that there ever was.  Some hundred kilobytes off, as above; 0 where the kernel does not say. */
double resident_peak_bytes(void);

#endif
