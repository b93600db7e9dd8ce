/* SPDX-License-Identifier: MIT */
/*
 * words.h - the names of flags, backends and debug modes in dumps, profiles and the environment; and the version.
 */
#ifndef LFPOOL_WORDS_H
#define LFPOOL_WORDS_H

#include "base/base.h"

#include "lfpool/debug.h"
#include "lfpool/lfpool.h"
#include "lfpool/report.h"

struct text;

/* X(constant, word). */
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

/* Each field is 0 if the mode is off.  Otherwise the field is the mode's number, or 1 for a mode without a number. */
struct debug_modes {
#define DEBUG_FIELD(field, word, least, most, text) uint32_t field;
	LFPOOL_DEBUG_MAP(DEBUG_FIELD)
#undef DEBUG_FIELD
};

/* Adds the modes in `words` (NULL: no modes).  False: `words` has an error, and the modes are unusable. */
bool debug_words_read(struct debug_modes *modes, const char *words);
/* Writes the modes as words, such as poison,quarantine=16, or "none".  In JSON it writes ["poison","quarantine=16"]. */
void debug_words_write(const struct debug_modes *modes, lfpool_format_t format, struct text *text);

/* Does any mode detect errors?  If so, releases use a CAS, as with LFPOOL_CHECK_RACES. */
static inline bool debug_modes_detect(const struct debug_modes *modes)
{
	return modes->check || modes->poison || modes->quarantine || modes->guard || modes->owner || modes->backtrace;
}

/* Does any mode run code at each acquire and release? */
static inline bool debug_modes_each_call(const struct debug_modes *modes)
{
	return modes->poison || modes->quarantine || modes->guard || modes->owner || modes->backtrace;
}

#endif
