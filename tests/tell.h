/* SPDX-License-Identifier: MIT */
/*
 * tell.h - tells ThreadSanitizer of an edge that it cannot see: liburcu and ConcurrencyKit are assembly to it.
 */
#ifndef LFPOOL_TESTS_TELL_H
#define LFPOOL_TESTS_TELL_H

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#ifndef WITH_TSAN
#define WITH_TSAN 0
#endif

#if WITH_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define TELL_ACQUIRE(address) __tsan_acquire(address)
#define TELL_RELEASE(address) __tsan_release(address)
#else
#define TELL_ACQUIRE(address) ((void)(address))
#define TELL_RELEASE(address) ((void)(address))
#endif

#endif
