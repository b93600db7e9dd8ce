/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - shows ThreadSanitizer an order that it cannot see: liburcu and ConcurrencyKit synchronise in assembly.
 *
 * Idea         ordered_before(x) is a release at x, ordered_after(x) an acquire; x is any address.  Each pair of calls
 *              is a promise that the code between them really orders them.  Without ThreadSanitizer both do nothing.
 */
#ifndef COMMON_ANNOTATE_H
#define COMMON_ANNOTATE_H

#include "sanitizers.h"

#include <stdint.h>

#define ANNOTATED UNDER_TSAN

/* From the sanitizer's runtime. */
void __tsan_acquire(void *address);
void __tsan_release(void *address);

static inline void ordered_before(const void *address)
{
	if (ANNOTATED)
		__tsan_release((void *)(uintptr_t)address);
}

static inline void ordered_after(const void *address)
{
	if (ANNOTATED)
		__tsan_acquire((void *)(uintptr_t)address);
}

#endif
