/* SPDX-License-Identifier: MIT */
/* options.c - the options' names, and the rules: pairs that exclude each other, and the library's answer to them. */
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

bool choice_exists(unsigned choice)
{
	return value_names[choice / VALUES_MAX][choice % VALUES_MAX] != NULL;
}

#define BIT(value) (1u << (value))
#define FROM(value) (~0u << (value))
/* The config of a set has no such field. */
#define NO_WORDS LFPOOL_OK

static const struct rule rules[] = {
	/* lfpool/buffer.h */
	{of_made, BIT(MADE_IN), of_growth, FROM(GROWTH_BY_HAND), LFPOOL_E_CONFIG_MAX_CAPACITY},
	{of_made, BIT(MADE_IN), of_backend, FROM(LFPOOL_BACKEND_MUTEX), LFPOOL_E_CONFIG_BACKEND},
	{of_made, BIT(MADE_IN), of_lock, BIT(true), LFPOOL_E_CONFIG_FLAGS},
	{of_made, BIT(MADE_IN), of_huge_pages, BIT(true), LFPOOL_E_CONFIG_FLAGS},
	{of_made, BIT(MADE_IN), of_debug, FROM(DEBUG_POISON), LFPOOL_E_CONFIG_DEBUG},
	{of_made, BIT(MADE_IN), of_evict, FROM(1), LFPOOL_E_CONFIG_EVICT},
	{of_made, BIT(MADE_IN), of_scheme, FROM(SCHEME_ASKED), LFPOOL_E_CONFIG_SCHEME},
	/* lfpool/set.h */
	{of_made, BIT(MADE_SET), of_hooks, FROM(HOOKS_BUILD), LFPOOL_E_CONFIG_HOOKS},
	{of_made, BIT(MADE_SET), of_evict, FROM(1), NO_WORDS},
	{of_made, BIT(MADE_SET), of_scheme, FROM(SCHEME_ASKED), NO_WORDS},
	/* lfpool/config.h */
	{of_hooks, BIT(HOOKS_BUILD) | BIT(HOOKS_ALL) | BIT(HOOKS_REFUSING), of_zero, BIT(true), LFPOOL_E_CONFIG_HOOKS},
};

static bool is_one_of(unsigned choice, enum dimension dimension, unsigned values)
{
	return choice_exists(choice) && choice / VALUES_MAX == dimension && values >> choice % VALUES_MAX & 1;
}

const struct rule *rule_against(unsigned choice, unsigned other)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const struct rule *r = &rules[i];

		if ((is_one_of(choice, r->one, r->values) && is_one_of(other, r->other, r->other_values)) ||
		    (is_one_of(other, r->one, r->values) && is_one_of(choice, r->other, r->other_values)))
			return r;
	}
	return NULL;
}
