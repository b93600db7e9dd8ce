/* SPDX-License-Identifier: MIT */
/*
 * profile_words.h - words of a profile's text, and what is wrong with them: for profile_read.c.
 *
 * Idea         A token is some bytes of the text, which is never written to.  What is wrong with one is said in the
 *              words of the text, made printable: a profile may be any bytes at all.
 */
#ifndef LFPOOL_PROFILE_WORDS_H
#define LFPOOL_PROFILE_WORDS_H

#include "registry/profile.h"

/* Some bytes of the text. */
struct token {
	const char *at;
	size_t length;
};

struct reader {
	struct profile *profile;
	const char *at, *line_start;
	size_t line;                   /* from 1     */
	uint32_t scenario;             /* we are in  */
	lfpool_profile_error_t *error; /* never NULL */
	bool no_memory;
};

#define QUOTED_MAX 32

/* A token as it can be printed, in double quotes, cut off after QUOTED_MAX bytes. */
struct quoted {
	char text[QUOTED_MAX + sizeof("\"...\"")];
};

struct quoted quote(struct token token);
#define QUOTE(token) quote(token).text

/* Says what is wrong at this byte of the text.  Always false. */
bool wrong(struct reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

/* The end of what counts in a line. */
static inline bool is_end(char c)
{
	return c == 0 || c == '\n' || c == '#';
}

void skip_blanks(struct reader *r);
/* Up to a blank, the end, or `stop`. */
struct token read_token(struct reader *r, char stop);
/* key=value, into *policy; false when it is wrong. */
bool read_setting(struct reader *r, struct policy *policy);

#endif
