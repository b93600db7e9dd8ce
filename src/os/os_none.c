/* SPDX-License-Identifier: MIT */
/*
 * os_none.c - os.h without a system, for LFPOOL_EMBEDDED: a pool in a buffer needs only the time.
 */
#include "os/os.h"

#include <time.h>

#ifdef LFPOOL_EMBEDDED

/* Used only to compute sizes of parts. */
size_t os_page_bytes(void)
{
	return 4096;
}

uint64_t os_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
