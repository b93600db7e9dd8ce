/* SPDX-License-Identifier: MIT */
/* compared_malloc.c - the job system on one page, with its records from malloc().  There are as many as it wants, so no
 * job runs at once for want of a record; its deque has the same limit. */
#include "lfpool/inline.h"

#include <stdlib.h>

#define lfpool_cache_acquire(cache) malloc(sizeof(struct job))
#define lfpool_cache_release(cache, job) free(job)
#define COMPARED malloc
#include "compared.h"

const struct compared compared_malloc = {"malloc", measure};
