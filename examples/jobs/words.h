/* SPDX-License-Identifier: MIT */
/*
 * words.h - how often each word occurs: a hash table for one thread, and the merge of many into one.
 *
 * A zeroed struct is an empty table.
 */
#ifndef EXAMPLE_WORDS_H
#define EXAMPLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word {
	uint64_t count; /* occurrences; 0 = the entry is free           */
	uint64_t hash;
	size_t text;       /* where the word starts in words.text          */
	size_t text_bytes; /* its length                                   */
};

struct words {
	struct word *entry; /* open addressing, linear probing             */
	size_t entries;     /* a power of two, or 0; at most half are used */
	size_t used;
	char *text; /* all words, one after the other              */
	size_t text_bytes;
	size_t text_room;
};

/* Counts one occurrence of a word of at least one byte. */
void words_count(struct words *words, const char *text, size_t text_bytes);

/* Adds all of `from`, which stays as it is. */
void words_merge(struct words *words, const struct words *from);

bool words_equal(const struct words *a, const struct words *b);

/* A word outside its table; the text stays the table's. */
struct ranked_word {
	uint64_t count;
	const char *text;
	size_t text_bytes;
};

/* All words, by falling count, equal ones in byte order.  Returns how many; *ranked_out is the caller's to free(). */
size_t words_rank(const struct words *words, struct ranked_word **ranked_out);

void words_free(struct words *words);

#endif
