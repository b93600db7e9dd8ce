/* SPDX-License-Identifier: MIT */
/*
 * options.c - the options' names, and the rules: which two cannot meet, and what the library answers when they do.
 */
#include "options.h"

const char *const dimension_names[DIMENSION_COUNT] = {
#define DIMENSION_NAME(name, ...) #name,
	DIMENSIONS(DIMENSION_NAME)
#undef DIMENSION_NAME
};

const char *const value_names[DIMENSION_COUNT][VALUES_MAX] = {
#define DIMENSION_VALUES(name, ...) {__VA_ARGS__},
	DIMENSIONS(DIMENSION_VALUES)
#undef DIMENSION_VALUES
};

unsigned values_of(unsigned dimension)
{
	unsigned count = 0;

	while (count < VALUES_MAX && value_names[dimension][count])
		count++;
	return count;
}

#define BIT(value) (1u << (value))
#define FROM(value) (~0u << (value))
/* The config of a set has no such field, so nobody can ask. */
#define NO_WORDS LFPOOL_OK

static const struct rule {
	enum dimension one;
	unsigned values; /* bits */
	enum dimension other;
	unsigned other_values;
	lfpool_status_t status;
} rules[] = {
	/* lfpool/buffer.h */
	{of_made, BIT(MADE_IN), of_growth, FROM(GROWTH_BY_HAND), LFPOOL_E_CONFIG_MAX_CAPACITY},
	{of_made, BIT(MADE_IN), of_backend, FROM(LFPOOL_BACKEND_MUTEX), LFPOOL_E_CONFIG_BACKEND},
	{of_made, BIT(MADE_IN), of_lock, BIT(true), LFPOOL_E_CONFIG_FLAGS},
	{of_made, BIT(MADE_IN), of_huge_pages, BIT(true), LFPOOL_E_CONFIG_FLAGS},
	{of_made, BIT(MADE_IN), of_debug, FROM(DEBUG_POISON), LFPOOL_E_CONFIG_DEBUG},
	{of_made, BIT(MADE_IN), of_scheme, FROM(SCHEME_ASKED), LFPOOL_E_CONFIG_SCHEME},
	/* lfpool/set.h */
	{of_made, BIT(MADE_SET), of_hooks, FROM(HOOKS_BUILD), LFPOOL_E_CONFIG_HOOKS},
	{of_made, BIT(MADE_SET), of_scheme, FROM(SCHEME_ASKED), NO_WORDS},
	/* lfpool/config.h */
	{of_hooks, BIT(HOOKS_BUILD) | BIT(HOOKS_ALL) | BIT(HOOKS_REFUSING), of_zero, BIT(true), LFPOOL_E_CONFIG_HOOKS},
};

bool excluded(unsigned dimension, unsigned value, unsigned other, unsigned other_value, lfpool_status_t *status_out,
	      bool *says_out)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const struct rule *r = &rules[i];
		const bool here = r->one == dimension && r->other == other && r->values >> value & 1 &&
				  r->other_values >> other_value & 1;
		const bool turned = r->one == other && r->other == dimension && r->values >> other_value & 1 &&
				    r->other_values >> value & 1;

		if (!here && !turned)
			continue;
		*status_out = r->status;
		*says_out = r->status != NO_WORDS;
		return true;
	}
	return false;
}
