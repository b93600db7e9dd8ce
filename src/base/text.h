/* SPDX-License-Identifier: MIT */
/*
 * text.h - text into room of a given size, as snprintf() does it, piece by piece.
 *
 * Idea         What does not fit is cut off, and counted all the same: so `wanted` is the length of the whole text
 *              whatever the room was, and what was written is its beginning.
 * Invariants   TX1 with room for anything the text is terminated, always.
 * Progress     Does not allocate.
 */
#ifndef LFPOOL_TEXT_H
#define LFPOOL_TEXT_H

#include "base/base.h"

struct text {
	char *out;     /* may be NULL if there is no room  */
	size_t room;   /* bytes, the terminating 0 included */
	size_t wanted; /* bytes so far, without it          */
};

/* Starts an empty text. */
static inline void text_open(struct text *t, char *out, size_t room)
{
	*t = (struct text){out, room, 0};
	if (room)
		*out = 0;
}
void text_put(struct text *t, const char *format, ...) PRINTF_LIKE(2, 3);
/* A string in double quotes, as RFC 8259 wants it: what is no UTF-8 becomes U+FFFD. */
void text_put_quoted(struct text *t, const char *string);

/* Flags, hooks: names that are there or not.  Puts those that are, with a blank between them, or "none"; or as an array in JSON. */
struct text_name {
	const char *name;
	bool set;
};
void text_put_names(struct text *t, bool json, const struct text_name *names, size_t count);

#endif
