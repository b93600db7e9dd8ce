/* SPDX-License-Identifier: MIT */
/*
 * left_out.c - what tests of pools in buffers (in_buffer.h) call of a library with LFPOOL_EMBEDDED, and is not there: a
 * test that wants another kind of pool is skipped.
 */
#include "../support/support.h"

const char *lfpool_check(const lfpool_t *pool, size_t *where_out)
{
	(void)pool;
	(void)where_out;
	return NULL;
}
