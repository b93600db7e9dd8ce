/* SPDX-License-Identifier: MIT */
/*
 * rest.h - threads that have used a pool and now rest, each with whatever cache the pool keeps for a thread.
 *
 * Idea         An exhausted pool that keeps caches must look into those of others before it may say NULL.  So that all
 *              subjects are asked the same, the caches belong to threads that exist.
 */
#ifndef LFPOOL_BENCH_REST_H
#define LFPOOL_BENCH_REST_H

#include "subject.h"

#define RESTING_THREADS 16

struct rest;

/* Starts them; when it returns, each has acquired and released one object and does nothing more. */
struct rest *rest_begin(const struct subject *subject, void *shared);
/* They leave, and end. */
void rest_end(struct rest *rest);

#endif
