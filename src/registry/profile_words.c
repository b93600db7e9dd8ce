/* SPDX-License-Identifier: MIT */
/*
 * profile_words.c - reads key=value, see profile_words.h.
 */
#include "registry/profile_words.h"

#include "base/text.h"
#include "pool/registered.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- What is wrong ---- */

struct quoted quote(struct token token)
{
	const size_t count = token.length < QUOTED_MAX ? token.length : QUOTED_MAX;
	struct quoted q = {"\""};

	for (size_t i = 0; i < count; i++)
		q.text[1 + i] = token.at[i] >= ' ' && token.at[i] <= '~' ? token.at[i] : '?';
	strcpy(q.text + 1 + count, count < token.length ? "...\"" : "\"");
	return q;
}

bool wrong(struct reader *r, const char *at, const char *format, ...)
{
	va_list arguments;

	r->error->line = r->line;
	r->error->column = (size_t)(at - r->line_start) + 1;
	va_start(arguments, format);
	(void)vsnprintf(r->error->text, sizeof(r->error->text), format, arguments);
	va_end(arguments);
	return false;
}

/* ---- Words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void skip_blanks(struct reader *r)
{
	while (is_blank(*r->at))
		r->at++;
}

struct token read_token(struct reader *r, char stop)
{
	const char *start = r->at;

	while (!is_end(*r->at) && !is_blank(*r->at) && *r->at != stop)
		r->at++;
	return (struct token){start, (size_t)(r->at - start)};
}

static bool token_is(struct token token, const char *word)
{
	return strlen(word) == token.length && memcmp(token.at, word, token.length) == 0;
}

/* Cuts the first word off a list with commas. */
static struct token next_word(struct token *list)
{
	const char *comma = memchr(list->at, ',', list->length);
	const struct token word = {list->at, comma ? (size_t)(comma - list->at) : list->length};
	const size_t gone = word.length + (comma != NULL);

	*list = (struct token){list->at + gone, list->length - gone};
	return word;
}

/* ---- Values ---- */

static const struct key {
	const char *name;
	enum { READ_NUMBER, READ_NUMBER_OR_NONE, READ_YES_NO, READ_FULL, READ_FLAGS, READ_BACKEND, READ_DEBUG } how;
	uint32_t least, most;
} keys[] = {
#define PROFILE_KEY(key, how, least, most) {#key, how, least, most},
	PROFILE_KEYS(PROFILE_KEY)
#undef PROFILE_KEY
};

/* False when it is none, or not within least .. most. */
static bool number_of(struct token token, const struct key *key, uint32_t *value_out)
{
	uint64_t value = 0, unit = 1;

	if (token.length > 1 && (token.at[token.length - 1] == 'k' || token.at[token.length - 1] == 'M'))
		unit = token.at[--token.length] == 'k' ? 1000 : 1000000;
	if (token.length == 0)
		return false;
	for (size_t i = 0; i < token.length; i++) {
		if (token.at[i] < '0' || token.at[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(token.at[i] - '0');
		if (value > key->most)
			return false;
	}
	value *= unit;
	*value_out = (uint32_t)value;
	return value >= key->least && value <= key->most;
}

static bool read_number(struct reader *r, const struct key *key, struct token token, uint32_t *value_out)
{
	if (key->how == READ_NUMBER_OR_NONE && token_is(token, "none")) {
		*value_out = PROFILE_NONE;
		return true;
	}
	return number_of(token, key, value_out) ||
	       wrong(r, token.at, "%s: %s is no number from %u to %u%s", key->name, QUOTE(token), key->least, key->most,
		     key->how == READ_NUMBER_OR_NONE ? ", nor none" : "");
}

static bool read_flags(struct reader *r, struct token list, uint32_t *value_out)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} flags[] = {
		{"prefault", LFPOOL_PREFAULT},         {"zero", LFPOOL_ZERO},     {"check_races", LFPOOL_CHECK_RACES},
		{"create_all", LFPOOL_CREATE_ALL},     {"lock", LFPOOL_LOCK},     {"huge_pages", LFPOOL_HUGE_PAGES},
		{"plain_stride", LFPOOL_PLAIN_STRIDE}, {"fenced", LFPOOL_FENCED},
	};

	*value_out = 0;
	if (token_is(list, "none"))
		return true;
	do {
		const struct token word = next_word(&list);
		size_t i = 0;

		while (i < COUNT(flags) && !token_is(word, flags[i].word))
			i++;
		if (i == COUNT(flags))
			return wrong(r, word.at, "flags: %s is no flag", QUOTE(word));
		*value_out |= flags[i].flag;
	} while (list.at[-1] == ',');
	return true;
}

static bool read_debug(struct reader *r, struct token list, struct debug_modes *modes)
{
	if (token_is(list, "none"))
		return true;
	do {
		const struct token word = next_word(&list);
		char text[QUOTED_MAX] = "";

		if (word.length >= sizeof(text))
			return wrong(r, word.at, "debug: %s is no mode", QUOTE(word));
		memcpy(text, word.at, word.length);
		if (!*text || !debug_words_read(modes, text))
			return wrong(r, word.at, "debug: %s is no mode", QUOTE(word));
	} while (list.at[-1] == ',');
	return true;
}

/* The value is the number of the word. */
static bool read_choice(struct reader *r, const struct key *key, struct token token, const char *const *words, uint32_t count,
			uint32_t *value_out)
{
	char list[64];
	struct text text;

	for (uint32_t i = 0; i < count; i++)
		if (token_is(token, words[i])) {
			*value_out = i;
			return true;
		}
	text_open(&text, list, sizeof(list));
	for (uint32_t i = 0; i < count; i++)
		text_put(&text, "%s%s", i ? ", " : "", words[i]);
	return wrong(r, token.at, "%s: %s is none of %s", key->name, QUOTE(token), list);
}

static bool read_value(struct reader *r, const struct key *key, struct token token, struct policy *policy)
{
	static const char *const yes_no[] = {"no", "yes"};
	static const char *const backends[] = {"lockfree", "mutex", "malloc"}; /* as LFPOOL_BACKEND_* */
	static const char *const full[] = {"fail", "grow", "wait", "evict"};   /* as FULL_*, from FULL_FAIL on */
	uint32_t *value = &policy->value[key - keys];
	bool read;

	switch (key->how) {
	case READ_NUMBER:
	case READ_NUMBER_OR_NONE: return read_number(r, key, token, value);
	case READ_YES_NO: return read_choice(r, key, token, yes_no, COUNT(yes_no), value);
	case READ_FLAGS: return read_flags(r, token, value);
	case READ_FULL:
		read = read_choice(r, key, token, full, COUNT(full), value);
		*value += FULL_FAIL;
		return read;
	case READ_BACKEND: return read_choice(r, key, token, backends, COUNT(backends), value);
	case READ_DEBUG: break;
	}
	return read_debug(r, token, &policy->modes);
}

bool read_setting(struct reader *r, struct policy *policy)
{
	const struct token name = read_token(r, '=');
	size_t key = 0;

	while (key < COUNT(keys) && !token_is(name, keys[key].name))
		key++;
	if (key == COUNT(keys))
		return wrong(r, name.at, "%s is no key", QUOTE(name));
	if (*r->at != '=')
		return wrong(r, r->at, "%s has no =value", keys[key].name);
	if (policy_gives(policy, (enum profile_key)key))
		return wrong(r, name.at, "%s is given twice", keys[key].name);
	r->at++;
	policy->given |= UINT32_C(1) << key;
	return read_value(r, &keys[key], read_token(r, 0), policy);
}
