/* SPDX-License-Identifier: MIT */
/*
 * annotate.h - tells ThreadSanitizer of an order that it cannot see: liburcu and ConcurrencyKit synchronise in assembly.
 *
 * Idea         ordered_before(x) is a release at x, ordered_after(x) an acquire; x is any address.  Whoever writes one down
 *              promises that the code between really orders the two.  Without ThreadSanitizer both are nothing.
 */
#ifndef COMMON_ANNOTATE_H
#define COMMON_ANNOTATE_H

#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define ANNOTATED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANNOTATED 1
#endif
#endif

#ifdef ANNOTATED

/* Of the sanitizer's runtime. */
void __tsan_acquire(void *address);
void __tsan_release(void *address);

static inline void ordered_before(const void *address)
{
	__tsan_release((void *)(uintptr_t)address);
}

static inline void ordered_after(const void *address)
{
	__tsan_acquire((void *)(uintptr_t)address);
}

#else
#define ANNOTATED 0

static inline void ordered_before(const void *address)
{
	(void)address;
}

static inline void ordered_after(const void *address)
{
	(void)address;
}

#endif

#endif
