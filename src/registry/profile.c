/* SPDX-License-Identifier: MIT */
/*
 * profile.c - what a profile says: looked up.  See profile.h; profile_read.c reads the text.
 */
#include "registry/profile.h"

#include "os/os.h"

#include <string.h>

void profile_free(struct profile *p)
{
	os_heap_free(p->scenarios);
	os_heap_free(p->lines);
	*p = (struct profile){0};
}

bool profile_name_fits(const char *name, size_t length)
{
	if (length < 1 || length >= PROFILE_NAME_BYTES)
		return false;
	for (size_t i = 0; i < length; i++) {
		const char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || memchr("._-:/", c, 5)))
			return false;
	}
	return true;
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

/* Puts what `over` gives over *policy. */
static void overlay(struct policy *policy, const struct policy *over)
{
	for (int key = 0; key < PROFILE_KEY_COUNT; key++)
		if (policy_gives(over, (enum profile_key)key))
			policy->value[key] = over->value[key];
	if (policy_gives(over, PROFILE_debug))
		policy->modes = over->modes;
	policy->given |= over->given;
}

size_t profile_place(const struct profile *p, const char *pool, uint32_t scenario, bool *found_out)
{
	size_t low = 0, high = p->line_count;

	*found_out = false;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct profile_line *line = &p->lines[middle];
		int order = strcmp(line->pool, pool);

		if (!order)
			order = (line->scenario > scenario) - (line->scenario < scenario);
		if (!order) {
			*found_out = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void profile_apply(const struct profile *p, const char *pool, uint32_t scenario, struct policy *policy)
{
	bool found;
	size_t place = profile_place(p, pool, 0, &found);

	if (found)
		overlay(policy, &p->lines[place].policy);
	if (scenario == 0)
		return;
	place = profile_place(p, pool, scenario, &found);
	if (found)
		overlay(policy, &p->lines[place].policy);
}

uint32_t profile_reserve(const struct profile *p, const char *pool, const struct policy *base)
{
	struct policy everywhere = *base;
	bool found;
	const size_t first = profile_place(p, pool, 0, &found);

	profile_apply(p, pool, 0, &everywhere);
	uint32_t most = policy_max_capacity(&everywhere);

	/* Sorted, all its lines lie here; what one does not give holds everywhere, and is in `most` already. */
	for (size_t i = first; i < p->line_count && strcmp(p->lines[i].pool, pool) == 0; i++)
		if (policy_max_capacity(&p->lines[i].policy) > most)
			most = policy_max_capacity(&p->lines[i].policy);
	return most;
}
