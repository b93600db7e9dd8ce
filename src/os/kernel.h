/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - the commands of futex(2) and membarrier(2).
 *
 * Idea         musl lacks linux/futex.h and linux/membarrier.h, so the numbers are repeated here.  The kernel never
 *              changes them.  tests/os/unit_late.c compares them with the headers.
 */
#ifndef LFPOOL_KERNEL_H
#define LFPOOL_KERNEL_H

enum {
	OS_FUTEX_WAKE = 1,
	OS_FUTEX_WAIT_BITSET = 9,
	OS_FUTEX_PRIVATE_FLAG = 128,
	OS_FUTEX_BITSET_MATCH_ANY = -1,
	OS_MEMBARRIER_QUERY = 0,
	OS_MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3,
	OS_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

#endif
