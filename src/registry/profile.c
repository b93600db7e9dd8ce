/* SPDX-License-Identifier: MIT */
/*
 * profile.c - reads the text of a profile, and looks settings up in it, see profile.h.
 *
 * Idea         The reader goes through the text line by line and word by word, and stops at the first error.  Then all
 *              that it has read is freed, so no profile is applied in part.  A word is a range of bytes in the text,
 *              which is never written to.
 */
#include "registry/profile.h"

#include "base/text.h"
#include "base/words.h"
#include "os/os.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void profile_free(struct profile *p)
{
	os_heap_free(p->scenarios);
	os_heap_free(p->lines);
	*p = (struct profile){0};
}

/* ---- Look-ups ---- */

bool profile_name_fits(const char *name, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";

	for (size_t i = 0; i < length; i++)
		if (!memchr(letters, name[i], sizeof(letters) - 1))
			return false;
	return length >= 1 && length < PROFILE_NAME_BYTES;
}

bool profile_find_scenario(const struct profile *p, const char *name, uint32_t *scenario_out)
{
	for (size_t i = 0; i < p->scenario_count; i++)
		if (strcmp(p->scenarios[i].name, name) == 0) {
			*scenario_out = (uint32_t)i;
			return true;
		}
	return false;
}

/* NULL: the scenario has no line for this pool. */
static const struct profile_line *find_line(const struct profile *p, const char *pool, uint32_t scenario)
{
	for (size_t i = 0; i < p->line_count; i++)
		if (p->lines[i].scenario == scenario && strcmp(p->lines[i].pool, pool) == 0)
			return &p->lines[i];
	return NULL;
}

static void overlay(struct policy *policy, const struct policy *over)
{
	for (int key = 0; key < PROFILE_KEY_COUNT; key++)
		if (policy_gives(over, (enum profile_key)key))
			policy->value[key] = over->value[key];
	if (policy_gives(over, PROFILE_debug))
		policy->modes = over->modes;
	policy->given |= over->given;
}

void profile_apply(const struct profile *p, const char *pool, uint32_t scenario, struct policy *policy)
{
	const struct profile_line *everywhere = find_line(p, pool, 0), *here = find_line(p, pool, scenario);

	if (everywhere)
		overlay(policy, &everywhere->policy);
	if (here && here != everywhere)
		overlay(policy, &here->policy);
}

uint32_t profile_reserve(const struct profile *p, const char *pool, const struct policy *base)
{
	uint32_t most = 0;

	for (uint32_t scenario = 0; scenario < p->scenario_count; scenario++) {
		struct policy policy = *base;

		profile_apply(p, pool, scenario, &policy);
		if (policy_max_capacity(&policy) > most)
			most = policy_max_capacity(&policy);
	}
	return most;
}

/* ---- Errors ---- */

struct token {
	const char *at;
	size_t length;
};

struct reader {
	struct profile *profile;
	const char *at, *line_start;
	size_t line; /* from 1 */
	uint32_t scenario;
	lfpool_profile_error_t *error; /* never NULL */
	bool no_memory;
};

/* A word for "%.*s", cut off after 32 bytes. */
#define SHOWN(word) (int)((word).length < 32 ? (word).length : 32), (word).at

