/* SPDX-License-Identifier: MIT */
/*
 * profile_read.c - reads the text of a profile, see profile.h.
 *
 * Idea         One pass, a line at a time, a word at a time; the first thing that is wrong ends it.  What has been read
 *              until then is thrown away, so nothing is half applied.  A token is some bytes of the text, which is never
 *              written to.  What is wrong with one is said in the words of the text, made printable: a profile may be any
 *              bytes at all.
 */
#include "registry/profile.h"

#include "base/text.h"
#include "os/os.h"
#include "pool/configure.h"
#include "pool/registered.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

/* ---- What is wrong ---- */

static struct quoted quote(struct token token)
{
	const size_t count = token.length < QUOTED_MAX ? token.length : QUOTED_MAX;
	struct quoted q = {"\""};

	for (size_t i = 0; i < count; i++)
		q.text[1 + i] = token.at[i] >= ' ' && token.at[i] <= '~' ? token.at[i] : '?';
	strcpy(q.text + 1 + count, count < token.length ? "...\"" : "\"");
	return q;
}

#define QUOTE(token) quote(token).text

static bool wrong(struct reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

/* Says what is wrong at this byte of the text.  Always false. */
static bool wrong(struct reader *r, const char *at, const char *format, ...)
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

#define BLANKS " \t\r"
#define ENDS "\n#" /* of what counts in a line */

static bool is_end(char c)
{
	return c == 0 || strchr(ENDS, c);
}

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, BLANKS);
}

/* Up to one of the characters `stop`. */
static struct token read_token(struct reader *r, const char *stop)
{
	const struct token token = {r->at, strcspn(r->at, stop)};

