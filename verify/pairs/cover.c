/* SPDX-License-Identifier: MIT */
/*
 * cover.c - the covering array.
 *
 * Idea         Greedy (after AETG: Cohen, Dalal, Fredman, Patton 1997). Each pair that no row covers yet gets a new
 *              row, which begins with that pair, and takes in each further dimension a value that covers the most
 *              pairs.  The same seed gives the same rows.
 */
#include "options.h"

#include <string.h>

#define ATTEMPTS 10000 /* before a pair that no rule names counts as impossible */
#define ROWS_MAX 2000  /* more than there are pairs */
#define UNSET 255

/* Not covered yet; symmetric. */
static bool open_pairs[CHOICES][CHOICES];

/* The number of open pairs that the choice closes in this row; -1: a rule forbids it. */
static int gain(const struct row *row, unsigned choice)
{
	int count = 0;

	for (unsigned d = 0; d < DIMENSION_COUNT; d++) {
		if (d == choice / VALUES_MAX || row->value[d] == UNSET)
			continue;
		if (rule_against(choice, choice_of(row, d)))
			return -1;
		count += open_pairs[choice][choice_of(row, d)];
	}
	return count;
}

/* Completes the row, each time with the best allowed value; false: no value is allowed. */
static bool complete(struct row *row, struct random *r)
{
	const unsigned first_dimension = random_below(r, DIMENSION_COUNT);

	for (unsigned i = 0; i < DIMENSION_COUNT; i++) {
		const unsigned d = (first_dimension + i) % DIMENSION_COUNT, first = random_below(r, VALUES_MAX);
		int most = -1;

		if (row->value[d] != UNSET)
			continue;
		for (unsigned k = 0; k < VALUES_MAX; k++) {
			const unsigned value = (first + k) % VALUES_MAX, choice = d * VALUES_MAX + value;
			const int closes = choice_exists(choice) ? gain(row, choice) : -1;

			if (closes > most) {
				most = closes;
				row->value[d] = (unsigned char)value;
			}
		}
		if (most < 0)
			return false;
	}
	return true;
}

struct row row_with(unsigned choice, unsigned other, struct random *r)
{
	const unsigned d = choice / VALUES_MAX, value = choice % VALUES_MAX;
	const unsigned other_d = other / VALUES_MAX, other_value = other % VALUES_MAX;
	struct row row;

	for (unsigned n = 0; n < ATTEMPTS; n++) {
		memset(&row, UNSET, sizeof(row));
		row.value[d] = (unsigned char)value;
		row.value[other_d] = (unsigned char)other_value;
		if (complete(&row, r))
			return row;
	}
	fprintf(stderr, "no row has %s=%s and %s=%s, and no rule says so\n", dimension_names[d], value_names[d][value],
		dimension_names[other_d], value_names[other_d][other_value]);
	exit(1);
}

static size_t open_all(size_t *excluded_out)
{
	size_t count = 0;

	*excluded_out = 0;
	for (unsigned a = 0; a < CHOICES; a++)
		for (unsigned b = 0; b < CHOICES; b++) {
			const bool meet = choice_exists(a) && choice_exists(b) && a / VALUES_MAX != b / VALUES_MAX;
			const bool out = rule_against(a, b);

			open_pairs[a][b] = meet && !out;
			count += a < b && meet && !out;
			*excluded_out += a < b && out;
		}
	return count;
}

size_t cover(uint64_t seed, const struct row **rows_out, size_t *pairs_out, size_t *excluded_out)
{
	static struct row rows[ROWS_MAX];
	struct random r = random_for(seed, 0);
	size_t count = 0;

	*rows_out = rows;
	*pairs_out = open_all(excluded_out);
	for (unsigned a = 0; a < CHOICES; a++)
		for (unsigned b = a; b < CHOICES; b++) {
			if (!open_pairs[a][b])
				continue;

			const struct row row = rows[count++] = row_with(a, b, &r);

			for (unsigned d = 0; d < DIMENSION_COUNT; d++)
				for (unsigned e = 0; e < DIMENSION_COUNT; e++)
					open_pairs[choice_of(&row, d)][choice_of(&row, e)] = false;
		}
	return count;
}