static bool fail(struct reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

/* Reports an error at this byte of the text.  Always false. */
static bool fail(struct reader *r, const char *at, const char *format, ...)
{
	lfpool_profile_error_t *error = r->error;
	struct text text;
	va_list arguments;

	error->line = r->line;
	error->column = (size_t)(at - r->line_start) + 1;
	text_open(&text, error->text, sizeof(error->text));
	text_put(&text, "line %zu, column %zu: ", error->line, error->column);
	va_start(arguments, format);
	(void)vsnprintf(text.out + text.wanted, text.room - text.wanted, format, arguments);
	va_end(arguments);
	/* A profile can have any bytes. */
	for (char *c = error->text; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
	return false;
}

lfpool_status_t profile_no_memory(lfpool_profile_error_t *error)
{
	*error = (lfpool_profile_error_t){0};
	strcpy(error->text, lfpool_status_string(LFPOOL_E_NO_MEMORY));
	return LFPOOL_E_NO_MEMORY;
}

/* ---- Words ---- */

#define BLANKS " \t\r"
#define ENDS "\n#" /* of the part of a line that counts */

/* Skips blanks; true at the end of the line. */
static bool at_end(struct reader *r)
{
	r->at += strspn(r->at, BLANKS);
	return !*r->at || strchr(ENDS, *r->at);
}

/* The bytes up to one of `stops`. */
static struct token read_word(struct reader *r, const char *stops)
{
	const struct token word = {r->at, strcspn(r->at, stops)};

	r->at += word.length;
	return word;
}

static bool is(struct token word, const char *text)
{
	return strlen(text) == word.length && memcmp(word.at, text, word.length) == 0;
}

/* ---- Values ---- */

static const struct key {
	const char *name;
	uint32_t most; /* the largest number; 0: the value is a word */
} keys[] = {
#define PROFILE_KEY(key, most) {#key, most},
	PROFILE_KEYS(PROFILE_KEY)
#undef PROFILE_KEY
};

/* The words that a value can have, except for debug modes. */
static const struct option {
	enum profile_key key;
	const char *word;
	uint32_t value;
} options[] = {
#define FLAG_OPTION(flag, word) {PROFILE_flags, word, flag},
#define BACKEND_OPTION(backend, word) {PROFILE_backend, word, backend},
	FLAG_MAP(FLAG_OPTION) BACKEND_MAP(BACKEND_OPTION)
#undef FLAG_OPTION
#undef BACKEND_OPTION
		{PROFILE_flags, "none", 0},
	{PROFILE_debug, "none", 0},
	{PROFILE_cache_capacity, "none", PROFILE_NONE},
	{PROFILE_trim, "no", 0},
	{PROFILE_trim, "yes", 1},
	{PROFILE_full, "fail", FULL_FAIL},
	{PROFILE_full, "grow", FULL_GROW},
	{PROFILE_full, "evict", FULL_EVICT},
};

/* Digits, and k or M for thousands or millions. */
static bool number_of(struct token word, uint32_t most, uint32_t *value_out)
{
	uint64_t value = 0;
	size_t digits = 0;

	for (; digits < word.length && word.at[digits] >= '0' && word.at[digits] <= '9'; digits++)
		if (value <= UINT32_MAX)
			value = value * 10 + (uint64_t)(word.at[digits] - '0');
	if (digits && digits + 1 == word.length && (word.at[digits] == 'k' || word.at[digits] == 'M'))
		value *= word.at[digits++] == 'k' ? 1000 : 1000000;
	*value_out = (uint32_t)value;
	return digits && digits == word.length && value <= most;
}

static bool add_mode(struct token word, struct debug_modes *modes)
{
	char text[PROFILE_NAME_BYTES] = "";

	if (!word.length || word.length >= sizeof(text))
		return false;
	memcpy(text, word.at, word.length);
	return debug_words_read(modes, text);
}

/* Adds a word to the value of the key; `alone`: it is the only one. */
static bool add_word(struct reader *r, enum profile_key key, struct token word, bool alone, struct policy *policy)
{
	const uint32_t most = keys[key].most;
	uint32_t *value = &policy->value[key];

	/* A list does not have "none" in it. */
	for (size_t i = 0; i < COUNT(options); i++)
		if (options[i].key == key && (options[i].value || alone) && is(word, options[i].word)) {
			*value |= options[i].value;
			return true;
		}
	if (most ? number_of(word, most, value) : key == PROFILE_debug && add_mode(word, &policy->modes))
		return true;
	if (!most)
		return fail(r, word.at, "unknown value \"%.*s\" of %s", SHOWN(word), keys[key].name);
	return fail(r, word.at, "%s must be a number from 0 to %" PRIu32 "%s, not \"%.*s\"", keys[key].name, most,
		    key == PROFILE_cache_capacity ? " or none" : "", SHOWN(word));
}

/* Words with commas between them for flags and debug, one word for the other keys. */
static bool read_value(struct reader *r, enum profile_key key, struct policy *policy)
{
	const bool is_list = key == PROFILE_flags || key == PROFILE_debug;
	bool more = true;

	for (const char *first = r->at; more; r->at += more) {
		const struct token word = read_word(r, is_list ? BLANKS ENDS "," : BLANKS ENDS);

		more = is_list && *r->at == ',';
		if (!add_word(r, key, word, !more && word.at == first, policy))
			return false;
	}
	return true;
}

/* key=value */
static bool read_setting(struct reader *r, struct policy *policy)
{
	const struct token name = read_word(r, BLANKS ENDS "=");
	size_t key = 0;

	while (key < COUNT(keys) && !is(name, keys[key].name))
		key++;
	if (key == COUNT(keys))
		return fail(r, name.at, "unknown key \"%.*s\"", SHOWN(name));
	if (*r->at != '=')
		return fail(r, r->at, "%s needs a value: %s=...", keys[key].name, keys[key].name);
	if (policy_gives(policy, (enum profile_key)key))
		return fail(r, name.at, "%s is given twice", keys[key].name);
	r->at++;
	policy->given |= UINT32_C(1) << key;
	return read_value(r, (enum profile_key)key, policy);
}

/* ---- Lines ---- */

/* The array, with room for one more; NULL when the system refuses. */
static void *with_room(struct reader *r, void *array, size_t count, size_t *room, size_t bytes_each)
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

/* Copies a valid name. */
static bool read_name(struct reader *r, struct token word, char name_out[PROFILE_NAME_BYTES])
{
	if (!profile_name_fits(word.at, word.length))
		return fail(r, word.at, "invalid name \"%.*s\": a name has 1 to 63 of a-z, A-Z, 0-9 and ._-:/",
			    SHOWN(word));
	memset(name_out, 0, PROFILE_NAME_BYTES);
	memcpy(name_out, word.at, word.length);
	return true;
}

static bool add_scenario(struct reader *r, const struct profile_scenario *scenario)
{
	struct profile *p = r->profile;
	void *array = with_room(r, p->scenarios, p->scenario_count, &p->scenario_room, sizeof(*p->scenarios));

	if (!array)
		return false;
	p->scenarios = array;
	p->scenarios[p->scenario_count] = *scenario;
	r->scenario = (uint32_t)p->scenario_count++;
	return true;
}

/* [name] */
static bool read_scenario(struct reader *r)
{
	struct profile_scenario scenario = {.number = r->line};
	uint32_t known;

	r->at++;
	const struct token name = read_word(r, ENDS "]");

	if (*r->at != ']')
		return fail(r, r->at, "missing ] after the name of a scenario");
	if (!read_name(r, name, scenario.name))
		return false;
	if (profile_find_scenario(r->profile, scenario.name, &known))
		return known == 0 ? fail(r, name.at, "the lines before the first scenario are \"default\"")
				  : fail(r, name.at, "scenario \"%.*s\" is already in line %zu", SHOWN(name),
					 r->profile->scenarios[known].number);
	r->at++;
	return at_end(r) ? add_scenario(r, &scenario) : fail(r, r->at, "unexpected text after ]");
}

/* Its capacities, together with those that hold everywhere, must be in order. */
static bool check_line(struct reader *r, const char *at, const struct profile_line *line)
{
	struct policy whole = {0};

	profile_apply(r->profile, line->pool, 0, &whole);
	overlay(&whole, &line->policy);

	const uint32_t capacity = whole.value[PROFILE_capacity], most = whole.value[PROFILE_max_capacity];

	return !most || most >= capacity ||
	       fail(r, at, "max_capacity %" PRIu32 " is less than capacity %" PRIu32, most, capacity);
}

/* pool key=value ... */
static bool read_pool(struct reader *r)
{
	const struct token name = read_word(r, BLANKS ENDS);
	struct profile *p = r->profile;
	struct profile_line line = {.scenario = r->scenario, .number = r->line};

	if (!read_name(r, name, line.pool))
		return false;

	const struct profile_line *before = find_line(p, line.pool, r->scenario);

	if (before)
		return fail(r, name.at, "pool \"%.*s\" is already in line %zu", SHOWN(name), before->number);
	while (!at_end(r))
		if (!read_setting(r, &line.policy))
			return false;
	if (!line.policy.given)
		return fail(r, r->at, "pool \"%.*s\" has no key=value", SHOWN(name));
	if (!check_line(r, name.at, &line))
		return false;

	void *array = with_room(r, p->lines, p->line_count, &p->line_room, sizeof(*p->lines));

	if (!array)
		return false;
	p->lines = array;
	p->lines[p->line_count++] = line;
	return true;
}

static bool read_lines(struct reader *r)
{
	if (!add_scenario(r, &(struct profile_scenario){.name = "default"}))
		return false;
	for (;; r->at++) {
		r->line++;
		r->line_start = r->at;
		if (!at_end(r) && !(*r->at == '[' ? read_scenario(r) : read_pool(r)))
			return false;
		r->at += strcspn(r->at, "\n");
		if (!*r->at)
			return true;
	}
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
