/* SPDX-License-Identifier: MIT */
/*
 * words.c - a hash table of words, see words.h.
 *
 * Idea         Open addressing with linear probing, half empty at least, so that a probe is short.  The texts lie in
 *              one growing buffer and are named by their offset, which survives when the buffer moves.
 * Invariant    W1  between the entry that the hash names and the entry where a word lies, none is free: no word is
 *                  ever removed.
 */
#include "words.h"

#include "must.h"

#include <string.h>

/* FNV-1a (Fowler, Noll, Vo 1991). */
static uint64_t hash_of(const char *text, size_t text_bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text_bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The entry of the word, or the free one where it belongs. */
static struct word *find(const struct words *words, uint64_t hash, const char *text, size_t text_bytes)
{
	size_t i = (size_t)hash & (words->entries - 1);

	/* Ends: at least half of the entries are free. */
	for (;; i = (i + 1) & (words->entries - 1)) {
		struct word *word = &words->entry[i];

		if (word->count == 0 || (word->hash == hash && word->text_bytes == text_bytes &&
					 memcmp(words->text + word->text, text, text_bytes) == 0))
			return word;
	}
}

/* Twice the entries; the words stay where they are in the text. */
static void double_entries(struct words *words)
{
	struct word *old = words->entry;
	size_t old_entries = words->entries;

	words->entries = old_entries ? 2 * old_entries : 1024;
	words->entry = must_grow(NULL, words->entries, sizeof(*words->entry));
	memset(words->entry, 0, words->entries * sizeof(*words->entry));
	for (size_t i = 0; i < old_entries; i++)
		if (old[i].count)
			*find(words, old[i].hash, words->text + old[i].text, old[i].text_bytes) = old[i];
	free(old);
}

static size_t store_text(struct words *words, const char *text, size_t text_bytes)
{
	size_t start = words->text_bytes;

	if (words->text_room - start < text_bytes) {
		words->text_room = 2 * (start + text_bytes);
		words->text = must_grow(words->text, words->text_room, 1);
	}
	memcpy(words->text + start, text, text_bytes);
	words->text_bytes += text_bytes;
	return start;
}

static void add(struct words *words, uint64_t hash, const char *text, size_t text_bytes, uint64_t count)
{
	if (2 * words->used >= words->entries)
		double_entries(words);

	struct word *word = find(words, hash, text, text_bytes);

	if (word->count == 0) {
		*word = (struct word){.hash = hash, .text = store_text(words, text, text_bytes), .text_bytes = text_bytes};
		words->used++;
	}
	word->count += count;
}

void words_count(struct words *words, const char *text, size_t text_bytes)
{
	add(words, hash_of(text, text_bytes), text, text_bytes, 1);
}

void words_merge(struct words *words, const struct words *from)
{
	for (size_t i = 0; i < from->entries; i++) {
		const struct word *word = &from->entry[i];

		if (word->count)
			add(words, word->hash, from->text + word->text, word->text_bytes, word->count);
	}
}

bool words_equal(const struct words *a, const struct words *b)
{
	if (a->used != b->used)
		return false;
	for (size_t i = 0; i < a->entries; i++) {
		const struct word *word = &a->entry[i];

		if (word->count && find(b, word->hash, a->text + word->text, word->text_bytes)->count != word->count)
			return false;
	}
	return true;
}

static int compare_ranks(const void *a_pointer, const void *b_pointer)
{
	const struct ranked_word *a = a_pointer, *b = b_pointer;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;

	int order = memcmp(a->text, b->text, a->text_bytes < b->text_bytes ? a->text_bytes : b->text_bytes);

	return order ? order : (a->text_bytes > b->text_bytes) - (a->text_bytes < b->text_bytes);
}

size_t words_rank(const struct words *words, struct ranked_word **ranked_out)
{
	struct ranked_word *ranked = must_grow(NULL, words->used + 1, sizeof(*ranked));
	size_t count = 0;

	for (size_t i = 0; i < words->entries; i++) {
		const struct word *word = &words->entry[i];

		if (word->count)
			ranked[count++] = (struct ranked_word){word->count, words->text + word->text, word->text_bytes};
	}
	qsort(ranked, count, sizeof(*ranked), compare_ranks);
	*ranked_out = ranked;
	return count;
}

void words_free(struct words *words)
{
	free(words->entry);
	free(words->text);
	*words = (struct words){0};
}
