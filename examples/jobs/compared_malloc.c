/* SPDX-License-Identifier: MIT */
/* compared_malloc.c - the job system on one page, with its records from malloc().  malloc() has a record for every job,
 * so a job runs at once only if the deque is full. */
#include "lfpool/inline.h"

#include <stdlib.h>

#define lfpool_cache_acquire(cache) malloc(sizeof(struct job))
#define lfpool_cache_release(cache, job) free(job)
#define COMPARED malloc
#include "compared.h"

const struct compared compared_malloc = {"malloc", measure};
