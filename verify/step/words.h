/* SPDX-License-Identifier: MIT */
/* words.h - reads the texts of setup.c: words, each with or without a number. */
#ifndef LFPOOL_VERIFY_WORDS_H
#define LFPOOL_VERIFY_WORDS_H

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	char name[16];
	size_t number; /* 0: no number */
};

/* The text behind the word; NULL: there was no word. */
static inline const char *word_read(const char *text, struct word *word_out)
{
	char *end;
	int length;

	if (sscanf(text, " %15[a-z+-]%n", word_out->name, &length) != 1)
		return NULL;
	text += length + (text[length] == ' ');
	word_out->number = 0;
	if (!isdigit((unsigned char)*text))
		return text;
	word_out->number = strtoul(text, &end, 10);
	return end;
}

static inline _Noreturn void word_unknown(const struct word *word)
{
	fprintf(stderr, "no such word in a setup: %s\n", word->name);
	exit(3);
}

#endif
