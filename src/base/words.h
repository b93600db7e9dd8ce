/* SPDX-License-Identifier: MIT */
/*
 * words.h - words for dumps, profiles and LFPOOL_BACKEND: every flag and every backend, X(constant, word); the version.
 */
#ifndef LFPOOL_WORDS_H
#define LFPOOL_WORDS_H

#define FLAG_MAP(X)                            \
	X(LFPOOL_PREFAULT, "prefault")         \
	X(LFPOOL_ZERO, "zero")                 \
	X(LFPOOL_CHECK_RACES, "check_races")   \
	X(LFPOOL_CREATE_ALL, "create_all")     \
	X(LFPOOL_LOCK, "lock")                 \
	X(LFPOOL_HUGE_PAGES, "huge_pages")     \
	X(LFPOOL_PLAIN_STRIDE, "plain_stride") \
	X(LFPOOL_FENCED, "fenced")
#define BACKEND_MAP(X)                         \
	X(LFPOOL_BACKEND_LOCKFREE, "lockfree") \
	X(LFPOOL_BACKEND_MUTEX, "mutex")       \
	X(LFPOOL_BACKEND_MALLOC, "malloc")

/* The version of the library, for reports. */
#define STRING_OF(x) #x
#define VERSION_OF(major, minor, patch) STRING_OF(major) "." STRING_OF(minor) "." STRING_OF(patch)
#define VERSION VERSION_OF(LFPOOL_VERSION_MAJOR, LFPOOL_VERSION_MINOR, LFPOOL_VERSION_PATCH)

#endif