	r->at += token.length;
	return token;
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
#define FLAG_ROW(flag, word) {word, flag},
		FLAG_MAP(FLAG_ROW)
#undef FLAG_ROW
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
	static const char *const backends[] = {
#define BACKEND_WORD(backend, word) [backend] = word,
		BACKEND_MAP(BACKEND_WORD)
#undef BACKEND_WORD
	};
	static const char *const full[] = {"fail", "grow", "wait", "evict"}; /* as FULL_*, from FULL_FAIL on */
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

/* key=value, into *policy; false when it is wrong. */
static bool read_setting(struct reader *r, struct policy *policy)
{
	const struct token name = read_token(r, BLANKS ENDS "=");
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
	return read_value(r, &keys[key], read_token(r, BLANKS ENDS), policy);
}

/* ---- Lines ---- */

static bool wrong_name(struct reader *r, struct token name)
{
	return wrong(r, name.at, "%s is no name: 1 to 63 of a-z, A-Z, 0-9 and ._-:/", QUOTE(name));
}

/* The array, with room for one more; NULL when the system refuses it. */
static void *make_room(struct reader *r, void *array, size_t count, size_t *room, size_t bytes_each)
{
	const size_t wanted = *room ? 2 * *room : 8;

	if (count < *room)
		return array;
	array = os_heap_resize(array, wanted * bytes_each);
	if (array)
		*room = wanted;
	else
		r->no_memory = true;
	return array;
}

static bool add_scenario(struct reader *r, struct token name)
{
	struct profile *p = r->profile;
	void *array = make_room(r, p->scenarios, p->scenario_count, &p->scenario_room, sizeof(*p->scenarios));

	if (!array)
		return false;
	p->scenarios = array;
	struct profile_scenario *scenario = &p->scenarios[p->scenario_count];

	*scenario = (struct profile_scenario){.number = r->line};
	memcpy(scenario->name, name.at, name.length);
	r->scenario = (uint32_t)p->scenario_count++;
	return true;
}

/* [name] */
static bool read_scenario(struct reader *r)
{
	char text[PROFILE_NAME_BYTES] = "";
	uint32_t known;

	r->at++;
	const struct token name = read_token(r, ENDS "]");

	if (*r->at != ']')
		return wrong(r, r->at, "a scenario's name ends with a ]");
	if (!profile_name_fits(name.at, name.length))
		return wrong_name(r, name);
	memcpy(text, name.at, name.length);
	if (profile_find_scenario(r->profile, text, &known))
		return known == 0 ? wrong(r, name.at, "\"default\" is what stands before the first scenario")
				  : wrong(r, name.at, "scenario %s is in line %zu already", QUOTE(name),
					  r->profile->scenarios[known].number);
	r->at++;
	skip_blanks(r);
	if (!is_end(*r->at))
		return wrong(r, r->at, "nothing can follow a scenario's ]");
	return add_scenario(r, name);
}

/* What holds everywhere, and this line over it, must go together. */
static bool check_line(struct reader *r, struct token name, const struct profile_line *line)
{
	struct policy whole = {0};

	profile_apply(r->profile, line->pool, 0, &whole);
	for (int key = PROFILE_capacity; key <= PROFILE_max_capacity; key++)
		if (policy_gives(&line->policy, (enum profile_key)key)) {
			whole.value[key] = line->policy.value[key];
			whole.given |= UINT32_C(1) << key;
		}
	if (whole.value[PROFILE_max_capacity] && whole.value[PROFILE_max_capacity] < whole.value[PROFILE_capacity])
		return wrong(r, name.at, "max_capacity %u is less than capacity %u", whole.value[PROFILE_max_capacity],
			     whole.value[PROFILE_capacity]);
	return true;
}

/* pool key=value ... */
static bool read_pool(struct reader *r)
{
	const struct token name = read_token(r, BLANKS ENDS);
	struct profile *p = r->profile;
	struct profile_line line = {.scenario = r->scenario, .number = r->line};
	bool found;

	if (!profile_name_fits(name.at, name.length))
		return wrong_name(r, name);
	memcpy(line.pool, name.at, name.length);
	const size_t place = profile_place(p, line.pool, r->scenario, &found);

	if (found)
		return wrong(r, name.at, "pool %s is in line %zu already", QUOTE(name), p->lines[place].number);
	for (skip_blanks(r); !is_end(*r->at); skip_blanks(r))
		if (!read_setting(r, &line.policy))
			return false;
	if (!line.policy.given)
		return wrong(r, r->at, "pool %s has no key=value", QUOTE(name));
	if (!check_line(r, name, &line))
		return false;

	void *array = make_room(r, p->lines, p->line_count, &p->line_room, sizeof(*p->lines));

	if (!array)
		return false;
	p->lines = array;
	memmove(&p->lines[place + 1], &p->lines[place], (p->line_count++ - place) * sizeof(line));
	p->lines[place] = line;
	return true;
}

/* ---- The whole ---- */

static bool read_lines(struct reader *r)
{
	if (!add_scenario(r, (struct token){"default", strlen("default")}))
		return false;
	for (;; r->at++) {
		r->line++;
		r->line_start = r->at;
		skip_blanks(r);
		if (!is_end(*r->at) && !(*r->at == '[' ? read_scenario(r) : read_pool(r)))
			return false;
		r->at += strcspn(r->at, "\n");
		if (!*r->at)
			return true;
	}
}

lfpool_status_t profile_no_memory(lfpool_profile_error_t *error)
{
	*error = (lfpool_profile_error_t){0};
	strcpy(error->text, lfpool_status_string(LFPOOL_E_NO_MEMORY));
	return LFPOOL_E_NO_MEMORY;
}

lfpool_status_t profile_read(struct profile *p, const char *text, lfpool_profile_error_t *error)
{
	struct reader r = {.profile = p, .at = text, .error = error};

	*p = (struct profile){0};
	*error = (lfpool_profile_error_t){0};
	if (read_lines(&r))
		return LFPOOL_OK;
	profile_free(p);
	return r.no_memory ? profile_no_memory(error) : LFPOOL_E_PROFILE;
}
