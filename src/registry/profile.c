/* SPDX-License-Identifier: MIT */
/*
 * profile.c - reads the text of a profile, and looks settings up in it, see profile.h.
 *
 * Idea         The reader goes through the text line by line and word by word.  At the first error it stops and frees
 *              all that it has read, so no profile is applied in part.  A word is a range of bytes in the text, which
 *              is never written to.
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
	policy->in_bytes = (policy->in_bytes & ~over->given) | over->in_bytes;
	policy->given |= over->given;
}

static void overlay_lines(const struct profile *p, const char *pool, uint32_t scenario, struct policy *policy)
{
	const struct profile_line *everywhere = find_line(p, pool, 0), *here = find_line(p, pool, scenario);

	if (everywhere)
		overlay(policy, &everywhere->policy);
	if (here && here != everywhere)
		overlay(policy, &here->policy);
}

/* The number of objects in these bytes, at least 1 unless the bytes are 0.  UINT32_MAX means too many objects:
 * lfpool_create() refuses that number, and also objects of 0 bytes. */
static uint64_t objects_of_bytes(uint64_t bytes, size_t object_size)
{
	if (!bytes || bytes < object_size)
		return bytes ? 1 : 0;

	const uint64_t objects = object_size ? bytes / object_size : 1;

	return objects > PROFILE_OBJECTS_MAX ? UINT32_MAX : objects;
}

void profile_apply(const struct profile *p, const char *pool, size_t object_size, uint32_t scenario,
		   struct policy *policy)
{
	overlay_lines(p, pool, scenario, policy);
	for (int key = 0; key < PROFILE_KEY_COUNT; key++)
		if (policy->in_bytes >> key & 1)
			policy->value[key] = objects_of_bytes(policy->value[key], object_size);
	policy->in_bytes = 0;
}

