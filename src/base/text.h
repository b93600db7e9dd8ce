/* SPDX-License-Identifier: MIT */
/*
 * text.h - writes text piece by piece into a buffer of fixed size.
 *
 * Idea         As with snprintf(), text that does not fit is cut off, but counted.
 * Invariants   TX1 the text is always terminated, unless the room is 0.
 * Progress     Does not allocate.
 */
#ifndef LFPOOL_TEXT_H
#define LFPOOL_TEXT_H

#include "base/base.h"

struct text {
	char *out;     /* may be NULL if there is no room  */
	size_t room;   /* bytes, the terminating 0 included */
	size_t wanted; /* length of the whole text so far   */
};

static inline void text_open(struct text *t, char *out, size_t room)
{
	*t = (struct text){out, room, 0};
	if (room)
		*out = 0;
}
void text_put(struct text *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* Writes a string in double quotes, as JSON requires (RFC 8259).  Bytes that are not UTF-8 become U+FFFD. */
void text_put_quoted(struct text *t, const char *string);

/* For flags and hooks: writes the names whose `set` is true, separated by blanks, or "none".  In JSON it writes an
 * array of names. */
struct text_name {
	const char *name;
	bool set;
};
void text_put_names(struct text *t, bool json, const struct text_name *names, size_t count);

#endif
