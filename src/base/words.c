/* SPDX-License-Identifier: MIT */
/*
 * words.c - reads and writes the words of LFPOOL_DEBUG, see words.h.
 */
#include "base/words.h"

#include "base/text.h"

#include <string.h>

static const struct word {
	const char *word;
	size_t field; /* in struct debug_modes */
	uint32_t least, most;
} debug_words[] = {
#define DEBUG_WORD(field, word, least, most, text) {word, offsetof(struct debug_modes, field), least, most},
	LFPOOL_DEBUG_MAP(DEBUG_WORD)
#undef DEBUG_WORD
};

static uint32_t *field_of(struct debug_modes *modes, const struct word *w)
{
	return (uint32_t *)(void *)((char *)modes + w->field);
}

/* A number within the mode's bounds; 0: invalid. */
static uint32_t read_number(const struct word *w, const char *digits, size_t count)
{
	uint64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		if (digits[i] < '0' || digits[i] > '9' || number > w->most)
			return 0;
		number = number * 10 + (uint64_t)(digits[i] - '0');
	}
	return number >= w->least && number <= w->most ? (uint32_t)number : 0;
}

static bool read_debug_word(struct debug_modes *modes, const char *at, size_t length)
{
	for (size_t i = 0; i < sizeof(debug_words) / sizeof(*debug_words); i++) {
		const struct word *w = &debug_words[i];
		const size_t known = strlen(w->word);
		uint32_t value = 1;

		if (length < known || memcmp(at, w->word, known) != 0)
			continue;
		if (w->most)
			value = read_number(w, at + known, length - known);
		else if (length > known)
			continue;
		*field_of(modes, w) = value;
		return value != 0;
	}
	return false;
}

bool debug_words_read(struct debug_modes *modes, const char *at)
{
	while (at && *at) {
		const size_t length = strcspn(at, ",");

		if (length && !read_debug_word(modes, at, length))
			return false;
		at += length + (at[length] == ',');
	}
	if (modes->backtrace)
		modes->owner = 1;
	return true;
}

void debug_words_write(const struct debug_modes *modes, lfpool_format_t format, struct text *text)
{
	const char *const quote = format == LFPOOL_JSON ? "\"" : "";
	const char *comma = "";

	text_put(text, format == LFPOOL_JSON ? "[" : "");
	for (size_t i = 0; i < sizeof(debug_words) / sizeof(*debug_words); i++) {
		const uint32_t value = *field_of((struct debug_modes *)(uintptr_t)modes, &debug_words[i]);

		if (!value)
			continue;
		text_put(text, "%s%s%s", comma, quote, debug_words[i].word);
		if (debug_words[i].most)
			text_put(text, "%u", value);
		text_put(text, "%s", quote);
		comma = ",";
	}
	text_put(text, format == LFPOOL_JSON ? "]" : *comma ? "" : "none");
}