uint64_t profile_reserve(const struct profile *p, const char *pool, size_t object_size, const struct policy *base)
{
	uint64_t most = 0;

	for (uint32_t scenario = 0; scenario < p->scenario_count; scenario++) {
		struct policy policy = *base;

		profile_apply(p, pool, object_size, scenario, &policy);
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

/* The arguments for "%.*s": a word, cut off after 32 bytes. */
#define SHOWN(word) (int)((word).length < 32 ? (word).length : 32), (word).at

static bool fail(struct reader *r, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

/* Reports an error at this byte of the text.  Returns false. */
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
	/* Replaces bytes that are not printable. */
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
#define ENDS "\n#" /* a comment, or the end of the line */

/* Skips blanks; true at the end of the line. */
static bool at_end(struct reader *r)
{
	r->at += strspn(r->at, BLANKS);
	return !*r->at || strchr(ENDS, *r->at);
}

/* Reads the bytes up to one of `stops`. */
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
	enum profile_key key;
	uint64_t most; /* the largest number; 0: the value is a word */
	bool in_bytes;
} keys[] = {
#define PROFILE_KEY(key, most) {#key, PROFILE_##key, most, false},
	PROFILE_KEYS(PROFILE_KEY)
#undef PROFILE_KEY
#define PROFILE_BYTE_KEY(word, key) {#word, PROFILE_##key, PROFILE_BYTES_MAX, true},
		PROFILE_BYTE_KEYS(PROFILE_BYTE_KEY)
#undef PROFILE_BYTE_KEY
};

/* The name of a key, in the unit that the line uses: objects or bytes. */
static const char *word_of(const struct policy *policy, enum profile_key key)
{
	const bool in_bytes = policy->in_bytes >> key & 1;
	size_t i = 0;

	while (keys[i].key != key || keys[i].in_bytes != in_bytes)
		i++;
	return keys[i].name;
}

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

/* The letters after the digits of a number. */
static const struct unit {
	const char *word;
	uint64_t times;
} units[] = {
	{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {"Ki", 1u << 10}, {"Mi", 1u << 20}, {"Gi", 1u << 30},
};

/* Reads digits and a unit. */
static bool number_of(struct token word, uint64_t most, uint64_t *value_out)
{
	uint64_t value = 0;
	size_t digits = 0, unit = 0;
	bool fits = true;

	for (; digits < word.length && word.at[digits] >= '0' && word.at[digits] <= '9'; digits++)
		fits = fits && !__builtin_mul_overflow(value, UINT64_C(10), &value) &&
		       !__builtin_add_overflow(value, (uint64_t)(word.at[digits] - '0'), &value);
	while (unit < COUNT(units) && !is((struct token){word.at + digits, word.length - digits}, units[unit].word))
		unit++;
	if (!digits || unit == COUNT(units))
		return false;
	fits = fits && !__builtin_mul_overflow(value, units[unit].times, &value) && value <= most;
	*value_out = value;
	return fits;
}

static bool add_mode(struct token word, struct debug_modes *modes)
{
	char text[PROFILE_NAME_BYTES] = "";

	if (!word.length || word.length >= sizeof(text))
		return false;
	memcpy(text, word.at, word.length);
	return debug_words_read(modes, text);
}

/* Adds a word to the value of the key.  `alone`: the value has no other word. */
static bool add_word(struct reader *r, const struct key *k, struct token word, bool alone, struct policy *policy)
{
	const enum profile_key key = k->key;
	uint64_t *value = &policy->value[key];

	/* "none" is only valid alone. */
	for (size_t i = 0; i < COUNT(options); i++)
		if (options[i].key == key && (options[i].value || alone) && is(word, options[i].word)) {
			*value |= options[i].value;
			return true;
		}
	if (k->most ? number_of(word, k->most, value) : key == PROFILE_debug && add_mode(word, &policy->modes))
		return true;
	if (!k->most)
		return fail(r, word.at, "unknown value \"%.*s\" of %s", SHOWN(word), k->name);
	return fail(r, word.at, "%s must be a number from 0 to %" PRIu64 "%s, not \"%.*s\"", k->name, k->most,
		    key == PROFILE_cache_capacity ? " or none" : "", SHOWN(word));
}

/* Reads a value: words with commas between them for flags and debug, one word for all other keys. */
static bool read_value(struct reader *r, const struct key *key, struct policy *policy)
{
	const bool is_list = key->key == PROFILE_flags || key->key == PROFILE_debug;
	bool more = true;

	for (const char *first = r->at; more; r->at += more) {
		const struct token word = read_word(r, is_list ? BLANKS ENDS "," : BLANKS ENDS);

		more = is_list && *r->at == ',';
		if (!add_word(r, key, word, !more && word.at == first, policy))
			return false;
	}
	return true;
}

/* Reads "key=value". */
static bool read_setting(struct reader *r, struct policy *policy)
{
	const struct token name = read_word(r, BLANKS ENDS "=");
	size_t i = 0;

	while (i < COUNT(keys) && !is(name, keys[i].name))
		i++;
	if (i == COUNT(keys))
		return fail(r, name.at, "unknown key \"%.*s\"", SHOWN(name));

	const struct key *key = &keys[i];
	const uint32_t bit = UINT32_C(1) << key->key;

	if (*r->at != '=')
		return fail(r, r->at, "%s needs a value: %s=...", key->name, key->name);
	if (policy->given & bit) {
		const char *before = word_of(policy, key->key);

		return before == key->name ? fail(r, name.at, "%s is given twice", before)
					   : fail(r, name.at, "%s is given as %s already", key->name, before);
	}
	r->at++;
	policy->given |= bit;
	policy->in_bytes |= key->in_bytes ? bit : 0;
	return read_value(r, key, policy);
}

/* ---- Lines ---- */

/* Returns the array, with room for one more element; NULL when the system refuses. */
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

/* Copies the name if it is valid. */
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

/* Reads "[name]". */
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

/* A line's capacity must not exceed its max_capacity, if both are in the same unit.  A value that is not in the line is
 * taken from the scenario "default". */
static bool check_line(struct reader *r, const char *at, const struct profile_line *line)
{
	struct policy whole = {0};

	overlay_lines(r->profile, line->pool, 0, &whole);
	overlay(&whole, &line->policy);

	const uint64_t capacity = whole.value[PROFILE_capacity], most = whole.value[PROFILE_max_capacity];
	const bool in_one_unit = !((whole.in_bytes >> PROFILE_capacity ^ whole.in_bytes >> PROFILE_max_capacity) & 1);

	return !most || most >= capacity || !in_one_unit ||
	       fail(r, at, "%s %" PRIu64 " is less than %s %" PRIu64, word_of(&whole, PROFILE_max_capacity), most,
		    word_of(&whole, PROFILE_capacity), capacity);
}

/* Reads "pool key=value ...". */
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
