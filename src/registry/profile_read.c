/* SPDX-License-Identifier: MIT */
/*
 * profile_read.c - reads the text of a profile, see profile.h.
 *
 * Idea         One pass, a line at a time, a word at a time; the first thing that is wrong ends it.  What has been read
 *              until then is thrown away, so nothing is half applied.
 */
#include "registry/profile_words.h"

#include "os/os.h"

#include <string.h>

static bool wrong_name(struct reader *r, struct token name)
{
	return wrong(r, name.at, "%s is no name: 1 to 63 of a-z, A-Z, 0-9 and ._-:/", QUOTE(name));
}

/* Room for one more; false when the system refuses it. */
static bool make_room(struct reader *r, void **array, size_t count, size_t *room, size_t bytes_each)
{
	const size_t wanted = *room ? 2 * *room : 8;
	void *larger;

	if (count < *room)
		return true;
	larger = os_heap_resize(*array, wanted * bytes_each);
	if (!larger) {
		r->no_memory = true;
		return false;
	}
	*array = larger;
	*room = wanted;
	return true;
}

static bool add_scenario(struct reader *r, struct token name)
{
	struct profile *p = r->profile;
	void *array = p->scenarios;
	const bool fits = make_room(r, &array, p->scenario_count, &p->scenario_room, sizeof(*p->scenarios));

	p->scenarios = array;
	if (!fits)
		return false;
	struct profile_scenario *scenario = &p->scenarios[p->scenario_count];

	*scenario = (struct profile_scenario){.number = r->line};
	memcpy(scenario->name, name.at, name.length);
	r->scenario = (uint32_t)p->scenario_count++;
	return true;
}

/* [name] */
static bool read_scenario(struct reader *r)
{
	struct token name = {++r->at, 0};
	char text[PROFILE_NAME_BYTES] = "";
	uint32_t known;

	while (!is_end(name.at[name.length]) && name.at[name.length] != ']')
		name.length++;
	r->at += name.length;
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
	const struct token name = read_token(r, 0);
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

	void *array = p->lines;
	const bool fits = make_room(r, &array, p->line_count, &p->line_room, sizeof(*p->lines));

	p->lines = array;
	if (!fits)
		return false;
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
