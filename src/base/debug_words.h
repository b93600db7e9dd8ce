/* SPDX-License-Identifier: MIT */
/*
 * debug_words.h - the debug modes as words: read and written.  The one table is LFPOOL_DEBUG_MAP in lfpool/debug.h.
 */
#ifndef LFPOOL_DEBUG_WORDS_H
#define LFPOOL_DEBUG_WORDS_H

#include "base/base.h"

#include "lfpool/lfpool.h"

struct text;

/* For each word its number, or 1; 0: not wanted. */
struct debug_modes {
#define DEBUG_FIELD(field, word, least, most, text) uint32_t field;
	LFPOOL_DEBUG_MAP(DEBUG_FIELD)
#undef DEBUG_FIELD
};

/* Adds what `words` names (NULL: nothing); false, and the modes are of no use, if there is an error in it. */
bool debug_words_read(struct debug_modes *modes, const char *words);
/* The modes as words again: poison,quarantine=16 or none; in JSON ["poison","quarantine=16"]. */
void debug_words_write(const struct debug_modes *modes, lfpool_format_t format, struct text *text);

/* Is there one that looks for anything?  Then releases race by CAS. */
static inline bool debug_modes_detect(const struct debug_modes *modes)
{
	return modes->check || modes->poison || modes->quarantine || modes->guard || modes->owner || modes->backtrace;
}

/* Is there one that has to do something at each acquire and release? */
static inline bool debug_modes_each_call(const struct debug_modes *modes)
{
	return modes->poison || modes->quarantine || modes->guard || modes->owner || modes->backtrace;
}

#endif
