/* SPDX-License-Identifier: MIT */
/*
 * cover.c - the covering array.
 *
 * Idea         Greedy (after AETG: Cohen, Dalal, Fredman, Patton 1997).  Of 50 random rows that begin with a pair which is
 *              not covered yet, and take at each further dimension a value that covers most, the best is kept.  The same
 *              seed gives the same rows.
 */
#include "options.h"

#include <string.h>

#define CANDIDATES 50
#define ATTEMPTS 10000 /* until a pair that no rule names counts as impossible */
#define ROWS_MAX 1000
#define UNSET 255

/* To be covered yet, by dimension and value, both ways round. */
static bool open_pairs[DIMENSION_COUNT][VALUES_MAX][DIMENSION_COUNT][VALUES_MAX];

static bool meets(const struct row *row, unsigned dimension, unsigned value)
{
	lfpool_status_t status;
	bool says;

	for (unsigned d = 0; d < DIMENSION_COUNT; d++)
		if (d != dimension && row->value[d] != UNSET && excluded(dimension, value, d, row->value[d], &status, &says))
			return true;
	return false;
}

static size_t gain(const struct row *row, unsigned dimension, unsigned value)
{
	size_t count = 0;

	for (unsigned d = 0; d < DIMENSION_COUNT; d++)
		count += d != dimension && row->value[d] != UNSET && open_pairs[dimension][value][d][row->value[d]];
	return count;
}

/* The rest of the row, in random order, each the best that no rule forbids; false: there is none. */
static bool complete(struct row *row, struct random *r)
{
	unsigned order[DIMENSION_COUNT] = {0};

	for (unsigned i = 0; i < DIMENSION_COUNT; i++) {
		const unsigned k = random_below(r, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (unsigned i = 0; i < DIMENSION_COUNT; i++) {
		const unsigned d = order[i], count = values_of(d), first = random_below(r, count);
		size_t most = 0;
		unsigned best = UNSET;

		for (unsigned k = 0; row->value[d] == UNSET && k < count; k++) {
			const unsigned value = (first + k) % count;
			const size_t covers = gain(row, d, value);

			if (!meets(row, d, value) && (best == UNSET || covers > most)) {
				best = value;
				most = covers;
			}
		}
		if (row->value[d] == UNSET)
			row->value[d] = (unsigned char)best;
		if (row->value[d] == UNSET)
			return false;
	}
	return true;
}

/* A row of this pair, however poor; false: none was found. */
static bool row_of(struct row *row, unsigned d, unsigned value, unsigned other, unsigned other_value, struct random *r)
{
	memset(row, UNSET, sizeof(*row));
	row->value[d] = (unsigned char)value;
	row->value[other] = (unsigned char)other_value;
	return complete(row, r);
}

static size_t mark(const struct row *row)
{
	size_t count = 0;

	for (unsigned a = 0; a < DIMENSION_COUNT; a++)
		for (unsigned b = 0; b < DIMENSION_COUNT; b++) {
			bool *pair = &open_pairs[a][row->value[a]][b][row->value[b]];

			count += a < b && *pair;
			*pair = false;
		}
	return count;
}

static size_t worth(const struct row *row)
{
	size_t count = 0;

	for (unsigned a = 0; a < DIMENSION_COUNT; a++)
		count += gain(row, a, row->value[a]);
	return count;
}

static _Noreturn void impossible(unsigned d, unsigned value, unsigned other, unsigned other_value)
{
	fprintf(stderr, "no row has %s=%s and %s=%s, and no rule says so\n", dimension_names[d], value_names[d][value],
		dimension_names[other], value_names[other][other_value]);
	exit(1);
}

/* The `which`-th open pair. */
static void open_pair(size_t which, unsigned *d, unsigned *value, unsigned *other, unsigned *other_value)
{
	for (*d = 0; *d < DIMENSION_COUNT; ++*d)
		for (*value = 0; *value < values_of(*d); ++*value)
			for (*other = *d + 1; *other < DIMENSION_COUNT; ++*other)
				for (*other_value = 0; *other_value < values_of(*other); ++*other_value)
					if (open_pairs[*d][*value][*other][*other_value] && !which--)
						return;
}

static size_t open_all(size_t *excluded_out)
{
	lfpool_status_t status;
	bool says;
	size_t count = 0;

	*excluded_out = 0;
	for (unsigned d = 0; d < DIMENSION_COUNT; d++)
		for (unsigned value = 0; value < values_of(d); value++)
			for (unsigned other = 0; other < DIMENSION_COUNT; other++)
				for (unsigned v = 0; other != d && v < values_of(other); v++) {
					const bool out = excluded(d, value, other, v, &status, &says);

					open_pairs[d][value][other][v] = !out;
					count += d < other && !out;
					*excluded_out += d < other && out;
				}
	return count;
}

size_t cover(uint64_t seed, struct row **rows_out, size_t *pairs_out, size_t *excluded_out)
{
	struct row *rows = malloc(ROWS_MAX * sizeof(*rows));
	struct random r = random_for(seed, 0);
	size_t left = *pairs_out = open_all(excluded_out), count = 0;

	while (left && rows && count < ROWS_MAX) {
		struct row best, row;
		size_t most = 0;

		for (unsigned n = 0; n < CANDIDATES || !most; n++) {
			unsigned d = 0, value = 0, other = 0, v = 0;

			open_pair(random_below(&r, (uint32_t)left), &d, &value, &other, &v);
			if (n == ATTEMPTS)
				impossible(d, value, other, v);
			if (!row_of(&row, d, value, other, v, &r) || worth(&row) <= most)
				continue;
			best = row;
			most = worth(&row);
		}
		rows[count++] = best;
		left -= mark(&best);
	}
	if (left) {
		fprintf(stderr, "%zu rows leave %zu pairs\n", count, left);
		exit(1);
	}
	*rows_out = rows;
	return count;
}

struct row row_against(uint64_t seed, unsigned d, unsigned value, unsigned other, unsigned other_value)
{
	struct random r = random_for(seed, d << 24 | value << 16 | other << 8 | other_value);
	struct row row;

	for (unsigned n = 0; n < ATTEMPTS; n++)
		if (row_of(&row, d, value, other, other_value, &r))
			return row;
	impossible(d, value, other, other_value);
}
